"""Positions of the lists: each broker at every one of them equally often."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, Target, check
from placement.check.rules.list_positions import even_positions
from placement.draft.draft import Settings
from placement.leadership.list_positions import spread_positions, uneven_positions
from placement.operations.leaders import Leaders
from placement.operations.rebalance import Rebalance
from placement.planning.plan import make_draft, plan
from placement.rules.list_positions import EvenPositions
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.naive import lists_of
from support.operations import newly_wrong

EVEN = Settings(rules=(EvenPositions(),), effort="quick")


def counts_of(rows):
    """Return how often each broker stands where, by the length of the list."""
    return Counter((len(r), b, place) for r in rows for place, b in enumerate(r))


def is_even(rows):
    """Tell by the definition whether every broker stands everywhere as often."""
    counts = counts_of(rows)
    held = Counter((len(row), broker) for row in rows for broker in row)
    return all(
        held[size, broker] // size
        <= counts[size, broker, place]
        <= -(-held[size, broker] // size)
        for size, broker in held
        for place in range(size)
    )


def reordered(state, **chosen):
    draft = make_draft(state, Rebalance(), Settings(**chosen))
    same = plan(state, Leaders(), Settings(effort="quick")).reassignment
    return draft, spread_positions(draft, same, keeps_leaders=False)


LISTS = st.integers(2, 6).flatmap(
    lambda count: st.lists(
        st.permutations(range(count)).flatmap(
            lambda row: st.integers(1, count).map(lambda size: list(row[:size]))
        ),
        min_size=1,
        max_size=14,
    )
)


@settings(max_examples=120)
@given(LISTS)
def test_any_lists_can_be_put_into_even_order(rows):
    count = max(max(row) for row in rows) + 1
    state = make_state(rows, racks=[str(b) for b in range(count)])

    draft, found = reordered(state)

    after = list(lists_of(found.after()).values())
    assert [sorted(row) for row in after] == [sorted(row) for row in rows]
    assert is_even(after)
    assert not uneven_positions(draft, found).any()


@settings(max_examples=60)
@given(st.lists(st.permutations((0, 1, 2)), min_size=1, max_size=4))
def test_the_fewest_leaders_change(rows):
    state = make_state([list(row) for row in rows], racks="abc")

    _, found = reordered(state)

    after = list(lists_of(found.after()).values())
    before = list(lists_of(state).values())
    fewest = min(
        sum(new[0] != old[0] for new, old in zip(order, before, strict=True))
        for order in product(permutations((0, 1, 2)), repeat=len(rows))
        if is_even([list(row) for row in order])
    )
    changed = sum(new[0] != old[0] for new, old in zip(after, before, strict=True))
    assert changed == fewest


@settings(max_examples=40)
@given(clusters(min_brokers=2))
def test_even_positions_of_any_cluster(state):
    found = plan(state, Rebalance(), EVEN)

    assert not newly_wrong(found)
    off = uneven_positions(found.draft, found.reassignment)
    said = [note.what for note in found.notes]
    assert ("positions-uneven" in said) == bool(off.any())
    rule = even_positions(frozenset(), frozenset())
    rows = list(range(state.num_partitions))
    target = Target.from_lists(
        [state.topics.names[t] for t in state.partitions.topic_idx],
        state.partitions.partition.tolist(),
        [found.reassignment.after().brokers_of(p) for p in rows],
    )
    wrong = check(state, target, CheckSettings(custom=(rule,)))
    assert any(one.rule == "even-positions" for one in wrong) == bool(off.any())


def test_brokers_and_their_positions_become_even():
    state = make_state([[0, 1, 2]] * 12, racks="abcabc")
    request = PlanRequest(goal="rebalance", even_positions=True)

    made = make(state, request)

    after = list(lists_of(made.plan.placed.reassignment.after()).values())
    assert made.is_ok
    assert made.plan.settings["even_positions"] is True
    assert set(counts_of(after).values()) == {2}
    assert len(counts_of(after)) == 18
    again = make(made.plan.placed.reassignment.after(), request)
    assert again.plan.status == "nothing-to-do"


def test_counts_are_balanced_even_if_other_resources_were_named():
    state = make_state([[0, 1]] * 4, racks="abc", size_bytes=5)
    request = PlanRequest(
        goal="rebalance", resources="disk", band=["disk=10"],
        even_positions=True,
    )  # fmt: skip

    after = make(state, request).plan.placed.reassignment.after()

    held = Counter(b for row in lists_of(after).values() for b in row)
    assert sorted(held.values()) == [2, 3, 3]


def test_who_may_not_lead_is_not_put_in_front():
    state = make_state([[0, 1]] * 6, racks="ab")
    found = plan(
        state,
        Rebalance(),
        Settings(rules=(EvenPositions(),), excluded_for_leaders=frozenset({1})),
    )

    assert all(row[0] == 0 for row in lists_of(found.reassignment.after()).values())


def test_leaders_stay_where_others_would_break_a_capacity():
    # Leaders of both go out at 60; each broker may send 100 and no more.
    state = make_state(
        [[0, 1], [0, 1], [1, 0], [1, 0]], racks="ab",
        out_rate=[60.0, 30.0, 45.0, 45.0], broker_out=125.0, leaders=[0, 0, 1, 1],
    )  # fmt: skip

    found = plan(state, Rebalance(), EVEN)

    assert found.has_met_rules
    assert not newly_wrong(found)


@pytest.mark.parametrize(
    ("rows", "broker", "is_found"),
    [
        ([[0, 1], [1, 0]], 0, False),
        ([[0, 1], [0, 1]], 0, True),
        ([[0, 1], [0, 1], [1, 0]], 0, False),
    ],
)
def test_what_the_checker_calls_uneven(rows, broker, is_found):
    state = make_state([[1, 0]] * len(rows), racks="ab")
    target = Target.from_lists(["t"] * len(rows), list(range(len(rows))), rows)

    for is_soft in (True, False):
        rule = even_positions(frozenset(), frozenset(), is_soft=is_soft)
        found = list(rule(state, target))
        assert bool(found) == is_found
        assert all(one.soft == is_soft for one in found)


def test_lists_without_a_choice_keep_their_order():
    state = make_state([[0], [1]], racks="ab")

    _, found = reordered(state)

    assert not found.is_changed.any()
    assert np.array_equal(found.origin, np.arange(2))
