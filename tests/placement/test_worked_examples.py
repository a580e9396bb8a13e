"""Worked examples that must come out exactly, each under its own name."""

from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.model.load import Resource
from placement.operations.add_brokers import AddBrokers
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan
from support.clusters import make_state

COUNTS = Settings(resources=(Resource.REPLICAS, Resource.LEADERS))


def num_copies(found: PlannedPlacement) -> int:
    return int(found.reassignment.is_copied.sum())


def replicas_on(state: ClusterState) -> dict[int, int]:
    """Replicas by broker id."""
    counts = dict.fromkeys(state.brokers.ids.tolist(), 0)
    for partition in range(state.num_partitions):
        for broker in state.brokers_of(partition):
            counts[broker] += 1
    return counts


def test_tp_re_01_five_partitions_of_one_broker_spread_over_two_by_two_moves():
    state = make_state({"tp_re_01": [[0]] * 5}, racks="ab")

    found = plan(state, Rebalance())

    assert num_copies(found) == 2
    assert sorted(replicas_on(found.reassignment.after()).values()) == [2, 3]
    assert found.solution.certificate.moves.lower_bound == 2
    assert found.solution.status == Status.OPTIMAL


def test_two_partitions_of_three_replicas_expand_to_six_brokers_by_three_moves():
    state = make_state([[1, 2, 3], [2, 3, 1]], ids=range(1, 7))

    for operation in (AddBrokers((4, 5, 6)), Rebalance()):
        found = plan(state, operation, COUNTS)

        assert num_copies(found) == 3
        after = replicas_on(found.reassignment.after())
        assert after == dict.fromkeys(range(1, 7), 1)
        assert found.solution.status == Status.OPTIMAL


def test_one_of_twenty_brokers_in_two_zones_is_removed_by_one_move():
    lists = [[2 * n, 2 * n + 1] for n in range(10)]
    state = make_state(lists, racks="ab" * 10)

    found = plan(state, RemoveBrokers((7,)), COUNTS)

    assert num_copies(found) == 1
    after = found.reassignment.after()
    assert replicas_on(after)[7] == 0
    kept, came = after.brokers_of(3)
    assert {kept % 2, came % 2} == {0, 1}
    assert found.solution.status == Status.OPTIMAL
