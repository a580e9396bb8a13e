"""What keeps hard rules and caps is found, or that nothing keeps caps is proven."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.exact.model_scaling import fits_rules
from placement.core.exact.work_limit import ExactWork
from placement.core.feasibility.least_cost import least_spent
from placement.core.feasibility.least_excess import RULE_CELLS
from placement.core.feasibility.move_caps import solve_keeping_rules
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate, keeps_caps
from placement.core.model.problem import NO_LIMIT, Movability, Problem
from placement.core.model.search_budget import NORMAL, QUICK
from placement.core.model.solution import MET, Status
from placement.core.presolve.fix_immovable import Moving
from placement.core.solve_hard_rules import without_bands
from support.oracles import everything, usable_capacity
from support.problems import make_problem, problems

EFFORTS = {"quick": QUICK, "normal": NORMAL}


def possible(problem: Problem):
    """Every arrangement of a small problem that keeps all hard rules but the caps."""
    capacity = usable_capacity(problem)
    anything = np.full_like(capacity, NO_LIMIT)
    return everything(problem).within(-anything, anything, capacity)


@st.composite
def capped(draw):
    """Draw a problem that an exact model takes, with one cap, and what it is about."""
    problem = draw(problems(is_plain=True))
    # What is enumerated leaves it to the search to hand on roles that must go.
    kept = np.zeros(problem.num_bins, dtype=bool)
    what, most = draw(st.sampled_from([("moves", 4), ("cost", 20)]))
    cap = {f"max_{what}": draw(st.integers(0, most))}
    return replace(problem, must_release_role=kept, **cap), what


@settings(max_examples=100)
@given(capped())
def test_what_is_spent_at_the_least_is_no_more_than_that(drawn):
    problem, what = drawn
    every = possible(problem)
    least = every.fewest_moves if what == "moves" else every.least_copied

    bare = Moving.of(without_bands(problem)).problem
    if not fits_rules(bare, RULE_CELLS):
        return

    spent = least_spent(bare, what, ExactWork.of(NORMAL))

    assert spent == (least if np.isfinite(least) else None)


@settings(max_examples=100)
@given(capped(), st.sampled_from(sorted(EFFORTS)))
def test_there_is_a_plan_within_the_cap_or_it_is_proven_that_there_is_none(drawn, name):
    problem, what = drawn
    every = possible(problem)
    least = every.fewest_moves if what == "moves" else every.least_copied
    most = problem.max_moves if what == "moves" else problem.max_cost

    found = solve_keeping_rules(
        problem, effort=EFFORTS[name], seed=1, deadline=Deadline()
    )

    assert (found.status in MET) == (least <= most)
    assert keeps_caps(problem, found.best)
    if found.status in MET:
        assert evaluate(problem, found.best).key[0] == 0
    elif np.isfinite(least):
        assert found.status is Status.INFEASIBLE
        told = {one.what: (one.have, one.need) for one in found.shortfalls}
        assert told[what][0] == most
        assert most < told[what][1] <= least


@settings(max_examples=100)
@given(capped(), st.sampled_from(sorted(EFFORTS)))
def test_what_keeps_all_hard_rules_is_found(drawn, name):
    problem = replace(drawn[0], max_moves=NO_LIMIT, max_cost=NO_LIMIT)

    found = solve_keeping_rules(
        problem, effort=EFFORTS[name], seed=1, deadline=Deadline()
    )

    assert (found.status in MET) == bool(len(possible(problem).cost))


def test_quick_effort_packs_what_fits_in_one_way_alone():
    # Largest first, 50 goes to bin 3 and leaves no room for 15 anywhere.
    problem = make_problem(
        [[0], [0], [1], [2]], num_bins=4, weight=[50, 15, 15, 50],
        capacity=[0, 80, 60, 60], upper=[0, 40, 60, 60], target=[0, 40, 60, 60],
        movability=[Movability.MUST] * 2 + [Movability.NEVER] * 2,
        may_receive=[False, True, True, True],
        group_class=np.array([0, 1, 0, 0], dtype=np.int32),
        bin_class=np.array([0, 1, 2, 3], dtype=np.int32),
        is_eligible=np.array([[1, 1, 0, 1], [1, 0, 1, 1]], dtype=bool),
    )  # fmt: skip

    found = solve_keeping_rules(problem, effort=QUICK, seed=1, deadline=Deadline())

    assert found.status in MET
    assert found.best.bin_of.tolist() == [1, 3, 1, 2]


# Of 8, 5, 4 and 3 at least 7 have to leave: 4 and 3, which takes two moves.
FULL = {"homes": [[0]] * 4, "num_bins": 2, "weight": [8, 5, 4, 3]}


@pytest.mark.parametrize(
    ("limits", "caps", "wanted"),
    [
        pytest.param(
            {"capacity": [13, 7]}, {"max_moves": 1}, ("moves", 1, 2), id="moves"
        ),
        pytest.param(
            # What leaves is one of 8, or 5 and 3: 7 bytes are not enough.
            {"capacity": [12, 8]}, {"cost": [8, 5, 4, 3], "max_cost": 7},
            ("cost", 7, 8), id="cost",
        ),
        pytest.param(
            # One alone is dearer, two are more than one.
            {"capacity": [13, 40]},
            {"cost": [8, 5, 4, 3], "max_moves": 1, "max_cost": 7},
            ("moves", 1, 2), id="two-caps-together",
        ),
        pytest.param(
            {"capacity": [13, 40, 6]},
            {"cost": [8, 5, 4, 3], "max_crossing": 0, "num_bins": 3,
             "zone_of_bin": [0, 1, 0], "source_zone": [0, 0, 0, 0]},
            ("crossing", 0, 3), id="crossing",
        ),
    ],
)  # fmt: skip
def test_which_cap_is_too_low_by_how_much(limits, caps, wanted):
    problem = make_problem(**(FULL | limits | caps))

    found = solve_keeping_rules(problem, effort=QUICK, seed=1, deadline=Deadline())

    assert found.status is Status.INFEASIBLE
    assert wanted in {(one.what, one.have, one.need) for one in found.shortfalls}
