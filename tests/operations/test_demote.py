"""Taking leadership off brokers and log dirs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState, ClusterState
from placement.operations.demote import Demote
from planner.options.plan_request import PlanRequest
from planner.plan.documents.scored_plan import elections, make_plan
from planner.plan.run.make_plan import make
from support.clusters import Dir, clusters, make_state
from support.operations import lists_after, lists_of, plan_checked, planned


@pytest.mark.parametrize(
    ("lists", "broker_ids", "after"),
    [
        pytest.param([[0, 1, 2]], [0], [[1, 2, 0]], id="a-leader-goes-to-the-end"),
        pytest.param([[1, 0, 2]], [0], [[1, 2, 0]], id="a-follower-too"),
        pytest.param([[1, 2, 0]], [0], [[1, 2, 0]], id="last-already"),
        pytest.param([[1, 2]], [0], [[1, 2]], id="not-there"),
        pytest.param([[0, 1, 2]], [0, 1], [[2, 0, 1]], id="two-keep-their-order"),
    ],
)
def test_demoted_replicas_come_last(lists, broker_ids, after):
    state = make_state(lists, racks="abc")

    assert planned(state, Demote(tuple(broker_ids))) == after


def test_only_a_replica_in_sync_becomes_the_leader():
    state = make_state([[0, 1, 2]], isr=[[0, 2]], racks="abc")

    assert planned(state, Demote((0,))) == [[2, 1, 0]]


def test_a_first_replica_out_of_sync_gives_way_to_one_that_can_lead():
    state = make_state([[1, 0, 2]], isr=[[0, 2]], leaders=[0], racks="abc")

    assert planned(state, Demote((0,))) == [[2, 1, 0]]


@pytest.mark.parametrize(
    ("lists", "isr"),
    [
        pytest.param([[0]], [[0]], id="alone"),
        pytest.param([[0, 1]], [[0]], id="others-out-of-sync"),
    ],
)
def test_a_partition_that_no_other_can_lead_is_named(lists, isr):
    state = make_state(lists, isr=isr, racks="ab")

    found = plan_checked(state, Demote((0,)))

    assert found.is_nothing
    assert found.solution.status is Status.INFEASIBLE
    assert [lacking.group for lacking in found.solution.shortfalls] == [0]


def test_a_partition_that_no_broker_leads_or_can_lead_is_named():
    state = make_state([[1, 0]], racks="ab", leaders=[None], isr=[[0]])

    found = plan_checked(state, Demote((0,)))

    assert found.solution.status is Status.INFEASIBLE
    assert found.solution.shortfalls[0].level == "leader"


def test_a_list_that_names_a_dead_broker_is_left_alone():
    state = make_state([[0, 1, 2]], racks="abc", states={1: BrokerState.DEAD})

    found = plan_checked(state, Demote((0,)))

    assert found.is_nothing
    assert "left-alone" in {note.what for note in found.notes}


def test_one_log_dir_is_demoted_and_the_other_is_not():
    both = [Dir("/d1"), Dir("/d2")]
    state = make_state(
        [[0, 1], [0, 1]],
        racks="ab",
        log_dirs={0: both, 1: both},
        dirs=[["/d1", "/d1"], ["/d2", "/d1"]],
    )

    assert planned(state, Demote(log_dirs=((0, "/d1"),))) == [[1, 0], [0, 1]]


def test_who_leads_instead_is_chosen_by_the_bands():
    # Broker 1 leads two already: the three that 0 led go to 2 and 3.
    lists = [[0, 1, 2], [0, 1, 3], [0, 1, 3], [1, 2, 3], [1, 2, 3], [2, 3, 1]]
    state = make_state(lists, racks="abcd")

    after = planned(state, Demote((0,)))

    assert sorted(row[0] for row in after) == [1, 1, 2, 2, 3, 3]


def test_no_broker_leads_above_a_capacity():
    state = make_state(
        [[0, 1], [0, 1]],
        racks="ab",
        in_rate=0.0,
        out_rate=60.0,
        broker_out=[1000.0, 100.0],
    )

    found = plan_checked(state, Demote((0,)))

    assert sorted(lists_after(found)) == [[0, 1], [1, 0]]
    (lacking,) = found.solution.shortfalls
    assert (lacking.what, lacking.resource) == ("capacity", "out")
    assert found.solution.status is Status.PARTIAL


def test_deliberate_exclusions_are_no_shortfall():
    state = make_state({"a": [[0]], "b": [[0, 1]]}, racks="ab")
    chosen_settings = Settings(excluded_topics=np.array([True, False]))

    found = plan_checked(state, Demote((0,)), chosen_settings)

    assert lists_after(found) == [[0], [1, 0]]
    assert found.has_met_rules


def test_an_excluded_broker_does_not_lead_instead():
    state = make_state([[0, 1, 2]], racks="abc")
    chosen_settings = {"excluded_for_leaders": frozenset({1})}

    assert planned(state, Demote((0,)), **chosen_settings) == [[2, 1, 0]]


@st.composite
def demotions(draw, **options) -> tuple[ClusterState, Demote]:
    state = draw(clusters(**options))
    ids = state.brokers.ids.tolist()
    brokers = draw(st.sets(st.sampled_from(ids), max_size=2))
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    dirs = sorted(zip(owners, state.log_dirs.paths, strict=True))
    chosen = draw(st.sets(st.sampled_from(dirs), max_size=2)) if dirs else ()
    return state, Demote(tuple(sorted(brokers)), tuple(sorted(chosen)))


def demoted_rows(state: ClusterState, operation: Demote) -> set[tuple[int, int]]:
    """Partition and broker of every replica that shall not lead, one by one."""
    found = set()
    for row, p in enumerate(state.replicas.partition_idx.tolist()):
        broker = int(state.brokers.ids[state.replicas.broker_idx[row]])
        log_dir = int(state.replicas.log_dir_idx[row])
        path = None if log_dir < 0 else state.log_dirs.paths[log_dir]
        if broker in operation.broker_ids or (broker, path) in operation.log_dirs:
            found.add((p, broker))
    return found


@settings(max_examples=40)
@given(demotions(reassigning=True))
def test_demoted_replicas_lead_nothing_or_it_is_said(case):
    state, operation = case
    demoted = demoted_rows(state, operation)

    found = plan_checked(state, operation)

    plan = make_plan("demote", found, taken_at=None, settings={})
    said = {lacking.group for lacking in found.solution.shortfalls}
    elected = set(np.nonzero(elections(plan))[0].tolist())
    alone = found.draft.is_left_alone
    for p, (before, after) in enumerate(
        zip(lists_of(state), lists_after(found), strict=True)
    ):
        assert sorted(after) == sorted(before)
        leader = int(state.partitions.leader_idx[p])
        leads = leader >= 0 and (p, int(state.brokers.ids[leader])) in demoted
        if leads and not alone[p]:
            assert p in said or p in elected
            assert p in said or (p, after[0]) not in demoted
        if not any((p, broker) in demoted for broker in before):
            assert after == before
    assert not found.reassignment.is_copied.any()


@settings(max_examples=40)
@given(demotions(reassigning=True))
def test_a_second_demotion_changes_no_list(case):
    state, operation = case
    first = plan_checked(state, operation)

    again = plan_checked(first.reassignment.after(), operation)

    assert again.is_nothing


@settings(max_examples=40)
@given(demotions(all_live=True, all_known=True))
def test_new_leaders_are_in_sync_and_may_lead(case):
    state, operation = case
    barred = frozenset(state.brokers.ids[:1].tolist())

    found = plan_checked(state, operation, Settings(excluded_for_leaders=barred))

    changed = np.nonzero(found.reassignment.is_led_anew)[0]
    after = found.reassignment
    first = after.origin[after.start[:-1][changed]]
    assert state.replicas.is_in_sync[first].all()
    assert not set(state.brokers.ids[state.replicas.broker_idx[first]]) & barred


@pytest.mark.parametrize(
    ("rows", "demoted", "options", "goal"),
    [
        pytest.param(
            [[0, 2], [0, 2], [0, 1]], "0", {"min_topic_leaders": ("t=1",)},
            "min-topic-leaders", id="fewer-brokers-share-leaders",
        ),
        pytest.param(
            [[0, 1], [1, 2]], "1", {"even_positions": True}, "even-positions",
            id="lists-that-end-with-it-do-not-count",
        ),
    ],
)  # fmt: skip
def test_a_demoted_broker_has_no_part_in_goals_of_leaders(rows, demoted, options, goal):
    rules = {**options, "hard": (goal,)}

    made = make(
        make_state(rows, racks="abc"),
        PlanRequest(goal="demote", broker_list=demoted, **rules),
    )

    assert made.plan.status in {"optimal", "feasible"}
    assert made.is_ok
    assert goal not in {finding.rule for finding in made.findings}
