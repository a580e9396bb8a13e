"""CP-SAT's answers against brute force, level by level, and what it says of bounds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.exact.cp_sat.roles_model import fewer_role_changes
from placement.core.exact.improvement.band_distance import cheaper_as_near
from placement.core.exact.improvement.improve import improve
from placement.core.exact.improvement.improved_answer import Improved
from placement.core.exact.improvement.neighbourhood_search import (
    improve_by_neighbourhoods,
)
from placement.core.exact.milp.large_neighbourhood import fits_sub_problems
from placement.core.exact.milp.spread_check import crowds
from placement.core.exact.model_scaling import fits_bands
from placement.core.exact.time_limits import no_deadline
from placement.core.model.objective import evaluate
from placement.core.model.search_budget import NORMAL, QUICK
from placement.core.solve import solve
from support.every_way import is_enumerable, legal, worst_of
from support.oracles import illegal_moves
from support.problems import make_problem, problems

SMALL = problems(is_plain=True, max_bins=3, max_groups=4, max_items=2)
TERABYTE = 10**12


def takes(problem):
    return fits_bands(problem, 10_000) and is_enumerable(problem)


@settings(max_examples=150)
@given(SMALL)
def test_equals_brute_force_in_every_level(problem):
    known = list(legal(problem)) if takes(problem) else []
    if not known:
        return

    found = improve(problem, worst_of(known)[0], known=0, work=20)

    assert not illegal_moves(problem, found.at)
    assert found.value == evaluate(problem, found.at)
    values = [value for _, value in known]
    nearest = min(value.deviation for value in values)
    assert float(found.value.deviation) <= float(nearest) * (1 + 1e-5) + 1e-5
    if found.deviation_bound is not None:
        assert found.deviation_bound <= float(nearest) + 1e-9
    if nearest == 0:
        best = min((v.cost, v.moves, v.role_changes) for v in values if not v.deviation)
        value = found.value
        assert (value.cost, value.moves, value.role_changes) == best
        assert found.cost_bound == best[0]


@settings(max_examples=60)
@given(SMALL)
def test_what_it_says_of_the_cost_holds_for_the_bands_reached(problem):
    known = list(legal(problem)) if takes(problem) else []
    if not known:
        return

    found = improve(problem, worst_of(known)[0], known=0, work=20)

    bands = reached_bands(problem, found.at)
    reached = replace(
        problem,
        levels=(
            replace(
                problem.levels[0],
                limits=replace(problem.bins, lower=bands.lower, upper=bands.upper),
            ),
            *problem.levels[1:],
        ),
    )
    within = [v.cost for _, v in legal(reached) if not v.deviation]
    if found.cost_bound is not None:
        assert found.cost_bound <= min(within)


@settings(max_examples=150)
@given(SMALL)
def test_no_answer_at_the_distances_reached_costs_less(problem):
    known = list(legal(problem)) if takes(problem) else []
    if not known:
        return
    at = worst_of(known)[0]
    value = evaluate(problem, at)
    if not value.is_outside:
        return

    found, _ = cheaper_as_near(
        problem, Improved(at=at, value=value, spread_from=at), (20.0, no_deadline)
    )

    reached = found.value
    assert reached == evaluate(problem, found.at)
    assert reached <= value
    assert not illegal_moves(problem, found.at)
    assert reached.cost == min(
        other.cost
        for _, other in known
        if float(other.deviation) <= reached.deviation + 1e-9
        and float(other.outside) <= reached.outside + 1e-9
    )


@settings(max_examples=80)
@given(problems(is_plain=True, has_collections=True), st.integers(1, 3))
def test_neighbourhoods_keep_all_rules_and_get_nothing_worse(problem, seed):
    if not fits_sub_problems(problem):
        return
    at = solve(problem, effort=QUICK).best
    before = evaluate(problem, at)
    if before.key[0]:
        return

    found, _ = improve_by_neighbourhoods(problem, at, enough=0, work=0.3, seed=seed)

    assert evaluate(problem, found) <= before
    assert not illegal_moves(problem, found)
    assert found is at or not crowds(problem, at, found)


@settings(max_examples=100)
@given(SMALL)
def test_fewer_roles_change_at_the_same_places(problem):
    known = list(legal(problem)) if takes(problem) else []
    if not known:
        return
    at = worst_of(known)[0]

    found = fewer_role_changes(problem, at, 5.0)

    before, after = evaluate(problem, at), evaluate(problem, found)
    assert found.bin_of.tolist() == at.bin_of.tolist()
    assert not illegal_moves(problem, found)
    assert after.key[:5] <= before.key[:5]
    assert after.role_changes <= before.role_changes


@settings(max_examples=100)
@given(SMALL)
def test_no_fewer_roles_could_change_at_the_places_of_a_plan(problem):
    if not takes(problem):
        return
    solution = solve(problem, effort=NORMAL)
    at, value = solution.best, evaluate(problem, solution.best)
    if value.key[0] or value.deviation or not problem.is_role_movable.all():
        return

    others = [
        other
        for other, worth in legal(problem)
        if other.bin_of.tolist() == at.bin_of.tolist()
        and not worth.deviation
        and worth.cost == value.cost
    ]

    fewest = min(
        int(np.not_equal(other.role_of, problem.role_home).sum()) for other in others
    )
    assert value.role_changes == fewest


def subset_sum():
    """Terabytes that fit a band to some bytes, in one way alone."""
    weight = [TERABYTE // 4] * 4 + [TERABYTE // 8, 60, 3 * TERABYTE // 4]
    return make_problem(
        [[0]] * 6 + [[1]],
        num_bins=2,
        weight=weight,
        cost=weight,
        lower=7 * TERABYTE // 10,
        upper=TERABYTE + 40,
        target=float(TERABYTE),
    )


def test_rounded_rows_let_nothing_outside_pass():
    problem = subset_sum()

    solution = solve(problem, effort=NORMAL)

    value = evaluate(problem, solution.best)
    assert value.deviation == 0
    assert solution.certificate.cost.lower_bound <= value.cost


@pytest.mark.not_quick
@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_problem_has_the_same_answer(seed):
    rng = np.random.default_rng(seed)
    weight = rng.lognormal(20, 1.5, 40).astype(np.int64)
    target = float(weight.sum()) / 4
    problem = make_problem(
        [[int(b)] for b in rng.integers(0, 4, 40)],
        num_bins=4,
        weight=weight.tolist(),
        cost=weight.tolist(),
        lower=int(0.95 * target),
        upper=int(1.05 * target),
        target=target,
    )

    first, second = (solve(problem, effort=NORMAL) for _ in range(2))

    assert first.best.bin_of.tolist() == second.best.bin_of.tolist()
    assert first.certificate == second.certificate
