"""Bounds from prices of load, against every arrangement of small problems."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear import lagrangian as prices_module
from placement.core.exact.linear.lagrangian import priced_bound
from placement.core.exact.model_scaling import fits_prices
from placement.core.flow.transport import is_counts_alone, solve_counts
from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.model.search_budget import QUICK, THOROUGH, Effort
from placement.core.solve import solve
from placement.core.verify import price_witness
from placement.core.verify.load_prices import verify_prices
from support.oracles import everything, usable_capacity
from support.problems import make_problem, problems

NO_CAPACITY = NO_LIMIT
MOST_CELLS = 10**6


def aimed_bands(problem: Problem) -> Bands:
    has_band = problem.bins.target > 0
    upper = np.where(has_band, problem.bins.upper, NO_LIMIT)
    return Bands(np.where(has_band, problem.bins.lower, 0), upper)


def least_cost(problem: Problem, bands: Bands) -> float:
    """Return the least cost of all arrangements within the bands; infinite: none."""
    anything = np.full_like(usable_capacity(problem), NO_CAPACITY)
    found = everything(problem).within(bands.lower, bands.upper, anything)
    return float(found.least_cost)


@st.composite
def witnesses(draw, problem: Problem):
    """Any prices at all: what they prove must hold."""
    rows = st.tuples(
        st.integers(0, problem.num_bins - 1),
        st.integers(0, problem.num_resources - 1),
        st.integers(0, 40),
    )
    unique = st.lists(rows, max_size=6, unique_by=lambda row: row[:2])
    return {
        "denominator": draw(st.integers(1, 12)),
        "above": draw(unique),
        "below": draw(unique),
    }


@settings(max_examples=200)
@given(problems(is_plain=True), st.data(), st.booleans())
def test_groups_cost_what_their_cheapest_bins_do(drawn: Problem, data, is_wide):
    must_not = np.zeros(drawn.num_bins, dtype=bool)
    no_extra = np.zeros((0, drawn.num_resources), dtype=np.int64)
    problem = replace(
        drawn, price_per_move=0, must_release_role=must_not, extra=no_extra
    )
    # More levels of caps are left out of account.
    levels = [level for level in problem.levels[1:] if level.group_cap is not None]
    assume(problem.num_groups and len(levels) < 2)
    assume(not any(level.is_even for level in levels))
    bins = problem.bins
    witness = data.draw(witnesses(problem))
    net, banded = np.zeros(bins.target.shape, dtype=np.int64), 0
    for b, r, price in witness["above"]:
        net[b, r] += price
        banded -= price * int(bins.upper[b, r])
    for b, r, price in witness["below"]:
        net[b, r] -= price
        banded += price * int(bins.lower[b, r])
    assume(all(bins.upper[b, r] < NO_LIMIT for b, r, p in witness["above"] if p))

    with pytest.MonkeyPatch.context() as patched:
        if is_wide:
            patched.setattr(price_witness, "SAFE", 0)
        proven = verify_prices(problem, bins.lower, bins.upper, witness)

    every = everything(problem)
    costs = witness["denominator"] * every.cost + (every.loads * net).sum(axis=(1, 2))
    least = min(costs.tolist(), default=None)
    if least is not None:
        assert proven == max(0, -(-(least + banded) // witness["denominator"]))


@settings(max_examples=100)
@given(problems(is_plain=True), st.data())
def test_no_prices_prove_too_much(problem: Problem, data):
    bands = aimed_bands(problem)
    least = least_cost(problem, bands)
    witness = data.draw(witnesses(problem))

    value = verify_prices(problem, bands.lower, bands.upper, witness)

    assert value <= least


@pytest.mark.not_quick
@settings(max_examples=50)
@given(problems(is_plain=True))
def test_prices_that_are_found_prove_no_more_than_is_true(problem: Problem):
    assert fits_prices(problem, 10**6) or not problem.num_groups
    at = solve(problem, effort=QUICK).best
    assume(evaluate(problem, at).is_in_band and problem.num_groups)
    bands = aimed_bands(problem)
    cost = evaluate(problem, at).cost

    value, proof = priced_bound(problem, at, bands, cost)

    assert value <= least_cost(problem, bands) <= cost
    assert (proof is not None) == (value > 0)
    if proof is not None:
        again = verify_prices(problem, bands.lower, bands.upper, proof.witness)
        assert (proof.kind, again) == ("lambda", value)


def counts_in_racks(seed: int) -> Problem:
    """Items that all weigh and cost one, a cap per rack, counts to be evened out."""
    rng = np.random.default_rng(seed)
    racks = [0, 0, 0, 1, 1, 2]
    homes = [
        sorted(rng.choice(6, size=2, replace=False, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1]))
        for _ in range(30)
    ]
    return make_problem(
        [list(map(int, home)) for home in homes],
        num_bins=6,
        target=10.0,
        lower=[9] * 6,
        upper=[11] * 6,
        racks=racks,
        rack_cap=1,
    )


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_proven_as_flows_find_them(seed: int):
    # With unit weights the relaxation is a flow, and its bound exact:
    # docs/theory.md, "Counts as a minimum-cost flow".
    problem = counts_in_racks(seed)
    assert is_counts_alone(problem)
    at = solve_counts(problem, aimed_bands(problem), MOST_CELLS)
    assert at is not None
    assert evaluate(problem, at).is_in_band
    cost = evaluate(problem, at).cost

    value, _ = priced_bound(problem, at, aimed_bands(problem), cost)

    assert value == cost > 0


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"denominator": 0}, id="denominator"),
        pytest.param({"above": [[0, 0, -1]]}, id="negative"),
        pytest.param({"above": [[0, 0, 1 << 62]]}, id="too-large-to-add-up"),
        pytest.param({"above": [[1, 0, 5]]}, id="where-there-is-no-upper-end"),
    ],
)
def test_a_witness_that_is_none_proves_nothing(wrong):
    problem = make_problem(
        [[0]] * 4, num_bins=2, target=2.0, lower=[1, 1], upper=[2, NO_LIMIT]
    )
    bins = problem.bins
    sound = {"denominator": 1, "above": [[0, 0, 1]], "below": []}

    assert verify_prices(problem, bins.lower, bins.upper, sound) == 2
    assert verify_prices(problem, bins.lower, bins.upper, sound | wrong) == 0


def mixed(seed: int) -> Problem:
    """Six hundred items with roles on eight bins, far out of their bands."""
    rng = np.random.default_rng(seed)
    often = np.arange(8, 0, -1) / 36
    homes = [
        sorted(map(int, rng.choice(8, size=2, replace=False, p=often)))
        for _ in range(300)
    ]
    weight = rng.integers(1, 60, size=300)
    total = int(2 * weight.sum())
    return make_problem(
        homes,
        num_bins=8,
        weight=weight,
        role_weight=rng.integers(0, 20, size=300),
        cost=weight,
        target=total / 8,
        lower=[int(total / 8 * 0.99)] * 8,
        upper=[int(total / 8 * 1.25)] * 8,
    )


@pytest.mark.slow
def test_thorough_effort_proves_by_prices_where_that_is_more():
    problem = mixed(1)
    no_prices = Effort(steps_per_item=6, rounds=0, gap=0.0, milp_cells=0, milp_nodes=0)
    # Without the work of CP-SAT, which takes a minute and has no part in the bound.
    work = {"exact_work": 1.0, "part_work": 0.1, "role_work": 0.1}
    priced = replace(THOROUGH, rounds=0, **work)

    plain = solve(problem, effort=no_prices).certificate.cost
    proven = solve(problem, effort=priced).certificate.cost

    assert proven.proof is not None
    assert proven.proof.kind == "lambda"
    assert plain.lower_bound < proven.lower_bound <= proven.value <= plain.value


def test_without_an_answer_of_the_relaxation_nothing_is_proven(monkeypatch):
    problem = mixed(2)
    at: Arrangement = home_arrangement(problem)
    monkeypatch.setattr(prices_module._Relaxation, "solved", lambda *_: None)

    assert priced_bound(problem, at, aimed_bands(problem), 1) == (0, None)
