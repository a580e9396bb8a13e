"""Partitions that do not exist yet: where they go, and what stays."""

from collections import Counter
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, BrokerState, ClusterState
from placement.model.load import Resource
from placement.planning.new_partitions.plan_new_partitions import (
    Expected,
    explain_new,
    place_by_hand,
    place_new,
    with_more_partitions,
    with_new_topic,
)
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.broker_sets import BrokerSets
from planner.plan.run.check_new_partitions import check_new
from support.clusters import clusters, make_state

RATES = st.one_of(st.just(np.nan), st.integers(0, 200).map(float))


def new_lists(placed: PlannedPlacement, is_new) -> list[list[int]]:
    after = placed.reassignment.after()
    return [after.brokers_of(p) for p in np.nonzero(is_new)[0].tolist()]


def old_lists(state: ClusterState, topic: str = "") -> dict[str, list[int]]:
    return {
        state.name_of(p): state.brokers_of(p)
        for p in range(state.num_partitions)
        if not state.name_of(p).startswith("new-")
    }


def usable(state: ClusterState) -> list[int]:
    """Brokers that may get new replicas, by the words of the documentation."""
    found = []
    for row, broker in enumerate(state.brokers.ids.tolist()):
        dirs = state.log_dirs.state[state.log_dirs.broker_idx == row].tolist()
        if state.brokers.is_live[row] and (not dirs or 0 in dirs):
            found.append(broker)
    return found


@pytest.mark.not_quick
@settings(max_examples=25)
@given(
    clusters(max_topics=2),
    st.integers(1, 6),
    st.integers(1, 3),
    st.builds(Expected, in_bytes_per_s=RATES, out_bytes_per_s=RATES),
)
def test_a_new_topic_is_legal_and_moves_nothing(state, count, factor, expected):
    assume(len(usable(state)) >= factor)
    grown = with_new_topic(state, "new", count, factor, expected)

    placed = place_new(grown, Settings())

    lists = new_lists(placed, grown.is_new)
    assert len(lists) == count
    assert all(
        len(set(row)) == factor and set(row) <= set(usable(state)) for row in lists
    )
    after = placed.reassignment.after()
    assert old_lists(after) == old_lists(state)
    caused = [
        finding
        for finding in check_new(state, after, grown.is_new, CheckSettings())
        if not finding.existing
    ]
    if placed.has_met_rules:
        # Who may lead at all is not for racks to say.
        leaders = set(state.brokers.ids[state.brokers.may_lead].tolist())
        led = all(set(row) & leaders for row in lists)
        rules = {finding.rule for finding in caused} - {"min-isr"}
        assert rules <= (set() if led else {"excluded"})


@pytest.mark.not_quick
@settings(max_examples=25)
@given(clusters(max_topics=2, all_live=True), st.integers(1, 5), st.data())
def test_partitions_are_added_behind_those_that_exist(state, more, data):
    names = list(state.topics.names)
    assume(names)
    name = data.draw(st.sampled_from(names))
    row = names.index(name)
    mine = np.nonzero(state.partitions.topic_idx == row)[0]
    factor = int(state.replication_factor[mine[0]])
    assume(len(usable(state)) >= factor)
    grown = with_more_partitions(state, name, len(mine) + more, Expected())

    placed = place_new(grown, Settings())

    after = placed.reassignment.after()
    numbers = after.partitions.partition[grown.is_new].tolist()
    assert numbers == list(range(len(mine), len(mine) + more))
    assert all(len(set(one)) == factor for one in new_lists(placed, grown.is_new))
    for p in range(state.num_partitions):
        assert old_lists(after)[state.name_of(p)] == state.brokers_of(p)


@pytest.mark.not_quick
@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=4),
    st.integers(1, 6),
    st.integers(1, 2),
)
def test_counts_are_as_even_as_a_fair_share_of_the_topic_allows(held, count, factor):
    # Equal brokers without racks: every choice of brokers is legal.
    brokers = len(held)
    old = [[b] for b, times in enumerate(held) for _ in range(times)]
    state = make_state(
        {"a": old} if old else {}, ids=range(brokers), racks="-" * brokers
    )
    grown = with_new_topic(state, "new", count, min(factor, brokers), Expected())

    placed = place_new(grown, Settings())

    lists = new_lists(placed, grown.is_new)
    of_topic = Counter(b for row in lists for b in row)
    cap = ceil(count * min(factor, brokers) / brokers)
    assert max(of_topic.values()) <= cap
    total = [held[b] + of_topic[b] for b in range(brokers)]
    best = min(
        max(held[b] + way.count(b) for b in range(brokers))
        for way in product(range(brokers), repeat=count)
        if all(way.count(b) <= cap for b in range(brokers))
    )
    if factor == 1:
        assert max(total) == best
    led = Counter(row[0] for row in lists)
    assert max(led.values()) <= ceil(count / brokers)


def test_heavy_partitions_go_where_there_is_room():
    state = make_state(
        {"a": [[0], [1], [2]]},
        racks="aaa",
        disk_bytes=1000,
        size_bytes=[700, 100, 500],
    )
    grown = with_new_topic(state, "new", 1, 2, Expected(size_bytes=250))

    placed = place_new(grown, Settings())

    assert sorted(new_lists(placed, grown.is_new)[0]) == [1, 2]
    assert placed.has_met_rules


def test_what_fits_nowhere_is_said():
    state = make_state({"a": [[0], [1]]}, disk_bytes=1000, size_bytes=700)
    grown = with_new_topic(state, "new", 1, 1, Expected(size_bytes=250))

    placed = place_new(grown, Settings())

    assert not placed.has_met_rules
    assert placed.solution.shortfalls


@pytest.mark.parametrize(
    ("racks", "factor"),
    [
        pytest.param("abc", 3, id="one-each"),
        pytest.param("aabb", 2, id="two-racks"),
        pytest.param("aab", 3, id="more-replicas-than-racks"),
    ],
)
def test_racks_are_kept(racks, factor):
    state = make_state({}, racks=racks, ids=range(len(racks)))
    grown = with_new_topic(state, "new", 8, factor, Expected())

    lists = new_lists(place_new(grown, Settings()), grown.is_new)

    for row in lists:
        held = Counter(racks[b] for b in row)
        assert max(held.values()) == ceil(factor / len(set(racks)))


def test_demoted_brokers_lead_nothing_and_excluded_ones_get_nothing():
    state = make_state({}, racks="abcd", ids=range(4), states={0: BrokerState.DEMOTED})
    grown = with_new_topic(state, "new", 6, 2, Expected())
    options = Settings(excluded_for_replicas=frozenset({3}))

    lists = new_lists(place_new(grown, options), grown.is_new)

    assert all(row[0] != 0 for row in lists)
    assert all(3 not in row for row in lists)


def test_by_hand_is_where_it_was_said():
    state = make_state({"a": [[0, 1]]}, racks="ab")
    grown = with_new_topic(state, "new", 3, 2, Expected())
    wanted = [[0, 1], [1, 0], [0, 1]]

    placed = place_by_hand(grown, wanted, Settings())

    assert new_lists(placed, grown.is_new) == wanted
    assert not placed.reassignment.is_changed.any()


def test_free_space_is_taken_by_what_is_new():
    state = make_state({"a": [[0]]}, size_bytes=10, disk_bytes=100)
    grown = with_new_topic(
        state, "new", 1, 1, Expected(size_bytes=40, in_bytes_per_s=5.0)
    )

    after = place_new(grown, Settings()).reassignment.after()

    new = int(np.nonzero(grown.is_new)[0][0])
    assert after.partitions.size_bytes[new] == 40
    assert after.partitions.in_bytes_per_s[new] == 5.0
    assert after.partitions.leader_idx[new] != ABSENT
    assert Resource.DISK == "disk"


THREE = make_state([[0], [1]], ids=[0, 1, 2], racks="abc")
PAIR = make_state([[0], [1]], racks="ab")
REASONS = [
    pytest.param(
        THREE, (1, 3), Settings(excluded_for_replicas=frozenset({2})),
        {"exclude-brokers-for-replicas"}, id="an-excluded-broker",
    ),
    pytest.param(
        THREE, (1, 2), Settings(destination_brokers=frozenset({2})),
        {"destination-broker-list"}, id="too-few-destinations",
    ),
    pytest.param(
        PAIR, (1, 2), Settings(excluded_for_leaders=frozenset({0, 1})),
        {"exclude-brokers-for-leaders"}, id="nobody-may-lead",
    ),
    pytest.param(
        make_state([[0], [1]], racks="ab", max_replicas=2), (3, 1), Settings(),
        {"max-replicas"}, id="max-replicas",
    ),
    pytest.param(
        make_state([[0], [1]], racks="ab", size_bytes=40, disk_bytes=100), (4, 1),
        Settings(), {"capacity-disk"}, id="disk",
    ),
    pytest.param(
        make_state([[0], [1], [2]], racks="aab"), (1, 3),
        Settings(is_rack_strict=True), {"rack"}, id="strict-racks",
    ),
    pytest.param(
        make_state([[0], [1], [2]], racks="aab"), (1, 2),
        Settings(excluded_for_replicas=frozenset({2})),
        {"rack", "exclude-brokers-for-replicas"}, id="racks-and-an-excluded-broker",
    ),
    pytest.param(
        make_state([[0], [1]], ids=[0, 1, 2], racks="abb",
                   broker_sets={0: "gold", 1: "silver", 2: "silver"}),
        (1, 2), Settings(rules=(BrokerSets(np.array([0, 0])),)), {"broker-set"},
        id="a-set-that-is-too-small",
    ),
    pytest.param(
        make_state([[0]] * 4, ids=[0, 1], racks="ab"), (1, 1),
        Settings(hard=frozenset({"band-replicas"})), {"band-replicas"},
        id="a-hard-band",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("state", "asked", "options", "rules"), REASONS)
def test_the_reason_of_new_partitions_is_these_rules(state, asked, options, rules):
    grown = with_new_topic(state, "u", *asked, Expected(size_bytes=160))

    placed = place_new(grown, options)
    why = explain_new(grown, options, placed)

    assert placed.solution.status == Status.INFEASIBLE
    assert placed.solution.shortfalls
    assert set(why.rules) == rules
    assert (why.is_proven, why.is_irreducible) == (True, True)
    assert all(why.helps)


def test_new_partitions_that_keep_all_rules_have_no_reason():
    grown = with_new_topic(PAIR, "u", 2, 2, Expected())
    options = Settings(max_moves=0)

    placed = place_new(grown, options)

    assert explain_new(grown, options, placed) is None


def test_a_new_partition_has_a_broker_that_may_lead_wherever_there_is_one():
    # Broker 2 holds the most, and is the only one that may lead.
    state = make_state([[2]] * 4, ids=[0, 1, 2], racks="abc")
    options = Settings(excluded_for_leaders=frozenset({0, 1}))

    for factor in (1, 2):
        grown = with_new_topic(state, "u", 3, factor, Expected())
        placed = place_new(grown, options)

        assert placed.has_met_rules
        assert all(row[0] == 2 for row in new_lists(placed, grown.is_new))


def test_the_checker_finds_new_replicas_and_leaders_where_none_may_be():
    grown = with_new_topic(THREE, "u", 1, 2, Expected())
    placed = place_by_hand(grown, [[1, 2]], Settings())
    rules = CheckSettings(
        excluded_for_replicas=frozenset({2}), excluded_for_leaders=frozenset({1})
    )

    found = check_new(THREE, placed.reassignment.after(), grown.is_new, rules)

    assert {(one.rule, one.where.broker, one.existing) for one in found} == {
        ("excluded", 2, False),
        ("excluded", 1, False),
    }


@settings(max_examples=40)
@given(
    clusters(max_topics=2, min_brokers=2),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sets(st.integers(0, 7), max_size=3),
    st.booleans(),
)
def test_exclusions_hold_for_what_is_new_or_it_is_said(
    state, count, factor, rows, for_leaders
):
    assume(len(usable(state)) >= factor)
    out = frozenset(int(state.brokers.ids[r]) for r in rows if r < state.num_brokers)
    name = "excluded_for_leaders" if for_leaders else "excluded_for_replicas"
    grown = with_new_topic(state, "new", count, factor, Expected())

    placed = place_new(grown, Settings(**{name: out}))

    rules = CheckSettings(**{name: out})
    after = placed.reassignment.after()
    found = check_new(state, after, grown.is_new, rules)
    is_broken = any(one.rule == "excluded" for one in found)
    assert not (is_broken and placed.has_met_rules)
    short = {one.what for one in placed.solution.shortfalls}
    assert is_broken or not short & {"roles"}
