"""Exact models and flows against every arrangement of small problems."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.milp.small_model import solve_model
from placement.core.exact.model_scaling import fits_model, scale_of
from placement.core.exact.work_limit import ExactWork
from placement.core.model.objective import keeps_caps
from placement.core.model.problem import (
    NO_LIMIT,
    Problem,
)
from support.oracles import (
    Everything,
    everything,
    illegal_moves,
    naive_value,
    usable_capacity,
)
from support.problems import make_problem, problems

MAX_NODES = 2000


def aimed_bands(problem: Problem) -> Bands:
    has_band = problem.bins.target > 0
    upper = np.where(has_band, problem.bins.upper, NO_LIMIT)
    return Bands(np.where(has_band, problem.bins.lower, 0), upper)


def free_of_release(problem: Problem) -> Problem:
    """Exact models leave it to the search to hand on roles that must go."""
    return replace(problem, must_release_role=np.zeros(problem.num_bins, dtype=bool))


def possible(problem: Problem, bands: Bands) -> Everything:
    return everything(problem).within(
        bands.lower, bands.upper, usable_capacity(problem)
    )


@settings(max_examples=100)
@given(problems(is_plain=True))
def test_the_cost_model_finds_the_least_cost(drawn: Problem):
    problem = free_of_release(drawn)
    assert fits_model(problem, 10**6)
    bands = aimed_bands(problem)
    least = possible(problem, bands).least_cost

    exact = solve_model(problem, bands, "cost", MAX_NODES)

    assert exact.is_infeasible == np.isinf(least)
    if exact.at is None:
        assert exact.is_infeasible
        return
    assert illegal_moves(problem, exact.at) == []
    assert naive_value(problem, exact.at).cost == least
    scale = scale_of(problem)
    assert exact.dual_bound <= scale.of(int(least)) + scale.slack + 1e-6


@settings(max_examples=100)
@given(problems(is_plain=True), st.integers(0, 6), st.integers(0, 30))
def test_the_cost_model_keeps_to_caps_on_all_moves(drawn: Problem, moves, copied):
    problem = replace(free_of_release(drawn), max_moves=moves, max_cost=copied)
    bands = aimed_bands(problem)
    every = possible(problem, bands)
    kept = (every.moves <= moves) & (every.copied <= copied)
    least = every.cost[kept].min() if kept.any() else np.inf

    exact = solve_model(problem, bands, "cost", MAX_NODES)

    assert exact.is_infeasible == np.isinf(least)
    if exact.at is not None:
        assert naive_value(problem, exact.at).cost == least
        assert keeps_caps(problem, exact.at)


@settings(max_examples=100)
@given(problems(is_plain=True))
def test_the_deviation_model_finds_the_least_distance(drawn: Problem):
    problem = free_of_release(drawn)
    bins = problem.bins
    anything = np.full_like(bins.upper, NO_LIMIT)
    every = everything(problem).within(-anything, anything, usable_capacity(problem))

    exact = solve_model(problem, aimed_bands(problem), "deviation", MAX_NODES)

    assert exact.is_infeasible == (not len(every.cost))
    if exact.at is not None:
        unit = np.where(bins.target > 0, bins.target, np.inf)
        off = np.maximum(every.loads - bins.upper, bins.lower - every.loads)
        least = np.maximum(off / unit, 0).max(axis=(1, 2)).min(initial=np.inf)
        found = float(naive_value(problem, exact.at).deviation)
        assert found == pytest.approx(least, abs=1e-6)
        assert exact.dual_bound <= least + 1e-6


@settings(max_examples=40)
@given(problems(is_plain=True), st.sampled_from([0, 1, 2]))
def test_a_model_cut_short_has_a_valid_bound(drawn: Problem, max_nodes: int):
    problem = free_of_release(drawn)
    bands = aimed_bands(problem)
    least = possible(problem, bands).least_cost
    assume(np.isfinite(least))

    exact = solve_model(problem, bands, "cost", max_nodes)

    scale = scale_of(problem)
    assert not exact.is_infeasible
    assert exact.dual_bound <= scale.of(int(least)) + scale.slack + 1e-6
    if exact.at is not None:
        assert naive_value(problem, exact.at).cost >= least


@settings(max_examples=40)
@given(problems(is_plain=True), st.integers(1, 6))
def test_an_interrupted_model_has_a_valid_bound(drawn: Problem, most: int):
    problem = free_of_release(drawn)
    bands = aimed_bands(problem)
    least = possible(problem, bands).least_cost
    assume(np.isfinite(least))

    exact = solve_model(
        problem, bands, "cost", MAX_NODES, work=ExactWork(most, left=most)
    )

    scale = scale_of(problem)
    assert not exact.is_infeasible
    assert exact.dual_bound <= scale.of(int(least)) + scale.slack + 1e-6
    if exact.at is not None:
        assert illegal_moves(problem, exact.at) == []
        assert naive_value(problem, exact.at).cost >= least


@pytest.mark.parametrize("most", [1, 8])
def test_an_interrupted_hard_model_returns_its_incumbent(most: int):
    problem, work = subset_sums(), ExactWork(most, left=most)

    exact = solve_model(problem, aimed_bands(problem), "cost", MAX_NODES, work=work)

    assert work.left >= 0
    assert not exact.is_infeasible
    assert exact.dual_bound < float("inf")
    assert exact.at is None or illegal_moves(problem, exact.at) == []


@pytest.mark.parametrize("change", ["transient", "homeless", "two-in-a-bin", "prices"])
def test_what_no_model_can_say_is_left_to_the_search(change: str):
    problem = make_problem([[0, 1], [1]], num_bins=3, racks=[0, 1, 1], target=1)
    assert fits_model(problem, 6)
    assert not fits_model(problem, 5)
    level, rack = problem.levels
    two = replace(level, group_cap=np.full(2, 2, dtype=np.int32))
    changed = {
        "transient": replace(problem, is_transient=np.array([True])),
        "homeless": replace(problem, home=np.array([0, 1, -1], dtype=np.int32)),
        "two-in-a-bin": replace(problem, levels=(two, rack)),
        "prices": replace(problem, levels=(level, replace(rack, price=0))),
    }

    assert not fits_model(changed[change], 100)


def subset_sums() -> Problem:
    """Return subset sums that branch and bound cannot settle in one node."""
    weight = [2**20 // 3 + 7919 * n * n for n in range(1, 13)]
    share = sum(weight) // 3
    return make_problem(
        [[0]] * 12,
        num_bins=3,
        weight=weight,
        cost=weight,
        target=float(share),
        lower=share - 40_000,
        upper=share + 40_000,
    )


def test_a_model_out_of_nodes_answers_with_what_it_has():
    problem = subset_sums()

    exact = solve_model(problem, aimed_bands(problem), "cost", 1)

    assert not exact.is_infeasible
    assert exact.dual_bound < float("inf")
    assert exact.at is None or illegal_moves(problem, exact.at) == []
