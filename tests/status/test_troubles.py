"""Troubles of a cluster are those that a look at each partition finds."""

import numpy as np
import pytest
from hypothesis import given

from failures.clusters import Case, NaiveCluster, cases, registrations
from placement.model.cluster import BrokerState, LogDirState
from placement.status import Obstacle, Rescue, find_troubles
from support.clusters import Dir, make_state


@given(cases())
def test_troubles_are_what_a_look_at_each_partition_finds(case: Case):
    state, naive = case.state, NaiveCluster(case.state)
    now = registrations(state)

    found = find_troubles(state)

    leaderless = [p for p, one in enumerate(now) if one.leader == -1]
    assert [one.partition_idx for one in found.leaderless] == leaderless
    for one in found.leaderless:
        p = one.partition_idx
        alive, registered = naive.alive(p), now[p]
        known = {*registered.isr, *registered.elr}
        assert set(one.isr) == set(registered.isr)
        assert set(one.elr) == set(registered.elr)
        assert set(one.last_known_elr) == set(registered.last_known_elr)
        assert set(one.out_of_sync) == set(alive) - known
        assert (one.unclean_leader is None) == (not alive)
    sourceless = [
        p for p, one in enumerate(now) if not set(naive.alive(p)) & {*one.isr, *one.elr}
    ]
    assert found.no_source.tolist() == sourceless
    down = [b for b in state.brokers.ids.tolist() if b not in naive.live]
    assert state.brokers.ids[found.broker_idx].tolist() == down
    for b, held in zip(state.brokers.ids.tolist(), found.replicas_on, strict=True):
        assert held == sum(b in one.replicas for one in now)


@given(cases())
def test_short_topics_are_counted_by_topic_the_worst_first(case: Case):
    state, naive = case.state, NaiveCluster(case.state)
    topic = state.partitions.topic_idx.tolist()
    least = state.topics.min_insync_replicas.tolist()
    worst: dict[int, list[int]] = {}
    for p, one in enumerate(registrations(state)):
        in_sync = len(set(naive.alive(p)) & set(one.isr))
        if in_sync < least[topic[p]]:
            worst.setdefault(topic[p], []).append(in_sync)

    found = find_troubles(state).under_min_isr

    order = sorted(worst, key=lambda t: (min(worst[t]), -len(worst[t]), t))
    assert found.topic_idx.tolist() == order
    assert found.num_partitions.tolist() == [len(worst[t]) for t in order]
    assert found.least_in_sync.tolist() == [min(worst[t]) for t in order]
    assert found.needed.tolist() == [least[t] for t in order]


FENCED = {1: BrokerState.FENCED, 2: BrokerState.FENCED}


@pytest.mark.parametrize(
    ("given", "rescue", "brokers"),
    [
        pytest.param({"isr": [[1]]}, Rescue.START, (1,), id="last-in-sync"),
        pytest.param({"elr": [[2]]}, Rescue.START, (2,), id="eligible"),
        pytest.param({"elr": [[0]]}, Rescue.ELECTION, (0,), id="eligible-and-live"),
        pytest.param(
            {"last_known_elr": [[1]]}, Rescue.LAST_LEADER, (1,), id="last-known"
        ),
        pytest.param({}, Rescue.UNCLEAN, (0,), id="nobody"),
        pytest.param(
            {"states": {**FENCED, 0: BrokerState.FENCED}},
            Rescue.ANY,
            (0, 1, 2),
            id="nobody-and-all-are-down",
        ),
    ],
)
def test_a_leaderless_partition_says_what_loses_least(given, rescue, brokers):
    state = make_state(
        [[0, 1, 2]], **{"states": FENCED, "isr": [[]], "leaders": [None]} | given
    )

    (found,) = find_troubles(state).leaderless

    assert (found.rescue, found.brokers) == (rescue, brokers)


@pytest.mark.parametrize(
    ("given", "obstacle", "broker"),
    [
        pytest.param({}, Obstacle.NONE, None, id="runs"),
        pytest.param(
            {"states": {2: BrokerState.FENCED}}, Obstacle.BROKER, 2, id="broker"
        ),
        pytest.param(
            {"states": {1: BrokerState.FENCED}}, Obstacle.NONE, None, id="it-removes"
        ),
        pytest.param({"removing": [[2]]}, Obstacle.SAME_BROKER, 2, id="same"),
        pytest.param(
            {
                "states": {0: BrokerState.FENCED, 1: BrokerState.FENCED},
                "isr": [[0]],
                "leaders": [None],
            },
            Obstacle.NO_SOURCE,
            None,
            id="no-source",
        ),
        pytest.param(
            {
                "log_dirs": {2: [Dir("/d", state=LogDirState.OFFLINE)]},
                "dirs": [[None, None, "/d"]],
            },
            Obstacle.LOG_DIR,
            2,
            id="log-dir",
        ),
        pytest.param(
            {"states": {2: BrokerState.FENCED}, "isr": [[0, 2]]},
            Obstacle.NONE,
            None,
            id="already-in-sync",
        ),
    ],
)
def test_a_reassignment_that_cannot_end_says_why(given, obstacle, broker):
    known = {"adding": [[2]], "removing": [[1]], "isr": [[0, 1]], "leaders": [0]}
    state = make_state([[0, 1, 2]], **known | given)

    moves = find_troubles(state).moves

    assert moves.obstacle.tolist() == [obstacle]
    ids = np.append(state.brokers.ids, [-1])
    found = int(ids[moves.broker_idx[0]])
    assert (None if found < 0 else found) == broker


def test_bytes_left_to_copy_are_those_that_no_added_replica_has():
    state = make_state(
        [[0, 1, 2], [0, 1, 3]],
        adding=[[1, 2], [3]],
        isr=[[0, 1], [0]],
        leaders=[0, 0],
        size_bytes=[100, 50],
        own_bytes=[[None, None, 30], [None, None, None]],
    )

    moves = find_troubles(state).moves

    assert moves.copy_bytes.tolist() == [200, 50]
    # A replica that has no size of its own is not there yet, or as large as the leader.
    assert moves.left_bytes.tolist() == [70, 50]
