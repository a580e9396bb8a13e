"""Targets and bands against the formulas of docs/theory.md, in exact fractions."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, inf, isinf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.model.cluster import BrokerState, ClusterState
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import (
    RESOURCES,
    Resource,
    broker_loads,
    heaviest_replicas,
    preferred_leaders,
    weigh,
)
from placement.model.targets import (
    Members,
    Shares,
    Targets,
    find_targets,
    rack_limit,
    share_out,
)
from support.clusters import clusters, make_state

COUNTS = {Resource.REPLICAS, Resource.LEADERS}
LED = {Resource.OUT, Resource.LEADERS}


def members_of(state: ClusterState) -> Members:
    return Members(holds=state.brokers.is_live, leads=state.brokers.may_lead)


def targets_of(
    state: ClusterState, bands: dict[Resource, float] | None = None
) -> tuple[Shares, np.ndarray, np.ndarray, Targets]:
    weights, leaders = weigh(state), preferred_leaders(state)
    load = broker_loads(state, weights, leaders)
    heaviest = heaviest_replicas(state, weights, leaders)
    shares = share_out(state, weights, members_of(state), bands or {})
    return shares, load, heaviest, find_targets(shares, load, heaviest)


def naive_kappa(factor: int, sizes: list[int]) -> int:
    kappa = 0
    while sum(min(kappa, n) for n in sizes) < factor and kappa < max(sizes, default=0):
        kappa += 1
    return kappa


def naive_capacity(state: ClusterState, resource: Resource, member: list[int]):
    """Capacities as given where every member has one, else equal; per member."""
    brokers = state.brokers
    columns = {
        Resource.DISK: [brokers.disk_bytes],
        Resource.IN: [brokers.in_bytes_per_s],
        Resource.OUT: [brokers.out_bytes_per_s],
        Resource.CPU: [brokers.cpu_cores],
    }
    counted = [brokers.max_replicas, brokers.disk_bytes]
    holds = np.nonzero(brokers.is_live)[0].tolist()
    for column in columns.get(resource, counted):
        # Counts are shared by what all that hold replicas have.
        needed = holds if resource in COUNTS else member
        given = [float(column[b]) for b in needed]
        if needed and all(value > 0 for value in given):
            return {b: Fraction(float(column[b])) for b in member}
    return dict.fromkeys(member, Fraction(1))


def naive_rack_most(state: ClusterState, resource: Resource) -> list[float | Fraction]:
    """The most of a resource that each rack can hold."""
    racks, live = state.brokers.rack_idx, state.brokers.is_live
    if resource in LED:
        return [inf] * state.num_racks
    sizes = [int((live & (racks == k)).sum()) for k in range(state.num_racks)]
    weights, r = weigh(state), RESOURCES.index(resource)
    most = [Fraction(0)] * state.num_racks
    for p in range(state.num_partitions):
        kappa = naive_kappa(int(state.replication_factor[p]), sizes)
        for k, size in enumerate(sizes):
            most[k] += int(weights.replica[p, r]) * min(kappa, size)
            if resource == Resource.CPU:
                most[k] += int(weights.leader[p, r])
    if resource == Resource.DISK:
        for b, fixed in enumerate(fixed_disk_bytes(state).tolist()):
            most[racks[b]] += fixed * bool(live[b])
    return most


def naive_level(capacity: list[Fraction], most: list, total: Fraction):
    """Solve sum over racks of min(u C, L) = W for u, by trying every breakpoint."""
    racks = [(c, m) for c, m in zip(capacity, most, strict=True) if c > 0]
    if sum(m for _, m in racks) < total:
        return inf
    points = sorted(m / c for c, m in racks if not isinf(m))
    below = Fraction(0)
    for point in [*points, inf]:
        held = sum(m if isinf(point) else min(point * c, m) for c, m in racks)
        if held >= total:
            flat = sum(m for c, m in racks if m / c <= below)
            slope = sum(c for c, m in racks if m / c > below)
            return (total - flat) / slope if slope else below
        below = point
    return below


def naive_targets(state, resource, load, heaviest, band: float):
    """Targets by broker row, and those set aside; all in fractions."""
    r, racks = RESOURCES.index(resource), state.brokers.rack_idx.tolist()
    live = state.brokers.may_lead if resource in LED else state.brokers.is_live
    member = np.nonzero(live)[0].tolist()
    capacity = naive_capacity(state, resource, member)
    most = naive_rack_most(state, resource)
    whole = Fraction(sum(int(load[b, r]) for b in member))
    held = sum(most[k] for k in {racks[b] for b in member if capacity[b] > 0})
    if 0 < held < whole:
        # Replicas being added weigh, and no factor counts them.
        most = [one * whole / held for one in most]
    aside: set[int] = set()
    while True:
        rest = [b for b in member if b not in aside]
        total = Fraction(sum(int(load[b, r]) for b in rest))
        in_rack = [Fraction(0)] * state.num_racks
        room = list(most)
        for b in rest:
            in_rack[racks[b]] += capacity[b]
        for b in aside:
            room[racks[b]] = max(room[racks[b]] - int(load[b, r]), Fraction(0))
        level = naive_level(in_rack, room, total)
        target = {b: Fraction(int(load[b, r])) for b in aside}
        for b in rest:
            full = room[racks[b]] / in_rack[racks[b]]
            target[b] = capacity[b] * min(level, full)
        heavy = {
            b
            for b in rest
            if resource not in COUNTS
            and int(heaviest[b, r]) > (1 + Fraction(band)) * target[b]
            and load[b, r] > 0
        }
        if not heavy:
            return target, aside
        aside |= heavy


@settings(max_examples=70)
@given(
    clusters(reassigning=True),
    st.sampled_from(list(Resource)),
    st.sampled_from([0.0, 0.05, 0.1, 0.5]),
)
def test_targets_agree_with_exact_fractions(
    state: ClusterState, resource: Resource, band: float
):
    _, load, heaviest, found = targets_of(state, {resource: band})

    expected, aside = naive_targets(state, resource, load, heaviest, band)

    r = RESOURCES.index(resource)
    for b in range(state.num_brokers):
        target = expected.get(b, Fraction(0))
        assert found.target[b, r] == pytest.approx(float(target), rel=1e-9, abs=1e-9)
        assert found.is_aside[b, r] == (b in aside)


@settings(max_examples=70)
@given(
    clusters(),
    st.sampled_from(list(Resource)),
    st.sampled_from([0.0, 0.05, 0.1, 0.5]),
)
def test_bands_agree_with_the_formulas(
    state: ClusterState, resource: Resource, band: float
):
    _, _, heaviest, found = targets_of(state, {resource: band})

    r = RESOURCES.index(resource)
    for b in range(state.num_brokers):
        target = found.target[b, r]
        lower = (1 - band) * target
        upper = max(target, heaviest[b, r]) + band * target
        if resource in COUNTS:
            lower = min(lower, floor(target + 1e-9 * max(target, 1)))
            upper = max(upper, ceil(target - 1e-9 * max(target, 1)))
        assert found.lower[b, r] == pytest.approx(lower)
        assert found.upper[b, r] == pytest.approx(upper)


@settings(max_examples=50)
@given(clusters(), st.data())
def test_renaming_brokers_and_racks_renames_the_targets(state: ClusterState, data):
    shares, load, heaviest, found = targets_of(state)
    order = np.array(data.draw(st.permutations(range(state.num_brokers))), dtype=int)
    names = np.array(data.draw(st.permutations(range(state.num_racks))), dtype=np.int32)
    renamed = replace(
        shares,
        members=Members(
            holds=shares.members.holds[order], leads=shares.members.leads[order]
        ),
        capacity=shares.capacity[order],
        rack_idx=names[shares.rack_idx[order]],
        rack_most=shares.rack_most[np.argsort(names)],
    )

    again = find_targets(renamed, load[order], heaviest[order])

    assert again.target == pytest.approx(found.target[order])
    assert again.lower == pytest.approx(found.lower[order])
    assert again.upper == pytest.approx(found.upper[order])
    assert again.is_aside.tolist() == found.is_aside[order].tolist()


@settings(max_examples=40)
@given(clusters(), st.data())
def test_deviations_and_distances_agree_with_their_definitions(
    state: ClusterState, data
):
    _, _, _, found = targets_of(state)
    flat = st.integers(0, 500)
    load = np.array(
        [[data.draw(flat) for _ in RESOURCES] for _ in range(state.num_brokers)],
        dtype=np.int64,
    ).reshape(found.target.shape)

    deviation, outside = found.deviation(load), found.outside(load)

    for b, r in np.ndindex(*load.shape):
        target = found.target[b, r]
        if target == 0:
            assert deviation[b, r] == outside[b, r] == 0
            continue
        assert deviation[b, r] == pytest.approx(load[b, r] / target - 1)
        off = max(load[b, r] - found.upper[b, r], found.lower[b, r] - load[b, r], 0)
        assert outside[b, r] == pytest.approx(off / target, abs=1e-6)
    assert found.is_out(load).tolist() == (outside > 0).tolist()


@given(
    st.lists(st.integers(1, 12), max_size=5), st.lists(st.integers(0, 5), max_size=4)
)
def test_rack_limits_agree_with_counting_up(factors: list[int], sizes: list[int]):
    limits = rack_limit(np.array(factors, np.int64), np.array(sizes, np.int64))

    assert limits.tolist() == [naive_kappa(factor, sizes) for factor in factors]


@settings(max_examples=40)
@given(clusters(all_known=True, all_live=True))
def test_targets_sum_to_the_load_where_the_racks_can_hold_it(state: ClusterState):
    shares, load, _, found = targets_of(state)
    for r, resource in enumerate(RESOURCES):
        member = shares.members.of(r)
        assume(member.any())
        total = float(load[member, r].sum())
        poured = float(found.target[member, r].sum())
        assert poured <= total * (1 + 1e-9) + 1e-9
        if resource in LED:
            assert poured == pytest.approx(total)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        pytest.param({}, [20, 20, 20], id="equal-shares"),
        pytest.param({"disk_bytes": [100, 200, 300]}, [10, 20, 30], id="by-capacity"),
        pytest.param({"disk_bytes": [100, 200, -1]}, [20, 20, 20], id="one-unknown"),
        pytest.param({"disk_bytes": [100, 200, 0]}, [20, 20, 20], id="one-zero"),
        pytest.param(
            {"states": {2: BrokerState.DEAD}}, [20, 20, 0], id="the-dead-do-not-count"
        ),
    ],
)
def test_shares_of_a_disk(columns, expected: list[float]):
    state = make_state(
        [[0], [0], [1], [1], [2], [2]], racks="abc", size_bytes=10, **columns
    )

    _, _, _, found = targets_of(state, {Resource.DISK: 9.0})

    assert found.target[:, 0].tolist() == pytest.approx(expected)


def test_a_full_rack_takes_no_more_and_the_rest_is_poured_over_the_others():
    # Rack a has most of the capacity, but of each partition it holds one replica.
    state = make_state(
        [[0, 2], [1, 3]] * 3, racks="aabc", size_bytes=10, disk_bytes=[90, 90, 10, 10]
    )

    _, _, _, found = targets_of(state, {Resource.DISK: 9.0})

    # 120 in all: 60 at most in rack a, the other 60 go to b and c.
    assert found.target[:, 0].tolist() == pytest.approx([30, 30, 30, 30])


@pytest.mark.parametrize(
    ("lists", "racks", "adding", "expected"),
    [
        pytest.param([[0], [0, 1]], "aa", [[], [1]], [1.5, 1.5], id="one-rack"),
        pytest.param(
            [[0, 1]] * 8 + [[0, 1, 2]], "abb", [[]] * 8 + [[2]],
            [9.5, 4.75, 4.75], id="full-racks",
        ),
    ],
)  # fmt: skip
def test_a_replica_being_added_is_shared_out_like_any_other(
    lists, racks, adding, expected
):
    state = make_state(lists, racks=racks, adding=adding)

    _, _, _, found = targets_of(state)

    replicas = RESOURCES.index(Resource.REPLICAS)
    assert found.target[:, replicas].tolist() == pytest.approx(expected)


def test_a_broker_with_one_replica_over_its_band_is_set_aside():
    state = make_state([[0], [0], [1], [2]], racks="abc", size_bytes=[100, 10, 10, 10])

    _, _, _, found = targets_of(state)

    assert found.is_aside[:, 0].tolist() == [True, False, False]
    assert found.target[:, 0].tolist() == pytest.approx([110, 10, 10])
    # No broker is set aside for a count.
    assert not found.is_aside[:, 4:].any()


@pytest.mark.parametrize(
    ("num_partitions", "lower", "upper"),
    [(2, 0, 1.0667), (3, 0.9, 1.1), (4, 1, 2), (30, 9, 11), (31, 9.3, 11.3667)],
)
def test_counts_are_rounded_outwards_to_whole_replicas(
    num_partitions: int, lower: float, upper: float
):
    state = make_state([[n % 3] for n in range(num_partitions)], racks="abc")

    _, _, _, found = targets_of(state)

    assert found.lower[0, 4] == pytest.approx(lower)
    assert found.upper[0, 4] == pytest.approx(upper, abs=1e-3)
