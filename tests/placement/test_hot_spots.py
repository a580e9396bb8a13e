"""Hot spots: who is too hot, of what, and whether leaders alone would cool it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from placement.model.load import RESOURCES, Resource
from placement.score import score_cluster
from placement.score.hot_spots import MOST_PARTITIONS, MOST_SPOTS, MOST_TOPICS
from support.clusters import clusters, make_state

R = {resource: r for r, resource in enumerate(RESOURCES)}


def with_leaders(state, moves):
    leader_idx = state.partitions.leader_idx.copy()
    for move in moves:
        leader_idx[move.partition_idx] = move.to_broker_idx
    return replace(state, partitions=replace(state.partitions, leader_idx=leader_idx))


@settings(max_examples=80)
@given(clusters(reassigning=True))
def test_hot_are_those_over_a_band_or_a_threshold(state):
    score = score_cluster(state)

    high = score.placed.is_out & (score.placed.deviation > 0)
    hot = high | score.measured.is_over
    for r in range(len(RESOURCES)):
        hot[:, r] &= score.measured.shares.members.of(r)
    assert score.num_hot_spots == int(hot.sum())
    for spot in score.hot_spots:
        r = R[spot.resource]
        assert hot[spot.broker_idx, r]
        assert spot.excess > 0
        assert spot.is_over_threshold == score.measured.is_over[spot.broker_idx, r]
        assert spot.load == pytest.approx(score.placed.load[spot.broker_idx, r])
    assert len(score.hot_spots) == min(score.num_hot_spots, MOST_SPOTS)


@settings(max_examples=80)
@given(clusters(max_brokers=4))
def test_topics_and_partitions_are_the_heaviest_there(state):
    score = score_cluster(state)

    for spot in score.hot_spots:
        loads = {}
        for p in range(state.num_partitions):
            start, stop = state.replicas.start[p : p + 2]
            for row in range(start, stop):
                if state.replicas.broker_idx[row] == spot.broker_idx:
                    loads[p] = load_of(score, p, row, R[spot.resource])
        heaviest = sorted(loads.values(), reverse=True)
        shown = [hot.load for hot in spot.partitions]
        assert shown == pytest.approx([h for h in heaviest if h > 0][:MOST_PARTITIONS])
        for hot in spot.partitions:
            leader = state.partitions.leader_idx[hot.partition_idx]
            assert hot.leads == (leader == spot.broker_idx)
            assert hot.load == pytest.approx(loads[hot.partition_idx])
        by_topic = {}
        for p, load in loads.items():
            topic = int(state.partitions.topic_idx[p])
            by_topic[topic] = by_topic.get(topic, 0.0) + load
        most = sorted(by_topic.values(), reverse=True)
        found = [topic.load for topic in spot.topics]
        assert found == pytest.approx([m for m in most if m > 0][:MOST_TOPICS])


def load_of(score, p, row, r):
    """What one replica weighs, in units people read."""
    state, weights = score.state, score.measured.weights
    leads = state.replicas.broker_idx[row] == state.partitions.leader_idx[p]
    load = weights.replica[p, r] + leads * weights.leader[p, r]
    if r == 0 and len(weights.own):
        load += weights.own[row]
    unit = {Resource.IN: 1000, Resource.OUT: 1000, Resource.CPU: 1e9}
    return load / unit.get(RESOURCES[r], 1)


@settings(max_examples=150)
@given(clusters(all_live=True, max_topics=4))
def test_leaders_that_would_do_do(state):
    before = score_cluster(state)

    for spot in before.hot_spots:
        if not spot.would_leaders_do:
            continue
        after = score_cluster(with_leaders(state, spot.leader_moves))
        r = R[spot.resource]
        # Bands of now: the heaviest replica may have left, and the targets with it.
        upper = np.minimum(before.measured.targets.upper[:, r], np.inf)
        load = after.measured.load[spot.broker_idx, r]
        assert load <= upper[spot.broker_idx] * (1 + 1e-9)
        assert not after.measured.is_over[spot.broker_idx, r]
        takers = {move.to_broker_idx for move in spot.leader_moves}
        for taker in takers:
            old, new = before.measured.is_over[taker], after.measured.is_over[taker]
            assert not (new & ~old).any()
        for move in spot.leader_moves:
            p = move.partition_idx
            start, stop = state.replicas.start[p : p + 2]
            rows = range(int(start), int(stop))
            brokers = state.replicas.broker_idx
            row = next(i for i in rows if brokers[i] == move.to_broker_idx)
            assert state.replicas.is_in_sync[row]
            assert state.partitions.leader_idx[p] == spot.broker_idx


@pytest.mark.parametrize(
    ("isr", "does"),
    [
        pytest.param([[0, 1]] * 4, True, id="followers-in-sync"),
        pytest.param([[0]] * 4, False, id="no-follower-in-sync"),
    ],
)
def test_leaders_alone(isr, does):
    state = make_state(
        [[0, 1]] * 4, racks="ab", out_rate=8.0, in_rate=0.0, size_bytes=1, isr=isr
    )

    spots = {
        spot.resource: spot
        for spot in score_cluster(state).hot_spots
        if spot.broker_idx == 0
    }

    assert set(spots) == {Resource.OUT, Resource.LEADERS}
    assert spots[Resource.LEADERS].would_leaders_do == does
    moved = [len(spots[Resource.LEADERS].leader_moves)]
    assert moved == [2 if does else 0]


def test_disks_are_not_cooled_by_leaders():
    state = make_state([[0], [0], [0], [1]], racks="ab", size_bytes=50)

    (spot,) = [s for s in score_cluster(state).hot_spots if s.resource is Resource.DISK]

    assert not spot.would_leaders_do
    assert (spot.load, spot.topics[0].fraction) == (150, 1.0)
