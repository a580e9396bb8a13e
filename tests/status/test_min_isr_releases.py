"""A min.insync.replicas above the number of replicas, by the release of the brokers."""

from pathlib import Path
from typing import Any

import pytest

from planner.kafka_releases import METADATA_LEVELS
from status.states import document, partition
from support.commands import run
from support.plans import write_document

LEVEL = {name: {"metadata.version": level} for name, level in METADATA_LEVELS.items()}

SAME = """
[[scenarios]]
name = "as is"
then = "nothing"
changes = [{change = "traffic", factor = 1}]
"""

RELEASES = [
    pytest.param({"kafka_version": "3.6.2"}, True, id="3.6 refuses"),
    pytest.param({"kafka_version": "3.7.0"}, False, id="3.7 takes the fewer"),
    pytest.param({"kafka_version": "4.3.1"}, False, id="4.3 takes the fewer"),
    pytest.param({"kafka_version": "7.6.1-ccs"}, True, id="Confluent 7.6 is 3.6"),
    pytest.param({"kafka_version": "7.7.0"}, False, id="Confluent 7.7 is 3.7"),
    pytest.param({"features": LEVEL["3.7-IV0"]}, False, id="level of 3.7"),
    pytest.param(
        {"features": LEVEL["3.6-IV2"]}, True, id="level of 3.6 proves nothing"
    ),
    pytest.param({"features": {"kraft.version": 1}}, False, id="feature of 3.9"),
    pytest.param(
        {"kafka_version": "3.6.2", "features": LEVEL["3.7-IV0"]},
        False,
        id="levels of all brokers are proof",
    ),
    pytest.param({}, True, id="unknown: no refusing cluster is fine"),
]


def cluster(**header: Any) -> dict[str, Any]:
    """Return a cluster whose topic wants more in sync than it has replicas."""
    lists = [partition(p, [1 + p % 3, 4 + p % 3]) for p in range(6)]
    return document(lists, topic={"min.insync.replicas": "3"}, **header)


def answers(capsys: Any, folder: Path, header: dict[str, Any]) -> dict[str, int]:
    """Return partitions under min ISR, by the command that counts them."""
    path = write_document(cluster(**header), folder / "s.json")
    scenarios = folder / "s.toml"
    scenarios.write_text(SAME)

    def of(*words: object) -> Any:
        return run(capsys, *words, "--format", "json").document

    played = of("what-if", path, scenarios)
    return {
        "status": sum(row["partitions"] for row in of("status", path)["under_min_isr"]),
        "score": of("score", path)["violations"]["under_min_isr"],
        "failures": of("failures", path, "--broker", 1)["stages"]["now"][
            "under_min_isr"
        ],
        "what-if": played["scenarios"][0]["violations"]["under_min_isr"],
    }


@pytest.mark.parametrize(("header", "is_refused"), RELEASES)
def test_each_command_counts_refused_partitions_by_the_release(
    capsys, tmp_path: Path, header, is_refused
):
    found = answers(capsys, tmp_path, header)

    assert set(found.values()) == {6 if is_refused else 0}, found


def test_no_command_says_that_any_loss_is_survived_where_all_are_refused(
    capsys, tmp_path: Path
):
    path = write_document(cluster(kafka_version="3.6.2"), tmp_path / "s.json")
    scenarios = tmp_path / "s.toml"
    scenarios.write_text(SAME)

    outcome = run(capsys, "failures", path, "--no-pairs", "--format", "json")
    played = run(capsys, "what-if", path, scenarios, "--format", "json").document
    screen = run(capsys, "what-if", path, scenarios).out

    assert outcome.code == 3
    assert {v["survives"] for v in outcome.document["verdict"].values()} == {False}
    broker = played["today"]["survives"]["broker"]
    assert (broker["survives"], broker["fails"]) == (False, 0)
    assert broker["reason"] == "partitions under min ISR before any loss: 6"
    rows = [line for line in screen.splitlines() if line.startswith(("!today", "!as"))]
    assert [row.split()[-2] for row in rows] == ["nn", "nn"]


def test_an_unknown_release_that_decides_is_named(capsys, tmp_path: Path):
    path = write_document(cluster(), tmp_path / "s.json")
    scenarios = tmp_path / "s.toml"
    scenarios.write_text(SAME)

    outputs = {
        "status": run(capsys, "status", path).out,
        "score": run(capsys, "score", path).out,
        "failures": run(capsys, "failures", path, "--no-pairs").out,
        "what-if": run(capsys, "what-if", path, scenarios).out,
    }

    for command, text in outputs.items():
        assert (
            "Kafka's version is not in the snapshot, and 6 partitions have fewer "
            "replicas than min.insync.replicas: counted as refused, as before 3.7; "
            "later releases serve producers until one of these replicas is lost"
        ) in " ".join(text.split()), command


@pytest.mark.parametrize("version", ["3.6.2", "4.3.1"])
def test_a_release_that_is_known_needs_no_assumption(capsys, tmp_path, version):
    path = write_document(cluster(kafka_version=version), tmp_path / "s.json")

    found = run(capsys, "status", path, "--format", "json").document

    assert found["unknown"] == []
    assert bool(found["min_isr_choices"]) == (version == "3.6.2")


def test_replicas_that_are_being_added_count_for_the_smallest_isr(capsys, tmp_path):
    growing = partition(0, [1, 2, 3], isr=[1, 2], adding_replicas=[3])
    path = write_document(
        document([growing], topic={"min.insync.replicas": "3"}, kafka_version="4.3.1"),
        tmp_path / "s.json",
    )

    found = run(capsys, "status", path, "--format", "json").document

    (short,) = found["under_min_isr"]
    assert (short["least_in_sync"], short["needed"]) == (2, 3)
