"""Brokers, lost requests, topics and snapshots of a simulated cluster."""

import pytest

from execution.small_cluster import (
    LEADER,
    MB,
    admin,
    held,
    reassign,
    seen,
    snapshot,
    throttle,
)
from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.cluster.running_cluster import Health, Seen
from planner.execution.simulation.simulated_admin import SimulatedAdmin


def test_a_copy_goes_on_from_the_next_leader():
    cluster = admin([1, 2])
    reassign(cluster, [1, 2, 3])
    cluster.sleep(6)
    cluster.kill(1)

    assert seen(cluster) == Seen((1, 2, 3), (2,), 2, None)
    cluster.sleep(4.1)
    assert seen(cluster).in_sync == (2, 3)
    assert not cluster.reassignments()
    cluster.restart(1)
    cluster.sleep(0.1)
    assert seen(cluster) == Seen((1, 2, 3), (1, 2, 3), 2, None)
    assert cluster.elect([("t", 0)]) == {}
    assert seen(cluster).leader == 1


def test_a_copy_waits_for_its_target():
    cluster = admin([1, 2])
    cluster.at(4, lambda: cluster.kill(3))
    cluster.at(100, lambda: cluster.restart(3))
    reassign(cluster, [1, 3])

    cluster.sleep(105.9)
    assert cluster.reassignments()
    assert held(cluster, 3) == pytest.approx(99 * MB)
    cluster.sleep(0.2)
    assert not cluster.reassignments()


def test_a_broker_catches_up_on_what_was_written_meanwhile():
    cluster = admin([1, 2], in_bytes_per_s=MB)
    cluster.kill(2)
    assert cluster.health() == Health(under_replicated=1)
    cluster.sleep(45)
    cluster.restart(2)

    cluster.sleep(4.9)
    assert seen(cluster).in_sync == (1,)
    cluster.sleep(0.2)
    assert seen(cluster).in_sync == (1, 2)
    assert cluster.health() == Health()


@pytest.mark.parametrize(("elr", "first"), [(0, 2), (1, None)])
def test_a_partition_without_a_replica_in_sync_is_offline(elr, first):
    configs = {"configs": {"min.insync.replicas": "2"}}
    features = {"eligible.leader.replicas.version": elr}
    cluster = admin([1, 2], topic=configs, features=features)
    cluster.kill(1)
    cluster.kill(2)
    assert seen(cluster).leader is None
    assert cluster.health() == Health(1, 1, 1)
    refused = cluster.elect([("t", 0)])
    assert refused["t", 0].startswith("preferred-not-available")

    # With an ELR the other one may have more records, until it proves otherwise.
    cluster.restart(2)
    assert seen(cluster).leader == first
    cluster.restart(1)
    assert seen(cluster).leader == 2
    cluster.sleep(1)
    assert sorted(seen(cluster).in_sync) == [1, 2]


def test_an_answer_that_is_lost_leaves_the_change():
    cluster = admin([1, 2])
    cluster.network.lose_answers(1)
    with pytest.raises(AnswerUnknownError):
        reassign(cluster, [1, 3])
    assert cluster.reassignments()
    assert not reassign(cluster, [1, 3])


def test_a_request_that_is_lost_changes_nothing():
    cluster = admin([1, 2])
    cluster.network.lose_requests(1)
    with pytest.raises(AnswerUnknownError):
        reassign(cluster, [1, 3])
    assert not cluster.reassignments()


def test_a_network_that_is_cut_comes_back():
    cluster = admin([1, 2])
    reassign(cluster, [1, 3])
    cluster.network.cut(15)
    for _ in range(2):
        with pytest.raises(ClusterUnavailableError):
            cluster.reassignments()
    assert cluster.now_s() == pytest.approx(20)
    assert not cluster.reassignments()


def test_a_topic_is_deleted_and_created_again():
    cluster = admin([1, 2], [1, 2])
    reassign(cluster, [1, 3])
    cluster.sleep(1)
    cluster.delete_topic("t")
    assert cluster.reassignments() == {}
    assert cluster.partitions([("t", 0)]) == {}
    assert reassign(cluster, [1, 3]) == {("t", 0): "UnknownTopicOrPartitionError"}
    cluster.sleep(100)

    cluster.create_topic("t", [(2, 4)], size_bytes=MB)
    cluster.add_partitions("t", [(3, 4)])

    found = cluster.partitions([("t", 0), ("t", 1)])
    assert [one.replicas for one in found.values()] == [(2, 4), (3, 4)]
    topic_id = seen(cluster).topic_id
    assert topic_id is not None
    after = cluster.snapshot()
    assert after.topics.column("topic_id").to_pylist() == [topic_id]
    assert after.partitions.column("replicas").to_pylist() == [[2, 4], [3, 4]]


def test_the_snapshot_of_an_unchanged_cluster_is_the_first():
    first = snapshot([1, 2], [2, 3], in_bytes_per_s=5.0)
    assert SimulatedAdmin(first).snapshot().equals(first)


def test_a_snapshot_has_the_time_and_the_changes():
    cluster = admin([1, 2], [3, 4])
    reassign(cluster, [1, 3])
    cluster.kill(4)
    throttle(cluster, 1, f"{LEADER}.rate", 7)
    cluster.sleep(5)

    found = cluster.snapshot()

    assert found.taken_at == "2026-11-27T08:00:05Z"
    assert found.brokers.column("state").to_pylist()[3] == "fenced"
    assert set(found.log_dirs.column("broker_id").to_pylist()) == {1, 2, 3}
    assert dict(found.brokers.column("configs").to_pylist()[0]) == {
        f"{LEADER}.rate": "7"
    }
    first, second = found.partitions.to_pylist()
    assert first["replica_bytes"] == [100 * MB, 50 * MB, 100 * MB]
    assert (first["adding_replicas"], first["removing_replicas"]) == ([3], [2])
    assert second["offline_replicas"] == [4]


def test_idle_partitions_cost_nothing():
    many = [(1, 2)] * 5000
    cluster = admin(*many)
    reassign(cluster, *[(1, 3)] * 20)

    cluster.sleep(1)
    cluster.reassignments()
    cluster.log_dirs([(("t", n), 3) for n in range(20)])
    table = cluster._model.table
    assert len(table.changed) == 20
    cluster.sleep(1000)
    assert not table.changed
    assert len(list(table.other_than_first())) == 20
