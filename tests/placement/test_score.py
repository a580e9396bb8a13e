"""A score against counting broker by broker and partition by partition."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.draft.draft import DEFAULT_THRESHOLDS
from placement.model.cluster import ABSENT, BrokerState, LogDirState
from placement.model.load import RESOURCES, Resource, weigh
from placement.model.targets import Members, share_out
from placement.score import rack_broken, score_placement
from support.clusters import Dir, clusters, make_state
from support.naive import live_ids, replicas_of

R = {resource: r for r, resource in enumerate(RESOURCES)}
CLOSE = {"rel": 1e-6, "abs": 1e-6}


def score_of(state, *, thresholds=DEFAULT_THRESHOLDS, bands=None):
    """Score a cluster as it is: A is every live broker."""
    brokers = state.brokers
    members = Members(holds=brokers.is_live, leads=brokers.may_lead)
    shares = share_out(state, weigh(state), members, bands or {})
    return score_placement(state, shares, state.partitions.leader_idx, thresholds)


def naive_uses(state, score, resource):
    """Load over capacity of the brokers that count."""
    brokers, r = state.brokers, R[resource]
    leads = resource in {Resource.OUT, Resource.LEADERS}
    rows = np.flatnonzero(brokers.may_lead if leads else brokers.is_live).tolist()
    disk = brokers.disk_bytes.tolist()
    most = brokers.max_replicas.tolist()
    columns = {
        Resource.DISK: [disk],
        Resource.IN: [brokers.in_bytes_per_s.tolist()],
        Resource.OUT: [brokers.out_bytes_per_s.tolist()],
        Resource.CPU: [brokers.cpu_cores.tolist()],
    }
    capacity = [1.0] * len(disk)
    # Replicas and leaders are held to one measure, of all brokers that hold replicas.
    measured = rows if resource in columns else np.flatnonzero(brokers.is_live).tolist()
    for column in columns.get(resource, [most, disk]):
        if all(column[b] > 0 for b in measured):
            capacity = column
            break
    return [float(score.load[b, r]) / capacity[b] for b in rows]


@settings(max_examples=60)
@given(clusters())
def test_figures_of_balance(state):
    score = score_of(state)

    for resource in RESOURCES:
        uses = naive_uses(state, score, resource)
        found = score.resources[resource]
        count, total = len(uses), sum(uses)
        if not total:
            assert (found.cv, found.gini, found.jain) == (0, 0, 1)
            assert found.max_over_mean == 0
            continue
        mean = total / count
        spread = math.sqrt(sum((u - mean) ** 2 for u in uses) / count)
        pairs = sum(abs(a - b) for a, b in product(uses, uses))
        squares = sum(u * u for u in uses)
        assert found.gini == pytest.approx(pairs / (2 * count * total), **CLOSE)
        assert found.jain == pytest.approx(total**2 / (count * squares), **CLOSE)
        assert found.cv == pytest.approx(spread / mean, **CLOSE)
        assert found.max_over_mean == pytest.approx(max(uses) / mean, **CLOSE)


def naive_load(state, resource, broker):
    """Add what one broker carries; what is not known counts as nothing."""
    total = 0.0
    for p in range(state.num_partitions):
        brokers = state.brokers_of(p)
        leader = int(state.partitions.leader_idx[p])
        leads = leader != ABSENT and int(state.brokers.ids[leader]) == broker
        if broker not in brokers:
            continue
        columns = state.partitions
        factor = len(brokers)
        known = {
            Resource.IN: columns.in_bytes_per_s[p],
            Resource.OUT: (
                columns.out_bytes_per_s[p]
                + (columns.in_bytes_per_s[p] * (factor - 1) if factor > 1 else 0)
                if leads
                else 0.0
            ),
            Resource.REPLICAS: 1.0,
            Resource.LEADERS: float(leads),
        }
        total += np.nan_to_num(known[resource])
    return total


@settings(max_examples=60)
@given(clusters())
def test_loads_totals_and_deviations(state):
    score = score_of(state)

    for resource in (Resource.IN, Resource.OUT, Resource.REPLICAS, Resource.LEADERS):
        r, found = R[resource], score.resources[resource]
        loads = [naive_load(state, resource, b) for b in state.brokers.ids.tolist()]
        assert score.load[:, r].tolist() == pytest.approx(loads)
        leads = resource in {Resource.OUT, Resource.LEADERS}
        counts = state.brokers.may_lead if leads else state.brokers.is_live
        member = np.flatnonzero(counts).tolist()
        assert found.total == pytest.approx(sum(loads[b] for b in member), **CLOSE)
        off = [
            abs(loads[b] / score.target[b, r] - 1)
            for b in member
            if score.target[b, r] > 0
        ]
        assert found.max_deviation == pytest.approx(max(off, default=0), **CLOSE)
        assert found.brokers_out_of_band == int(score.is_out[member, r].sum())
        assert found.mean_use * len(member) >= found.max_use - 1e-9
        assert found.min_use <= found.mean_use + 1e-9


@settings(max_examples=60)
@given(clusters(), st.floats(0.1, 1.0))
def test_brokers_over_a_threshold(state, fraction):
    score = score_of(state, thresholds=dict.fromkeys(DEFAULT_THRESHOLDS, fraction))

    brokers = state.brokers
    given_capacity = {
        Resource.DISK: np.where(brokers.disk_bytes < 0, np.nan, brokers.disk_bytes),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
    }
    total = 0
    for resource, capacity in given_capacity.items():
        over = sum(
            bool(brokers.is_live[b])
            and not math.isnan(capacity[b])
            and score.load[b, R[resource]] > capacity[b] * fraction * (1 + 1e-9)
            for b in range(len(brokers))
        )
        assert score.resources[resource].brokers_over_threshold == over
        total += over
    assert score.resources[Resource.REPLICAS].brokers_over_threshold == 0
    assert score.violations["over_capacity"] == total


def naive_violations(state):
    found = Counter()
    live, racks = live_ids(state), state.brokers.rack_idx
    rack_of = dict(zip(state.brokers.ids.tolist(), racks.tolist(), strict=True))
    per_rack = Counter(rack_of[b] for b in live)
    dirs = state.log_dirs
    for p in range(state.num_partitions):
        replicas = replicas_of(state, p)
        factor = len(replicas) - sum(r.is_adding for r in replicas)
        least = int(state.topics.min_insync_replicas[state.partitions.topic_idx[p]])
        in_sync = sum(r.is_in_sync for r in replicas)
        leader = int(state.partitions.leader_idx[p])
        found["offline_replicas"] += sum(
            r.broker not in live
            or (r.log_dir != ABSENT and dirs.state[r.log_dir] == LogDirState.OFFLINE)
            for r in replicas
        )
        found["offline_partitions"] += leader == ABSENT
        found["under_replicated"] += in_sync < factor
        found["under_min_isr"] += in_sync < least
        found["at_min_isr"] += in_sync == least
        found["leader_not_preferred"] += (
            leader != ABSENT and int(state.brokers.ids[leader]) != replicas[0].broker
        )
        found["rf1"] += factor == 1
        found["rf_equals_min_isr"] += factor == least
        target = [r.broker for r in replicas if not r.is_removing]
        held = [broker for broker in target if broker in live]
        found["rack"] += naive_rack_broken(len(target), held, rack_of, per_rack)
    return found


def naive_rack_broken(factor, held, rack_of, per_rack):
    cap = 0
    while sum(min(cap, n) for n in per_rack.values()) < factor and cap < factor:
        cap += 1
    counts = Counter(rack_of[b] for b in held)
    return any(
        counts[full] > cap
        or any(
            counts[full] - counts[other] >= 2 and counts[other] < per_rack[other]
            for other in per_rack
        )
        for full in counts
    )


@settings(max_examples=60)
@given(clusters(max_brokers=8, reassigning=True))
def test_violations(state):
    found = dict(score_of(state).violations)

    del found["over_capacity"]
    assert found == {rule: naive_violations(state)[rule] for rule in found}


@pytest.mark.parametrize(
    ("replicas", "racks", "broken"),
    [
        pytest.param([0, 1], "ab", False, id="spread"),
        pytest.param([0, 1], "aab", True, id="two-in-one-of-two"),
        pytest.param([0, 1], "aa", False, id="one-rack"),
        pytest.param([0, 1, 2], "aabb", False, id="two-and-one"),
        pytest.param([0, 1, 2], "aaab", True, id="a-broker-is-free-elsewhere"),
        pytest.param([0, 1, 2, 3], "aaabb", True, id="three-and-one"),
        pytest.param([0, 1, 2, 3], "aaab", False, id="nothing-is-free-elsewhere"),
        pytest.param([0, 1], "--", False, id="racks-unknown"),
    ],
)
def test_rack_rule(replicas, racks, broken):
    state = make_state([replicas], racks=racks)

    assert rack_broken(state, state.brokers.is_live).tolist() == [broken]


@pytest.mark.parametrize(
    ("replicas", "adding", "removing", "broken"),
    [
        pytest.param([2, 1, 0], [2], [0], False, id="towards-a-spread-list"),
        pytest.param([3, 1, 2], [3], [2], True, id="towards-a-crowded-list"),
        pytest.param([0, 1, 2], [2], [], False, id="a-replica-more"),
    ],
)
def test_a_partition_being_reassigned_keeps_the_rack_rule_by_its_target(
    replicas, adding, removing, broken
):
    state = make_state([replicas], racks="abab", adding=[adding], removing=[removing])

    assert rack_broken(state, state.brokers.is_live).tolist() == [broken]


def test_rack_rule_looks_at_brokers_that_count():
    state = make_state([[0, 1], [0, 2]], racks="aab", states={1: BrokerState.DEAD})

    assert rack_broken(state, state.brokers.is_live).tolist() == [False, False]


def test_disk_counts_what_no_replica_explains():
    state = make_state(
        [[0]],
        racks="ab",
        size_bytes=10,
        log_dirs={0: [Dir("/d", 100, 50)]},
        dirs=[["/d"]],
        disk_bytes=100,
    )

    score = score_of(state)

    assert score.load[:, R[Resource.DISK]].tolist() == [50, 0]
    assert score.resources[Resource.DISK].max_use == 0.5


@pytest.mark.parametrize("racks", ["", "a"])
def test_clusters_without_partitions(racks):
    score = score_of(make_state([], racks=racks))

    assert set(score.violations.values()) == {0}
    for found in score.resources.values():
        assert (found.total, found.jain, found.gini, found.known_fraction) == (
            0,
            1,
            0,
            1,
        )


def test_known_fraction():
    state = make_state([[0], [0], [0], [0]], racks="a", size_bytes=[1, -1, 2, -1])

    score = score_of(state)

    assert score.resources[Resource.DISK].known_fraction == 0.5
    assert score.resources[Resource.CPU].known_fraction == 0
    assert score.resources[Resource.REPLICAS].known_fraction == 1
