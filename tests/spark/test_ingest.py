"""Dumps taken in by Spark are those taken in one by one."""

import runpy
from pathlib import Path

import pytest

from planner.fleet.fleet_store import Store
from planner.spark.common.task_packing import SLOT, dealt, slots
from planner.spark.ingest.dump_ingest import ingest_dumps, rounds
from support.commands import run
from support.dumps import files_of, mixed_dumps, put, rejects_in, small_json, take_all

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


def test_spark_takes_in_what_one_process_would(spark, tmp_path, capsys):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    mixed_dumps(folder)
    take_all(folder, tmp_path / "expected")

    first = run(capsys, "fleet", "ingest", folder, "-o", fleet, "--format", "json")
    again = run(capsys, "fleet", "ingest", folder, "-o", fleet)

    assert first.code == 3
    assert first.document["snapshots"] == 3
    assert first.document["rejects"] == len(rejects_in(fleet))
    assert files_of(fleet) == files_of(tmp_path / "expected")
    assert (again.code, again.err) == (0, "")
    assert "0 new" in again.out


def test_the_first_reasons_of_refused_dumps_are_shown(spark, tmp_path, capsys):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    for day in range(1, 6):
        put(folder, f"broken/2026-11-0{day}/s.json", "{")
    put(folder, "fine/2026-11-01/s.json", small_json())

    found = run(capsys, "fleet", "ingest", folder, "-o", fleet)

    rejects = rejects_in(fleet)
    assert found.code == 3
    assert "6 dumps, 6 new: 1 snapshot read, 5 refused" in found.out
    shown = " ".join(found.out.split())
    firsts = {row["dump"]: row for row in rejects[::-1] if row["scope"] == "file"}
    for dump in sorted(firsts)[:3]:
        row = firsts[dump]
        assert f"- {row['file']}: {row['reason']}; {row['remedy']}" in shown
    assert "broken/2026-11-04" not in shown
    assert f"and {len(rejects) - 3} more; all reasons: {fleet}/rejects" in found.out


def test_a_new_day_alone_is_read(spark, tmp_path, monkeypatch):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    monkeypatch.setattr("planner.spark.ingest.dump_ingest.ROUND_DUMPS", 2)
    for day in range(1, 6):
        put(folder, f"small/2026-11-0{day}/s.json", small_json())
    done = []
    ingest_dumps(
        spark, str(folder), str(fleet), progress=lambda n, of: done.append((n, of))
    )
    put(folder, "small/2026-11-06/s.json", small_json())

    found = ingest_dumps(spark, str(folder), str(fleet))

    assert done == [(2, 5), (4, 5), (5, 5)]
    assert [receipt.dump for receipt in found.receipts] == ["small/2026-11-06"]
    assert len(Store(str(fleet)).visible().snapshots) == 6


def test_rounds_hold_all_dumps_in_order():
    from planner.fleet.dumps.dump_finder import FoundFile, find_dumps

    sizes = [1, 5 * 2**30, 2, 3, 2**32, 1]
    dumps = find_dumps(FoundFile(f"c/{n}", size, 0) for n, size in enumerate(sizes))

    assert [[d.name for d in part] for part in rounds(dumps)] == [
        ["c/0"], ["c/1"], ["c/2", "c/3"], ["c/4"], ["c/5"],
    ]  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_every_slot_is_a_task_of_its_own_in_order(spark, count):
    rows = [(slot, n) for n, slot in enumerate(slots(spark, count))]
    table = dealt(spark.createDataFrame(rows, f"{SLOT} int, n int"), count)

    from pyspark.sql import functions as F  # noqa: N812

    found = table.select("n", F.spark_partition_id().alias("task")).collect()
    assert sorted((row["task"], row["n"]) for row in found) == [
        (n, n) for n in range(count)
    ]


def test_the_example_job_takes_in_and_scores_what_is_new(
    spark, tmp_path, capsys, monkeypatch
):
    put(tmp_path, "dumps/eu/2026-11-21/s.json", small_json(cluster_id=None))
    places = [str(tmp_path / name) for name in ("dumps", "fleet", "scores")]
    job = Path(__file__).parents[2] / "examples" / "spark" / "ingest_fleet.py"
    monkeypatch.setattr("sys.argv", [str(job), *places])

    for expected in ("1 new dumps, 0 refused\neu: disk 1.20 x", "0 new dumps"):
        runpy.run_path(str(job))
        assert capsys.readouterr().out.startswith(expected)
