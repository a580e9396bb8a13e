"""Pairs of halves of exchanges, against all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.core.exact.decomposition.half_pairs import (
    Window,
    by_cost,
    by_cost_and_load,
)
from placement.core.exact.decomposition.item_moves import sets_of_moves

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


@given(
    halves(),
    st.integers(1, 10**12) | st.integers(1, 20),
    LOADS,
    st.integers(0, 10**12) | st.integers(0, 20),
)
def test_no_pair_in_both_windows_is_missing(drawn, gap, high, width):
    cost, load = drawn
    window, of_load = Window(-gap, 0), Window(high - width, high)

    found = {
        frozenset(pair)
        for ranges in by_cost_and_load(cost, load, window, of_load)
        for pair in joined(ranges)
    }

    for a in range(len(cost)):
        for b in range(a, len(cost)):
            in_cost = window.low <= cost[a] + cost[b] < window.high
            in_load = of_load.low <= load[a] + load[b] < of_load.high
            assert not (in_cost and in_load) or frozenset((a, b)) in found


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
