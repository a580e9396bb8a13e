"""Dumps that arrive as a stream count exactly once."""

import runpy
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from planner.fleet.fleet_store import Store
from support.dumps import files_of, put, small_json, take_all
from support.scores import by_place, differences, in_memory
from support.spark import snapshot

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
JOB = Path(__file__).parents[2] / "examples" / "spark" / "stream_dumps.py"
CUT = (
    "planner.fleet.dumps.dump_intake.write_receipts",
    "planner.spark.output.destination.write_scores",
)
"""Places where a batch is cut off: each run comes further than the one before."""
DAYS = ("2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z")


def test_a_batch_that_is_cut_off_counts_once(spark, tmp_path, monkeypatch, capsys):
    names = ("dumps", "fleet", "scores", "state")
    dumps, fleet, scores, _ = places = [tmp_path / name for name in names]
    monkeypatch.setattr("sys.argv", [str(JOB), *map(str, places), "--once"])
    for cluster_id, day in zip("ab", DAYS, strict=True):
        document = small_json(cluster_id=cluster_id, taken_at=day)
        put(dumps, f"{cluster_id}/{day[:10]}/s.json", document)

    def killed(*_, **__):
        raise RuntimeError

    for place in CUT:
        with monkeypatch.context() as patched:
            patched.setattr(place, killed)
            with pytest.raises(StreamingQueryException):
                runpy.run_path(str(JOB))
    assert not (scores / "done").exists()
    runpy.run_path(str(JOB))
    runpy.run_path(str(JOB))

    take_all(dumps, tmp_path / "expected")
    assert files_of(fleet) == files_of(tmp_path / "expected")
    assert len(Store(str(fleet)).visible().snapshots) == 2
    found = spark.read.parquet(f"{scores}/scores").drop("date", "version").toArrow()
    both = [snapshot(*each) for each in zip("ab", DAYS, strict=True)]
    assert not differences(in_memory(both), by_place(found))
    assert capsys.readouterr().out.count("batch 0") == 1
