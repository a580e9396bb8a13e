"""A plan is judged by what it changes: what was wrong before is none of its making."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.check import CheckSettings, Finding, HardGoals, Target, check, is_ok
from placement.check.rules.chosen_rules import replica_cap, strict_racks
from placement.check.rules.list_positions import even_positions
from placement.check.rules.topic_groups import topics_apart, topics_together
from placement.model.cluster import BrokerState, ClusterState
from support.clusters import clusters, make_state
from support.naive import Lists, is_rack_broken, lists_of, live_ids, naive_kappa

GOALS = frozenset(
    {
        *(f"band-{name}" for name in ("disk", "in", "out", "replicas", "leaders")),
        "potential-out",
        "leader-in",
        "spread-topics",
        "spread-topic-leaders",
        "min-topic-leaders",
    }
)
TOPICS = frozenset({"t0", "t1", "t2"})
EVERY_RULE = CheckSettings(
    capacity_thresholds=dict.fromkeys(("disk", "in", "out", "cpu"), 0.01),
    host_thresholds={"disk": 0.01, "in": 0.01},
    hard_goals=HardGoals(
        names=GOALS,
        spread_topics=TOPICS,
        spread_topic_leaders=TOPICS,
        spread_band=0.0,
        spread_gap=(0, 0),
        topic_leaders=dict.fromkeys(TOPICS, 1),
    ),
    custom=(
        strict_racks(),
        replica_cap(1),
        topics_apart([frozenset({"t0"}), frozenset({"t1"})]),
        topics_together(frozenset({"t0", "t1"})),
        even_positions(frozenset(), frozenset(), is_soft=False),
    ),
)
"""All rules that look at a whole placement, so tight that most clusters break them."""


def target(lists: Lists) -> Target:
    return Target.from_lists(
        [topic for topic, _ in lists],
        [number for _, number in lists],
        list(lists.values()),
    )


def caused(state: ClusterState, lists: Lists, settings: CheckSettings) -> list[Finding]:
    return [one for one in check(state, target(lists), settings) if one.is_wrong]


def live_lists(state: ClusterState) -> Lists:
    """Return the lists that Kafka takes as they are: none names a broker not live."""
    live = live_ids(state)
    return {key: row for key, row in lists_of(state).items() if set(row) <= live}


@given(clusters())
def test_a_plan_without_entries_is_never_blamed(state):
    assert caused(state, {}, EVERY_RULE) == []


@given(clusters())
def test_a_plan_that_names_every_list_as_it_is_is_never_blamed(state):
    assert caused(state, live_lists(state), EVERY_RULE) == []


@given(clusters(), st.data())
def test_another_order_is_never_a_matter_of_racks_disks_or_counts(state, data):
    lists = {
        key: data.draw(st.permutations(row)) for key, row in live_lists(state).items()
    }
    settings = replace(EVERY_RULE, custom=(strict_racks(), replica_cap(1)))

    blamed = {(one.rule, one.where.resource) for one in caused(state, lists, settings)}

    by_order = {"in", "out", "cpu", "leaders"}
    assert {rule for rule, resource in blamed if resource is None} <= {
        "potential-out",
        "leader-in",
        "spread-topic-leaders",
        "min-topic-leaders",
        "excluded",
    }
    assert {resource for _, resource in blamed} <= by_order | {None}


def crowding(state: ClusterState, row: list[int]) -> tuple[int, int]:
    """Return by how much one list breaks both halves of the rack rule, counted."""
    ids = state.brokers.ids.tolist()
    rack = dict(zip(ids, state.brokers.rack_idx.tolist(), strict=True))
    live = live_ids(state)
    sizes = Counter(rack[broker] for broker in live)
    held = Counter(rack[broker] for broker in row)
    kappa = naive_kappa(len(row), dict(sizes))
    free = {rack[broker] for broker in live if broker not in row}
    gap = max((max(held.values()) - held[r] - 1 for r in free), default=0)
    return sum(max(n - kappa, 0) for n in held.values()), max(gap, 0)


@given(clusters(all_live=True, max_topics=1, max_partitions=1), st.data())
def test_racks_are_blamed_exactly_where_they_get_worse(state, data):
    for key, old in lists_of(state).items():
        new = data.draw(st.permutations(state.brokers.ids.tolist()))[: len(old)]

        findings = check(state, target({key: new}))

        found = [one for one in findings if one.rule == "rack"]
        was, now = crowding(state, old), crowding(state, new)
        assert bool(found) == is_rack_broken(state, new) == (now > (0, 0))
        worse = now[0] > was[0] or now[1] > was[1]
        assert [one.existing for one in found] == [not worse] * len(found)


T0, T1 = ("t", 0), ("t", 1)


def broken(state: ClusterState, same: Lists, worse: Lists, **settings):
    return state, same, worse, CheckSettings(**settings)


WORSE = {
    "rack": broken(
        make_state([[0, 1, 3, 5]], racks="aaabcd"),
        {T0: [2, 1, 3, 5]},
        {T0: [0, 1, 2, 5]},
    ),
    "capacity": broken(
        make_state([[0], [1]], racks="ab", disk_bytes=10, size_bytes=[9, 1]),
        {T0: [0]},
        {T1: [0]},
    ),
    "host-capacity": broken(
        make_state(
            [[0], [2]],
            racks="aab",
            hosts={0: "h", 1: "h", 2: "k"},
            disk_bytes=[100, 100, 900],
            size_bytes=[50, 1],
        ),
        {T0: [1]},
        {T1: [1]},
        host_thresholds={"disk": 0.2},
    ),
    "max-replicas": broken(
        make_state([[0], [0], [1]], racks="ab", max_replicas=[1, 9]),
        {T1: [0]},
        {("t", 2): [0]},
    ),
    "min-isr": broken(
        make_state([[0, 1]], racks="abc", min_isr=[3]),
        {T0: [0, 2]},
        {T0: [0]},
        allow_replication_factor_change=True,
    ),
    "topics-apart": broken(
        make_state({"t": [[0]], "u": [[0], [1]]}, racks="ab"),
        {T0: [0]},
        {("u", 1): [0]},
        custom=(topics_apart([frozenset({"t"}), frozenset({"u"})]),),
    ),
    "topics-together": broken(
        make_state({"t": [[0, 1]], "u": [[0, 2]]}, racks="abcd"),
        {T0: [0, 3]},
        {T0: [3, 1]},
        custom=(topics_together(frozenset({"t", "u"})),),
    ),
    "band-replicas": broken(
        make_state([[0], [0], [0], [1]], racks="ab"),
        {T0: [0]},
        {("t", 3): [0]},
        hard_goals=HardGoals(names=frozenset({"band-replicas"})),
    ),
    "spread-topics": broken(
        make_state([[0], [0], [0], [1]], racks="ab"),
        {T0: [0]},
        {("t", 3): [0]},
        hard_goals=HardGoals(
            names=frozenset({"spread-topics"}),
            spread_topics=frozenset({"t"}),
            spread_band=0.0,
            spread_gap=(0, 0),
        ),
    ),
}


@pytest.mark.parametrize("rule", WORSE)
def test_what_was_broken_is_existing_until_a_plan_makes_it_worse(rule):
    state, same, worse, settings = WORSE[rule]

    as_before, blamed = (
        [one for one in check(state, target(lists), settings) if one.rule == rule]
        for lists in (same, worse)
    )

    assert as_before
    assert all(one.existing for one in as_before)
    assert is_ok(check(state, target(same), settings))
    assert any(one.is_wrong for one in blamed)
    assert any(one.rule == rule for one in check(state, target({}), settings))


def test_a_custom_rule_that_finds_the_same_without_the_plan_does_not_count():
    state = make_state([[0]], racks="ab")

    def always(before, plan):
        where = replace(check(state, target({("x", 0): [0]}))[0].where, topic="t")
        yield Finding(rule="mine", where=where, message="always so")
        if len(plan):
            yield Finding(rule="mine", where=where, message="by the plan")

    found = check(state, target({T0: [1]}), CheckSettings(custom=(always,)))

    assert [(one.message, one.existing) for one in found] == [
        ("always so", True),
        ("by the plan", False),
    ]


def test_a_list_with_a_broker_that_is_not_live_is_the_fault_of_who_names_it():
    state = make_state([[0, 1]], racks="ab", states={1: BrokerState.DEAD})

    assert is_ok(check(state, target({})))
    # Kafka's tool refuses a whole file that names it, whatever the order was before.
    assert [one.rule for one in caused(state, {T0: [1, 0]}, CheckSettings())] == [
        "dead-broker"
    ]
    assert np.flatnonzero(state.brokers.is_live).tolist() == [0]
