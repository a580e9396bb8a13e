"""What Kafka's own classes answered, answered again."""

import gzip
from typing import Any

import pytest

import placement.errors
from placement.kafka_java.java_maps import hash_order
from placement.kafka_java.java_random import JavaRandom
from placement.model.kraft_reassignment import (
    SettledReplicas,
    cancel_reassignment,
    complete_reassignment,
    start_reassignment,
)
from placement.placers.classic_placer import place_classic
from placement.placers.striped_placer import place_striped
from placement.placers.usable_brokers import PlacerBrokers
from support.golden import golden_lines


def cases(name: str) -> list[Any]:
    return [pytest.param(line, id=line["case"]) for line in golden_lines(name)]


def brokers_of(given: dict[str, Any]) -> PlacerBrokers:
    return PlacerBrokers(
        ids=tuple(broker["id"] for broker in given["brokers"]),
        racks=tuple(broker["rack"] for broker in given["brokers"]),
        is_fenced=tuple(broker.get("fenced", False) for broker in given["brokers"]),
    )


def answer(work: Any) -> Any:
    """What a placer answers, in the form of the vectors."""
    try:
        return {"output": {"assignment": work()}}
    except placement.errors.KafkaRefusalError as error:
        name = type(error).__name__.removesuffix("Error") + "Exception"
        return {"error": {"class": name, "message": str(error)}}


def expected(line: dict[str, Any]) -> dict[str, Any]:
    return {key: line[key] for key in ("output", "error") if key in line}


@pytest.mark.parametrize("line", cases("classic"))
def test_classic_places_as_kafka_does(line):
    given = line["input"]
    first = max(0, given["start_partition_id"])

    def place():
        lists = place_classic(
            brokers_of(given),
            given["partitions"],
            given["replication_factor"],
            fixed_start_index=given["fixed_start_index"],
            start_partition_id=given["start_partition_id"],
            random=JavaRandom(given["seed"]) if "seed" in given else None,
        )
        return {str(first + p): row for p, row in enumerate(lists.tolist())}

    assert answer(place) == expected(line)


class Recorder(JavaRandom):
    """Keeps what is drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.draws: list[list[int]] = []

    def next_int(self, bound: int) -> int:
        drawn = super().next_int(bound)
        self.draws.append([bound, drawn])
        return drawn


@pytest.mark.parametrize("line", cases("striped"))
def test_striped_places_as_kafka_does(line):
    given = line["input"]
    random = Recorder(given["seed"])

    def place():
        return place_striped(
            brokers_of(given),
            given["partitions"],
            given["replication_factor"],
            random=random,
            rack_order=given["rack_hash_order"],
        ).tolist()

    assert answer(place) == expected(line)
    assert random.draws[: len(given["draws"])] == given["draws"]


@pytest.mark.parametrize("line", cases("striped"))
def test_racks_are_drawn_in_the_order_of_javas_hash_map(line):
    given = line["input"]

    assert hash_order(brokers_of(given).racks) == given["rack_hash_order"]


def settled(found: SettledReplicas) -> dict[str, Any]:
    return {"replicas": list(found.replicas), "isr": list(found.isr)}


@pytest.mark.parametrize("line", cases("reassignment"))
def test_reassignments_start_end_and_are_cancelled_as_kafka_does(line):
    given, isr = line["input"], line["input"]["isr"]

    ongoing = start_reassignment(given["current"], given["target"])
    completed = complete_reassignment(ongoing, isr)
    cancelled = cancel_reassignment(ongoing, isr)

    answered = {
        "replicas": list(ongoing.replicas),
        "adding": list(ongoing.adding),
        "removing": list(ongoing.removing),
        "in_progress": ongoing.is_in_progress,
        "completed": None if completed is None else settled(completed),
    }
    if "cancelled" in line["output"]:
        unclean = {"unclean": cancelled.is_unclean}
        answered["cancelled"] = settled(cancelled) | unclean
    assert answered == line["output"]


def test_vectors_of_another_folder_are_run(monkeypatch, tmp_path):
    line = '{"case": "own", "input": {}, "output": {}}\n'
    with gzip.open(tmp_path / "classic.jsonl.gz", "wt") as file:
        file.write(line)
    bundled = golden_lines("classic")
    monkeypatch.setenv("GOLDEN_DIR", str(tmp_path))

    assert [one["case"] for one in golden_lines("classic")] == ["own"]
    monkeypatch.setenv("GOLDEN_DIR", "")
    assert golden_lines("classic") == bundled
