"""Effort `exact` against every arrangement, level by level, under every hard rule."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.exact.improvement.objective_levels import by_levels
from placement.core.exact.time_limits import no_deadline
from placement.core.feasibility.move_caps import solve_keeping_rules
from placement.core.model.arrangement import home_arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate, keeps_caps
from placement.core.model.problem import NO_LIMIT, Limits, Movability
from placement.core.model.search_budget import EXACT
from placement.core.model.solution import Status
from support.least_values import best_key, is_countable
from support.oracles import illegal_moves
from support.problems import make_problem, problems, unevenly_banded, zoned

MANY = 120
"""Examples of each kind where none are spared (HYPOTHESIS_PROFILE=explore)."""


def of_one_price(problem):
    """The same problem where a move costs the same, wherever it goes."""
    levels = tuple(replace(level, price=1) for level in problem.levels)
    return replace(problem, price_across=1, levels=levels)


def without_rack_bands(problem):
    """The same problem where racks have capacities, as hosts do, and no bands."""
    first, racks = problem.levels
    free = replace(
        racks.limits,
        lower=np.zeros_like(racks.limits.lower),
        upper=np.full_like(racks.limits.upper, NO_LIMIT),
        target=np.zeros_like(racks.limits.target),
    )
    return replace(problem, levels=(first, replace(racks, limits=free)))


@st.composite
def capped(draw):
    """Draw a problem with caps on all moves, on their cost, or on both."""
    problem = draw(problems().map(of_one_price))
    caps = draw(
        st.sampled_from([("max_moves",), ("max_cost",), ("max_moves", "max_cost")])
    )
    most = {"max_moves": 6, "max_cost": 30}
    return replace(problem, **{cap: draw(st.integers(0, most[cap])) for cap in caps})


KINDS = {
    "any": problems().map(of_one_price),
    "hosts": problems(is_plain=True, has_loaded_racks=True).map(without_rack_bands),
    "copies fill their old bin": problems(is_plain=True, has_transient=True),
    "caps": capped(),
    "uneven bands": unevenly_banded(),
    "zones": zoned(2).map(of_one_price),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=MANY)
@given(data=st.data())
def test_equals_every_arrangement_in_every_level(kind, data):
    problem = data.draw(KINDS[kind])
    if not is_countable(problem):
        return
    best = best_key(problem)

    found = solve_keeping_rules(problem, effort=EXACT, seed=1, deadline=Deadline())

    if best is None:
        assert found.status is Status.INFEASIBLE
        return
    assert keeps_caps(problem, found.best)
    assert not illegal_moves(problem, found.best)
    assert evaluate(problem, found.best).key == pytest.approx(best, abs=2e-9)
    assert_bounds_name_their_solver(found.certificate)


def assert_bounds_name_their_solver(certificate):
    """A bound that a solver states is worth nothing where nobody is named."""
    for bounded in (certificate.cost, certificate.moves, certificate.deviation):
        assert (bounded.solver is None) == (bounded.solver_bound is None)


def one_bin_far_out():
    """One resource is far out of band in bin 0, whatever moves."""
    bare = make_problem(
        [[0, 2], [1]], num_bins=3, cost=[6, 7], racks=[1, 0, 0], rack_cap=[2, 1],
        movability=[Movability.MAY, Movability.MUST, Movability.MAY],
        role_home=[1, 2], is_role_movable=[False, True], price_per_move=3,
    )  # fmt: skip
    limits = Limits(
        fixed=np.array([[0, 3], [3, 0], [1, 0]]),
        capacity=np.array([[6, NO_LIMIT], [NO_LIMIT, 1], [NO_LIMIT, NO_LIMIT]]),
        lower=np.array([[1, 0], [0, 0], [1, 0]]),
        upper=np.array([[5, 2], [3, 0], [5, 2]]),
        target=np.array([[3.0, 1.0], [1.5, 0.0], [3.0, 1.0]]),
    )
    first, racks = bare.levels
    return replace(
        bare,
        resources=("cpu", "disk"),
        weight=np.array([[2, 0], [5, 3]]),
        role_weight=np.array([[2, 0], [5, 3]]),
        extra=np.array([[2, 4], [2, 2], [-3, 3]]),
        is_transient=np.zeros(2, dtype=bool),
        levels=(replace(first, limits=limits), racks),
    )


def test_of_equally_far_answers_the_one_with_the_least_sum_is_found():
    problem = one_bin_far_out()

    found = solve_keeping_rules(problem, effort=EXACT, seed=1, deadline=Deadline())

    value = evaluate(problem, found.best)
    assert value.key == pytest.approx(best_key(problem), abs=2e-9)
    assert (value.deviation, round(value.outside, 3)) == (5.0, 12.667)


def test_soft_caps_on_collections_leave_the_bound_on_the_distance():
    problem = make_problem(
        [[0], [1]], num_bins=2, lower=[3, 0], upper=[3, 0], target=3.0,
        collection_of=[0, 0], collection_cap=[1],
    )  # fmt: skip

    found = by_levels(problem, home_arrangement(problem), 1.0, no_deadline)

    # Both items in bin 0 are nearest, and more than the soft cap.
    assert found.deviation == pytest.approx(1 / 3)
    assert found.at.bin_of.tolist() == [0, 1]
