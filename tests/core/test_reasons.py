"""What cannot be kept together, by CP-SAT's assumptions, against every arrangement."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from placement.core.exact.model_scaling import Found, fits_rules
from placement.core.exact.work_limit import ExactWork
from placement.core.feasibility.infeasible_subsystem import (
    Kind,
    infeasible_kinds,
    is_infeasible,
    within_bands,
)
from placement.core.model.objective import evaluate
from placement.core.model.problem import NO_LIMIT, Movability
from placement.core.presolve.fix_immovable import Moving
from support.least_values import best_key, is_countable
from support.problems import make_problem, problems


@st.composite
def capped(draw):
    """Draw a problem, now and then with a cap on all moves."""
    problem = draw(problems(is_plain=True, has_loaded_racks=True))
    most = draw(st.sampled_from([NO_LIMIT, NO_LIMIT, 1, 3]))
    return replace(problem, max_moves=most)


def with_only(problem, kinds):
    """The same problem without the rules of all other kinds."""
    first, racks = problem.levels
    if not racks.is_even and Kind("spread", racks.name) not in kinds:
        racks = replace(racks, group_cap=None)
    return replace(
        problem,
        max_moves=problem.max_moves if Kind("cap", "moves") in kinds else NO_LIMIT,
        levels=(
            replace(first, limits=_of(problem, first.limits, kinds, "capacity", "")),
            replace(racks, limits=_of(problem, racks.limits, kinds, "node", "rack")),
        ),
    )


def _of(problem, limits, kinds, what, level):
    free = [Kind(what, name, level) not in kinds for name in problem.resources]
    capacity = np.where(np.array(free), NO_LIMIT, limits.capacity)
    return replace(limits, capacity=capacity)


@settings(max_examples=150)
@given(capped())
def test_nothing_keeps_what_it_names_and_something_keeps_all_else(problem):
    if not is_countable(problem) or not fits_rules(Moving.of(problem).problem, 6_000):
        return
    is_possible = best_key(problem) is not None

    kinds = infeasible_kinds(problem)

    assert is_infeasible(problem) == (not is_possible)
    assert (kinds is None) == is_possible
    if kinds is not None:
        assert best_key(with_only(problem, kinds)) is None


@settings(max_examples=150)
@given(capped())
def test_bands_are_out_of_reach_just_where_every_arrangement_says_so(problem):
    if not is_countable(problem) or not fits_rules(Moving.of(problem).problem, 6_000):
        return
    best = best_key(problem)
    has_racks = bool((problem.levels[1].limits.target > 0).any())

    found, at = within_bands(problem, ExactWork(0, 0))

    if best is not None and best[1] == 0:
        assert found is Found.SOME
        value = evaluate(problem, at)
        assert value.key[0] == 0
        assert has_racks or value.is_in_band
    elif not has_racks:
        # Weights are small, so that nothing is rounded.
        assert found is Found.NONE


def test_what_plays_no_part_is_left_out():
    # Of 8, 5 and 4 two leave a bin of 9; the cap lets one move, and racks do not care.
    problem = make_problem(
        [[0]] * 3, num_bins=2, weight=[8, 5, 4], capacity=[4, 20], racks=[0, 1],
        max_moves=1,
    )  # fmt: skip

    kinds = infeasible_kinds(problem)

    assert kinds == {Kind("capacity", "load"), Kind("cap", "moves")}


def test_a_variable_of_the_solver_in_place_of_a_rule_names_every_rule(monkeypatch):
    problem = make_problem(
        [[0]] * 3, num_bins=2, weight=[8, 5, 4], capacity=[4, 20], racks=[0, 1],
        max_moves=1,
    )  # fmt: skip
    named = "sufficient_assumptions_for_infeasibility"

    monkeypatch.setattr(cp_model.CpSolver, named, lambda _: [10**6])

    kinds = infeasible_kinds(problem)

    limits = {Kind("capacity", "load"), Kind("cap", "moves")}
    assert kinds == limits | {Kind("spread", "rack")}


def test_what_must_move_and_may_not_needs_no_rule_of_a_kind():
    problem = make_problem(
        [[0]], num_bins=2, movability=[Movability.MUST], may_receive=[True, False]
    )

    assert infeasible_kinds(problem) == frozenset()
