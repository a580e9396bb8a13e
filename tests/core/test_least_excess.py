"""Hard rules are kept where anything keeps them; else capacities are kept best."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.exact.cp_sat.hard_rules_model import RulesModel
from placement.core.exact.model_scaling import Found, fits_rules
from placement.core.exact.work_limit import ExactWork
from placement.core.feasibility.least_excess import standing
from placement.core.feasibility.move_caps import solve_keeping_rules
from placement.core.model.arrangement import home_arrangement, home_loads
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate
from placement.core.model.problem import NO_LIMIT
from placement.core.model.search_budget import NORMAL, QUICK
from placement.core.model.solution import MET, Status
from support.oracles import everything, illegal_moves, usable_capacity
from support.problems import make_problem, problems

ANY = problems(has_loaded_racks=False, has_transient=True)
EFFORTS = {"quick": QUICK, "normal": NORMAL}
UNIT = 10**11


def keeping(problem, capacity):
    """Every arrangement of a small problem that keeps all rules and some capacities."""
    anything = np.full_like(capacity, NO_LIMIT)
    return everything(problem).within(-anything, anything, capacity)


def solved(problem, effort=QUICK):
    return solve_keeping_rules(problem, effort=effort, seed=1, deadline=Deadline())


@settings(max_examples=60)
@given(ANY)
def test_the_exact_model_finds_something_iff_anything_keeps_the_rules(problem):
    if not fits_rules(problem, 10_000):
        return
    is_possible = len(keeping(problem, usable_capacity(problem)).cost) > 0

    found, at, _ = RulesModel(problem).solve(ExactWork(0, left=0))

    assert (found is Found.SOME) == is_possible
    if at is not None:
        assert evaluate(problem, at).key[0] == 0
        assert not illegal_moves(problem, at)


def in_bytes(problem):
    """The same problem with a hundred gigabytes for each unit."""

    def scaled(limits):
        if limits is None:
            return None
        columns = {
            name: [
                [value * UNIT if value < NO_LIMIT else NO_LIMIT for value in row]
                for row in getattr(limits, name).tolist()
            ]
            for name in ("fixed", "capacity", "lower", "upper")
        }
        columns = {name: np.array(rows) for name, rows in columns.items()}
        return replace(limits, **columns, target=limits.target * UNIT)

    levels = tuple(
        replace(level, limits=scaled(level.limits)) for level in problem.levels
    )
    most = problem.max_cost if problem.max_cost >= NO_LIMIT else problem.max_cost * UNIT
    return replace(
        problem,
        weight=problem.weight * UNIT,
        role_weight=problem.role_weight * UNIT,
        extra=problem.extra * UNIT,
        cost=problem.cost * UNIT,
        levels=levels,
        max_cost=most,
    )


@settings(max_examples=60)
@given(ANY)
def test_large_numbers_change_nothing(problem):
    large = in_bytes(problem)
    if not fits_rules(large, 10_000):
        return

    found = RulesModel(problem).solve(ExactWork(0, left=0))[0]

    assert RulesModel(large).solve(ExactWork(0, left=0))[0] is found


@settings(max_examples=60)
@given(ANY, st.sampled_from(sorted(EFFORTS)))
def test_infeasible_is_said_iff_nothing_keeps_the_rules(problem, name):
    is_possible = len(keeping(problem, usable_capacity(problem)).cost) > 0

    status = solved(problem, EFFORTS[name]).status

    assert status in MET if is_possible else status is Status.INFEASIBLE


@st.composite
def overloaded(draw):
    """Draw a problem of which some bin is over a capacity that others could relieve."""
    num_bins = draw(st.integers(2, 4))
    sizes = draw(st.lists(st.integers(1, min(2, num_bins)), min_size=1, max_size=5))
    homes = [draw(st.permutations(range(num_bins)))[:size] for size in sizes]
    capacity = draw(st.lists(st.integers(1, 16), min_size=num_bins, max_size=num_bins))
    weight = draw(st.lists(st.integers(0, 9), min_size=len(sizes), max_size=len(sizes)))
    racks = draw(st.lists(st.integers(0, 1), min_size=num_bins, max_size=num_bins))
    return make_problem(
        homes, num_bins=num_bins, weight=weight, capacity=capacity, racks=racks,
        upper=[6] * num_bins, target=[5] * num_bins,
    )  # fmt: skip


def least_excess(problem):
    """The smallest largest excess, and of these the smallest sum, by brute force."""
    capacity = usable_capacity(problem)
    # No bin may get worse than it was.
    legal = keeping(problem, np.maximum(capacity, home_loads(problem)))
    over = np.maximum(legal.loads - capacity, 0) / np.maximum(capacity, 1)
    return min(
        ((float(one.max()), float(one.sum())) for one in over), default=(None, None)
    )


@settings(max_examples=120)
@given(overloaded(), st.sampled_from(sorted(EFFORTS)))
def test_no_other_arrangement_has_less_excess(problem, name):
    largest, total = least_excess(problem)
    if largest is None:
        return

    found = solved(problem, EFFORTS[name])

    reached = standing(problem, found.best)
    assert not illegal_moves(problem, found.best)
    assert reached.failures == 0
    assert reached.largest == pytest.approx(largest)
    assert reached.total == pytest.approx(total)


@settings(max_examples=25)
@given(overloaded())
def test_the_search_alone_makes_no_excess_larger(problem):
    # As where a problem is too large for the exact model.
    before = standing(problem, home_arrangement(problem))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("placement.core.feasibility.least_excess.RULE_CELLS", 0)
        patch.setattr("placement.core.feasibility.move_caps.RULE_CELLS", 0)
        found = solved(problem, NORMAL)

    assert standing(problem, found.best)[:3] <= before[:3]


def test_a_full_bin_is_emptied_although_it_stays_too_full():
    # The item of 9 has no room anywhere: what lies beside it goes.
    problem = make_problem(
        [[0], [0], [0]], num_bins=2, weight=[9, 2, 2], capacity=[8, 8]
    )

    found = solved(problem)

    assert found.best.bin_of.tolist() == [0, 1, 1]
    assert found.status is Status.INFEASIBLE
    assert {"room"} <= {one.what for one in found.shortfalls if one.is_proven}
