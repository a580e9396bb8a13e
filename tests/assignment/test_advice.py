"""How many members a group needs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.advice import members_needed, members_worth_having


def fewest(sizes, capacity):
    """The least number of bins, by trying everything."""
    best = len(sizes)

    def place(at, rooms):
        nonlocal best
        if len(rooms) >= best:
            return
        if at == len(sizes):
            best = len(rooms)
            return
        for bin_at, room in enumerate(rooms):
            if sizes[at] <= room:
                place(at + 1, [*rooms[:bin_at], room - sizes[at], *rooms[bin_at + 1 :]])
        place(at + 1, [*rooms, capacity - sizes[at]])

    place(0, [])
    return best


@pytest.mark.parametrize(
    ("load", "capacity", "at_least", "enough", "too_heavy"),
    [
        pytest.param([], 1, 0, 0, [], id="nothing"),
        pytest.param([0, 0], 1, 0, 0, [], id="nothing to do"),
        pytest.param([1, 1, 1, 1], 2, 2, 2, [], id="fits exactly"),
        pytest.param([0.1] * 10, 1, 1, 1, [], id="rounding does not count"),
        pytest.param([3, 3, 3], 5, 3, 3, [], id="no two fit together"),
        pytest.param([9, 1, 1], 5, 1, 1, [0], id="one is too heavy for anybody"),
        pytest.param([4, 4, 3, 3, 3, 3], 10, 2, 3, [], id="best fit is not best"),
    ],
)
def test_members_needed(load, capacity, at_least, enough, too_heavy):
    found = members_needed(np.array(load, dtype=np.float64), capacity)

    assert (found.at_least, found.enough) == (at_least, enough)
    assert found.too_heavy.tolist() == too_heavy


@given(st.lists(st.integers(0, 12), max_size=7), st.integers(1, 12))
def test_members_needed_are_between_the_bound_and_the_number_found(load, capacity):
    found = members_needed(np.array(load, dtype=np.float64), capacity)

    needed = fewest([size for size in load if 0 < size <= capacity], capacity)
    assert found.at_least <= needed <= found.enough
    assert 9 * found.enough <= 11 * needed + 36
    assert found.too_heavy.tolist() == [
        row for row, size in enumerate(load) if size > capacity
    ]


@given(st.lists(st.integers(0, 9), max_size=7))
def test_more_members_than_are_worth_having_relieve_no_member(load):
    found = members_worth_having(np.array(load, dtype=np.float64))

    if not any(load):
        assert found == 0
    else:
        assert fewest([size for size in load if size], max(load)) <= found <= len(load)
