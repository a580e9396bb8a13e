"""A plan whose value is below its proven bound is refused, not told."""

from dataclasses import replace

import pytest

from placement.core.certificate import ProofContradictionError, conclude
from placement.core.exact.answer import Answer
from placement.core.exact.milp.solved_models import ExactModels
from placement.core.model.arrangement import home_arrangement
from placement.core.model.objective import Value, evaluate
from placement.core.model.problem import Problem
from placement.core.model.search_budget import QUICK
from support.problems import make_problem

# One item that fills its band three times over, wherever it lies.
HEAVY = make_problem(
    [[0], [1]], num_bins=2, weight=[30, 1], target=10.0, lower=0, upper=10
)


def concluded(problem: Problem, value: Value, cost: int = 0):
    answer = Answer(home_arrangement(problem), value, cost, None, None)
    return conclude(problem, answer, QUICK, ExactModels(problem, QUICK))


def test_proven_bounds_are_reported():
    value = evaluate(HEAVY, home_arrangement(HEAVY))

    deviation = concluded(HEAVY, value).certificate.deviation

    assert 0 < deviation.lower_bound <= deviation.value == 2.0


def test_a_cost_below_its_bound_is_a_contradiction():
    value = evaluate(HEAVY, home_arrangement(HEAVY))

    with pytest.raises(ProofContradictionError, match="an answer of 0 is below its"):
        concluded(HEAVY, value, cost=1)


def test_a_distance_below_its_bound_is_a_contradiction():
    value = evaluate(HEAVY, home_arrangement(HEAVY))
    forged = replace(value, deviation=0.001)

    with pytest.raises(ProofContradictionError, match=r"a distance of 0\.001 is below"):
        concluded(HEAVY, forged)
