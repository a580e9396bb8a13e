"""Weights and loads against adding up replica by replica."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.errors import InvalidClusterError
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState, Storage
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import (
    RESOURCES,
    UNITS,
    add_to,
    as_units,
    broker_loads,
    first_live_replica,
    first_true,
    heaviest_replicas,
    known_fractions,
    preferred_leaders,
    weigh,
)
from support.clusters import Dir, clusters, make_state
from support.naive import naive_fixed_bytes, naive_loads, replicas_of


def has_usual_cpu(state: ClusterState) -> bool:
    """Whether all are led and followed, and leading takes no less than following."""
    columns = state.partitions
    is_odd = columns.follower_cpu_cores > columns.leader_cpu_cores
    is_odd |= state.is_reassigning
    is_led = np.not_equal(preferred_leaders(state), ABSENT)
    return not is_odd.any() and bool(is_led.all() and state.brokers.is_live.all())


@settings(max_examples=60)
@given(clusters(reassigning=True))
def test_loads_agree_with_adding_up_replica_by_replica(state: ClusterState):
    leader = state.replicas.broker_idx_at(first_live_replica(state))
    loads = as_units(broker_loads(state, weigh(state), leader))

    expected = naive_loads(state, {})
    for r, resource in enumerate(RESOURCES):
        if resource == "cpu" and not has_usual_cpu(state):
            continue
        by_broker = list(expected[resource].values())
        assert loads[:, r].tolist() == pytest.approx(by_broker)


@settings(max_examples=60)
@given(clusters())
def test_fixed_bytes_agree_with_looking_at_each_log_dir(state: ClusterState):
    assert fixed_disk_bytes(state).tolist() == list(naive_fixed_bytes(state).values())


@settings(max_examples=60)
@given(clusters(), st.integers(0, 5))
def test_the_heaviest_replica_is_one_of_the_broker(state: ClusterState, r: int):
    weights, leaders = weigh(state), preferred_leaders(state)
    heaviest = heaviest_replicas(state, weights, leaders)

    expected = dict.fromkeys(state.brokers.ids.tolist(), 0)
    row = 0
    for partition in range(state.num_partitions):
        for replica in replicas_of(state, partition):
            weight = int(weights.replica[partition, r])
            if r == 0 and len(weights.own):
                weight += int(weights.own[row])
            leader = leaders[partition]
            if leader != ABSENT and state.brokers.ids[leader] == replica.broker:
                weight += int(weights.leader[partition, r])
            expected[replica.broker] = max(expected[replica.broker], weight)
            row += 1
    assert heaviest[:, r].tolist() == list(expected.values())


@pytest.mark.parametrize(
    ("columns", "resource", "replica", "leader"),
    [
        pytest.param({"size_bytes": 7}, "disk", 7, 0, id="disk"),
        pytest.param({"size_bytes": UNKNOWN}, "disk", 0, 0, id="disk-unknown"),
        pytest.param(
            {"size_bytes": 7, "storage": Storage.SHARED}, "disk", 0, 0, id="shared"
        ),
        pytest.param({"in_rate": 2.5}, "in", 2500, 0, id="in"),
        pytest.param(
            {"in_rate": 10.0, "out_rate": 1.0}, "out", 0, 21_000, id="out-feeds-two"
        ),
        pytest.param({"out_rate": 1.0}, "out", 0, 0, id="out-without-in-is-unknown"),
        pytest.param(
            {"leader_cpu": 0.5, "follower_cpu": 0.2},
            "cpu",
            200_000_000,
            300_000_000,
            id="cpu",
        ),
        pytest.param({"leader_cpu": 0.5}, "cpu", 0, 0, id="half-known-cpu"),
        pytest.param({}, "replicas", 1, 0, id="replicas"),
        pytest.param({}, "leaders", 0, 1, id="leaders"),
    ],
)
def test_weights_of_one_partition(columns, resource, replica: int, leader: int):
    weights = weigh(make_state([[0, 1, 2]], **columns))

    r = RESOURCES.index(resource)
    assert weights.replica[0, r] == replica
    assert weights.leader[0, r] == leader


def test_a_single_replica_feeds_no_follower():
    weights = weigh(make_state([[0]], out_rate=4.0, leader_cpu=1.0))

    assert weights.leader[0].tolist() == [0, 0, 4000, 10**9, 0, 1]
    assert weights.is_known[0].tolist() == [False, False, True, True, True, True]


def test_known_fractions_count_partitions():
    state = make_state([[0], [1], [0], [1]], size_bytes=[1, 2, UNKNOWN, 4])

    assert known_fractions(state, weigh(state)).tolist() == [0.75, 0, 0, 0, 1, 1]
    empty = make_state([], racks="ab")
    assert known_fractions(empty, weigh(empty)).tolist() == [1.0] * 6


def test_what_is_neither_free_nor_a_replica_is_fixed():
    state = make_state(
        [[0], [0]],
        size_bytes=10,
        log_dirs={
            0: [
                Dir("/a", 100, 50),
                Dir("/b", 100, 95),
                Dir("/c", 100, UNKNOWN),
                Dir("/d", 100, 0, LogDirState.OFFLINE),
            ]
        },
        dirs=[["/a"], ["/b"]],
    )

    # 50 taken less 10 in /a; /b has less taken than its replica explains.
    assert fixed_disk_bytes(state).tolist() == [40]


def test_sums_that_overflow_are_refused_by_name():
    state = make_state([[0, 1]], size_bytes=2**61, in_rate=1e300)

    with pytest.raises(InvalidClusterError) as refused:
        weigh(state)

    assert [problem.split()[0] for problem in refused.value.problems] == ["disk", "in"]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**52)), max_size=20))
def test_sums_are_exact_past_what_floats_hold(pairs):
    total = np.full(5, 2**60, dtype=np.int64)
    rows = np.array([row for row, _ in pairs], dtype=np.int32)
    values = np.array([value for _, value in pairs], dtype=np.int64)

    add_to(total, rows, values)

    expected = [2**60] * 5
    for row, value in pairs:
        expected[row] += value
    assert total.tolist() == expected


@given(st.lists(st.lists(st.booleans(), max_size=4), max_size=6))
def test_the_first_true_of_each_row(rows: list[list[bool]]):
    flags = np.array([flag for row in rows for flag in row], dtype=np.bool_)
    start = np.cumsum([0, *map(len, rows)], dtype=np.int64)

    found = first_true(flags, start)

    assert found.tolist() == [
        int(first) + row.index(True) if any(row) else ABSENT
        for first, row in zip(start[:-1], rows, strict=True)
    ]


@given(st.floats(0, 1e9), st.sampled_from(["in", "out", "cpu"]))
def test_no_weight_is_below_its_rate(rate: float, resource: str):
    columns = {"in": "in_rate", "out": "out_rate", "cpu": "leader_cpu"}
    weights = weigh(make_state([[0]], **{columns[resource]: rate}))

    r = RESOURCES.index(resource)
    weight = int((weights.replica + weights.leader)[0, r])
    exact = Fraction(rate) * UNITS[RESOURCES[r]]
    assert exact * (1 - Fraction(1, 10**11)) <= weight <= exact + 1
