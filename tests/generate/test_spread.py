"""Proposals that move little: against an exact flow, and the independent checker."""

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, check
from placement.core.flow import even_counts
from placement.model.cluster import BrokerState, ClusterState
from placement.placers.even_spread import spread_topics
from placement.placers.usable_brokers import PlacerBrokers
from planner.errors import BadInputError
from planner.generate import GenerateRequest, Proposal, generate
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.plan.input.plan_input import to_target
from support.clusters import clusters, make_state


def request(topics, broker_ids, **options) -> GenerateRequest:
    return GenerateRequest(
        topics=tuple(topics), broker_ids=tuple(broker_ids), **options
    )


def counts(proposal: Proposal, broker_ids) -> list[int]:
    held = Counter(b for row in proposal.proposed.replicas for b in row)
    return [held[broker] for broker in broker_ids]


def led(proposal: Proposal, broker_ids) -> list[int]:
    first = Counter(row[0] for row in proposal.proposed.replicas)
    return [first[broker] for broker in broker_ids]


def test_tp_re_01_five_partitions_of_one_broker_are_spread_over_two_by_two_moves():
    state = make_state({"tp_re_01": [[0]] * 5}, ids=[0, 1])

    proposal = generate(state, request(["tp_re_01"], [0, 1]))

    assert sorted(counts(proposal, [0, 1])) == [2, 3]
    assert (proposal.moves.replicas, proposal.is_least) == (2, True)


def test_two_partitions_of_three_replicas_expand_to_six_brokers_by_three_moves():
    state = make_state([[1, 2, 3], [2, 3, 1]], ids=range(1, 7))

    proposal = generate(state, request(["t"], range(1, 7)))

    assert counts(proposal, range(1, 7)) == [1] * 6
    assert proposal.moves.replicas == 3


def test_one_of_twenty_brokers_in_two_zones_is_left_out_by_one_move():
    state = make_state([[2 * n, 2 * n + 1] for n in range(10)], racks="ab" * 10)
    rest = [broker for broker in range(20) if broker != 7]

    proposal = generate(state, request(["t"], rest))

    assert proposal.moves.replicas == 1
    assert sorted(counts(proposal, rest)) == [1] * 18 + [2]
    kept, came = proposal.proposed.replicas[3]
    assert {kept % 2, came % 2} == {0, 1}


def test_counts_are_even_over_all_topics_together_without_moves_for_each():
    state = make_state({"a": [[0], [0]], "b": [[1], [1]]})

    proposal = generate(state, request(["a", "b"], [0, 1]))

    assert proposal.moves.replicas == proposal.moves.partitions == 0


def test_leaders_are_shared_out_with_nothing_copied():
    state = make_state([[0, 1]] * 4)

    proposal = generate(state, request(["t"], [0, 1]))

    assert (proposal.moves.replicas, proposal.moves.leaders) == (0, 2)
    assert led(proposal, [0, 1]) == [2, 2]


def test_demoted_brokers_get_no_leaders():
    states = {1: BrokerState.DEMOTED}
    state = make_state([[0, 1], [1, 0]], states=states)

    proposal = generate(state, request(["t"], [0, 1]))

    assert led(proposal, [0, 1]) == [2, 0]


def test_dead_brokers_lose_their_replicas_and_get_none():
    state = make_state([[0, 1], [1, 2]], ids=range(4), states={1: BrokerState.DEAD})

    proposal = generate(state, request(["t"], range(4)))

    assert proposal.ignored_brokers == (1,)
    assert proposal.notes == ("broker 1 is dead: left out",)
    assert sorted(counts(proposal, [0, 2, 3])) == [1, 1, 2]
    assert proposal.moves.replicas == 2


def test_partitions_that_are_being_reassigned_are_left_alone():
    state = make_state([[0, 1], [0]], adding=[[0], []], removing=[[1], []], ids=[0, 1])

    proposal = generate(state, request(["t"], [0, 1]))

    assert proposal.proposed.partitions == (1,)
    assert proposal.current.partitions == (0, 1)
    assert proposal.notes == ("t-0 is being reassigned: left alone",)


def test_with_racks_disabled_they_are_not_looked_at():
    state = make_state([[0, 1], [0, 1]], racks="aab")

    aware = generate(state, request(["t"], [0, 1, 2]))
    blind = generate(state, request(["t"], [0, 1, 2], is_rack_aware=False))

    assert counts(aware, [0, 1, 2]) == [1, 1, 2]
    assert sorted(counts(blind, [0, 1, 2])) == [1, 1, 2]
    assert (aware.moves.replicas, blind.moves.replicas) == (2, 1)
    assert aware.findings == blind.findings == ()


def test_a_rule_that_would_be_broken_is_found():
    state = make_state([[0]] * 2, ids=[0, 1], disk_bytes=100, size_bytes=90)

    proposal = generate(state, request(["t"], [1]))

    assert {finding.rule for finding in proposal.findings} == {"capacity"}


def test_a_proposal_found_in_pieces_says_so(monkeypatch):
    monkeypatch.setattr(even_counts, "MAX_ARCS", 1)
    state = make_state([[0]] * 4, ids=[0, 1])

    proposal = generate(state, request(["t"], [0, 1]))

    assert counts(proposal, [0, 1]) == [2, 2]
    assert proposal.is_least is False
    assert proposal.notes == (
        "solved in pieces, so large it is: the counts are even, but fewer moves may do",
    )


def test_factors_that_differ_in_a_topic_stay_as_they_are():
    state = make_state([[0, 1], [0], [0]])

    proposal = generate(state, request(["t"], [0, 1]))

    assert [len(row) for row in proposal.proposed.replicas] == [2, 1, 1]
    assert counts(proposal, [0, 1]) == [2, 2]


def test_from_scratch_says_that_it_makes_factors_equal():
    state = make_state([[0, 1], [0], [0]])

    proposal = generate(state, request(["t"], [0, 1], is_from_scratch=True))

    # Java's hash map comes to t-2 first.
    assert {len(row) for row in proposal.proposed.replicas} == {1}
    assert proposal.notes == (
        "topic t has replication factors 1 and 2; as with Kafka's tool, every "
        "partition gets 1",
    )
    assert {finding.rule for finding in proposal.findings} == {"replication-factor"}


def test_from_scratch_goes_by_its_seed():
    state = make_state([[n % 6] for n in range(20)])
    asked = [
        generate(state, request(["t"], range(6), is_from_scratch=True, seed=seed))
        for seed in (1, 1, 2)
    ]

    lists = [proposal.proposed.replicas for proposal in asked]

    assert lists[0] == lists[1] != lists[2]
    assert asked[0].is_least is None


def test_everything_that_kafka_refuses_is_said_at_once():
    state = make_state({"a": [[0, 1, 2]]}, racks="ab-")
    asked = request(["a", "nosuch", "a"], [1, 2, 1, 9])

    with pytest.raises(BadInputError) as raised:
        generate(state, asked)

    assert [problem.rule for problem in raised.value.problems] == [
        "Broker list contains duplicate entries: [1]",
        "List of topics to reassign contains duplicate entries: [a]",
        "Topic nosuch not found.",
        "Not all brokers have rack information. Add --disable-rack-aware in command "
        "line to make replica assignment without rack information.",
        "The target replication factor of 3 cannot be reached because only 2 "
        "broker(s) are registered or some brokers have all their log directories "
        "cordoned.",
    ]


def test_no_live_broker_is_refused():
    state = make_state({"a": [[0]]}, ids=[0, 1], states={1: BrokerState.FENCED})

    with pytest.raises(BadInputError) as raised:
        generate(state, request(["a"], [1, 7]))

    assert [problem.rule for problem in raised.value.problems] == [
        "All brokers are currently fenced, or have all their log directories cordoned."
    ]


SCALE = 10_000
"""A unit of unevenness costs more than all moves of a small cluster."""


def exact_moves(state: ClusterState, is_open, *, is_rack_aware: bool) -> int:
    """Fewest copies for the most even counts, by networkx's network simplex."""
    brokers = np.nonzero(is_open)[0].tolist()
    rack_of = {
        b: int(state.brokers.rack_idx[b]) if is_rack_aware else b for b in brokers
    }
    graph = nx.MultiDiGraph()
    total = 0
    for p, (start, stop) in enumerate(pairwise(state.replicas.start.tolist())):
        home = set(state.replicas.broker_idx[start:stop].tolist())
        size = stop - start
        total += size
        per_rack = Counter(rack_of.values())
        kappa = next(
            k
            for k in range(1, size + 1)
            if sum(min(k, n) for n in per_rack.values()) >= size
        )
        least = {rack: min(kappa - 1, n) for rack, n in per_rack.items()}
        graph.add_node(("p", p), demand=sum(least.values()) - size)
        for rack in per_rack:
            graph.add_node(("r", p, rack), demand=-least[rack])
            room = min(kappa, per_rack[rack]) - least[rack]
            graph.add_edge(("p", p), ("r", p, rack), capacity=room, weight=0)
        for b in brokers:
            weight = 0 if b in home else 1
            ends = (("r", p, rack_of[b]), ("b", b))
            graph.add_edge(*ends, capacity=1, weight=weight)
    for b in brokers:
        graph.add_node(("b", b), demand=0)
        for held in range(state.num_partitions):
            graph.add_edge(("b", b), "end", capacity=1, weight=SCALE * held)
    graph.add_node("end", demand=total)
    cost, _ = nx.network_simplex(graph)
    return int(cost) % SCALE


@st.composite
def asked(draw):
    state = draw(clusters(min_brokers=4, max_topics=2, max_replicas=3))
    live = state.brokers.ids[state.brokers.is_live].tolist()
    most = int(state.num_replicas.max(initial=1))
    assume(len(live) >= most)
    broker_ids = draw(st.sets(st.sampled_from(live), min_size=most))
    return state, sorted(broker_ids), draw(st.booleans())


@settings(max_examples=60)
@given(asked())
def test_no_exact_flow_takes_fewer_moves(given_cluster):
    state, broker_ids, is_rack_aware = given_cluster
    is_open = np.isin(state.brokers.ids, broker_ids)
    every = np.ones(len(state.topics), dtype=np.bool_)

    spread = spread_topics(state, every, is_open, is_rack_aware=is_rack_aware)

    moved = int(spread.reassignment.is_copied.sum())
    assert moved == exact_moves(state, is_open, is_rack_aware=is_rack_aware)
    assert spread.is_least


@settings(max_examples=60)
@given(asked())
def test_the_checker_finds_nothing_wrong_but_what_sizes_make_so(given_cluster):
    state, broker_ids, is_rack_aware = given_cluster
    is_open = np.isin(state.brokers.ids, broker_ids)
    every = np.ones(len(state.topics), dtype=np.bool_)

    spread = spread_topics(state, every, is_open, is_rack_aware=is_rack_aware)

    after = spread.reassignment.after()
    lists = [after.brokers_of(p) for p in range(state.num_partitions)]
    assert all(set(row) <= set(broker_ids) for row in lists)
    others = state.brokers.ids[state.brokers.is_live & ~is_open].tolist()
    proposed = spread_file(state, lists)
    findings = check(state, proposed, CheckSettings(leaving_brokers=frozenset(others)))
    rules = {finding.rule for finding in findings if not finding.existing}
    # Generate goes by counts alone, as Kafka's tool does, and says what comes of it.
    sizes = {"capacity", "log-dir-capacity", "max-replicas", "log-dir"}
    sizes |= {"min-isr", "no-source"}
    # The only replica of a partition leads, on a demoted broker too.
    leaders = {"excluded"} if (is_open & ~state.brokers.may_lead).any() else set()
    racks = set() if is_rack_aware else {"rack"}
    assert rules <= sizes | leaders | racks


def spread_file(state: ClusterState, lists):
    topics = [state.topics.names[t] for t in state.partitions.topic_idx]
    numbers = state.partitions.partition.tolist()
    return to_target(
        ReassignmentFile(
            tuple(topics),
            tuple(numbers),
            tuple(map(tuple, lists)),
            (None,) * len(lists),
        )
    )


@settings(max_examples=40)
@given(asked())
def test_a_second_time_nothing_is_left_to_do(given_cluster):
    state, broker_ids, is_rack_aware = given_cluster
    is_open = np.isin(state.brokers.ids, broker_ids)
    every = np.ones(len(state.topics), dtype=np.bool_)
    once = spread_topics(state, every, is_open, is_rack_aware=is_rack_aware)

    again = spread_topics(
        once.reassignment.after(), every, is_open, is_rack_aware=is_rack_aware
    )

    assert not again.reassignment.is_changed.any()


@settings(max_examples=40)
@given(asked(), st.integers())
def test_what_kafka_would_propose_passes_too(given_cluster, seed):
    state, broker_ids, _ = given_cluster
    topics = sorted(set(state.topics.names))
    options = {"is_from_scratch": True, "seed": seed, "is_rack_aware": False}

    proposal = generate(state, request(topics, broker_ids, **options))

    rules = {finding.rule for finding in proposal.findings}
    assert rules <= {
        "capacity",
        "max-replicas",
        "log-dir",
        "log-dir-capacity",
        "min-isr",
        "no-source",
        "excluded",
        "replication-factor",
    }
    assert {b for row in proposal.proposed.replicas for b in row} <= set(broker_ids)
    assert len(proposal.proposed) == len(proposal.current) == state.num_partitions


def test_brokers_of_a_cluster_are_those_that_are_live():
    states = {1: BrokerState.FENCED, 2: BrokerState.DEMOTED}
    state = make_state([[0]], racks="a-b", states=states)

    assert PlacerBrokers.of(state).ids == (0, 2)
    assert PlacerBrokers.of(state, np.array([2, 1])).is_fenced == (True, False)
