"""Kept topics, moves off full brokers alone, and moves that keep counts."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.load import Resource, broker_loads, disk_loads, weigh
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.rules.pinning import KeepTopics, OnlyOverThreshold, OnlyTrades
from rules.rule_plans import MET, after, changed_lists, planned
from support.clusters import clusters, make_state
from support.naive import failed_ids, lists_of, live_ids


@settings(max_examples=30)
@given(clusters(min_brokers=2), st.sampled_from([Rebalance(), RemoveBrokers((0, 1))]))
def test_kept_topics_stay_but_for_what_must_go(state, operation):
    names = state.topics.names
    kept = np.array([name != "t0" for name in names], dtype=np.bool_)

    found = planned(state, KeepTopics(kept), operation=operation, effort="quick")

    before, leaves = lists_of(state), found.draft.leaves
    gone = set(state.brokers.ids[leaves].tolist())
    offline = state.replicas.log_dir_idx >= 0
    if offline.any():
        return
    for (topic, number), listed in changed_lists(found).items():
        if topic != "t0":
            assert set(before[topic, number]) - set(listed) <= gone


def test_leaders_of_kept_topics_may_change():
    state = make_state([[0, 1]] * 4, racks="ab")

    found = planned(state, KeepTopics(np.array([True])))

    assert not found.reassignment.is_copied.any()
    assert Counter(row[0] for row in lists_of(after(found)).values()) == {0: 2, 1: 2}


@settings(max_examples=30)
@given(clusters(min_brokers=2, all_live=True))
def test_only_brokers_over_a_threshold_give_replicas_away(state):
    found = planned(state, OnlyOverThreshold(), effort="quick")

    before = found.reassignment.before
    leader = found.draft.state.partitions.leader_idx
    del leader
    from placement.rules.hard_levels import hard_capacities

    load = broker_loads(before, weigh(before), _first_live(before))
    over = (load > hard_capacities(found.draft)).any(axis=1)
    source = before.replicas.broker_idx[
        found.reassignment.origin[found.reassignment.is_copied]
    ]
    assert over[source].all()


def _first_live(state):
    rows = []
    for p in range(state.num_partitions):
        able = live_ids(state) - failed_ids(state, p)
        start, stop = state.replicas.start[p : p + 2]
        listed = state.replicas.broker_idx[start:stop].tolist()
        ids = state.brokers.ids
        rows.append(next((b for b in listed if int(ids[b]) in able), -1))
    return np.array(rows, dtype=np.int32)


def test_a_broker_over_its_threshold_is_relieved_and_nothing_else_moves():
    state = make_state(
        [[0], [0], [1], [1], [1], [2]], racks="abc",
        size_bytes=[45, 45, 20, 20, 20, 10], disk_bytes=100,
    )  # fmt: skip

    found = planned(state, OnlyOverThreshold())

    assert found.solution.status in MET
    assert int(found.reassignment.is_copied.sum()) == 1


@given(clusters(min_brokers=2, all_live=True, all_known=True))
def test_brokers_that_trade_keep_their_counts(state):
    found = planned(state, OnlyTrades(), effort="quick")

    held = [
        np.bincount(one.replicas.broker_idx, minlength=one.num_brokers).tolist()
        for one in (state, after(found))
    ]
    assert held[0] == held[1]


def test_disks_are_balanced_by_trades_alone():
    state = make_state(
        [[0]] * 3 + [[1]] * 3 + [[2]], racks="abc", size_bytes=[9, 9, 9, 1, 1, 1, 10]
    )

    found = planned(state, OnlyTrades(), resources=(Resource.DISK,))

    held = np.bincount(after(found).replicas.broker_idx)
    assert held.tolist() == [3, 3, 1]
    loads = disk_loads(after(found), weigh(state)).tolist()
    assert (max(loads), sum(loads)) == (19, 40)
