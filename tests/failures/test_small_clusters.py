"""Failures of the smallest clusters: no broker, one, two or three."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.commands import run
from support.plans import write_document


def small(
    tmp_path: Path,
    lists: list[list[int]],
    *,
    brokers: list[dict[str, Any]],
    min_isr: int = 1,
    **more: Any,
) -> Path:
    """Write a cluster with one topic that has these replica lists."""
    partitions = [
        {"partition": p, "replicas": replicas, "size_bytes": 100, **more}
        for p, replicas in enumerate(lists)
    ]
    configs = {"min.insync.replicas": str(min_isr)}
    topics = [{"name": "t", "configs": configs, "partitions": partitions}]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "small",
        "brokers": brokers,
        "topics": topics if lists else [],
    }
    return write_document(document, tmp_path / "small.json")


def alike(count: int, **more: Any) -> list[dict[str, Any]]:
    """Return so many brokers with a disk each."""
    disk = [{"path": "/d", "size_bytes": 10_000}]
    return [{"id": b, "log_dirs": disk, **more} for b in range(1, count + 1)]


@pytest.mark.parametrize(
    "brokers", [[], alike(3, state="fenced")], ids=["none", "all-fenced"]
)
def test_without_a_live_broker_nothing_is_survived(capsys, tmp_path: Path, brokers):
    lists = [[1, 2, 3]] if brokers else []
    path = small(tmp_path, lists, brokers=brokers)

    outcome = run(capsys, "failures", path)

    assert outcome.code == 3
    assert "N-1 broker no: no broker is live" in outcome.out
    found = run(capsys, "failures", path, "--format", "json").document
    assert found["verdict"]["broker"]["survives"] is False


@pytest.mark.parametrize(
    ("count", "lists", "min_isr", "note"),
    [
        (1, [[1]], 1, "t needs 2 replicas, and 1 broker is live: add brokers"),
        (
            3,
            [[1, 2, 3]],
            3,
            "t needs 4 replicas, and 3 brokers are live: add brokers, or lower "
            "min.insync.replicas to 2",
        ),
    ],
    ids=["one-broker", "min-isr-of-all"],
)
def test_no_more_replicas_are_advised_than_brokers_live(
    capsys, tmp_path: Path, count: int, lists: list[list[int]], min_isr: int, note: str
):
    path = small(tmp_path, lists, brokers=alike(count), min_isr=min_isr)

    outcome = run(capsys, "failures", path, "--broker", 1)

    assert note in " ".join(outcome.out.split())
    assert "set-replication-factor" not in outcome.out
    assert f"kafka-planner size {path} --survive broker" in unwrapped(outcome.out)


def test_more_replicas_are_advised_where_brokers_are_left(capsys, tmp_path: Path):
    path = small(tmp_path, [[1, 2]], brokers=alike(3), min_isr=2)

    outcome = run(capsys, "failures", path, "--broker", 1)

    assert "--replication-factor 3 --topics t" in unwrapped(outcome.out)


def unwrapped(text: str) -> str:
    """Return the text with the lines of its commands joined."""
    return " ".join(text.replace("\\\n", " ").split())


def test_what_has_no_source_takes_no_time_to_rebuild_but_is_not_rebuilt(
    capsys, tmp_path: Path
):
    path = small(tmp_path, [[1], [2], [3]], brokers=alike(3))

    outcome = run(capsys, "failures", path, "--no-pairs")

    row = next(line for line in outcome.out.splitlines() if line.startswith("!1 "))
    assert row.split()[-1] == "none"


def test_all_brokers_that_are_lost_are_left_to_return(capsys, tmp_path: Path):
    path = small(tmp_path, [[1, 2]], brokers=alike(2), in_bytes_per_s=1.0)

    outcome = run(capsys, "failures", path, "--broker", "1-2")

    assert "Brokers 1-2 lost: not survived" in outcome.out
    assert "On return  only what was lost serves then" in outcome.out


def test_a_verdict_does_not_hide_what_is_refused_before_any_loss(
    capsys, tmp_path: Path
):
    path = small(tmp_path, [[1, 2]], brokers=alike(3), min_isr=3)

    outcome = run(capsys, "failures", path, "--no-pairs")

    assert outcome.code == 3
    assert (
        "N-1 broker no: 1 partition under min ISR already, with no loss; of the others "
        "yes, if the controllers keep their majority;"
    ) in unwrapped(outcome.out)


def test_disks_that_are_full_are_not_filled_by_a_loss_that_rebuilds_nothing(
    capsys, tmp_path: Path
):
    path = small(tmp_path, [[1, 2]] * 90, brokers=alike(2))

    outcome = run(capsys, "failures", path, "--no-pairs")

    assert outcome.code == 0
    assert "when rebuilt" not in outcome.out
    assert "N-1 broker yes, if the controllers" in outcome.out
    assert "disk 90 %, 90 replicas have no broker left" in unwrapped(outcome.out)


def test_without_a_majority_no_leader_is_elected(capsys, tmp_path: Path):
    path = small(tmp_path, [[1, 2, 3]] * 2, brokers=alike(3))
    document = json.loads(path.read_text())
    document["controllers"] = [
        {"id": b, "voter": True, "combined": True} for b in (1, 2, 3)
    ]
    write_document(document, path)

    lost = run(capsys, "failures", path, "--broker", "1-2")
    kept = run(capsys, "failures", path, "--broker", 1)

    note = "without their majority controllers elect nothing"
    assert note in unwrapped(lost.out)
    assert note not in unwrapped(kept.out)


@pytest.mark.parametrize("known", [0, 1, 2])
def test_figures_of_half_the_loads_are_said_to_be_too_low(
    capsys, tmp_path: Path, known: int
):
    path = small(tmp_path, [[1, 2], [2, 1]], brokers=alike(2))
    document = json.loads(path.read_text())
    for partition in document["topics"][0]["partitions"][:known]:
        partition["in_bytes_per_s"] = partition["out_bytes_per_s"] = 1.0
    write_document(document, path)

    text = unwrapped(run(capsys, "failures", path, "--no-pairs").out)

    note = "figures of in (known for 50 % of the partitions), out (50 %) are too low"
    assert (note in text) == (known == 1)
    assert ("as far as loads are known" in text) == (known == 1)
