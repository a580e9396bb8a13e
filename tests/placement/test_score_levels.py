"""Racks, log dirs and topics of a score against adding up replica by replica."""

import math
from collections import defaultdict
from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings

from placement.model.cluster import ABSENT, UNKNOWN, LogDirState
from placement.model.load import RESOURCES, Resource
from placement.score import VIOLATIONS, score_cluster
from support.clusters import Dir, clusters, make_state
from support.naive import naive_bytes, naive_fixed_bytes, replicas_of

R = {resource: r for r, resource in enumerate(RESOURCES)}
CLOSE = {"rel": 1e-9, "abs": 1e-6}


def naive_replica_loads(state):
    """Yield partition, replica and its load by resource, leaders as they are now."""
    columns = state.partitions
    for p in range(state.num_partitions):
        replicas = replicas_of(state, p)
        factor = len(replicas) - sum(r.is_adding for r in replicas)
        row = int(columns.leader_idx[p])
        leader = None if row == ABSENT else int(state.brokers.ids[row])
        rate_in, rate_out = columns.in_bytes_per_s[p], columns.out_bytes_per_s[p]
        served = rate_out + ((factor - 1) * rate_in if factor > 1 else 0.0)
        led, follows = columns.leader_cpu_cores[p], columns.follower_cpu_cores[p]
        is_known = not math.isnan(led) and (factor <= 1 or not math.isnan(follows))
        follower_part = follows if is_known and factor > 1 else 0.0
        leader_part = max(led, follower_part) if is_known else 0.0
        for replica in replicas:
            leads = replica.broker == leader
            yield (
                p,
                replica,
                {
                    Resource.DISK: float(naive_bytes(state, p, replica)),
                    Resource.IN: 0.0 if math.isnan(rate_in) else rate_in,
                    Resource.OUT: served if leads and not math.isnan(served) else 0.0,
                    Resource.CPU: leader_part if leads else follower_part,
                    Resource.REPLICAS: 1.0,
                    Resource.LEADERS: float(leads),
                },
            )


def test_a_cluster_without_brokers_has_no_racks():
    score = score_cluster(make_state({}, ids=[]))

    assert score.racks.gini.shape == (0, len(RESOURCES))
    assert [len(one.cv) for one in score.racks.spread] == [0] * len(RESOURCES)


@settings(max_examples=60)
@given(clusters(reassigning=True))
def test_racks_add_up_their_brokers(state):
    score = score_cluster(state)

    found = defaultdict(float)
    rack_of = dict(zip(state.brokers.ids.tolist(), state.brokers.rack_idx, strict=True))
    rows = {b: i for i, b in enumerate(state.brokers.ids.tolist())}
    for _, replica, loads in naive_replica_loads(state):
        for resource, load in loads.items():
            member = score.measured.shares.members.of(R[resource])
            if member[rows[replica.broker]]:
                found[rack_of[replica.broker], resource] += load
    for broker, fixed in naive_fixed_bytes(state).items():
        if state.brokers.is_live[rows[broker]]:
            found[rack_of[broker], Resource.DISK] += fixed
    for k in range(state.num_racks):
        for resource, r in R.items():
            load = score.racks.level.load[k, r]
            assert load == pytest.approx(found[k, resource], **CLOSE)


@settings(max_examples=60)
@given(clusters())
def test_racks_compare_their_brokers(state):
    score = score_cluster(state)

    for r in range(len(RESOURCES)):
        member = score.measured.shares.members.of(r)
        for k in range(state.num_racks):
            rows = [
                b
                for b in range(state.num_brokers)
                if member[b] and state.brokers.rack_idx[b] == k
            ]
            uses = [score.placed.load[b, r] / score.placed.capacity[b, r] for b in rows]
            racks, spread = score.racks, score.racks.spread[r]
            assert racks.brokers[k, r] == len(rows)
            out = [bool(score.placed.is_out[b, r]) for b in rows]
            assert racks.out_of_band[k, r] == sum(out)
            off = [abs(score.placed.deviation[b, r]) for b in rows]
            assert racks.max_deviation[k, r] == pytest.approx(max(off, default=0.0))
            target = sum(score.placed.target[b, r] for b in rows)
            assert racks.level.target[k, r] == pytest.approx(target, **CLOSE)
            check_spread(spread, k, uses)
            pairs = sum(abs(a - b) for a in uses for b in uses)
            whole = 2 * len(uses) * sum(uses)
            expected = pairs / whole if whole else 0.0
            assert racks.gini[k, r] == pytest.approx(expected, **CLOSE)


def check_spread(spread, g, uses):
    """Hold one group's figures against their definitions."""
    mean = fmean(uses) if uses else 0.0
    assert spread.mean[g] == pytest.approx(mean, **CLOSE)
    assert spread.max[g] == pytest.approx(max(uses, default=0.0), **CLOSE)
    assert spread.min[g] == pytest.approx(min(uses, default=0.0), **CLOSE)
    if mean == 0:
        assert (spread.cv[g], spread.max_over_mean[g], spread.jain[g]) == (0, 0, 1)
        return
    squares = sum(u * u for u in uses)
    assert spread.cv[g] == pytest.approx(pstdev(uses) / mean, **CLOSE)
    assert spread.max_over_mean[g] == pytest.approx(max(uses) / mean, **CLOSE)
    assert spread.jain[g] == pytest.approx(sum(uses) ** 2 / len(uses) / squares)


@settings(max_examples=60)
@given(clusters(reassigning=True))
def test_topics_add_up_and_compare_their_partitions(state):
    score = score_cluster(state)

    loads = defaultdict(float)
    for p, _, of_replica in naive_replica_loads(state):
        for resource, load in of_replica.items():
            loads[p, resource] += load
    topics = score.topics
    for t in range(len(state.topics)):
        mine = [
            p for p in range(state.num_partitions) if state.partitions.topic_idx[p] == t
        ]
        assert topics.partitions[t] == len(mine)
        assert topics.replicas[t] == sum(len(state.brokers_of(p)) for p in mine)
        for resource, r in R.items():
            each = [loads[p, resource] for p in mine]
            assert topics.spread[r].total[t] == pytest.approx(sum(each), **CLOSE)
            check_spread(topics.spread[r], t, each)
            known = [bool(score.measured.weights.is_known[p, r]) for p in mine]
            assert topics.known_fraction[t, r] == pytest.approx(fmean(known or [1]))
    for rule in VIOLATIONS:
        if rule in topics.broken:
            assert topics.broken[rule].sum() == score.placed.violations[rule]


def naive_dir_loads(state):
    """Loads of what lies in each log dir, copies inside a broker included."""
    loads = defaultdict(float)
    for p, replica, of_replica in naive_replica_loads(state):
        if replica.future_log_dir != ABSENT:
            size = naive_bytes(state, p, replica)
            loads[replica.future_log_dir, Resource.DISK] += size
        if replica.log_dir != ABSENT:
            for resource, load in of_replica.items():
                loads[replica.log_dir, resource] += load
    return loads


def serves(state, d):
    return state.log_dirs.state[d] != LogDirState.OFFLINE


@settings(max_examples=60)
@given(clusters())
def test_log_dirs_add_up_their_replicas(state):
    score = score_cluster(state)

    loads, dirs = naive_dir_loads(state), state.log_dirs
    for d in range(len(dirs)):
        size, usable = int(dirs.size_bytes[d]), int(dirs.usable_bytes[d])
        if UNKNOWN not in {size, usable} and serves(state, d):
            taken = max(loads[d, Resource.DISK], size - usable)
            loads[d, Resource.DISK] = taken
        for resource, r in R.items():
            load = score.log_dirs.load[d, r]
            assert load == pytest.approx(loads[d, resource], **CLOSE)


@settings(max_examples=60)
@given(clusters())
def test_log_dirs_that_serve_share_the_load(state):
    level = score_cluster(state).log_dirs

    dirs = state.log_dirs
    for b in range(state.num_brokers):
        mine = [d for d in range(len(dirs)) if dirs.broker_idx[d] == b]
        used = [d for d in mine if serves(state, d)]
        off = [d for d in mine if d not in used]
        for r in range(len(RESOURCES)):
            shared = sum(level.load[d, r] for d in used)
            assert sum(level.target[d, r] for d in used) == pytest.approx(
                shared, **CLOSE
            )
            assert not any(level.target[d, r] for d in off)


def test_log_dirs_share_by_size():
    state = make_state(
        [[0], [0]],
        racks="a",
        size_bytes=[30, 60],
        log_dirs={0: [Dir("/big", 200), Dir("/small", 100)]},
        dirs=[["/small"], ["/small"]],
    )

    disk = score_cluster(state).log_dirs

    assert disk.target[:, 0].tolist() == [60, 30]
    assert disk.deviation[:, 0].tolist() == [-1, 2]
    assert disk.use[:, 0].tolist() == [0, 0.9]


def test_a_topic_of_one_heavy_partition_is_skewed():
    state = make_state(
        {"even": [[0], [1]], "skewed": [[0], [1], [0]]},
        racks="ab",
        size_bytes=[10, 10, 0, 0, 90],
    )

    disk = score_cluster(state).topics.spread[0]

    assert disk.max_over_mean.tolist() == [1, 3]
    assert disk.cv.tolist() == pytest.approx([0, math.sqrt(2)])
