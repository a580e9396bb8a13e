"""Copies of a simulated cluster: rates, throttles, cancels, log dirs."""

import pytest

from execution.small_cluster import (
    DIRS,
    FOLLOWER,
    INSIDE,
    LEADER,
    MB,
    admin,
    held,
    reassign,
    seen,
    throttle,
    throttle_replicas,
)
from planner.execution.cluster.running_cluster import Health, Reassigned, Seen


def test_a_copy_takes_the_time_of_its_bytes():
    cluster = admin([1, 2])
    assert not reassign(cluster, [1, 3])
    assert cluster.reassignments() == {("t", 0): Reassigned((1, 3), (3,), (2,))}
    assert seen(cluster) == Seen((1, 3, 2), (1, 2), 1, None)

    cluster.sleep(9.9)
    assert held(cluster, 3) == pytest.approx(99 * MB)
    assert cluster.health() == Health()
    cluster.sleep(0.2)

    assert cluster.reassignments() == {}
    assert seen(cluster) == Seen((1, 3), (1, 3), 1, None)
    assert cluster.now_s() == pytest.approx(10.1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([(1, 2), (1, 2)], [(1, 3), (1, 4)], id="one-source"),
        pytest.param([(1, 2), (2, 1)], [(1, 3), (2, 3)], id="one-target"),
    ],
)
def test_copies_share_the_rate_of_a_broker(before, after):
    cluster = admin(*before)
    reassign(cluster, *after)

    cluster.sleep(19.9)
    assert len(cluster.reassignments()) == 2
    cluster.sleep(0.2)
    assert not cluster.reassignments()


def test_copies_that_share_no_broker_run_at_their_full_rates():
    cluster = admin([1, 2], [3, 4])
    reassign(cluster, [1, 4], [3, 2])

    cluster.sleep(10.1)

    assert not cluster.reassignments()


def test_a_copy_without_bytes_ends_at_the_next_look():
    cluster = admin([1, 2], size=0)
    reassign(cluster, [1, 3])
    assert cluster.reassignments()

    cluster.sleep(0.1)

    assert not cluster.reassignments()


@pytest.mark.parametrize(
    ("end", "value", "broker"),
    [(LEADER, "0:1", 1), (FOLLOWER, "0:3", 3), (FOLLOWER, "*", 3)],
)
def test_a_throttle_limits_the_replicas_of_its_list(end, value, broker):
    cluster = admin([1, 2], [1, 2])
    throttle_replicas(cluster, end, value)
    throttle(cluster, broker, f"{end}.rate", MB)
    reassign(cluster, [1, 3])

    cluster.sleep(50)
    assert held(cluster, 3) == pytest.approx(50 * MB)
    throttle(cluster, broker, f"{end}.rate", 5 * MB)
    cluster.sleep(9.9)
    assert cluster.reassignments()
    cluster.sleep(0.2)
    assert not cluster.reassignments()


def test_replicas_outside_the_list_are_not_throttled():
    cluster = admin([1, 2], [1, 2])
    throttle_replicas(cluster, FOLLOWER, "0:3,1:4")
    throttle(cluster, 3, f"{FOLLOWER}.rate", MB)
    reassign(cluster, None, [1, 3])

    cluster.sleep(10.1)
    assert not cluster.reassignments()

    reassign(cluster, [1, 3])
    cluster.sleep(10.1)
    assert cluster.reassignments()
    throttle_replicas(cluster, FOLLOWER, "1:4")
    cluster.sleep(9.1)
    assert not cluster.reassignments()


def test_a_throttle_below_the_producers_never_ends():
    cluster = admin([1, 2], in_bytes_per_s=2 * MB)
    throttle_replicas(cluster, FOLLOWER, "*")
    throttle(cluster, 3, f"{FOLLOWER}.rate", 2 * MB)
    reassign(cluster, [1, 3])

    cluster.sleep(10**6)
    assert cluster.reassignments()
    throttle(cluster, 3, f"{FOLLOWER}.rate", 4 * MB)
    cluster.sleep(50.1)
    assert not cluster.reassignments()


def test_a_reassignment_replaces_the_running_one():
    cluster = admin([1, 2])
    reassign(cluster, [1, 3])
    cluster.sleep(5)
    reassign(cluster, [1, 4])

    # Broker 3 goes on until the end, as Kafka only removes it then.
    assert seen(cluster).replicas == (1, 4, 2, 3)
    cluster.sleep(5)
    assert (held(cluster, 3), held(cluster, 4)) == (75 * MB, 25 * MB)
    cluster.sleep(20)
    assert seen(cluster).replicas == (1, 4)


def test_the_way_back_over_a_running_reassignment_hangs_until_it_is_cancelled():
    cluster = admin([1, 2])
    reassign(cluster, [1, 3])
    reassign(cluster, [1, 2])

    cluster.sleep(10**6)
    assert cluster.reassignments() == {("t", 0): Reassigned((1, 2), (3,), (3,))}
    assert not reassign(cluster, None)
    assert seen(cluster).replicas == (1, 2)
    assert not cluster.reassignments()


def test_a_cancelled_copy_gives_its_space_back():
    cluster = admin([1, 2])
    free = cluster.log_dirs([(("t", 0), 3)])[3].dirs
    reassign(cluster, [1, 3])
    cluster.sleep(4)
    (now, _) = sorted(
        one["usable_bytes"] for one in cluster.log_dirs([(("t", 0), 3)])[3].dirs
    )
    assert now == free[0]["usable_bytes"] - 40 * MB

    reassign(cluster, None)

    assert cluster.log_dirs([(("t", 0), 3)])[3].dirs == free


def test_a_replica_moves_between_log_dirs():
    cluster = admin([1, 2], [1, 2])
    throttle(cluster, 1, INSIDE, 5 * MB)
    assert not cluster.move_replicas({(("t", 0), 1): "/b"})

    cluster.sleep(10)
    found = cluster.log_dirs([(("t", 0), 1)])[1]
    assert found.current["t", 0] == ("/a", 100 * MB)
    assert found.future["t", 0] == ("/b", 50 * MB)
    cluster.sleep(10.1)
    found = cluster.log_dirs([(("t", 0), 1)])[1]
    assert found.current["t", 0] == ("/b", 100 * MB)
    assert not found.future
    usable = {one["log_dir"]: one["usable_bytes"] for one in found.dirs}
    assert usable == {"/a": 10_100 * MB, "/b": 9_900 * MB}


def test_the_log_dir_of_a_future_replica_is_remembered():
    cluster = admin([1, 2], [1, 3])
    assert not cluster.move_replicas({(("t", 0), 3): "/a"})
    reassign(cluster, [1, 3])

    assert cluster.log_dirs([(("t", 0), 3)])[3].current["t", 0] == ("/a", 0)


def test_a_full_log_dir_goes_offline():
    cluster = admin([1, 2], [1, 3], free=60 * MB)
    cluster.move_replicas({(("t", 0), 3): "/a"})
    reassign(cluster, [1, 3])

    cluster.sleep(100)

    found = cluster.log_dirs([(("t", 0), 3), (("t", 1), 3)])[3]
    codes = {one["log_dir"]: one["error_code"] for one in found.dirs}
    assert codes == {"/a": 56, "/b": 0}
    assert not found.current
    assert cluster.reassignments()
    assert seen(cluster, 1) == Seen((1, 3), (1,), 1, None)
    assert cluster.health() == Health(under_replicated=1)
    assert cluster.move_replicas({(("t", 1), 3): "/a"}) == {
        (("t", 1), 3): "KafkaStorageError"
    }
    assert cluster.snapshot().log_dirs.column("state").to_pylist()[4] == "offline"


def test_a_broker_without_a_log_dir_ends():
    cluster = admin([1, 2], [2, 1])
    for path in DIRS:
        cluster.fail_log_dir(2, path)

    cluster.restart(2)
    assert cluster.live_brokers() == {1, 3, 4}
    assert seen(cluster, 1).leader == 1
