"""Bounds on brokers against counting everything, on cases small enough for that."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.demand.broker_demand import (
    SIZED,
    Demand,
    Wanted,
    bins_needed,
    demand_of,
    even_fleet,
    fleet_of,
    needs_of,
)
from placement.model.load import Resource
from placement.sizing.broker_kinds import BrokerKind, mix_fleet
from placement.sizing.fewest_brokers import (
    MOST_BROKERS,
    least_brokers,
    least_with_rack_lost,
)
from placement.sizing.mix_model import cheapest_mix
from support.clusters import make_state

ALL = dict.fromkeys(SIZED, 1.0)
NOTHING = Wanted(thresholds=ALL, survives=frozenset())
ANYTHING = Wanted(thresholds=ALL, survives=frozenset({"broker", "rack"}))


def least_bins(items: list[int], size: int) -> int:
    """Return the fewest bins, by trying every way to fill them."""
    best = len(items)
    for places in itertools.product(range(len(items)), repeat=len(items)):
        load = np.bincount(places, weights=items, minlength=len(items))
        if load.max(initial=0) <= size:
            best = min(best, int((load > 0).sum()))
    return best


@settings(max_examples=60)
@given(st.lists(st.integers(1, 10), min_size=1, max_size=5))
def test_no_packing_beats_the_bound(items: list[int]):
    ordered = np.array(sorted(items, reverse=True), dtype=float)

    bound, _ = bins_needed(ordered, 10.0)

    volume = -(-sum(items) // 10)
    assert volume <= bound <= least_bins(items, 10)


@pytest.mark.parametrize(
    ("items", "bins", "kind"),
    [
        pytest.param([6, 6, 6, 1], 3, "pigeonhole", id="three-over-half"),
        pytest.param([5, 5, 5, 5], 2, "volume", id="halves"),
        pytest.param([7, 4, 4, 4, 4], 3, "volume", id="volume"),
        pytest.param([9, 9, 3, 3, 3], 3, "volume", id="full"),
        pytest.param([4] * 10, 5, "pigeonhole", id="two-in-each"),
        pytest.param([2.6] * 30, 10, "pigeonhole", id="three-in-each"),
        pytest.param([8, 8, 4, 4, 4], 4, "pigeonhole", id="small-ones-find-no-room"),
    ],
)
def test_what_cannot_be_cut_needs_more(items: list[float], bins: int, kind: str):
    assert bins_needed(np.array(items, dtype=float), 10.0) == (bins, kind)


def a_demand(lists: Any, sizes: Any, racks: str = "abc") -> Demand:
    return demand_of(
        make_state(lists, racks=racks, size_bytes=sizes, in_rate=0.0, out_rate=0.0)
    )


def fits(sizes: list[int], factors: list[int], count: int, capacity: int) -> bool:
    """Tell whether some placement on so many brokers without racks fits."""
    choices = [list(itertools.combinations(range(count), factor)) for factor in factors]
    for chosen in itertools.product(*choices):
        load = np.zeros(count)
        for size, brokers in zip(sizes, chosen, strict=True):
            load[list(brokers)] += size
        if load.max() <= capacity:
            return True
    return False


@settings(max_examples=40)
@given(st.data())
def test_fewer_brokers_than_the_bound_carry_no_load(data: Any):
    count = data.draw(st.integers(1, 4))
    sizes = data.draw(st.lists(st.integers(1, 10), min_size=count, max_size=count))
    factors = [data.draw(st.integers(1, 2)) for _ in sizes]
    lists = [list(range(factor)) for factor in factors]
    demand = a_demand(lists, sizes, racks="ab")
    capacity = np.array([10.0, np.inf, np.inf, np.inf])

    # Without racks every broker counts as one of its own.
    bound = least_brokers(demand, capacity, 0, NOTHING)

    for fewer in range(max(factors), bound.brokers):
        assert not fits(sizes, factors, fewer, 10)


@pytest.mark.parametrize(
    ("left", "racks", "count"),
    [
        pytest.param(4, 3, 6, id="three-racks"),
        pytest.param(1, 2, 2, id="two-racks"),
        pytest.param(5, 5, 7, id="five-racks"),
        pytest.param(1, 1, MOST_BROKERS, id="the-only-rack"),
    ],
)
def test_brokers_left_without_a_rack(left: int, racks: int, count: int):
    assert least_with_rack_lost(left, racks) == count


@pytest.mark.parametrize(
    ("wanted", "brokers", "kind"),
    [
        # 300 bytes in all, 50 on a broker.
        pytest.param(NOTHING, 6, "volume", id="nothing-lost"),
        pytest.param(
            Wanted(thresholds=ALL, survives=frozenset({"broker"})),
            # Five racks' worth is left where seven brokers stand 3, 2, 2: no.
            9,
            "volume",
            id="a-broker-lost",
        ),
        pytest.param(
            Wanted(thresholds=ALL, survives=frozenset({"rack"})),
            9,
            "volume",
            id="a-rack-lost",
        ),
    ],
)
def test_the_fewest_of_one_kind(wanted: Wanted, brokers: int, kind: str):
    demand = a_demand([[0, 1, 2]] * 10, 10)
    capacity = np.array([50.0, np.inf, np.inf, np.inf])

    found = least_brokers(demand, capacity, 3, wanted)

    assert (found.brokers, found.kind) == (brokers, kind)
    fleet = even_fleet(capacity, brokers, 3)
    assert all(need.is_met for need in needs_of(demand, fleet, wanted))
    fewer = even_fleet(capacity, brokers - 1, 3)
    assert not all(need.is_met for need in needs_of(demand, fewer, wanted))


def test_a_replica_too_large_for_any_broker_is_said():
    demand = a_demand([[0]], 11)

    found = least_brokers(demand, np.array([10.0, np.inf, np.inf, np.inf]), 3, NOTHING)

    assert (found.kind, found.brokers) == ("heaviest", MOST_BROKERS)


def test_replicas_need_brokers_of_their_own():
    demand = a_demand([[0, 1, 2]], 1)

    found = least_brokers(demand, np.full(4, np.inf), 3, ANYTHING)

    # Three must be left without a rack: five, or four without a broker.
    assert (found.kind, found.brokers, found.lost) == ("replication-factor", 5, "rack")


KINDS = (
    BrokerKind(name="small", capacity=np.array([4.0, *[np.inf] * 3]), price=1.0),
    BrokerKind(name="large", capacity=np.array([9.0, *[np.inf] * 3]), price=1.9),
)


DENSE_OR_FAST = (
    BrokerKind(name="dense", capacity=np.array([9.0, 3, np.inf, np.inf]), price=1.9),
    BrokerKind(
        name="fast",
        capacity=np.array([4.0, 8, np.inf, np.inf]),
        price=1.3,
        max_replicas=3,
        available=3,
    ),
)


def brute_force(
    demand: Demand,
    racks: int,
    wanted: Wanted,
    most: int,
    kinds: tuple[BrokerKind, ...] = KINDS,
) -> float:
    """Return the least price over all mixes in even racks, by the formula itself."""
    best = np.inf
    prices = [kind.price for kind in kinds]
    stock = [np.inf if kind.available is None else kind.available for kind in kinds]
    each_rack = [
        (a, b) for a in range(most + 1) for b in range(most + 1) if a + b <= most
    ]
    for chosen in itertools.product(each_rack, repeat=racks):
        counts = np.array(chosen).T
        totals = counts.sum(axis=0)
        if totals.sum() == 0 or totals.max() - totals.min() > 1:
            continue
        price = float((counts.sum(axis=1) * prices).sum())
        if (counts.sum(axis=1) > stock).any():
            continue
        if price >= best or totals.sum() < demand.largest_factor:
            continue
        if wanted.survives and totals.sum() - totals.max() < demand.largest_factor:
            continue
        fleet = _fleet(kinds, counts)
        if all(need.is_met for need in needs_of(demand, fleet, wanted)):
            best = price
    return best


def _fleet(kinds: tuple[BrokerKind, ...], counts: Any) -> Any:
    from placement.sizing.broker_kinds import Mix

    return mix_fleet(kinds, Mix(counts=counts, price=0.0, least_price=0.0))


@settings(max_examples=12)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.integers(1, 2),
    st.sampled_from([NOTHING, ANYTHING]),
)
def test_the_cheapest_mix_is_the_cheapest_of_all(
    sizes: list[int], factor: int, wanted: Wanted
):
    demand = a_demand([list(range(factor))] * len(sizes), sizes, racks="ab")

    mix = cheapest_mix(demand, KINDS, 2, wanted)

    assert mix is not None
    expected = brute_force(demand, 2, wanted, 4)
    assert mix.price == pytest.approx(expected)
    assert mix.least_price == pytest.approx(expected)
    fleet = mix_fleet(KINDS, mix)
    assert all(need.level <= 1 + 1e-6 for need in needs_of(demand, fleet, wanted))


@settings(max_examples=12)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4),
    st.integers(1, 2),
    st.sampled_from([NOTHING, ANYTHING]),
)
def test_the_cheapest_mix_carries_disk_traffic_and_counts_at_the_least_price(
    loads: list[tuple[int, int]], factor: int, wanted: Wanted
):
    sizes, rates = (list(column) for column in zip(*loads, strict=True))
    state = make_state(
        [list(range(factor))] * len(loads),
        racks="ab", size_bytes=sizes, in_rate=rates, out_rate=0.0,
    )  # fmt: skip
    demand = demand_of(state)

    mix = cheapest_mix(demand, DENSE_OR_FAST, 2, wanted)

    expected = brute_force(demand, 2, wanted, 4, DENSE_OR_FAST)
    if mix is None:
        assert np.isinf(expected)
        return
    assert mix.counts.sum(axis=1)[1] <= 3
    if mix.counts.sum(axis=0).max() <= 4:
        assert mix.price == pytest.approx(expected)
    assert mix.least_price <= expected + 1e-9


def test_what_is_not_available_is_not_used():
    from dataclasses import replace

    demand = a_demand([[0, 1]] * 4, 4, racks="ab")
    rare = (KINDS[0], replace(KINDS[1], price=0.1, available=1))

    mix = cheapest_mix(demand, rare, 2, NOTHING)

    assert mix is not None
    assert mix.counts.sum(axis=1).tolist()[1] <= 1
    none = (replace(KINDS[0], available=1), replace(KINDS[1], available=0))
    assert cheapest_mix(demand, none, 2, NOTHING) is None


def test_the_fleet_of_a_cluster_is_its_live_brokers():
    state = make_state(
        [[0, 1]], racks="ab", disk_bytes=10, broker_in=[1.0, np.nan], max_replicas=7
    )

    fleet = fleet_of(state)

    assert fleet.capacity[:, SIZED.index(Resource.DISK)].tolist() == [10.0, 10.0]
    assert np.isinf(fleet.capacity[1, SIZED.index(Resource.IN)])
    assert fleet.max_replicas.tolist() == [7.0, 7.0]
    assert len(fleet_of(state, frozenset({0}))) == 1
