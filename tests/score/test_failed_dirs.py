"""Bytes of replicas in failed log dirs, which scores count and name."""

from pathlib import Path

from status.states import document, partition
from support.commands import run
from support.plans import write_document


def with_failed_dir() -> dict:
    """Return a cluster of which broker 3 has lost a log dir with two replicas."""
    lists = [
        partition(p, [1, 3], isr=[1], log_dirs=["/d1", "/d1"], size_bytes=400)
        for p in range(2)
    ]
    failed = [
        {"path": "/d1", "size_bytes": 1000, "state": "offline"},
        {"path": "/d2", "size_bytes": 900},
    ]
    return document(lists, brokers={3: {"log_dirs": failed}})


def test_a_score_names_the_bytes_that_failed_log_dirs_hold_no_more(
    capsys, tmp_path: Path
):
    path = write_document(with_failed_dir(), tmp_path / "s.json")

    found = run(capsys, "score", path, "--format", "json").document

    (broker,) = [row for row in found["by_broker"] if row["broker"] == 3]
    assert (broker["disk"]["load"], broker["disk"]["capacity"]) == (800, 900)
    (note,) = [one for one in found["notes"] if one["what"] == "failed-log-dirs"]
    assert (note["where"]["broker"], note["have"]) == (3, 800)
    assert "broker 3 counts 2 replicas in failed log dirs, 800 B" in note["message"]


def test_replicas_on_brokers_that_are_dead_are_of_no_log_dir(capsys, tmp_path: Path):
    given = with_failed_dir()
    given["brokers"][2]["state"] = "dead"
    path = write_document(given, tmp_path / "s.json")

    found = run(capsys, "score", path, "--format", "json").document

    assert "failed-log-dirs" not in {one["what"] for one in found["notes"]}
