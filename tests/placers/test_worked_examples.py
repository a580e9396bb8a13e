"""Worked examples of placement that must come out exactly, each under its own name."""

import pytest

from placement.kafka_java.java_random import JavaRandom
from placement.placers.classic_placer import arrange_by_rack, place_classic
from placement.placers.striped_placer import place_striped
from placement.placers.usable_brokers import PlacerBrokers

RACKS = {0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}


def brokers(racks: dict[int, str | None], fenced: set[int] = frozenset()):
    return PlacerBrokers(
        ids=tuple(racks),
        racks=tuple(racks.values()),
        is_fenced=tuple(broker in fenced for broker in racks),
    )


def test_classic_ten_partitions_of_three_replicas_on_five_brokers():
    placed = place_classic(brokers(dict.fromkeys(range(5))), 10, 3, fixed_start_index=0)

    assert placed.tolist() == [
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 0],
        [4, 0, 1],
        [0, 2, 3],
        [1, 3, 4],
        [2, 4, 0],
        [3, 0, 1],
        [4, 1, 2],
    ]


def test_classic_seven_partitions_of_three_replicas_on_three_racks():
    placed = place_classic(brokers(RACKS), 7, 3, fixed_start_index=0)

    assert arrange_by_rack(brokers(RACKS)).ids == (0, 3, 1, 5, 4, 2)
    assert placed.tolist() == [
        [0, 3, 1],
        [3, 1, 5],
        [1, 5, 4],
        [5, 4, 2],
        [4, 2, 0],
        [2, 0, 3],
        [0, 4, 2],
    ]


class TestRandom(JavaRandom):
    """The generator of Kafka's own test of its striped placer: 64 bits, from 17."""

    __test__ = False

    def __init__(self) -> None:
        super().__init__(0)
        self._state = 17

    def _next(self, bits: int) -> int:
        multiplier, increment = 2862933555777941757, 3037000493
        self._state = (self._state * multiplier + increment) % 2**64
        return self._state >> (64 - bits)


@pytest.mark.parametrize(
    ("racks", "fenced", "expected"),
    [
        pytest.param(
            dict.fromkeys([0, 1, 2, 3]),
            set(),
            [[2, 3, 0], [3, 0, 1], [0, 1, 2], [1, 2, 3], [1, 0, 2]],
            id="four-brokers-without-racks",
        ),
        pytest.param(
            dict.fromkeys([0, 1, 2, 3, 4]),
            {1},
            [[3, 4, 0, 2], [4, 0, 2, 3], [0, 2, 3, 4], [2, 3, 4, 0], [0, 4, 3, 2]],
            id="one-of-five-fenced-and-not-needed",
        ),
        pytest.param(
            dict.fromkeys([1, 2, 3]),
            {1},
            [[3, 2, 1], [2, 3, 1], [3, 2, 1], [2, 3, 1]],
            id="one-of-three-fenced-and-needed",
        ),
        pytest.param(
            {10: "r1", 11: "r1", 20: "r2", 21: "r2", 30: "r3", 31: "r3"},
            {20},
            [[11, 21, 31, 10], [21, 30, 10, 20], [31, 11, 21, 30]],
            id="more-replicas-than-racks",
        ),
        pytest.param(
            {10: "r1", 11: "r1", 20: "r2", 21: "r2"}
            | {30: "r3", 31: "r3", 40: "r4", 41: "r4"},
            {20, 21, 30, 31, 40},
            [[41, 11, 21, 30], [10, 20, 31, 41], [41, 21, 30, 11]],
            id="racks-that-are-fenced-as-a-whole",
        ),
    ],
)
def test_striped_places_as_in_kafkas_own_test(racks, fenced, expected):
    placed = place_striped(
        brokers(racks, fenced),
        len(expected),
        len(expected[0]),
        random=TestRandom(),
        # Names so short hash in their order.
        rack_order=sorted(set(racks.values()), key=str),
    )

    assert placed.tolist() == expected
