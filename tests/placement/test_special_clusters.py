"""Clusters that are odd in one way each, and what a plan makes of them."""

import numpy as np
import pytest

from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState, ClusterState, LogDirState, Storage
from placement.model.load import Resource
from placement.operations.add_brokers import AddBrokers
from placement.operations.operation import Operation
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan
from support.clusters import Dir, make_state

MET = {Status.OPTIMAL, Status.FEASIBLE}
DEAD, FENCED = BrokerState.DEAD, BrokerState.FENCED


def lists_of(state: ClusterState) -> list[list[int]]:
    return [state.brokers_of(p) for p in range(state.num_partitions)]


def after(found: PlannedPlacement) -> list[list[int]]:
    return lists_of(found.reassignment.after())


def on(lists: list[list[int]], broker: int) -> int:
    return sum(broker in brokers for brokers in lists)


def led_by(lists: list[list[int]], broker: int) -> int:
    return sum(brokers[0] == broker for brokers in lists)


def notes_of(found: PlannedPlacement, what: str) -> list[str]:
    return [note.message for note in found.notes if note.what == what]


def test_a_dead_broker_is_evacuated_by_a_rebalance():
    state = make_state([[0, 1], [1, 2], [2, 0], [0, 3]], racks="abcd", states={0: DEAD})

    found = plan(state, Rebalance())

    assert on(after(found), 0) == 0
    assert [len(brokers) for brokers in after(found)] == [2] * 4
    assert found.solution.status in MET


def test_a_partition_with_no_live_replica_waits_for_one():
    state = make_state([[0], [1]], racks="abc", states={0: DEAD})

    found = plan(state, Rebalance())

    assert after(found) == [[0], [1]]


def test_adding_brokers_leaves_the_partitions_of_a_dead_one_alone():
    state = make_state([[0, 1]] * 6, racks="aabb", states={0: DEAD, 3: BrokerState.NEW})

    found = plan(state, AddBrokers())

    assert found.is_nothing
    assert "not live" in notes_of(found, "left-alone")[0]


def test_partitions_of_a_fenced_broker_stay():
    lists = [[0, 1]] * 6 + [[1, 0], [1, 2]]
    state = make_state(lists, racks="abcd", states={2: FENCED})

    found = plan(state, Rebalance())

    assert after(found)[7] == [1, 2]
    assert on(after(found), 2) == 1
    assert on(after(found), 3) > 0
    assert notes_of(found, "left-alone") == [
        "t-7: left alone, for they have a replica on a broker that is not live"
    ]


def test_a_demoted_broker_loses_its_leaders_and_no_replicas():
    lists = [[0, 1], [0, 2], [1, 2], [2, 0], [1, 0], [2, 1]]
    state = make_state(lists, racks="abc", states={0: BrokerState.DEMOTED})

    found = plan(state, Rebalance())

    assert led_by(after(found), 0) == 0
    assert on(after(found), 0) == 4
    assert led_by(after(found), 1) == led_by(after(found), 2) == 3


def test_more_replicas_than_racks_are_spread_as_evenly_as_they_can_be():
    state = make_state([[0, 1, 2], [0, 1, 2], [3, 4, 5]], racks="aaabbb")

    found = plan(state, Rebalance())

    for brokers in after(found):
        in_a = sum(broker < 3 for broker in brokers)
        assert in_a in {1, 2}
    assert found.solution.status in MET


def test_a_rack_repair_moves_no_more_than_it_must():
    state = make_state([[0, 1], [2, 3], [0, 2], [1, 3]], racks="aabb")

    found = plan(state, Rebalance())

    # Two partitions lie in one rack; their exchange of one replica mends both.
    assert int(found.reassignment.is_copied.sum()) == 2
    assert found.solution.status == Status.OPTIMAL


def test_as_many_replicas_as_brokers_leave_only_the_order_to_choose():
    state = make_state([[0, 1, 2]] * 6, racks="abc")

    found = plan(state, Rebalance())

    assert not found.reassignment.is_copied.any()
    assert [led_by(after(found), broker) for broker in range(3)] == [2, 2, 2]


def test_a_removed_broker_that_every_partition_needs_is_proven_to_be_needed():
    state = make_state([[0, 1, 2]], racks="abc")

    found = plan(state, RemoveBrokers((2,)))

    assert found.solution.status == Status.INFEASIBLE
    shortfall = found.solution.shortfalls[0]
    assert (shortfall.what, shortfall.have, shortfall.need) == ("bins", 2, 3)
    assert not found.reassignment.is_copied.any()


def test_a_broker_with_a_giant_partition_is_set_aside_and_the_rest_balanced():
    sizes = [1_000_000, 10, 10, 10, 10, 10, 10, 10]
    state = make_state([[0], [0], *[[1]] * 6], racks="abc", size_bytes=sizes)

    found = plan(state, Rebalance(), Settings(resources=(Resource.DISK,)))

    assert after(found)[:2] == [[0], [0]]
    assert on(after(found), 1) == on(after(found), 2) == 3
    assert notes_of(found, "band-widened")


@pytest.mark.parametrize("size", [0, -1], ids=["zero", "unknown"])
def test_sizes_that_say_nothing_leave_the_counts_to_balance(size: int):
    state = make_state([[0]] * 6, racks="abc", size_bytes=size)

    found = plan(state, Rebalance())

    assert [on(after(found), broker) for broker in range(3)] == [2, 2, 2]
    assert bool(notes_of(found, "not-balanced")) == (
        size < 0 or Resource.IN not in found.balanced
    )
    assert (Resource.DISK in found.balanced) == (size == 0)


def test_brokers_without_a_rack_are_racks_of_their_own():
    state = make_state([[0, 1], [0, 1], [0, 2], [0, 3]], racks="aa--")

    found = plan(state, Rebalance())

    for brokers in after(found):
        assert set(brokers) != {0, 1}
    assert found.solution.status in MET


@pytest.mark.parametrize(
    "operation",
    [Rebalance(), AddBrokers((2,)), RemoveBrokers((0,))],
    ids=["rebalance", "add", "remove"],
)
def test_nothing_moves_where_every_topic_is_excluded(operation: Operation):
    state = make_state({"a": [[0, 1]] * 4, "b": [[1, 0]]}, racks="abc")
    nothing = Settings(excluded_topics=np.array([True, True]))

    found = plan(state, operation, nothing)

    assert found.is_nothing
    is_removal = isinstance(operation, RemoveBrokers)
    assert (found.solution.status == Status.PARTIAL) == is_removal
    assert len(found.solution.shortfalls) == (5 if is_removal else 0)


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(make_state([], ids=[]), id="no-brokers"),
        pytest.param(make_state([], racks="ab"), id="no-topics"),
        pytest.param(make_state({"a": [], "b": []}, racks="ab"), id="no-partitions"),
        pytest.param(
            make_state(
                [],
                racks="ab",
                disk_bytes=100,
                log_dirs={0: [Dir("/d", 100, 5)], 1: [Dir("/d", 100, 100)]},
            ),
            id="only-stray-bytes",
        ),
        pytest.param(
            make_state([[0, 1]], states=dict.fromkeys([0, 1], FENCED)), id="all-fenced"
        ),
        pytest.param(
            make_state([[0]], storage=Storage.UNKNOWN, racks="ab"), id="storage-unknown"
        ),
    ],
)
@pytest.mark.parametrize(
    "operation",
    [Rebalance(), AddBrokers(), AddBrokers((0,))],
    ids=["rebalance", "add-new", "add"],
)
def test_where_there_is_nothing_to_do_nothing_is_done(
    state: ClusterState, operation: Operation
):
    found = plan(state, operation)

    assert found.is_nothing
    assert found.solution.status == Status.OPTIMAL


def test_dead_brokers_alone_leave_nowhere_to_go():
    state = make_state([[0, 1]], states=dict.fromkeys([0, 1], DEAD))

    found = plan(state, Rebalance())

    assert found.is_nothing
    assert found.solution.status == Status.INFEASIBLE


def test_no_broker_gets_more_replicas_than_it_may_hold():
    state = make_state([[0]] * 9, racks="abc", max_replicas=[20, 2, 20])

    found = plan(state, Rebalance(), Settings(resources=(Resource.LEADERS,)))

    assert on(after(found), 1) <= 2
    assert found.solution.status in MET


def test_a_broker_over_its_most_replicas_is_relieved():
    state = make_state([[0]] * 6, racks="ab", max_replicas=[4, 4])

    found = plan(state, Rebalance())

    assert max(on(after(found), broker) for broker in (0, 1)) <= 4
    assert found.solution.status in MET


def test_no_disk_goes_over_its_threshold():
    state = make_state(
        [[0], [0], [0], [1]],
        racks="ab",
        size_bytes=[30, 30, 30, 60],
        disk_bytes=[100, 100],
    )

    found = plan(state, Rebalance())

    # 90 of 80 on one, 60 on the other: only an exchange would do, and one does not.
    lists, size = after(found), [30, 30, 30, 60]
    used = [
        sum(s for s, row in zip(size, lists, strict=True) if b in row) for b in (0, 1)
    ]
    assert sum(used) == 150
    assert max(used) <= 90
    assert (found.solution.status in MET) == (max(used) <= 80)


def test_more_bytes_than_all_disks_may_hold_are_proven_too_many():
    state = make_state(
        [[0], [0], [1], [1]], racks="ab", size_bytes=45, disk_bytes=[100, 100]
    )

    found = plan(state, Rebalance())

    assert found.solution.status == Status.INFEASIBLE
    assert found.solution.shortfalls[0].resource == "disk"


def test_a_threshold_can_be_raised():
    state = make_state(
        [[0], [0], [1], [1]], racks="ab", size_bytes=45, disk_bytes=[100, 100]
    )

    found = plan(
        state, Rebalance(), Settings(capacity_thresholds={Resource.DISK: 0.95})
    )

    assert found.is_nothing
    assert found.solution.status == Status.OPTIMAL


def test_a_broker_without_an_online_log_dir_gets_nothing():
    state = make_state(
        [[0]] * 6,
        racks="abc",
        log_dirs={1: [Dir("/d", state=LogDirState.CORDONED)], 2: [Dir("/d")]},
    )

    found = plan(state, Rebalance())

    assert on(after(found), 1) == 0
    assert on(after(found), 2) >= 2
    assert notes_of(found, "broker-closed")


def test_added_brokers_get_copies_from_all_old_ones_and_old_ones_none():
    state = make_state(
        [[n % 3, (n + 1) % 3] for n in range(12)],
        racks="abca",
        states={3: BrokerState.NEW},
    )

    found = plan(state, AddBrokers())

    copied = found.reassignment.is_copied
    assert set(found.reassignment.broker_idx[copied].tolist()) == {3}
    # A quarter of 24 replicas, less a tenth.
    assert on(after(found), 3) == 6
    assert found.solution.certificate.moves.lower_bound == 6


def test_removing_brokers_touches_no_other_partition():
    lists = [[0, 1], [1, 2], [2, 3], [3, 0], [1, 3]]
    state = make_state(lists, racks="abcd", size_bytes=10)

    found = plan(state, RemoveBrokers((0,)))

    assert on(after(found), 0) == 0
    assert [after(found)[p] for p in (1, 2, 4)] == [lists[p] for p in (1, 2, 4)]
    assert found.solution.certificate.cost.value == 20
    assert found.solution.status == Status.OPTIMAL


def test_a_broker_excluded_for_leaders_keeps_those_it_has():
    state = make_state([[0], [0], [1], [1]], racks="ab")
    settings = Settings(excluded_for_leaders=frozenset({0}))

    found = plan(state, Rebalance(), settings)

    assert after(found)[2:] == [[1], [1]]
    assert found.solution.status in MET


def test_the_only_other_broker_may_not_lead_so_the_leader_cannot_leave():
    state = make_state([[0]], racks="ab", states={1: BrokerState.DEMOTED})

    found = plan(state, RemoveBrokers((0,)))

    assert found.is_nothing
    assert found.solution.status not in MET
    assert found.solution.shortfalls


def test_a_leader_leaves_after_handing_leadership_on():
    state = make_state([[0, 1]], racks="abc", states={2: BrokerState.DEMOTED})

    found = plan(state, RemoveBrokers((0,)))

    assert after(found) == [[1, 2]]
    assert found.solution.status in MET
