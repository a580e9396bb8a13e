"""What sets of bins must hold, against every arrangement of small problems."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.set_bounds import deviation_bound
from placement.core.model.arrangement import home_arrangement
from placement.core.model.objective import distances
from placement.core.model.problem import (
    NO_LIMIT,
    Movability,
    Problem,
)
from placement.core.model.solution import Status
from placement.core.solve import solve
from placement.core.verify.cover_and_cut import verify_cut
from support.oracles import everything, usable_capacity
from support.problems import make_problem, problems

NEVER = Movability.NEVER


def least_distance(problem: Problem, capacity: Any = NO_LIMIT) -> float:
    """The least that the largest distance of any arrangement is."""
    anything = np.full_like(problem.bins.upper, NO_LIMIT)
    possible = everything(problem).within(-anything, anything, anything * 0 + capacity)
    every = (float(distances(problem, load).max()) for load in possible.loads)
    return min(every, default=float("inf"))


@settings(max_examples=250)
@given(problems())
def test_no_arrangement_is_nearer_than_the_bound(problem: Problem):
    bound, _ = deviation_bound(problem, home_arrangement(problem))

    assert bound <= least_distance(problem) + 1e-9


@settings(max_examples=250)
@given(problems())
def test_the_verifier_finds_what_the_bound_claims(problem: Problem):
    bound, proof = deviation_bound(problem, home_arrangement(problem))

    assert (proof is None) == (bound == 0)
    if proof is not None:
        assert verify_cut(problem, proof.witness) == pytest.approx(bound)


@settings(max_examples=300)
@given(problems(), st.data())
def test_no_set_proves_more_than_the_truth(problem: Problem, data):
    witness = {
        "resource": data.draw(st.integers(0, problem.num_resources - 1)),
        "side": data.draw(st.sampled_from(["over", "under"])),
        "bins": data.draw(st.lists(st.integers(0, problem.num_bins - 1), unique=True)),
    }

    assert verify_cut(problem, witness) <= least_distance(problem) + 1e-9


@settings(max_examples=100)
@given(problems())
def test_an_answer_carries_the_bound_that_holds_for_all(problem: Problem):
    solution = solve(problem)
    found = solution.certificate.deviation
    assume(solution.status in {Status.OPTIMAL, Status.FEASIBLE})

    least = least_distance(problem, usable_capacity(problem))
    assert found.lower_bound <= min(found.value, least + 1e-9)
    assert (found.proof is None) == (found.lower_bound == 0)


@pytest.mark.parametrize(
    ("problem", "distance"),
    [
        pytest.param(
            # Nothing may move: bin 0 keeps 12 of 8, target 6.
            make_problem(
                [[0], [0], [0]],
                num_bins=2,
                weight=4,
                target=6.0,
                upper=8,
                movability=[NEVER] * 3,
            ),
            4 / 6,
            id="nothing-may-move",
        ),
        pytest.param(
            # Bin 1 takes nothing and should have 4 of the 12.
            make_problem(
                [[0], [0], [0]],
                num_bins=2,
                weight=4,
                target=6.0,
                lower=4,
                upper=99,
                may_receive=[True, False],
            ),
            4 / 6,
            id="may-not-receive",
        ),
        pytest.param(
            # 5 bins of at most 2 for 12.
            make_problem([[0, 1, 2]] * 4, num_bins=5, weight=1, target=2.0, upper=2),
            2 / 10,
            id="too-much-in-all",
        ),
        pytest.param(
            # One item of each group per bin: bins 0 and 1 hold all of it.
            make_problem(
                [[0, 1]] * 4,
                num_bins=3,
                weight=1,
                target=[2.0, 2.0, 4.0],
                upper=[3, 3, 9],
                may_receive=[True, True, False],
            ),
            2 / 4,
            id="no-other-bin",
        ),
    ],
)
def test_what_must_lie_somewhere_is_proven(problem: Problem, distance: float):
    bound, proof = deviation_bound(problem, home_arrangement(problem))

    assert bound == pytest.approx(distance)
    assert verify_cut(problem, proof.witness) == pytest.approx(distance)
    assert bound <= least_distance(problem) + 1e-9


def test_a_set_with_a_bin_that_has_no_band_proves_nothing():
    problem = make_problem([[0], [0]], num_bins=2, weight=4, target=[6.0, 0.0], upper=2)

    witness = {"resource": 0, "side": "over", "bins": [0, 1]}

    assert verify_cut(problem, witness) == 0
