"""The kernel of the linear relaxation, and the searches in it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

from placement.core.bounds.cover_bounds import aimed_bands, reached_bands
from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.improvement.cheaper_answer import CheaperAnswer
from placement.core.exact.improvement.improved_answer import improved_from
from placement.core.exact.improvement.kernel_search import (
    ALL,
    STEPS,
    KernelSearch,
    Schedule,
)
from placement.core.exact.linear.kernel import Kernel
from placement.core.exact.milp.spread_check import crowds
from placement.core.exact.model_scaling import fits_bands
from placement.core.exact.time_limits import no_deadline
from placement.core.model.arrangement import home_arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem
from placement.core.model.search_budget import QUICK
from placement.core.solve import solve
from support.every_way import is_enumerable, is_within, legal, worst_of
from support.oracles import illegal_moves
from support.problems import make_problem, problems

SMALL = problems(is_plain=True, max_bins=3, max_groups=4, max_items=2)
ANY_LIMITS = (0.5, no_deadline, 0.0)


def known_of(problem: Problem):
    """All legal arrangements with their worth, where they can be counted."""
    assume(fits_bands(problem, 10_000) and is_enumerable(problem))
    known = list(legal(problem))
    assume(known)
    return known


@settings(max_examples=100, deadline=None)
@given(SMALL)
def test_prices_prove_no_more_than_any_arrangement_costs(problem):
    known = known_of(problem)
    at, _ = worst_of(known)
    bands = reached_bands(problem, at)

    search = KernelSearch.of(problem, bands, home_arrangement(problem))

    if search is None:
        # The relaxation leaves out what a single item weighs more or less.
        assert len(problem.extra)
        return
    inside = [value.cost for one, value in known if is_within(problem, one, bands)]
    assert search.least <= min(inside)


@settings(max_examples=100, deadline=None)
@given(SMALL)
def test_all_columns_are_all_pairs_that_items_and_roles_may_have(problem):
    known = known_of(problem)
    kernel = Kernel.of(problem, reached_bands(problem, known[0][0]))
    if kernel is None:
        assert len(problem.extra)
        return

    places, roles = kernel.pairs(ALL)

    for at, _ in known:
        assert places[problem.group_of, at.bin_of].all()
        held = np.nonzero(at.role_of >= 0)[0]
        assert roles[held, at.bin_of[at.role_of[held]]].all()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(problems(is_plain=True, has_collections=True, max_bins=3, max_groups=4))
def test_searches_keep_all_rules_and_get_nothing_worse(problem):
    known = known_of(problem)
    at, _ = worst_of(known)
    before = evaluate(problem, at)
    start = improved_from(problem, at)

    found = CheaperAnswer(problem, start, 0, ANY_LIMITS, []).in_kernel()

    assert found.value <= before
    assert not illegal_moves(problem, found.at)
    assert not crowds(problem, start.spread_from, found.at)
    assert is_within(problem, found.at, reached_bands(problem, at))


@settings(max_examples=60, deadline=None)
@given(SMALL)
def test_all_pairs_and_the_kernel_in_turns_end_at_the_least_cost(problem):
    known = known_of(problem)
    at, _ = worst_of(known)
    bands = reached_bands(problem, at)

    found = CheaperAnswer(
        problem, improved_from(problem, at), 0, ANY_LIMITS, []
    ).improved()

    assert not illegal_moves(problem, found.at)
    assert is_within(problem, found.at, bands)
    inside = [value.cost for one, value in known if is_within(problem, one, bands)]
    assert found.value.cost == min(inside)
    assert (found.cost_bound or 0) <= min(inside)


def dependent_racks(num_groups: int = 120) -> Problem:
    """Two items of each group in four racks, of which the first bins are overfull."""
    rng = np.random.default_rng(3)
    homes = [[0, 1] if g % 2 else [int(b) for b in (0, 2)] for g in range(num_groups)]
    weight = rng.integers(1, 1000, num_groups)
    share = int(weight.sum()) // 2
    return make_problem(
        homes,
        num_bins=4,
        racks=[0, 1, 2, 3],
        weight=weight,
        cost=weight,
        lower=int(0.95 * share),
        upper=int(1.05 * share),
        target=float(share),
    )


def test_the_columns_of_the_relaxation_alone_hold_a_good_answer():
    problem = dependent_racks()
    search = KernelSearch.of(problem, aimed_bands(problem), home_arrangement(problem))
    assert search is not None
    at = home_arrangement(problem)

    model, rounded = search.model(STEPS[0], at)
    assert rounded is not None
    model.suggest_places(*rounded)
    found = model.least(model.moves_cost(), 0.5, None).at

    assert found is not None
    value = evaluate(problem, found)
    assert value.is_in_band
    assert value.cost <= 1.02 * search.least


def test_a_model_without_relaxations_has_the_same_optimum():
    problem = dependent_racks(12)
    found = solve(problem, effort=QUICK).best
    optima = []
    for is_relaxed in (True, False):
        model = BandsModel(problem, reached_bands(problem, found))
        model.is_relaxed = is_relaxed
        optima.append(model.least(model.moves_cost(), 5.0, None)[1:])

    assert optima[0] == optima[1]
    assert optima[0][1]


def test_an_answer_over_the_soft_caps_gets_better_within_its_own_counts():
    free = dependent_racks()
    at = solve(free, effort=QUICK).best
    problem = replace(
        free,
        collection_of=np.zeros(free.num_groups, dtype=np.int32),
        collection_cap=np.array([1]),
    )
    known = improved_from(problem, at)
    assert crowds(problem, home_arrangement(problem), at)

    found = CheaperAnswer(problem, known, 0, ANY_LIMITS, []).in_kernel()

    assert found.value.cost < known.value.cost
    assert not crowds(problem, at, found.at)


def test_steps_share_the_work_that_others_leave():
    schedule = Schedule(1.0)

    given = []
    for step, work in schedule:
        given.append((step, work))
        schedule.record(0.0 if step is STEPS[0] else work, is_searched=False)

    steps, work = zip(*given, strict=True)
    assert steps == STEPS
    assert sum(work[1:]) == pytest.approx(1.0)
    assert schedule.left == pytest.approx(0.0)


def test_columns_that_were_searched_through_are_left_out():
    schedule = Schedule(1.0)

    steps = []
    for step, work in schedule:
        steps.append(step)
        schedule.record(work / 2, is_searched=step is STEPS[2])

    assert steps == [step for step in STEPS if step in STEPS[:3] or step.extra > 150]


def test_bands_out_of_reach_have_no_kernel():
    problem = make_problem([[0], [0]], num_bins=2, weight=4, upper=3, target=3.0)

    assert Kernel.of(problem, aimed_bands(problem)) is None


def test_a_deadline_that_is_over_leaves_no_kernel():
    problem = dependent_racks()

    assert Kernel.of(problem, aimed_bands(problem), seconds=0.0) is None


def test_searches_around_an_answer_are_the_same_each_time():
    problem = dependent_racks()
    at, bands = solve(problem, effort=QUICK).best, aimed_bands(problem)
    search = KernelSearch.of(problem, bands, home_arrangement(problem))
    assert search is not None
    assert evaluate(problem, at).is_in_band

    found = []
    for _ in range(2):
        model, _ = search.model(STEPS[2], at)
        model.suggest(at)
        found.append(model.least(model.moves_cost(), 0.2, None).at)

    first, second = found
    assert first is not None
    assert evaluate(problem, first).cost < evaluate(problem, at).cost
    assert first.bin_of.tolist() == second.bin_of.tolist()
    assert first.role_of.tolist() == second.role_of.tolist()
