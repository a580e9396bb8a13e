"""How near to the bands anything can come, against every small arrangement."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from placement.core.exact.linear.lp_rounding import nearest
from placement.core.exact.model_scaling import fits_prices
from placement.core.model.arrangement import Arrangement, home_arrangement, loads
from placement.core.model.objective import distances, evaluate, misplaced_roles, refills
from placement.core.model.problem import Problem
from placement.core.verify.load_prices import verify_distance
from placement.synthetic import SIZES, make_instance
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import Planned, make
from support.oracles import everything
from support.problems import make_problem, problems


def least_distance(problem: Problem) -> float:
    """Return the least that any arrangement, whatever it costs, is out of its bands."""
    return min(
        float(distances(problem, load).max(initial=0.0))
        for load in everything(problem).loads
    )


def as_it_is(at: Arrangement) -> tuple[Arrangement, float]:
    """Repair nothing, so that branch and bound has to decide."""
    return at, np.inf


@st.composite
def witnesses(draw, problem: Problem):
    """Prices of loads that have a band: what they prove must hold."""
    with_band = np.argwhere(problem.bins.target > 0).tolist()
    rows = st.tuples(st.sampled_from(with_band or [[0, 0]]), st.integers(0, 40))
    listed = st.lists(rows, max_size=6, unique_by=lambda row: tuple(row[0]))
    above, below = ([[*at, n] for at, n in draw(listed)] for _ in range(2))
    return {"denominator": draw(st.integers(1, 12)), "above": above, "below": below}


@settings(max_examples=100)
@given(problems(is_plain=True), st.data())
def test_no_prices_prove_a_distance_that_is_not_there(problem: Problem, data):
    assume(len(everything(problem).loads))

    value = verify_distance(problem, data.draw(witnesses(problem)))

    assert value <= least_distance(problem) + 1e-12


@settings(max_examples=100)
@given(problems(is_plain=True))
def test_what_is_found_is_an_arrangement_and_no_nearer_than_proven(problem: Problem):
    assume(fits_prices(problem, 10**6) and len(everything(problem).loads))
    least = least_distance(problem)

    found = nearest(
        problem, home_arrangement(problem), repaired=as_it_is, max_nodes=100
    )

    bound = verify_distance(problem, found.proof.witness) if found.proof else 0.0
    event("proven" if bound else "nothing proven")
    assert (bound > 0) == (found.proof is not None)
    assert bound <= least + 1e-12
    if found.at is not None and not evaluate(problem, found.at).key[0]:
        assert not misplaced_roles(problem, found.at).any()
        assert not refills(problem, found.at).any()
        assert evaluate(problem, found.at).deviation >= least - 1e-12


def one_of_twelve_goes(seed: int, effort: str) -> Planned:
    """Remove one of twelve brokers: bytes and cpu of the others cannot be even."""
    instance = make_instance("b", SIZES["S"], seed, 0.05)
    ids = ",".join(map(str, instance.operation.broker_ids))
    asked = PlanRequest(
        goal="remove-brokers",
        broker_list=ids,
        band=("0.05",),
        effort=effort,
        keep_leaders=".*",
    )
    made = make(instance.state, asked)
    assert made.is_ok
    return made


@pytest.mark.not_quick
@pytest.mark.parametrize("seed", [2, 3])
def test_what_cannot_be_in_band_is_all_but_as_near_as_can_be(seed: int):
    by_search = one_of_twelve_goes(seed, "quick").plan.placed.solution

    found = one_of_twelve_goes(seed, "normal").plan.placed.solution

    deviation = found.certificate.deviation
    assert deviation.proof.kind == "lambda"
    assert 0 < deviation.lower_bound <= deviation.value <= 1.05 * deviation.lower_bound
    # What quick effort does without the relaxation comes near, and no nearer.
    by_search = by_search.certificate.deviation
    assert deviation.value < by_search.value <= 1.25 * deviation.lower_bound


def test_what_need_not_be_out_of_band_is_not():
    # A mere minimum of the largest distance would take all others as far as that.
    problem = make_problem(
        [[0], [1], [2], [3], [4], [4], [5], [5]],
        num_bins=6,
        weight=[90, 10, 10, 10, 5, 5, 5, 5],
        target=20.0,
        lower=[5] * 6,
        upper=[25] * 6,
    )

    found = nearest(problem, home_arrangement(problem), repaired=as_it_is, max_nodes=10)

    distance = distances(problem, loads(problem, found.at))
    assert evaluate(problem, found.at).deviation == pytest.approx(65 / 20)
    assert np.count_nonzero(distance) == 1
    # And what is in band already stays.
    assert evaluate(problem, found.at).moves == 0


def test_caps_on_all_moves_leave_the_proof():
    problem = replace(
        make_problem(
            [[0], [1]],
            num_bins=2,
            weight=[90, 1],
            target=20.0,
            lower=[10] * 2,
            upper=[25] * 2,
        ),
        max_moves=0,
    )

    found = nearest(problem, home_arrangement(problem))

    assert found.at is None
    assert found.proof is not None
