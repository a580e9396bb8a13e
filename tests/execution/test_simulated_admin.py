"""The simulated cluster: time, throttles, faults, and what must always hold."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.cluster.running_cluster import Health, Reassigned, Seen
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.kafka.actions.config_changes import Place
from planner.snapshot import Snapshot

MB = 10**6
RATE = 10 * MB
BROKERS = (1, 2, 3, 4)
DIRS = ("/a", "/b")
LEADER = "leader.replication.throttled"
FOLLOWER = "follower.replication.throttled"
INSIDE = "replica.alter.log.dirs.io.max.bytes.per.second"


def snapshot(
    *lists: Sequence[int],
    size: int = 100 * MB,
    free: int = 10_000 * MB,
    topic: dict[str, Any] | None = None,
    features: dict[str, int] | None = None,
    **columns: Any,
) -> Snapshot:
    """Return topic t on brokers 1 to 4, which have two log dirs each."""
    dirs = [
        {"path": path, "size_bytes": 2 * free + 1, "usable_bytes": free}
        for path in DIRS
    ]
    partitions = [
        {
            "partition": number,
            "replicas": list(row),
            "size_bytes": size,
            "log_dirs": [DIRS[0]] * len(row),
        }
        | columns
        for number, row in enumerate(lists)
    ]
    return Snapshot.from_document(
        {
            "format": "kafka-planner/snapshot",
            "version": 1,
            "cluster_id": "simulated",
            "taken_at": "2026-11-27T08:00:00Z",
            "features": features or {},
            "brokers": [{"id": b, "log_dirs": dirs} for b in BROKERS],
            "topics": [{"name": "t", "partitions": partitions} | (topic or {})],
        }
    )


def admin(*lists: Sequence[int], **more: Any) -> SimulatedAdmin:
    return SimulatedAdmin(snapshot(*lists, **more), rate_bytes_per_s=RATE)


def seen(cluster: SimulatedAdmin, number: int = 0) -> Seen:
    return cluster.partitions([("t", number)])["t", number]


def lists(cluster: SimulatedAdmin) -> list[tuple[int, ...]]:
    keys = [("t", number) for number in range(20)]
    return [one.replicas for one in cluster.partitions(keys).values()]


def held(cluster: SimulatedAdmin, broker: int, number: int = 0) -> int:
    found = cluster.log_dirs([(("t", number), broker)])[broker]
    return found.current["t", number].size_bytes


def reassign(cluster: SimulatedAdmin, *targets: Sequence[int] | None) -> dict:
    return cluster.reassign(
        {
            ("t", number): None if row is None else tuple(row)
            for number, row in enumerate(targets)
        }
    )


def configure(cluster: SimulatedAdmin, scope: str, name: object, **changes: str):
    wanted = {key.replace("__", "."): ("SET", value) for key, value in changes.items()}
    assert not cluster.set_configs({Place(scope, str(name)): wanted})


def throttle(cluster: SimulatedAdmin, broker: int, key: str, rate: int) -> None:
    changes = {key: ("SET", str(rate))}
    assert not cluster.set_configs({Place("broker", str(broker)): changes})


def throttle_replicas(cluster: SimulatedAdmin, key: str, value: str) -> None:
    changes = {f"{key}.replicas": ("SET", value)}
    assert not cluster.set_configs({Place("topic", "t"): changes})


# -- copies ------------------------------------------------------------------


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


# -- log dirs ----------------------------------------------------------------


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


# -- brokers -----------------------------------------------------------------


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


# -- requests that fail ------------------------------------------------------


def test_an_answer_that_is_lost_leaves_the_change():
    cluster = admin([1, 2])
    cluster.lose_answers(1)
    with pytest.raises(AnswerUnknownError):
        reassign(cluster, [1, 3])
    assert cluster.reassignments()
    assert not reassign(cluster, [1, 3])


def test_a_request_that_is_lost_changes_nothing():
    cluster = admin([1, 2])
    cluster.lose_requests(1)
    with pytest.raises(AnswerUnknownError):
        reassign(cluster, [1, 3])
    assert not cluster.reassignments()


def test_a_network_that_is_cut_comes_back():
    cluster = admin([1, 2])
    reassign(cluster, [1, 3])
    cluster.cut_network(15)
    for _ in range(2):
        with pytest.raises(ClusterUnavailableError):
            cluster.reassignments()
    assert cluster.now_s() == pytest.approx(20)
    assert not cluster.reassignments()


# -- topics ------------------------------------------------------------------


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


# -- snapshots ---------------------------------------------------------------


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


# -- anything ----------------------------------------------------------------

TARGETS = st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True)
NUMBERS = st.integers(0, 3)
ACTIONS = st.one_of(
    st.tuples(st.just("reassign"), NUMBERS, TARGETS | st.none()),
    st.tuples(st.just("kill"), st.sampled_from(BROKERS)),
    st.tuples(st.just("restart"), st.sampled_from(BROKERS)),
    st.tuples(
        st.just("move"), NUMBERS, st.sampled_from(BROKERS), st.sampled_from(DIRS)
    ),
    st.tuples(st.just("elect"), NUMBERS),
    st.tuples(st.just("fail"), st.sampled_from(BROKERS), st.sampled_from(DIRS)),
    st.tuples(st.just("throttle"), st.sampled_from(BROKERS), st.integers(0, 20)),
    st.tuples(st.just("sleep"), st.floats(0, 30)),
)


def act(cluster: SimulatedAdmin, action: Any) -> None:  # noqa: C901 - one case each
    match action:
        case "reassign", number, target:
            row = None if target is None else tuple(target)
            cluster.reassign({("t", number): row})
        case "kill", broker:
            cluster.kill(broker)
        case "restart", broker:
            cluster.restart(broker)
        case "move", number, broker, path:
            cluster.move_replicas({(("t", number), broker): path})
        case "elect", number:
            cluster.elect([("t", number)])
        case "fail", broker, path:
            cluster.fail_log_dir(broker, path)
        case "throttle", broker, rate:
            if broker in cluster.live_brokers():
                throttle(cluster, broker, f"{FOLLOWER}.rate", rate * MB)


def bytes_by_dir(cluster: SimulatedAdmin) -> Counter[tuple[int, str]]:
    """Return the bytes that replicas and future replicas hold, failed ones included."""
    found: Counter[tuple[int, str]] = Counter()
    model = cluster._model
    for number in range(4):
        one = model.table.find(("t", number))
        for broker, path in one.paths.items():
            missing = model.copies.missing(one, broker, inside=False)
            found[broker, path] += one.size_bytes - missing
        for broker, path in one.future.items():
            missing = model.copies.missing(one, broker, inside=True)
            found[broker, path] += one.size_bytes - missing
    return found


def free_by_dir(cluster: SimulatedAdmin) -> dict[tuple[int, str], float]:
    model = cluster._model
    return {
        (broker, path): float(model.copies.free_bytes[one.number])
        for broker, owner in model.brokers.items()
        for path, one in owner.dirs.items()
    }


def assert_sound(cluster: SimulatedAdmin) -> None:
    moving, live = cluster.reassignments(), cluster.live_brokers()
    for number in range(4):
        one = seen(cluster, number)
        assert len(set(one.replicas)) == len(one.replicas) > 0
        assert len(set(one.in_sync)) == len(one.in_sync)
        assert set(one.in_sync) <= set(one.replicas)
        assert one.leader is None or one.leader in {*one.in_sync} & live
        if reassigned := moving.get(("t", number)):
            assert {*reassigned.adding, *reassigned.removing} <= set(one.replicas)
            removing = set(reassigned.removing)
            assert reassigned.target == tuple(
                b for b in one.replicas if b not in removing
            )


@given(
    st.lists(TARGETS, min_size=4, max_size=4),
    st.lists(ACTIONS, max_size=25),
    st.sampled_from([0, 1]),
)
def test_whatever_happens_bytes_and_lists_stay_sound(before, actions, elr):
    features = {"eligible.leader.replicas.version": elr}
    cluster = admin(*before, free=300 * MB, features=features)
    throttle_replicas(cluster, FOLLOWER, "*")
    whole = Counter(free_by_dir(cluster)) + bytes_by_dir(cluster)
    for action in actions:
        earlier, at_s = bytes_by_dir(cluster), cluster.now_s()
        if action[0] == "sleep":
            cluster.sleep(action[1])
            most = RATE * (cluster.now_s() - at_s) + 1000
            assert_within(earlier, bytes_by_dir(cluster), most)
        else:
            act(cluster, action)
        assert_sound(cluster)
        total = Counter(free_by_dir(cluster))
        total.update(bytes_by_dir(cluster))
        assert dict(total) == pytest.approx(dict(whole), abs=1000)
    assert_same_again(cluster)
    assert_all_ends(cluster)


def assert_within(
    before: Counter[tuple[int, str]], after: Counter[tuple[int, str]], most: float
) -> None:
    """No log dir gets more than one copy's rate from outside and one from inside."""
    for place in after.keys() | before.keys():
        assert after[place] - before[place] <= 2 * most


def assert_same_again(cluster: SimulatedAdmin) -> None:
    """A cluster made from the snapshot of another goes on like it."""
    again = SimulatedAdmin(cluster.snapshot(), rate_bytes_per_s=RATE)
    assert again.reassignments() == cluster.reassignments()
    assert again.live_brokers() == cluster.live_brokers()
    for number in range(4):
        one, other = seen(cluster, number), seen(again, number)
        assert (one.replicas, one.leader) == (other.replicas, other.leader)
        assert set(one.in_sync) == set(other.in_sync)
    assert again.health() == cluster.health()


def assert_all_ends(cluster: SimulatedAdmin) -> None:
    """Once all brokers are back and unthrottled, only what cannot end is left."""
    model = cluster._model
    for broker in BROKERS:
        cluster.restart(broker)
        act(cluster, ("throttle", broker, 100))
    cluster.sleep(10**5)
    for (topic, number), one in cluster.reassignments().items():
        partition = model.table.find((topic, number))
        is_stuck = set(one.adding) & set(one.removing)
        is_offline = seen(cluster, number).leader is None
        failed = [
            b for b in partition.replicas if not model.copies.is_online(partition, b)
        ]
        assert is_stuck or is_offline or failed
