"""One option for every partition, so that brokers come near their bands."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.choosing import OVER, Options, choose
from placement.core.problem import NO_LIMIT, Limits


def make_limits(lower, upper, capacity=None) -> Limits:
    ends = [np.array(rows, dtype=np.int64) for rows in (lower, upper)]
    middle = (ends[0] + ends[1]) / 2
    most = np.full(ends[0].shape, NO_LIMIT) if capacity is None else np.array(capacity)
    return Limits(
        fixed=np.zeros_like(ends[0]),
        capacity=most.astype(np.int64),
        lower=ends[0],
        upper=ends[1],
        target=np.maximum(middle, 1.0),
    )


def make_options(groups) -> Options:
    """Build options: per group a list of options, each a list of (broker, loads)."""
    flat = [option for group in groups for option in group]
    changes = [change for option in flat for change in option]
    return Options(
        start=np.cumsum([0, *map(len, groups)], dtype=np.int64),
        change_start=np.cumsum([0, *map(len, flat)], dtype=np.int64),
        broker_idx=np.array([broker for broker, _ in changes], dtype=np.int32),
        change=np.array([load for _, load in changes], dtype=np.int64),
    )


def penalty(load, limits: Limits) -> float:
    """The sum that is made small, from its definition."""
    off = np.maximum(np.maximum(load - limits.upper, limits.lower - load), 0)
    over = np.maximum(load - limits.capacity, 0)
    return float(
        ((off / limits.target) ** 2).sum() + OVER * (over / limits.target).sum()
    )


def total(groups, chosen, load):
    load = np.array(load, dtype=np.int64)
    for group, option in zip(groups, chosen, strict=True):
        for broker, change in group[option]:
            load[broker] += change
    return load


def test_the_first_option_is_taken_where_all_are_as_good():
    groups = [[[(0, [1])], [(1, [1])]]]
    limits = make_limits([[0], [0]], [[9], [9]])

    assert choose(make_options(groups), np.zeros((2, 1)), limits).tolist() == [0]


def test_loads_are_spread():
    groups = [[[(0, [1])], [(1, [1])]] for _ in range(4)]
    limits = make_limits([[2], [2]], [[2], [2]])

    chosen = choose(make_options(groups), np.zeros((2, 1)), limits)

    assert np.bincount(chosen % 2).tolist() == [2, 2]


def test_a_capacity_goes_before_any_band():
    groups = [[[(0, [5])], [(1, [5])]]]
    limits = make_limits([[5], [0]], [[5], [0]], capacity=[[4], [99]])

    assert choose(make_options(groups), np.zeros((2, 1)), limits).tolist() == [1]


change = st.tuples(
    st.integers(0, 2), st.lists(st.integers(-4, 6), min_size=2, max_size=2)
)
options = st.lists(st.lists(change, min_size=1, max_size=2), min_size=1, max_size=3)
loads = st.lists(
    st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=3, max_size=3
)


@settings(max_examples=100)
@given(st.lists(options, min_size=1, max_size=4), loads, loads)
def test_no_other_option_of_one_partition_is_better(groups, load, lower):
    upper = (np.array(lower) + 2).tolist()
    capacity = (np.array(lower) + 8).tolist()
    limits = make_limits(lower, upper, capacity)
    starts = np.cumsum([0, *map(len, groups)])

    found = choose(make_options(groups), np.array(load), limits)

    chosen = [int(o) - int(s) for o, s in zip(found, starts, strict=False)]
    assert all(0 <= o < len(g) for o, g in zip(chosen, groups, strict=True))
    worth = penalty(total(groups, chosen, load), limits)
    for g, group in enumerate(groups):
        for option in range(len(group)):
            other = [*chosen[:g], option, *chosen[g + 1 :]]
            assert penalty(total(groups, other, load), limits) >= worth * (1 - 1e-9)
