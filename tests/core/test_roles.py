"""Roles handed out at given places, against every choice there is."""

from dataclasses import replace
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate
from placement.core.roles import role_counts, role_loads
from placement.core.roles.role_bounds import distance_bound
from placement.core.roles.role_counts import RoleTables, even_roles
from placement.core.roles.role_loads import RoleBalancer
from placement.core.solve_roles import count_column, solve_order
from placement.core.verify.role_claims import (
    may_take_role,
    proven_distance,
    proves_even_roles,
)
from placement.draft.draft import Settings, start_draft
from placement.model.load import Resource
from placement.model.targets import Members, find_targets, share_out
from placement.operations.leaders import Leaders
from placement.planning.encode import build_problem
from placement.rules.frozen_partitions import LeaveUnsettled
from placement.synthetic import SIZES, make_instance
from support.clusters import clusters, make_state


def problem_of(state, *, resources=None, band=0.1):
    """Return the core's problem of leaders alone, as planning would."""
    draft = start_draft(state, Settings(resources=resources))
    Leaders().fill(draft)
    LeaveUnsettled().fill(draft)
    balanced = draft.balanced_resources()
    bands = dict.fromkeys(Resource, band)
    members = Members(holds=draft.holds, leads=draft.leads)
    shares = share_out(state, draft.weights, members, bands)
    load = np.zeros((state.num_brokers, len(Resource)), dtype=np.int64)
    incoming = (draft.weights.replica + draft.weights.leader).sum(axis=0)
    targets = find_targets(shares, load, np.zeros_like(load), incoming)
    return build_problem(draft, targets, balanced)


def tables_of(problem):
    target = problem.bins.target[:, count_column(problem)]
    return RoleTables(
        group_start=problem.group_start,
        bin_of=problem.home,
        holder=problem.role_home,
        may_hold=may_take_role(problem),
        share=np.where(problem.may_hold_role, target, 0.0),
    )


def all_choices(tables):
    """Every way to hand out the roles."""
    ways = []
    for g in range(len(tables.holder)):
        items = range(*tables.group_start[g : g + 2].tolist())
        ways.append([i for i in items if tables.may_hold[i]] or [tables.holder[g]])
    return [np.array(way, dtype=np.int64) for way in product(*ways)]


def unevenness(tables, role_of):
    """What the roles are worth, largest first, and how many have changed."""
    held = role_of[role_of >= 0]
    counts = np.bincount(tables.bin_of[held], minlength=len(tables.share))
    worth = [
        (round(k / share, 9), round((k - 1) / share, 9))
        for count, share in zip(counts, tables.share, strict=True)
        for k in range(1, count + 1)
        if share > 0
    ]
    changes = int((role_of != tables.holder).sum())
    return sorted(worth, reverse=True), changes


SMALL = clusters(max_topics=2, max_partitions=3, max_replicas=3, all_known=True)


def with_counts(state):
    problem = problem_of(state, resources=(Resource.LEADERS,))
    return problem if count_column(problem) >= 0 else None


FEW_OR_MANY = pytest.mark.parametrize(
    "few_groups", [pytest.param(10**6, id="few"), pytest.param(-1, id="many")]
)


@FEW_OR_MANY
@settings(max_examples=150)
@given(SMALL)
def test_counts_are_as_even_as_any_choice_by_the_fewest_changes(few_groups, state):
    problem = with_counts(state)
    if problem is None:
        return
    tables = tables_of(problem)

    with patch.object(role_counts, "FEW_GROUPS", few_groups):
        found = even_roles(tables)

    best = min(unevenness(tables, choice) for choice in all_choices(tables))
    assert unevenness(tables, found.role_of) == best


@FEW_OR_MANY
@settings(max_examples=150)
@given(SMALL, st.integers(0, 10**6))
def test_prices_prove_the_best_choices_and_no_others(few_groups, state, pick):
    problem = with_counts(state)
    if problem is None:
        return
    tables, column = tables_of(problem), count_column(problem)
    with patch.object(role_counts, "FEW_GROUPS", few_groups):
        found = even_roles(tables)
    choices = all_choices(tables)
    other = choices[pick % len(choices)]
    is_best = unevenness(tables, other) == unevenness(tables, found.role_of)

    assert proves_even_roles(problem, column, found.role_of, found.prices)
    if not is_best:
        assert not proves_even_roles(problem, column, other, found.prices)


def many_groups(seed, capacities):
    rng = np.random.default_rng(seed)
    bins, groups = 60, 30_000
    skewed = (rng.random((groups, 3)) ** 1.3 * 20).astype(np.int64)
    places = skewed + np.array([0, 20, 40])
    return RoleTables(
        group_start=np.arange(0, 3 * groups + 1, 3),
        bin_of=places.ravel().astype(np.int32),
        holder=np.arange(0, 3 * groups, 3),
        may_hold=rng.random(3 * groups) < 0.97,
        share=rng.choice(capacities, size=bins) * 100,
    )


@pytest.mark.not_quick
@pytest.mark.parametrize("capacities", [(1.0,), (1.0, 1.5, 2.0), (1.0, 4.0)])
@pytest.mark.parametrize("seed", [5, 6])
def test_many_groups_at_once_are_as_good_as_by_prices(seed, capacities, monkeypatch):
    tables = many_groups(seed, capacities)

    found = even_roles(tables)

    monkeypatch.setattr(role_counts, "hand_within", lambda *_: None)
    other = even_roles(tables)
    assert unevenness(tables, found.role_of) == unevenness(tables, other.role_of)


@pytest.mark.parametrize("is_at_once", [True, False])
def test_many_groups_are_proven_together_or_from_the_promising_ones_alone(
    is_at_once, monkeypatch
):
    tables = replace(many_groups(5, (1.0, 1.5, 2.0)), may_hold=np.ones(90_000, bool))
    if not is_at_once:
        monkeypatch.setattr(role_counts, "hand_within", lambda *_: None)
    bins, share = tables.num_bins, tables.share

    found = even_roles(tables)

    counts = np.bincount(tables.bin_of[found.role_of], minlength=bins)
    least_next = ((counts + 1) / share).min()
    assert (counts / share).max() <= least_next + 1e-9
    assert even_roles(replace(tables, holder=found.role_of)).role_of.tolist() == (
        found.role_of.tolist()
    )


@pytest.mark.parametrize(
    ("replicas", "capacity", "counts"),
    [
        pytest.param([[0, 1]] * 4, [1, 1], [2, 2], id="equal"),
        pytest.param([[0, 1]] * 6, [1, 2], [2, 4], id="twice-the-capacity"),
        pytest.param([[0], [0], [0, 1], [1, 0]], [1, 1], [2, 2], id="what-cannot-go"),
        pytest.param([[0], [0], [0], [1, 0]], [1, 1], [3, 1], id="out-of-reach"),
        pytest.param([[0, 1], [1, 2], [2, 0]], [1, 1, 1], [1, 1, 1], id="even-already"),
    ],
)
def test_leaders_by_hand(replicas, capacity, counts):
    state = make_state(replicas, disk_bytes=capacity)
    problem = with_counts(state)

    found = even_roles(tables_of(problem))

    led_by = problem.home[found.role_of]
    assert np.bincount(led_by, minlength=len(counts)).tolist() == counts


@settings(max_examples=100)
@given(SMALL, st.sampled_from([0.0, 0.1, 0.3]))
def test_no_choice_is_nearer_to_the_bands_than_the_bound(state, band):
    problem = problem_of(state, resources=(Resource.OUT,), band=band)
    tables_like = RoleTables(
        group_start=problem.group_start,
        bin_of=problem.home,
        holder=problem.role_home,
        may_hold=may_take_role(problem),
        share=np.zeros(problem.num_bins),
    )
    values = [
        evaluate(problem, Arrangement(problem.home, choice)).deviation
        for choice in all_choices(tables_like)
    ]
    worst = max(values, default=0.0)

    bound = distance_bound(problem, worst)

    assert bound.lower_bound <= min(values, default=0.0) + 1e-6
    if bound.proof is not None:
        proven = proven_distance(
            problem,
            bound.proof.witness["column"],
            np.array(bound.proof.witness["set"]),
            is_upper=bound.proof.witness["side"] == "over",
        )
        assert proven == pytest.approx(bound.lower_bound)


@settings(max_examples=25)
@given(SMALL, st.sampled_from([0.0, 0.1]))
def test_loads_come_nearer_while_counts_stay_as_even(state, band):
    problem = problem_of(state, resources=(Resource.LEADERS, Resource.OUT), band=band)
    column = count_column(problem)
    if column < 0:
        return
    tables = tables_of(problem)
    least = even_roles(tables)

    found = solve_order(problem)

    assert (found.best.bin_of == problem.home).all()
    chosen = unevenness(tables, found.best.role_of)
    value = evaluate(problem, found.best)
    home = evaluate(problem, Arrangement(problem.home, problem.role_home))
    even = evaluate(problem, Arrangement(problem.home, least.role_of))
    if even.key[0] <= home.key[0] and value.key[0] == even.key[0]:
        assert value.key <= even.key
        assert chosen[0] == unevenness(tables, least.role_of)[0]
        assert chosen[1] >= found.certificate.roles.lower_bound
    assert value.key[0] <= home.key[0]
    assert found.certificate.deviation.lower_bound <= value.deviation


@settings(max_examples=100)
@given(SMALL, st.sampled_from([0.0, 0.1, 0.3]))
def test_what_is_proven_holds_for_every_choice_as_even(state, band):
    problem = problem_of(state, resources=(Resource.LEADERS, Resource.OUT), band=band)
    if count_column(problem) < 0:
        return
    tables = tables_of(problem)
    least = unevenness(tables, even_roles(tables).role_of)[0]

    proven = solve_order(problem).certificate

    for choice in all_choices(tables):
        if unevenness(tables, choice)[0] == least:
            value = evaluate(problem, Arrangement(problem.home, choice))
            assert value.deviation >= proven.deviation.lower_bound - 1e-9
            assert value.role_changes >= proven.roles.lower_bound


@settings(max_examples=100)
@given(SMALL, st.sampled_from([0.0, 0.1, 0.3]))
def test_of_choices_as_even_the_best_in_every_level_is_found(state, band):
    problem = problem_of(state, resources=(Resource.LEADERS, Resource.OUT), band=band)
    if count_column(problem) < 0:
        return
    tables = tables_of(problem)
    least = unevenness(tables, even_roles(tables).role_of)[0]
    even = [
        evaluate(problem, Arrangement(problem.home, choice)).key
        for choice in all_choices(tables)
        if unevenness(tables, choice)[0] == least
    ]

    found = solve_order(problem)

    value, proven = evaluate(problem, found.best), found.certificate
    best = min(even)
    if best[0] or value.key[0]:
        return
    assert value.key == pytest.approx(best, abs=2e-9)
    assert proven.roles.is_least
    assert proven.deviation.is_least


def balanced(problem, monkeypatch, *, plain_items):
    """Return who leads once loads are balanced, and what was compiled at each end."""
    monkeypatch.setattr(role_loads, "PLAIN_ITEMS", plain_items)
    monkeypatch.setattr(role_loads, "is_running", lambda _: False)
    monkeypatch.setattr(role_loads, "_plain", role_loads.PlainWork())
    column = count_column(problem)
    even = even_roles(tables_of(problem)).role_of
    balancer = RoleBalancer(problem, even, column, Deadline())
    was_compiled = balancer.is_compiled
    balancer.improve()
    balancer.hand_back()
    return balancer.role_of().tolist(), (was_compiled, balancer.is_compiled)


@pytest.mark.parametrize("band", [0.01, 0.05])
@pytest.mark.parametrize("family", ["c", "d"])
def test_balancing_compiled_and_plain_is_the_same(family, band, monkeypatch):
    state = make_instance(family, SIZES["S"], seed=2).state
    wanted = (Resource.LEADERS, Resource.OUT, Resource.CPU)
    problem = problem_of(state, resources=wanted, band=band)

    monkeypatch.setattr(role_loads, "LOADING_S", float("inf"))
    monkeypatch.setattr(role_loads, "COMPILING_S", float("inf"))
    plain = balanced(problem, monkeypatch, plain_items=10**6)

    assert plain[1] == (False, False)
    assert (plain[0], (True, True)) == balanced(problem, monkeypatch, plain_items=0)
    assert plain[0] != even_roles(tables_of(problem)).role_of.tolist()

    # Much work is uncompiled: the rest is compiled.
    monkeypatch.setattr(role_loads, "COMPILING_S", 0.0)
    changing = balanced(problem, monkeypatch, plain_items=10**6)
    assert changing == (plain[0], (False, True))


def test_nothing_is_compiled_shortly_before_a_deadline(monkeypatch):
    state = make_instance("c", SIZES["S"], seed=2).state
    problem = problem_of(state, resources=(Resource.LEADERS, Resource.OUT), band=0.01)
    monkeypatch.setattr(role_loads, "PLAIN_ITEMS", 10**6)
    monkeypatch.setattr(role_loads, "_plain", role_loads.PlainWork(1e6))
    for name in ("is_running", "is_at_hand"):
        monkeypatch.setattr(role_loads, name, lambda _: False)
    even = even_roles(tables_of(problem)).role_of

    def is_compiled(deadline):
        column = count_column(problem)
        return RoleBalancer(problem, even, column, deadline).is_compiled

    assert is_compiled(Deadline())
    assert is_compiled(Deadline(3600.0))
    assert not is_compiled(Deadline(role_loads.COMPILING_S))


def test_a_deadline_ends_balancing_with_what_there_is(monkeypatch):
    state = make_instance("c", SIZES["S"], seed=2).state
    wanted = (Resource.LEADERS, Resource.OUT)
    problem = problem_of(state, resources=wanted, band=0.01)
    looks = iter(range(100))
    deadline = Deadline(3, lambda: next(looks))
    monkeypatch.setattr(role_loads, "BINS_AT_ONCE", 1)
    even = even_roles(tables_of(problem)).role_of
    balancer = RoleBalancer(problem, even, count_column(problem), deadline)

    balancer.improve()
    balancer.hand_back()

    assert deadline.has_cut
    assert not evaluate(
        problem, Arrangement(problem.home, balancer.role_of())
    ).is_in_band


@pytest.mark.parametrize("scale", [10, 1_000, 10**7])
def test_a_byte_out_of_band_counts_however_large_the_loads(scale):
    # An exchange evens the bytes; home again, each broker is a byte or two off.
    rates = [scale + 2.0, float(scale), float(scale), scale - 2.0]
    state = make_state([[0, 1], [0, 1], [1, 0], [1, 0]], out_rate=rates, in_rate=0.0)
    problem = problem_of(state, resources=(Resource.LEADERS, Resource.OUT), band=0.0)
    balancer = RoleBalancer(
        problem, problem.role_home, count_column(problem), Deadline()
    )

    balancer.improve()
    balancer.hand_back()

    at = Arrangement(problem.home, balancer.role_of())
    assert evaluate(problem, at).is_in_band
    out = loads(problem, at)[:, 0]
    assert out[0] == out[1]


def test_a_cycle_of_three_brokers_is_found():
    # Each broker leads one heavy and one light partition too many of its own kind;
    # only handing on around the ring of racks evens bytes and keeps counts.
    replicas = [[0, 1], [0, 1], [1, 2], [1, 2], [2, 0], [2, 0]]
    state = make_state(
        replicas,
        racks="abc",
        out_rate=[100.0, 100.0, 10.0, 10.0, 10.0, 10.0],
        in_rate=0.0,
    )
    problem = problem_of(state, resources=(Resource.LEADERS, Resource.OUT), band=0.6)

    found = solve_order(problem)

    out = loads(problem, found.best)[:, 0]
    assert out.max() <= 1.6 * out.sum() / 3
    counts = np.bincount(problem.home[found.best.role_of], minlength=3)
    assert counts.tolist() == [2, 2, 2]
    assert found.certificate.roles.value == 3
