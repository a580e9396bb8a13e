"""The controller's decision for one partition, against what Kafka's own class said."""

from typing import Any

import pytest

from failures.kafka_controller import Registration, change_partition
from placement.failures.controller_decision import Election
from support.golden import golden_lines

LISTS = ("replicas", "isr", "elr", "last_known_elr", "adding", "removing")
LINES = golden_lines("partition_change")


def registered(told: dict[str, Any]) -> Registration:
    return Registration(
        leader=told["leader"],
        is_recovering=told["recovering"],
        **{name: tuple(told[name]) for name in LISTS},
    )


def told_fields(record: dict[str, Any]) -> dict[str, Any]:
    names = {"is_recovering": "recovering"}
    return {
        names.get(name, name): list(value) if isinstance(value, tuple) else value
        for name, value in record.items()
    }


def test_there_are_as_many_vectors_as_promised():
    assert len({line["case"] for line in LINES}) == len(LINES) == 200


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["case"])
def test_the_controller_decides_as_kafkas_own_class(line: dict[str, Any]):
    given, expected = line["input"], dict(line["output"])

    found = change_partition(
        registered(given),
        alive=given["alive"],
        election=Election(given["election"]),
        min_isr=given["min_isr"],
        has_elr=given["elr_enabled"],
        target_isr=given.get("target_isr"),
        unclean_shutdown=given.get("unclean_shutdown", ()),
    )

    after = expected.pop("after", None)
    assert bool(found.record) == expected.pop("changed")
    assert told_fields(found.record) == expected
    if after is not None:
        assert ("leader" in found.record) == after.pop("leader_epoch_bumped")
        assert found.after == registered(after)
