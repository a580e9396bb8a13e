"""Racks: strict, mapped, off, and replicas that stay in theirs."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.operations.rebalance import Rebalance
from placement.planning.infeasibility.infeasible_rules import explain_impossible
from placement.rules.rack_rules import WithinRack
from planner.options.cluster_options import read_request
from planner.options.declared.option import Problems
from planner.options.declared.rule_readers import read_rack_map
from planner.options.overrides import with_rack_map
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from rules.rule_plans import MET, after, changed_lists, planned
from support.clusters import clusters, make_state
from support.naive import lists_of, rack_of


@pytest.mark.parametrize(
    ("rack_rule", "status"),
    [("distribution", "nothing-to-do"), ("strict", "infeasible"),
     ("off", "nothing-to-do")],
)  # fmt: skip
def test_three_replicas_in_two_racks(rack_rule, status):
    state = make_state([[0, 1, 2]] * 2, racks="aab", leaders=[0, 1])
    request = PlanRequest(goal="rebalance", rack_rule=rack_rule, resources="replicas")

    made = make(make_state([[0, 1, 2]], racks="aab"), request)

    assert state.num_racks == 2
    assert made.plan.status == status


def test_strict_racks_are_the_reason_alone():
    request = PlanRequest(goal="rebalance", rack_rule="strict")

    infeasible_set = make(
        make_state([[0, 1, 2]], racks="aab"), request
    ).plan.infeasible_set

    assert (infeasible_set.rules, infeasible_set.helps) == (("rack",), (True,))
    assert infeasible_set.is_proven
    assert infeasible_set.is_irreducible


def test_without_the_rack_rule_replicas_may_share_a_rack():
    state = make_state([[0, 2], [0, 2], [0, 2], [0, 2]], racks="aab")
    request = PlanRequest(goal="rebalance", resources="replicas", rack_rule="off")

    made = make(state, request)

    assert made.is_ok
    assert made.plan.status in {"optimal", "feasible"}
    racks = rack_of(state)
    placed = lists_of(made.plan.placed.reassignment.after()).values()
    assert any(len({racks[broker] for broker in row}) == 1 for row in placed)


def test_racks_that_stand_for_another_are_one():
    state = make_state([[0, 1], [2, 3]], racks=["a1", "a2", "b1", "b2"])
    rules = {"rack_map": ["a1=a", "a2=a", "b1=b", "b2=b"]}
    request = PlanRequest(goal="rebalance", resources="replicas", **rules)

    made = make(state, request)
    racks = {0: "a", 1: "a", 2: "b", 3: "b"}

    assert made.is_ok
    for row in lists_of(made.plan.placed.reassignment.after()).values():
        assert {racks[broker] for broker in row} == {"a", "b"}


@given(clusters(), st.dictionaries(st.sampled_from("abc"), st.sampled_from("abcx")))
def test_mapped_racks_are_those_named(state, racks):
    mapped = with_rack_map(state, racks).brokers

    for broker in range(len(mapped)):
        old = state.brokers.racks[state.brokers.rack_idx[broker]]
        new = mapped.racks[mapped.rack_idx[broker]]
        assert new == (None if old is None else racks.get(old, old))
    named = [rack for rack in mapped.racks if rack is not None]
    assert len(set(named)) == len(named)


@settings(max_examples=30)
@given(clusters(min_brokers=2))
def test_replicas_stay_in_their_racks(state):
    found = planned(state, WithinRack(), effort="quick")

    before, racks = lists_of(state), rack_of(state)
    for key, listed in changed_lists(found).items():
        assert Counter(racks[b] for b in listed) == Counter(
            racks[b] for b in before[key]
        )


def test_replicas_stay_in_their_racks_where_the_rack_rule_is_off():
    # Broker 3 holds most, and is all of its rack.
    state = make_state([[0, 3], [1, 3], [2, 3]], racks="aaab", size_bytes=10)

    found = planned(state, WithinRack(), lifted=frozenset({"rack"}))

    assert not found.reassignment.is_copied.any()


def test_a_copy_goes_where_its_rack_has_room():
    state = make_state([[0, 2], [0, 2], [0, 2]], racks="aabb")

    found = planned(state, WithinRack())

    assert found.solution.status in MET
    held = Counter(b for row in lists_of(after(found)).values() for b in row)
    assert set(held.values()) <= {1, 2}


def test_a_rack_map_is_read_from_a_file(tmp_path):
    path = tmp_path / "racks.txt"
    path.write_text("# zones\na1 = a\n\na2=a  # the old hall\n")
    problems = Problems("--rack-map")

    assert read_rack_map([str(path), "b1=b"], problems) == {
        "a1": "a",
        "a2": "a",
        "b1": "b",
    }
    assert not problems.found


def test_a_rack_stands_for_one_other():
    problems = Problems("--rack-map")

    read_rack_map(["a1=a", "a1=b"], problems)

    assert [problem.value for problem in problems.found] == ["a1=b"]


@pytest.mark.parametrize(
    ("rack_rule", "status", "missing"),
    [
        pytest.param("strict", "infeasible", {"t-0", "t-2"}, id="strict"),
        pytest.param("distribution", "optimal", set(), id="even"),
    ],
)
def test_what_cannot_leave_its_rack_is_said(rack_rule, status, missing):
    # Two of these lists stand in one rack alone, which no replica may leave.
    state = make_state(
        [[0, 1], [2, 4], [0, 1], [0, 2], [0, 4], [2, 5]], racks="aabbcc", size_bytes=10
    )
    rules = {"rack_rule": rack_rule, "locality_scoped": True}

    request = PlanRequest(goal="rebalance", **rules)

    made = make(state, request)

    assert made.plan.status == status
    short = made.plan.placed.solution.shortfalls
    assert {state.name_of(one.group) for one in short} == missing
    (said,) = (n for n in made.plan.placed.notes if n.what == "left-alone")
    assert said.have == 2
    chosen_settings = read_request(request, state).settings
    infeasible_set = explain_impossible(Rebalance(), chosen_settings, made.plan.placed)
    assert (infeasible_set is not None) == bool(missing)
    if infeasible_set is not None:
        assert set(infeasible_set.rules) == {"rack", "locality-scoped"}
        assert infeasible_set.is_proven
        assert infeasible_set.helps == (True, True)
