"""Known answers as the first solutions of CP-SAT."""

from dataclasses import replace

import numpy as np
from ortools.sat.python import cp_model

from placement.core.exact.cp_sat.distances_model import DistancesModel
from placement.core.exact.cp_sat.limited_solver import complete_hint
from placement.core.exact.improvement.band_distance import nearer
from placement.core.exact.improvement.improved_answer import Improved
from placement.core.exact.milp.spread_check import crowds
from placement.core.exact.time_limits import no_deadline
from placement.core.model.arrangement import home_arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem
from support.problems import make_problem

LITTLE = 0.01
"""Deterministic seconds that the search for a first solution would use up."""


def hinted(number: int) -> tuple[cp_model.CpModel, cp_model.IntVar]:
    """A number of which half is a variable without a hint."""
    model = cp_model.CpModel()
    whole = model.new_int_var(0, 9, "")
    half = model.new_int_var(0, 4, "")
    model.add(whole <= 2 * half)
    model.minimize(half)
    model.add_hint(whole, number)
    return model, half


def test_a_hint_gets_the_least_values_of_all_other_variables():
    model, half = hinted(5)

    complete_hint(model, 1.0)

    hint = model.proto.solution_hint
    assert dict(zip(hint.vars, hint.values, strict=True)) == {0: 5, half.index: 3}


def test_a_hint_that_nothing_completes_is_left_alone():
    model, _ = hinted(9)

    complete_hint(model, 1.0)

    hint = model.proto.solution_hint
    assert dict(zip(hint.vars, hint.values, strict=True)) == {0: 9}


def uneven(num_groups: int = 200) -> Problem:
    """Groups of three items in racks, of which half the bins are overfull."""
    rng = np.random.default_rng(1)
    homes = [sorted(3 * rng.integers(0, 2, 3) + range(3)) for _ in range(num_groups)]
    return make_problem(
        homes,
        num_bins=6,
        racks=[0, 1, 2] * 2,
        weight=rng.integers(1, 10**6, num_groups),
        cost=rng.integers(1, 10**6, num_groups),
        upper=num_groups * 200_000,
        target=float(num_groups * 250_000),
    )


def test_little_work_returns_the_known_answer_at_least():
    problem = uneven()
    at = home_arrangement(problem)
    known = evaluate(problem, at)
    model = DistancesModel(problem, known.deviation)
    model.suggest(at)

    found = model.least(model.total, LITTLE, None).at

    assert known.is_outside
    assert found is not None
    assert evaluate(problem, found).outside <= known.outside


def test_the_nearest_answer_is_sought_within_the_soft_caps_as_well():
    # CP-SAT finds a nearest answer over a soft cap, which is refused.
    problem = make_problem(
        [[0]] * 6,
        num_bins=2,
        weight=[6, 3, 2, 8, 2, 3],
        upper=[9, 10],
        target=6.0,
        collection_of=[0, 0, 0, 1, 1, 1],
        collection_cap=[2, 2],
    )
    at = home_arrangement(problem)
    known = Improved(at=at, value=evaluate(problem, at), spread_from=at)

    found, _ = nearer(problem, known, (1.0, no_deadline), [])

    assert not crowds(problem, at, found.at)
    assert found.value.deviation < known.value.deviation
    assert found.value.deviation == least_within_caps(problem)


def least_within_caps(problem: Problem) -> float:
    """The least distance of all arrangements that keep the soft caps."""
    at = home_arrangement(problem)
    every = np.ndindex(*[problem.num_bins] * problem.num_items)
    moved = [replace(at, bin_of=np.array(row, dtype=np.int32)) for row in every]
    kept = [one for one in moved if not crowds(problem, at, one)]
    return min(evaluate(problem, one).deviation for one in kept)
