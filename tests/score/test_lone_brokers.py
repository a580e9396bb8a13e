"""A broker alone in its rack carries what a whole rack has to, and is named."""

import pytest

from placement.score.lone_brokers import lone_broker_notes
from support.clusters import make_state


def spread(racks, num_partitions=12):
    """Each partition has a replica in every rack, brokers of a rack in turn."""
    by_rack = {r: [b for b, other in enumerate(racks) if other == r] for r in racks}
    return make_state(
        [
            [ids[p % len(ids)] for _, ids in sorted(by_rack.items())]
            for p in range(num_partitions)
        ],
        racks=racks,
    )


def test_racks_of_three_three_and_one():
    (note,) = lone_broker_notes(spread("aaabbbc"))

    assert note.where == {"broker": 6, "rack": "c"}
    assert (
        "broker 6 is alone in rack c and carries the whole rack: 12 replicas, one "
        in (note.message)
    )
    assert "the brokers of other racks carry 4 each" in note.message
    assert "Racks have 3, 3 and 1 brokers" in note.message


@pytest.mark.parametrize(
    "racks",
    [
        pytest.param("abc", id="one-each"),
        pytest.param("aabb", id="two-each"),
        pytest.param("aaa", id="one-rack"),
        pytest.param("a", id="one-broker"),
    ],
)
def test_racks_of_one_size_are_fine(racks):
    assert not [*lone_broker_notes(spread(racks))]


def test_one_that_carries_no_more_than_others_is_fine():
    state = make_state([[0], [1], [2], [3]], racks="aaab")

    assert not [*lone_broker_notes(state)]
