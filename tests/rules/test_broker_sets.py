"""Broker sets that a snapshot has hold without an option."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.cluster import ABSENT
from placement.rules.broker_sets import BrokerSets
from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.run.make_plan import make
from planner.what_if.play_scenarios import WhatIfRequest, read_options
from support.clusters import clusters, make_state
from support.naive import lists_of

MET = {"optimal", "feasible", "nothing-to-do"}
SETS = {0: "gold", 1: "gold", 2: "silver", 3: "silver"}
# Five partitions lie on broker 0, one of them with a replica in the other set.
STATE = make_state(
    {"g": [[0], [0], [0], [0], [2]], "s": [[2], [3]]}, racks="abab", ids=[0, 1, 2, 3],
    broker_sets=SETS, size_bytes=10,
)  # fmt: skip


def planned(state=STATE, goal="rebalance", sets=(), **options):
    return make(state, PlanRequest(goal=goal, broker_set=sets,
                                   effort="quick", **options))  # fmt: skip


def held(made):
    """How many replicas of each topic each broker has after the plan."""
    after = made.plan.placed.reassignment.after()
    found = {}
    for (topic, _), row in lists_of(after).items():
        found.setdefault(topic, Counter()).update(row)
    return found


def notes(made, what):
    return [note for note in made.plan.placed.notes if note.what == what]


def test_topics_stay_on_their_set_and_are_balanced_there():
    made = planned()

    assert made.plan.status in MET
    assert made.is_ok
    after = held(made)
    assert set(after["g"]) == {0, 1}
    assert set(after["s"]) == {2, 3}
    assert made.plan.settings["broker_sets"] == {"g": "gold", "s": "silver"}


def test_that_sets_hold_is_said():
    [note] = notes(planned(), "broker-sets")

    assert note.message == (
        "brokers stand in sets (gold, silver): each topic stays on the set that holds "
        "most of its replicas; --broker-set says otherwise, off that sets do not count"
    )
    assert not notes(planned(sets=(".*=gold",)), "broker-sets")


def test_off_lets_topics_go_to_any_set():
    made = planned(sets=("off",))

    assert made.is_ok
    assert {2, 3} & set(held(made)["g"])
    assert made.plan.settings["broker_sets"] is None
    assert not notes(made, "broker-sets")


def test_patterns_go_before_the_majority():
    made = planned(sets=("g=silver",))

    assert set(held(made)["g"]) == {2, 3}
    assert set(held(made)["s"]) == {2, 3}


@pytest.mark.parametrize("sets", [{}, dict.fromkeys(range(4), "gold")])
def test_brokers_of_one_set_are_free_of_rules(sets):
    state = make_state([[0]] * 4, racks="abab", ids=[0, 1, 2, 3], broker_sets=sets)

    made = planned(state)

    assert made.plan.settings["broker_sets"] is None
    assert not any(
        isinstance(r, BrokerSets) for r in made.plan.placed.draft.settings.rules
    )
    assert not notes(made, "broker-sets")


def test_off_stands_alone():
    with pytest.raises(BadInputError) as caught:
        planned(sets=("off", "g=gold"))

    [problem] = caught.value.problems
    assert (problem.place, problem.value) == ("--broker-set", "off")
    assert problem.rule == "off goes with no other --broker-set"


def test_a_broker_to_be_filled_outside_every_set_is_reported():
    made = planned(
        make_state([[0], [0], [1], [1]], racks="aba", ids=[0, 1, 2],
                   broker_sets={0: "gold", 1: "gold"}),
        "add-brokers", broker_list="2",
    )  # fmt: skip

    assert 2 not in held(made)["t"]
    [note] = notes(made, "set-without-topics")
    assert note.where == {"broker": 2}
    assert note.message == (
        "broker 2 gets no replicas: no topic belongs to its set (none); give it a "
        "broker_set in the snapshot"
    )


def test_a_broker_to_come_is_in_the_set_of_the_one_it_is_like():
    state = make_state(
        [[0], [0], [1], [1]], racks="aba", ids=[0, 1, 2],
        broker_sets={0: "gold", 1: "gold", 2: "silver"},
    )  # fmt: skip
    own = {"new_broker": ("id=9,rack=c,like=0",)}

    made = planned(state, "add-brokers", broker_list="9", **own)

    assert held(made)["t"][9] > 0
    assert not notes(made, "set-without-topics")


def majority(state):
    """The first of the sets that hold most replicas of each topic, in words."""
    names = [*state.brokers.broker_sets, ""]
    rows = state.brokers.broker_set_idx.tolist()
    own = {
        b: names[row] for b, row in zip(state.brokers.ids.tolist(), rows, strict=True)
    }
    counts = {}
    for (topic, _), row in lists_of(state).items():
        counts.setdefault(topic, Counter()).update(own[b] for b in row)
    return own, {
        topic: max(names, key=lambda name: (of[name], -names.index(name)))
        for topic, of in counts.items()
    }


@settings(max_examples=60, deadline=None)
@given(
    clusters(min_brokers=2),
    st.lists(st.sampled_from([ABSENT, 0, 1]), min_size=6, max_size=6),
    st.sampled_from(["rebalance", "fix", "leaders"]),
)
def test_no_replica_comes_to_another_set_than_its_topics(state, rows, goal):
    state = state.with_brokers(
        broker_sets=("gold", "silver"),
        broker_set_idx=np.array(rows[: len(state.brokers)], dtype=np.int32),
    )
    own, wanted = majority(state)

    made = planned(state, goal)

    before = lists_of(state)
    for key, row in lists_of(made.plan.placed.reassignment.after()).items():
        for broker in set(row) - set(before[key]):
            assert own[broker] == wanted[key[0]]
    assert "broker-set" not in {one.rule for one in made.findings if one.is_wrong}
    told = to_document(made.plan)["settings"]["broker_sets"]
    assert told is None or {topic: told[topic] for topic in wanted} == wanted


def test_operations_that_change_brokers_ignore_sets():
    chosen = read_options(WhatIfRequest(), STATE)

    assert not any(isinstance(rule, BrokerSets) for rule in chosen.settings.rules)
