"""Putting a broker in the place of another."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState, ClusterState
from placement.model.load import Resource
from placement.operations.replace_broker import ReplaceBroker
from placement.rules.broker_sets import BrokerSets
from placement.rules.pinning import OnlyTrades
from placement.rules.rack_rules import WithinRack
from support.clusters import clusters, make_state
from support.operations import lists_after, lists_of, plan_checked, planned


@pytest.mark.parametrize(
    ("lists", "pairs", "after"),
    [
        pytest.param([[0, 1], [2, 0]], [(0, 3)], [[3, 1], [2, 3]], id="positions-stay"),
        pytest.param([[1, 2]], [(0, 3)], [[1, 2]], id="nothing-there"),
        pytest.param([[0, 3], [0, 1]], [(0, 3)], [[0, 3], [3, 1]], id="there-already"),
        pytest.param(
            [[0, 1], [1, 2]], [(0, 3), (1, 4)], [[3, 4], [4, 2]], id="two-pairs"
        ),
    ],
)
def test_the_new_broker_stands_where_the_old_one_stood(lists, pairs, after):
    state = make_state(lists, racks="abcab", size_bytes=10)

    assert planned(state, ReplaceBroker(tuple(pairs))) == after


@pytest.mark.parametrize("gone", [BrokerState.DEAD, BrokerState.FENCED])
def test_a_broker_that_is_gone_can_be_replaced(gone: BrokerState):
    state = make_state([[0, 1], [1, 0]], racks="aba", states={0: gone})

    found = plan_checked(state, ReplaceBroker(((0, 2),)))

    assert lists_after(found) == [[2, 1], [1, 2]]
    assert found.has_met_rules


def test_a_replica_that_would_crowd_a_rack_stays_and_is_named():
    state = make_state([[0, 1], [0, 2]], racks="abcb")

    found = plan_checked(state, ReplaceBroker(((0, 3),)))

    assert lists_after(found) == [[0, 1], [3, 2]]
    (lacking,) = found.solution.shortfalls
    assert (lacking.group, lacking.what, lacking.level) == (0, "spread", "rack")
    assert found.solution.status is Status.INFEASIBLE


def test_a_replica_that_would_leave_a_rack_empty_stays_and_is_named():
    # Rack a would hold none of four replicas, and racks b and c two each.
    state = make_state([[3, 1, 2, 4]], racks="abcabc", ids=range(6))

    found = plan_checked(state, ReplaceBroker(((3, 5),)))

    assert lists_after(found) == [[3, 1, 2, 4]]
    (lacking,) = found.solution.shortfalls
    assert (lacking.group, lacking.what, lacking.level) == (0, "spread", "rack")


def test_two_replicas_may_change_racks_together():
    state = make_state([[0, 1]], racks="abba")

    assert planned(state, ReplaceBroker(((0, 2), (1, 3)))) == [[2, 3]]


def test_the_largest_replicas_go_where_not_all_fit():
    state = make_state(
        [[0], [0], [0]], racks="ab", size_bytes=[30, 50, 20], disk_bytes=[1000, 100]
    )

    found = plan_checked(state, ReplaceBroker(((0, 1),)))

    assert lists_after(found) == [[1], [1], [0]]
    (lacking,) = found.solution.shortfalls
    assert (lacking.what, lacking.resource, lacking.bin) == ("capacity", "disk", 1)
    assert (lacking.have, lacking.need) == (80, 100)


def test_what_a_host_may_carry_holds_for_a_replacement():
    # Of 200 on their host the new broker and its neighbour may use 100, and use 40.
    state = make_state(
        [[0], [0], [0], [2]],
        racks="abb",
        hosts={1: "h", 2: "h"},
        size_bytes=[30, 50, 20, 40],
        disk_bytes=[1000, 100, 100],
    )
    chosen = Settings(host_thresholds={Resource.DISK: 0.5})

    found = plan_checked(state, ReplaceBroker(((0, 1),)), chosen)

    assert lists_after(found) == [[0], [1], [0], [2]]
    first, _ = found.solution.shortfalls
    assert (first.what, first.resource, first.need) == ("capacity", "disk", 80)


def test_the_replica_cap_of_the_new_broker_is_hard():
    state = make_state([[0], [0]], racks="ab", max_replicas=[5, 1])

    found = plan_checked(state, ReplaceBroker(((0, 1),)))

    assert lists_after(found) == [[1], [0]]
    assert found.solution.shortfalls[0].resource == "replicas"


def test_a_demoted_new_broker_hands_leadership_on():
    state = make_state([[0, 1]], racks="aba", states={2: BrokerState.DEMOTED})

    assert planned(state, ReplaceBroker(((0, 2),))) == [[1, 2]]


CHOSEN = [
    pytest.param({}, [[1, 2]], True, id="by-default"),
    pytest.param(
        {"rules": (BrokerSets(np.array([0])),)}, [[0, 2]], False, id="another-set"
    ),
    pytest.param({"rules": (WithinRack(),)}, [[0, 2]], False, id="another-rack"),
    pytest.param({"excluded_for_replicas": {1}}, [[0, 2]], False, id="takes-nothing"),
    pytest.param({"rules": (OnlyTrades(),)}, [[0, 2]], False, id="trades-alone"),
]


@pytest.mark.parametrize(("chosen", "after", "is_met"), CHOSEN)
def test_rules_of_the_users_choice_hold_for_a_replacement(chosen, after, is_met):
    state = make_state([[0, 2]], racks="acb", broker_sets={0: "x", 1: "y", 2: "x"})

    found = plan_checked(state, ReplaceBroker(((0, 1),)), Settings(**chosen))

    assert lists_after(found) == after
    assert found.has_met_rules == is_met


def test_nothing_goes_to_the_rack_of_another_replica_where_all_stay_in_theirs():
    state = make_state([[0, 1]], racks="baca")
    chosen = Settings(rules=(WithinRack(),), lifted=frozenset({"rack"}))

    found = plan_checked(state, ReplaceBroker(((0, 3),)), chosen)

    assert lists_after(found) == [[0, 1]]
    assert found.solution.status is Status.INFEASIBLE


def test_a_strict_rack_rule_holds_for_a_replacement():
    state = make_state([[0, 1, 2]], racks="abbab")
    strict = Settings(is_rack_strict=True)

    # Inside its rack a replica may always be replaced; into another one it may not.
    inside = plan_checked(state, ReplaceBroker(((0, 3),)), strict)
    across = plan_checked(state, ReplaceBroker(((0, 4),)), strict)

    assert (lists_after(inside), lists_after(across)) == ([[3, 1, 2]], [[0, 1, 2]])


def test_deliberate_exclusions_are_no_shortfall():
    state = make_state({"a": [[0]], "b": [[0]]}, racks="ab")
    chosen = Settings(excluded_topics=np.array([True, False]))

    found = plan_checked(state, ReplaceBroker(((0, 1),)), chosen)

    assert lists_after(found) == [[0], [1]]
    assert found.has_met_rules


def test_with_the_rest_freed_what_does_not_fit_goes_elsewhere():
    state = make_state(
        [[0], [0]], racks="abc", size_bytes=10, max_replicas=[5, 1, 5], disk_bytes=100
    )

    found = plan_checked(state, ReplaceBroker(((0, 1),)), Settings(frees_the_rest=True))

    assert sorted(lists_after(found)) == [[1], [2]]
    assert found.has_met_rules


@st.composite
def replacements(draw, **options) -> tuple[ClusterState, ReplaceBroker]:
    state = draw(clusters(min_brokers=2, **options))
    live = state.brokers.ids[state.brokers.is_live].tolist()
    assume(live)
    new = draw(st.sampled_from(live))
    old = draw(st.sampled_from([b for b in state.brokers.ids.tolist() if b != new]))
    return state, ReplaceBroker(((old, new),))


@settings(max_examples=40)
@given(replacements(reassigning=True))
def test_nothing_but_the_replaced_broker_changes(case):
    state, operation = case
    ((old, new),) = operation.pairs

    found = plan_checked(state, operation)

    named = {lacking.group for lacking in found.solution.shortfalls}
    may_lead = state.brokers.may_lead[state.brokers.rows_of([new])[0]]
    for p, (before, after) in enumerate(
        zip(lists_of(state), lists_after(found), strict=True)
    ):
        swapped = [new if b == old else b for b in before]
        assert after in (before, swapped) or (
            not may_lead and sorted(after) == sorted(swapped)
        )
        if old in after:
            assert p in named


@settings(max_examples=40)
@given(replacements(reassigning=True))
def test_a_second_replacement_finds_nothing(case):
    state, operation = case
    first = plan_checked(state, operation)

    again = plan_checked(first.reassignment.after(), operation)

    assert again.is_nothing


@settings(max_examples=20)
@given(replacements(all_live=True))
def test_freeing_the_rest_empties_the_old_broker_or_says_why(case):
    state, operation = case
    old = operation.pairs[0][0]

    found = plan_checked(state, operation, Settings(frees_the_rest=True))

    left = {p for p, after in enumerate(lists_after(found)) if old in after}
    assert left <= {lacking.group for lacking in found.solution.shortfalls}
    moved = np.count_nonzero(found.reassignment.is_copied)
    assert moved == found.solution.certificate.moves.value
