"""Commands on Spark, and what they write."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.snapshot import Snapshot, write_snapshot
from planner.spark.session import settings
from support.commands import run
from support.plans import skewed_document, write_document
from support.scores import (
    by_place,
    differences,
    document_differences,
    in_memory,
)
from support.snapshots import small_document

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


LESS = Snapshot.from_document(small_document()).log_dirs.slice(0, 4)


def snapshot(cluster_id, taken_at="2026-11-21T08:00:00Z"):
    return Snapshot.from_document(
        small_document(cluster_id=cluster_id, taken_at=taken_at)
    )


def written(spark, folder):
    """Every score in a folder, the column of its days left out."""
    table = spark.read.parquet(str(folder / "scores")).drop("date")
    return by_place(table.toArrow())


def test_score_on_spark_is_score(spark, tmp_path, capsys):
    folder, file = tmp_path / "snap", tmp_path / "small.json"
    skewed = Snapshot.from_document(skewed_document())
    write_snapshot(skewed, folder)
    write_document(small_document(), file)

    plain = run(capsys, "score", folder, file, "--format", "json").document
    out = tmp_path / "out"
    found = run(
        capsys, "score", folder, file, "--spark", "-o", out, "--format", "json",
        "--fail-on", "rack >= 0",
    )  # fmt: skip

    assert found.code == 3
    for one, other in zip(plain, found.document, strict=True):
        assert other.pop("fail_on") == [{"condition": "rack >= 0", "holds": True}]
        assert other["cluster_id"] == one["cluster_id"]
        assert other["violations"] == one["violations"]
        for resource, figures in one["resources"].items():
            assert other["resources"][resource] == pytest.approx(figures, rel=1e-9)
    rows = written(spark, out)
    assert not differences(
        in_memory([skewed]), {k: v for k, v in rows.items() if k[0] == "skewed"}
    )


def test_scores_on_spark_begin_with_what_is_wrong_now(spark, tmp_path, capsys):
    document = small_document(kafka_version="3.6.2")
    document["brokers"][1]["state"] = "dead"
    document["configs"] = {"min.insync.replicas": "2"}
    document["topics"][0]["partitions"][0] |= {"isr": [1]}
    hurt = write_document(document, tmp_path / "hurt.json")
    fine = write_document(small_document(cluster_id="fine"), tmp_path / "fine.json")

    plain = run(capsys, "score", hurt).out
    outcome = run(capsys, "score", hurt, fine, "--spark")

    assert f"see kafka-planner status {hurt}" in " ".join(plain.split())
    wrong = [line for line in outcome.out.splitlines() if "Wrong now" in line]
    assert len(wrong) == 1
    assert (
        "Wrong now: 2 partitions under min ISR; 2 replicas offline; 2 partitions "
        f"under-replicated; see kafka-planner status {hurt}"
    ) in " ".join(outcome.out.split())


def test_brokers_and_hot_spots_on_spark_are_those_in_memory(spark, tmp_path, capsys):
    folder = tmp_path / "skewed"
    document = skewed_document(num_brokers=12, num_partitions=400, seed=3)
    # Half of the disk is taken by what no replica explains.
    document["brokers"][0]["log_dirs"][0]["usable_bytes"] = 0
    write_snapshot(Snapshot.from_document(document), folder)
    # Without hot spots, and one of the same cluster and another time.
    even = write_document(
        small_document(cluster_id="skewed", taken_at=None), tmp_path / "even.json"
    )
    given = (folder, SNAPSHOT_FILE, even)

    plain = run(capsys, "score", *given, "--format", "json").document
    found = run(capsys, "score", *given, "--spark", "--format", "json").document

    names = ("by_broker", "hot_spots", "num_hot_spots")
    expected = [{name: each[name] for name in names} for each in plain]
    told = [{name: each[name] for name in names} for each in found]
    assert document_differences(expected, told) == []
    assert expected[1]["num_hot_spots"] > len(expected[1]["hot_spots"]) == 20
    assert any(spot["leader_moves"] for each in told for spot in each["hot_spots"])
    assert any(spot["fixed"] for each in told for spot in each["hot_spots"])


def test_brokers_that_are_too_many_are_not_listed(spark, tmp_path, capsys, monkeypatch):
    file = write_document(skewed_document(), tmp_path / "s.json")
    monkeypatch.setattr("planner.spark.scoring.hot_brokers.MOST_BROKERS", 5)
    monkeypatch.setattr("planner.spark.scoring.hot_brokers.MOST_REPLICAS", 5)

    plain = run(capsys, "score", file, "--format", "json").document
    found = run(
        capsys, "score", file, "--spark", "--format", "json",
        "--fail-on", "num_hot_spots > 0",
    )  # fmt: skip

    assert (found.document["by_broker"], found.document["hot_spots"]) == (None, None)
    assert found.document["num_hot_spots"] == plain["num_hot_spots"] > 0
    assert found.code == 3


def test_a_fleet_is_scored_once_and_new_days_are_added(spark, tmp_path, capsys):
    fleet, out = tmp_path / "fleet", tmp_path / "out"
    snapshots = [
        snapshot("007"),
        snapshot("b"),
        snapshot("007", "2026-11-22T00:00:00Z"),
    ]

    def append(each):
        document = write_document(each.to_document(), tmp_path / "s.json")
        assert run(capsys, "snapshot", "convert", document, "--fleet", fleet).code == 0

    def score():
        found = run(capsys, "fleet", "score", fleet, "-o", out, "--format", "json")
        assert found.code == 0
        return [each["cluster_id"] for each in found.document["snapshots"]]

    append(snapshots[0])
    assert score() == ["007"]
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    assert score() == []
    assert {p: p.stat().st_mtime_ns for p in out.rglob("*.parquet")} == before
    append(snapshots[2])
    assert score() == ["007"]
    append(snapshots[1])
    assert score() == ["007", "b"]
    run(capsys, "fleet", "compact", fleet)
    assert score() == []
    # Said anew since: that day again, and what was wrong with it is of before.
    old = out / "problems" / "date=2026-11-22" / "part-0.parquet"
    old.parent.mkdir(parents=True)
    old.write_text("what was wrong")
    snapshots[2] = replace(snapshots[2], kafka_version="4.3.1", log_dirs=LESS)
    append(snapshots[2])
    assert score() == ["007"]
    assert not old.exists()

    assert differences(in_memory(snapshots), written(spark, out)) == []


def test_what_is_no_fleet_is_refused(spark, tmp_path, capsys):
    found = run(capsys, "fleet", "score", tmp_path, "-o", tmp_path / "out")

    assert found.code == 2
    assert "commit markers" in found.err
    assert not (tmp_path / "out").exists()


def test_without_java_one_line_says_how_to_get_it(tmp_path):
    file = write_document(small_document(), tmp_path / "s.json")

    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from planner.cli.main import run; run()",
            "score",
            str(file),
            "--spark",
        ],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
    )

    assert done.returncode == 2
    first = done.stderr.splitlines()[0]
    assert re.search(r"Java 17 or newer.*install|set JAVA_HOME", first)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("master", "conf", "expected"),
    [
        pytest.param(None, {}, "local[*]", id="this-machine"),
        pytest.param("spark://h:7077", {}, "spark://h:7077", id="option"),
        pytest.param(None, {"spark.master": "yarn"}, "yarn", id="setting"),
    ],
)
def test_settings(master, conf, expected, monkeypatch):
    monkeypatch.delenv("SPARK_ENV_LOADED", raising=False)

    chosen = settings(master=master, conf={**conf, "spark.ui.enabled": "true"})

    assert chosen["spark.master"] == expected
    assert chosen["spark.ui.enabled"] == "true"
    assert ("spark.driver.memory" in chosen) == expected.startswith("local")


def test_spark_submit_decides_where(monkeypatch):
    monkeypatch.setenv("SPARK_ENV_LOADED", "1")

    assert "spark.master" not in settings(master=None, conf={})


def test_settings_are_pairs(tmp_path, capsys):
    file = write_document(small_document(), tmp_path / "s.json")

    found = run(capsys, "score", file, "--spark", "--conf", "nothing")

    assert found.code == 2
    assert "KEY=VALUE" in found.err
