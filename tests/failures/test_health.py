"""States of partitions, unclean losses, and the next automatic election."""

import numpy as np
import pytest
from hypothesis import given

from failures.clusters import Case, NaiveCluster, cases, loss_of, registrations
from placement.failures.automatic_election import next_election
from placement.failures.controller_events import lose
from placement.failures.partition_health import health_of, unclean_losses
from placement.model.cluster import ABSENT, UNKNOWN
from support.clusters import make_state


@given(cases())
def test_health_is_what_counting_partition_by_partition_says(case: Case):
    state, naive = case.state, NaiveCluster(case.state)

    found = health_of(state)

    for p, now in enumerate(registrations(state)):
        alive = naive.alive(p)
        in_sync = len(set(alive) & set(now.isr))
        least = int(state.topics.min_insync_replicas[state.partitions.topic_idx[p]])
        assert found.is_offline[p] == (now.leader == -1)
        assert found.is_gone[p] == (not alive)
        assert found.is_under_min_isr[p] == (in_sync < least)
        assert found.is_at_min_isr[p] == (in_sync == least and now.leader != -1)
        assert found.is_under_replicated[p] == (in_sync < len(now.replicas))


def test_an_unclean_election_loses_what_the_new_leader_lacks():
    state = make_state(
        [[0, 1], [0, 2], [0]],
        isr=[[0], [0], [0]],
        size_bytes=[100, 100, 100],
        own_bytes=[[None, 60], [None, None], [None]],
    )
    lost = lose(state, loss_of(state, [0]))

    found = unclean_losses(lost)

    assert found.partition_idx.tolist() == [0, 1, 2]
    assert found.leader_idx.tolist() == [1, 2, ABSENT]
    assert found.lost_bytes.tolist() == [40, UNKNOWN, UNKNOWN]


# Broker 0 is first of ten partitions and leads eight of them.
LEADERS = [0] * 8 + [1] * 2


@pytest.mark.parametrize(
    ("version", "percentage", "changes"),
    [
        pytest.param((3, 9), 10, 2, id="up-to-3.9-past-the-threshold"),
        pytest.param((3, 9), 20, 0, id="up-to-3.9-just-at-the-threshold"),
        pytest.param((4, 0), 20, 2, id="from-4.0-there-is-none"),
        pytest.param(None, 20, 2, id="unknown-is-taken-as-new"),
    ],
)
def test_the_next_automatic_election_goes_by_version(version, percentage, changes):
    state = make_state([[0, 1]] * 10, leaders=LEADERS)

    found = next_election(state, version=version, percentage=percentage)

    assert int(found.changes.sum()) == changes
    assert found.is_imbalanced.tolist() == [False] * 8 + [True] * 2
    assert found.num_passes == (1 if changes else 0)


def test_a_first_replica_out_of_sync_is_not_elected():
    state = make_state([[0, 1], [0, 1]], leaders=[1, 1], isr=[[1], [0, 1]])

    assert next_election(state).changes.tolist() == [False, True]


def test_from_4_0_a_pass_changes_a_thousand_at_most():
    state = make_state([[0, 1]] * 2500, leaders=[1] * 2500)

    assert next_election(state, version=(4, 3)).num_passes == 3
    assert next_election(state, version=(3, 9)).num_passes == 1


def test_up_to_3_9_what_is_reassigned_is_left_alone():
    state = make_state([[0, 1]] * 2, leaders=[1, 1], adding=[[], [0]])

    assert next_election(state, version=(3, 9)).changes.tolist() == [True, False]
    assert next_election(state, version=(4, 0)).changes.tolist() == [True, True]


def test_a_cluster_without_partitions_is_healthy():
    state = make_state([], racks="ab")

    assert set(health_of(state).counts().values()) == {0}
    assert next_election(state).num_passes == 0
    assert not len(unclean_losses(state).partition_idx)
    assert np.array_equal(lose(state, loss_of(state, [0])).partitions.leader_idx, [])
