"""Pairs of halves of exchanges, against all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.core.exact.one_node.half_pairs import (
    Sum,
    Window,
    across,
    by_cells,
    by_cost,
    independent,
)
from placement.core.exact.one_node.item_moves import sets_of_moves

LOADS = (
    st.integers(-(10**12), 10**12) | st.integers(-(2**60), 2**60) | st.integers(-20, 20)
)


@st.composite
def halves(draw):
    """Costs in order, and a load of each."""
    cost = sorted(draw(st.lists(LOADS, min_size=1, max_size=12)))
    load = draw(st.lists(LOADS, min_size=len(cost), max_size=len(cost)))
    return np.array(cost, dtype=np.int64), np.array(load, dtype=np.int64)


def joined(ranges, most=10**6):
    pairs = ranges.pairs(most, np.random.default_rng(1))
    return list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


@given(halves(), LOADS, st.integers(0, 10**12) | st.integers(0, 20))
def test_each_pair_in_a_window_of_cost_is_there_once(drawn, high, width):
    cost, _ = drawn
    window = Window(high - width, high)

    pairs = joined(by_cost(cost, window))

    every = [(a, b) for a in range(len(cost)) for b in range(a, len(cost))]
    assert sorted(pairs) == [
        (a, b) for a, b in every if window.low <= cost[a] + cost[b] < window.high
    ]


@st.composite
def kinds_of_sums(draw):
    """One to three kinds of sums of as many halves, each with a window."""
    size = draw(st.integers(1, 12))
    values = st.lists(LOADS, min_size=size, max_size=size)
    width = st.integers(0, 10**12) | st.integers(0, 20)
    kinds = []
    for _ in range(draw(st.integers(1, 3))):
        high = draw(LOADS)
        window = Window(high - draw(width), high)
        kinds.append(Sum(np.array(draw(values), dtype=np.int64), window))
    return kinds


@given(kinds_of_sums(), st.data())
def test_no_pair_in_the_windows_of_all_kinds_is_missing(kinds, data):
    size = len(kinds[0].values)
    is_first = np.array([data.draw(st.booleans()) for _ in range(size)], dtype=np.bool_)

    found = {pair for ranges in by_cells(kinds, is_first) for pair in joined(ranges)}

    for a in np.nonzero(is_first)[0].tolist():
        for b in range(size):
            sums = [int(kind.values[a]) + int(kind.values[b]) for kind in kinds]
            is_within = all(
                kind.window.low <= one < kind.window.high
                for kind, one in zip(kinds, sums, strict=True)
            )
            assert not is_within or (a, b) in found


@given(kinds_of_sums())
def test_a_half_is_the_first_of_a_pair_only_if_that_is_asked_for(kinds):
    none = np.zeros(len(kinds[0].values), dtype=np.bool_)

    assert not any(ranges.total for ranges in by_cells(kinds, none))


def test_kinds_that_follow_from_others_are_left_out():
    disk = np.array([5, -3, 8, 1, -9])
    other = np.array([40, 50, -60, 10, 20])
    values = np.stack([disk, disk + other, other, np.zeros(5, dtype=np.int64)])
    windows = [Window(-2, 0), Window(-1, 0), Window(-1, 0), Window(0, 100)]

    chosen = independent(values, windows, 3)

    assert len(chosen) == 2
    assert 3 not in chosen
    assert independent(values, windows, 1) == chosen[:1]


@given(halves(), st.integers(0, 30))
def test_no_more_pairs_are_drawn_than_asked_for(drawn, most):
    cost, _ = drawn
    ranges = by_cost(cost, Window(-1e13, 1e13))

    pairs = joined(ranges, most)

    assert len(pairs) == len(set(pairs)) <= most
    assert set(pairs) <= set(joined(ranges))


@pytest.mark.parametrize(
    ("num_moves", "size"), [(1, 2), (5, 2), (6, 3), (7, 4), (3, 4)]
)
def test_every_set_of_moves_is_there_once(num_moves, size):
    rng = np.random.default_rng(1)

    sets = [
        tuple(row)
        for block in sets_of_moves(num_moves, size, 10**6, rng)
        for row in block
    ]

    bare = [tuple(one for one in row if one < num_moves) for row in sets]
    assert (
        len(set(bare))
        == len(bare)
        == sum(
            int(np.prod([num_moves - i for i in range(k)]) / np.prod(range(1, k + 1)))
            for k in range(1, size + 1)
        )
    )


@given(kinds_of_sums(), st.data())
def test_pairs_across_two_kinds_of_halves_are_all_there(kinds, data):
    first = [Sum(kind.values // 4, kind.window) for kind in kinds]
    size = data.draw(st.integers(1, 8))
    values = st.lists(LOADS, min_size=size, max_size=size)
    second = [np.array(data.draw(values), dtype=np.int64) // 4 for _ in kinds]

    found = {
        pair
        for one, other in across(first, second, 10**6, np.random.default_rng(1))
        for pair in zip(one.tolist(), other.tolist(), strict=True)
    }

    assert all(b in range(size) for _, b in found)
    for a in range(len(first[0].values)):
        for b in range(size):
            is_within = all(
                kind.window.low
                <= int(kind.values[a]) + int(other[b])
                < kind.window.high
                for kind, other in zip(first, second, strict=True)
            )
            assert not is_within or (a, b) in found
