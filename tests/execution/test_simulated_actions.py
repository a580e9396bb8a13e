"""Whatever happens to a simulated cluster, its bytes and lists stay sound."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.small_cluster import (
    BROKERS,
    DIRS,
    FOLLOWER,
    MB,
    RATE,
    admin,
    seen,
    throttle,
    throttle_replicas,
)
from planner.execution.simulation.simulated_admin import SimulatedAdmin

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
