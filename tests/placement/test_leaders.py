"""Plans of leaders: order alone, even counts, even after a loss, nothing twice."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, Target, check, is_ok
from placement.draft.draft import Settings
from placement.leadership.follower_order import choose_successors
from placement.model.load import Resource, first_live_replica
from placement.operations.leaders import Leaders
from placement.planning.plan import plan
from placement.rules.broker_sets import BrokerSets
from support.clusters import clusters, make_state
from support.naive import lists_of


def target_of(placed):
    state = placed.reassignment.before
    after = placed.reassignment.after()
    changed = np.nonzero(placed.reassignment.is_changed)[0].tolist()
    names = state.topics.names
    return Target.from_lists(
        [names[state.partitions.topic_idx[p]] for p in changed],
        [int(state.partitions.partition[p]) for p in changed],
        [after.brokers_of(p) for p in changed],
    )


OPERATIONS = st.builds(Leaders, orders_followers=st.booleans())
WISHES = st.sampled_from(
    [
        Settings(),
        Settings(resources=(Resource.LEADERS,)),
        Settings(resources=(Resource.OUT,), bands={Resource.OUT: 0.02}),
        Settings(resources=(Resource.OUT, Resource.CPU, Resource.LEADERS)),
    ]
)


@settings(max_examples=150)
@given(clusters(reassigning=True), OPERATIONS, WISHES)
def test_nothing_is_copied_and_the_checker_agrees(state, operation, options):
    placed = plan(state, operation, options)

    assert not placed.reassignment.is_copied.any()
    after = placed.reassignment.after()
    for p in range(state.num_partitions):
        assert sorted(after.brokers_of(p)) == sorted(state.brokers_of(p))
    assert (
        is_ok(
            tuple(
                finding
                for finding in check(state, target_of(placed), CheckSettings())
                # What order cannot mend is none of its making.
                if finding.rule not in {"rack", "max-replicas", "min-isr", "log-dir"}
                and not (finding.rule == "capacity" and finding.where.resource != "out")
            )
        )
        or not placed.has_met_rules
    )


@settings(max_examples=120)
@given(clusters(), OPERATIONS, WISHES)
def test_planning_twice_finds_nothing_more(state, operation, options):
    once = plan(state, operation, options)

    again = plan(once.reassignment.after(), operation, options)

    assert not again.reassignment.is_changed.any()


@settings(max_examples=100)
@given(clusters(), WISHES)
def test_lists_whose_leader_stays_keep_their_order(state, options):
    placed = plan(state, Leaders(), options)

    changed = placed.reassignment.is_changed
    assert (changed == placed.reassignment.is_led_anew).all()


def successors_by_hand(state, lists):
    """Who leads next, per partition, by the words of the docstring."""
    rack_of = dict(
        zip(state.brokers.ids.tolist(), state.brokers.rack_idx.tolist(), strict=True)
    )
    for brokers in lists:
        outside = [b for b in brokers[1:] if rack_of[b] != rack_of[brokers[0]]]
        yield outside or brokers[1:]


def worth(state, lists, successors, held, share):
    """How uneven leaders are once a rack or a broker is lost, and what changes."""
    ids, racks = state.brokers.ids.tolist(), state.brokers.rack_idx.tolist()
    rack_of = dict(zip(ids, racks, strict=True))
    share_of = dict(zip(ids, share.tolist(), strict=True))
    total = []
    for rack in sorted(set(racks)):
        taken, pairs, changes = Counter(held), Counter(), 0
        asked = set()
        for brokers, successor, choice in zip(
            lists, successors[0], successors[1], strict=True
        ):
            if rack_of[brokers[0]] == rack and choice:
                taken[successor] += 1
                pairs[brokers[0], successor] += 1
                changes += successor != choice[0]
                asked |= set(choice)
        steps = sorted(
            (k / share_of[b] for b in asked for k in range(1, taken[b] + 1)),
            reverse=True,
        )
        total.append((steps, sum(c * c for c in pairs.values()), changes))
    return total


@settings(max_examples=100)
@given(
    clusters(max_topics=1, max_partitions=6, max_replicas=4, all_live=True),
    st.lists(st.sampled_from([1.0, 2.0, 4.0]), min_size=6, max_size=6),
)
def test_successors_are_as_even_as_any_by_the_fewest_changes(state, shares):
    state = state.with_brokers(state=np.zeros(state.num_brokers, dtype=np.int8))
    nothing = plan(state, Leaders(), Settings(resources=(Resource.IN,))).reassignment
    share = np.array(shares[: state.num_brokers])
    lists = [state.brokers_of(p) for p in range(state.num_partitions)]
    choices = list(successors_by_hand(state, lists))
    held = Counter(brokers[0] for brokers in lists)

    found = choose_successors(
        nothing, first_live_replica(state), np.ones(len(lists), dtype=np.bool_), share
    )

    ids = state.brokers.ids
    chosen = [
        int(ids[state.replicas.broker_idx[row]]) if row >= 0 else None for row in found
    ]
    assert all(
        successor in choice if choice else successor is None
        for successor, choice in zip(chosen, choices, strict=True)
    )
    ways = product(*(choice or [None] for choice in choices))
    best = [worth(state, lists, (way, choices), held, share) for way in ways]
    ours = worth(state, lists, (chosen, choices), held, share)
    for rack, value in enumerate(ours):
        assert value == min(one[rack] for one in best)


def test_pairs_are_even_however_far_from_what_all_successors_would_get():
    # Were all ten successors alike, each would take a few of what brokers 0 and 1 lead.
    others = [[lost, successor] for lost in (0, 1) for successor in range(4, 12)]
    lists = [[0, 2, 3]] * 90 + [[1, 3, 2]] * 90 + others
    state = make_state(lists, racks="aa" + "b" * 10)
    nothing = plan(state, Leaders(), Settings(resources=(Resource.IN,))).reassignment

    found = choose_successors(
        nothing,
        first_live_replica(state),
        np.ones(len(lists), dtype=np.bool_),
        np.ones(state.num_brokers),
    )

    successors = state.replicas.broker_idx[found].tolist()
    pairs = Counter(
        (row[0], successor) for row, successor in zip(lists, successors, strict=True)
    )
    big = [pairs[lost, successor] for lost in (0, 1) for successor in (2, 3)]
    assert big == [45] * 4


@pytest.mark.parametrize(
    ("replicas", "racks", "second"),
    [
        pytest.param([[0, 1, 2]] * 4, "abc", {1: 2, 2: 2}, id="two-successors-share"),
        pytest.param([[0, 1, 2]] * 2, "aab", {2: 2}, id="outside-the-rack-first"),
        pytest.param([[0, 1]] * 3, "ab", {1: 3}, id="no-choice"),
    ],
)
def test_who_leads_next(replicas, racks, second):
    state = make_state(
        replicas, racks=racks, disk_bytes=[10**6] + [1] * (len(racks) - 1)
    )
    # All leadership belongs on the first broker by its capacity; only order is asked.
    placed = plan(state, Leaders(orders_followers=True), Settings())

    after = placed.reassignment.after()
    lists = [after.brokers_of(p) for p in range(after.num_partitions)]
    assert {brokers[0] for brokers in lists} == {0}
    assert Counter(brokers[1] for brokers in lists) == second


def test_brokers_without_a_share_are_asked_to_lead_nothing():
    # Broker 2 is in a set of which no topic is, and 4 in none.
    state = make_state(
        [[0, 1], [4, 2], [0, 4]],
        racks="abcab",
        broker_sets={0: "gold", 1: "gold", 2: "silver", 3: "gold"},
    )
    gold = BrokerSets(np.zeros(1, dtype=np.int32))

    placed = plan(state, Leaders(), Settings(rules=(gold,)))

    assert placed.has_met_rules
    rows = list(lists_of(placed.reassignment.after()).values())
    assert rows == [[1, 0], [4, 2], [0, 4]]
