"""The least bytes to balance: below every arrangement, and near the core's bound."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import Bands, cost_bound
from placement.core.model.problem import NO_LIMIT
from placement.draft.draft import Settings, start_draft
from placement.draft.leading_replicas import leading_replicas
from placement.model.columns import rows_of_starts
from placement.model.load import RESOURCES, broker_loads, heaviest_replicas, weigh
from placement.model.targets import Members, find_targets, share_out
from placement.operations.rebalance import Rebalance
from placement.planning.encode import build_problem
from placement.planning.plan import RULES, plan
from placement.score import score_cluster
from placement.score.least_bytes import least_bytes
from support.clusters import clusters, make_state
from support.oracles import everything


def drafted(state, band):
    """Draft a rebalance, its bands, and the core's problem."""
    draft = start_draft(state, Settings(bands=dict.fromkeys(RESOURCES, band)))
    Rebalance().fill(draft)
    for rule in RULES:
        rule.fill(draft)
    balanced = draft.balanced_resources()
    members = Members(holds=draft.holds, leads=draft.leads)
    shares = share_out(state, draft.weights, members, draft.settings.bands)
    leader = state.replicas.broker_idx_at(leading_replicas(draft))
    load = broker_loads(state, draft.weights, leader)
    heaviest = heaviest_replicas(state, draft.weights, leader)
    targets = find_targets(shares, load, heaviest)
    problem = build_problem(draft, targets, balanced)
    return least_bytes(draft, targets, balanced), problem


@settings(max_examples=100)
@given(clusters(max_brokers=3, max_topics=2, max_partitions=2, max_replicas=2))
def test_no_arrangement_within_the_bands_moves_less(state):
    least, problem = drafted(state, 0.1)
    bins = problem.bins
    anything = np.full_like(bins.upper, NO_LIMIT)

    possible = everything(problem).within(bins.lower, bins.upper, anything)

    assert least <= possible.least_copied


@settings(max_examples=100)
@given(clusters())
def test_it_is_no_weaker_than_the_bound_of_plans(state):
    least, problem = drafted(state, 0.1)
    bins = problem.bins

    proven, _ = cost_bound(problem, Bands(bins.lower, bins.upper))

    # Multipliers are fractions of 24 bits there; a byte is lost in rounding here.
    assert least >= proven * (1 - 1e-6) - 1


@st.composite
def lopsided(draw):
    """Draw a cluster of equal partitions whose last broker holds one alone."""
    brokers = draw(st.integers(2, 4))
    others = st.permutations(range(brokers - 1))
    factors = draw(st.lists(st.integers(1, 2), min_size=15, max_size=30))
    rows = [draw(others)[:factor] for factor in factors]
    size = draw(st.integers(1, 100))
    return make_state(
        [[broker] for broker in range(brokers)] + rows,
        racks="a" * brokers, size_bytes=size, in_rate=0.0, out_rate=0.0,
    )  # fmt: skip


# Of clusters drawn value by value none is out of its bands and can be brought there.
@given(lopsided(), st.sampled_from([0.1, 0.3]))
def test_plans_that_end_in_the_bands_of_now_move_more(state, band):
    chosen = Settings(bands=dict.fromkeys(RESOURCES, band))
    made = plan(state, Rebalance(), chosen)
    least = score_cluster(state, chosen).min_bytes_to_balance
    after = made.reassignment.after()
    heaviest = [
        heaviest_replicas(s, made.draft.weights, s.partitions.leader_idx)
        for s in (state, after)
    ]
    load = broker_loads(after, made.draft.weights, after.partitions.leader_idx)
    # Bands go by the heaviest replica: a plan may have made them wider.
    assume(np.array_equal(*heaviest) and not len(made.draft.weights.own))
    assume(not made.targets.is_out(load).any())

    assert made.reassignment.copied_bytes(made.draft.weights) >= least


def test_a_full_broker_must_give_up_its_excess():
    state = make_state([[0]] * 10, racks="aa", size_bytes=10, in_rate=0.0, out_rate=0.0)

    found = score_cluster(state, Settings(bands=dict.fromkeys(RESOURCES, 0.0)))

    assert found.min_bytes_to_balance == pytest.approx(50, abs=1)


def test_nothing_must_move_where_all_is_even():
    state = make_state([[0], [1]], racks="ab", size_bytes=10)

    assert score_cluster(state).min_bytes_to_balance == 0


@pytest.mark.parametrize("own", [68, 1], ids=["larger", "smaller"])
def test_replicas_of_other_sizes_than_their_leader_change_the_bands(own):
    rows = [[p % 6, (p + 1) % 6, (p + 2) % 6] for p in range(48)]
    sizes = [[None, own if row[1] == 0 else None, None] for row in rows]
    state = make_state(
        rows, racks="abcabc", size_bytes=8, own_bytes=sizes, disk_bytes=1000
    )

    made = plan(state, Rebalance(), Settings())

    after = made.reassignment.after()
    load = broker_loads(after, weigh(after), after.partitions.leader_idx)
    assert not made.targets.is_out(load).any()
    copied = made.reassignment.copied_bytes(made.draft.weights)
    assert score_cluster(state).min_bytes_to_balance <= copied


def test_the_partition_of_every_replica_is_not_computed_for_each_broker(monkeypatch):
    computed = []

    def counted(start):
        computed.append(start)
        return rows_of_starts(start)

    monkeypatch.setattr("placement.model.columns.rows_of_starts", counted)

    def calls(full):
        """Count the calls for a cluster with full brokers, and as many empty ones."""
        replicas = [[broker] for broker in range(full) for _ in range(4)]
        racks = "a" * (2 * full)
        state = make_state(replicas, racks=racks, size_bytes=10, in_rate=0, out_rate=0)
        computed.clear()
        assert score_cluster(state).min_bytes_to_balance > 0
        return len(computed)

    assert calls(20) == calls(2)
