"""
Solve with hard rules and caps on all moves, or a proof that the caps are infeasible.

The search makes one move at a time and cannot choose moves that keep a cap together, or
items that fill bins exactly. If it breaks a hard rule and the problem is small, an
exact model of the hard rules runs. If the caps are infeasible, the same model without
one cap bounds the use of that cap: "13 GB must be copied, and 10 GB may be".
"""

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from placement.core.exact.model_scaling import (
    CAP_FIELDS,
    Found,
    caps_of,
    fits_model,
    fits_rules,
)
from placement.core.exact.work_limit import ExactWork
from placement.core.feasibility.least_excess import RULE_CELLS, with_least_excess
from placement.core.model.arrangement import Arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.problem import NO_LIMIT, Movability, Problem
from placement.core.model.search_budget import Effort
from placement.core.model.solution import MET, Proof, Shortfall, Solution, Status
from placement.core.presolve.fix_immovable import Moving
from placement.core.solve import solve
from placement.core.solve_hard_rules import for_exact, solve_bare, without_bands

CAPPED_CELLS = 3600
"""Largest number of (group, bin) pairs with caps: 12 brokers, 300 partitions."""


def solve_keeping_rules(
    problem: Problem,
    *,
    effort: Effort,
    seed: int,
    deadline: Deadline,
    known: Arrangement | None = None,
    work: ExactWork | None = None,
) -> Solution:
    """
    Find the best arrangement, as `solve` does, with exact help for the hard rules.

    From an arrangement that an exact model of the hard rules finds, the search moves
    nearer to the bands. A proven shortfall states that the caps are infeasible.

    Parameters
    ----------
    problem, effort, seed, deadline, known, work
        As in `solve`.
    """
    work = work or ExactWork.of(effort)
    found = solve(
        problem, effort=effort, seed=seed, deadline=deadline, known=known, work=work
    )
    if found.status in MET or deadline.is_over():
        return found
    if found.status is Status.PARTIAL:
        found = _kept_or_disproved(problem, found, effort, seed, deadline, work)
    if found.status in MET:
        return found
    return with_least_excess(
        problem, found, effort=effort, seed=seed, deadline=deadline, work=work
    )


def _kept_or_disproved(
    problem: Problem,
    found: Solution,
    effort: Effort,
    seed: int,
    deadline: Deadline,
    work: ExactWork,
) -> Solution:
    """Return a solution that keeps all hard rules, or one with a proven shortfall."""
    able, asked = _able(problem, effort), _asked(problem, work)
    if able is not None and asked.found is not Found.NONE:
        bare = solve_bare(problem, effort=able, seed=seed, deadline=deadline)
        if bare.status in MET:
            again = solve(
                problem, effort=effort, seed=seed, deadline=deadline, known=bare.best
            )
            return _both(again, found, bare, again)
        found = _both(found, found, bare)
    if deadline.is_over():
        return found
    if asked.at is not None:
        again = solve(
            problem, effort=effort, seed=seed, deadline=deadline, start=asked.at
        )
        return _both(again, found, again) if again.status in MET else found
    verdict = _disproved(problem, found, work)
    if asked.found is not Found.NONE or verdict.status is Status.INFEASIBLE:
        return verdict
    lacks = (_unpackable(problem), *found.shortfalls)
    return replace(found, status=Status.INFEASIBLE, shortfalls=lacks)


class _Asked(NamedTuple):
    """Outcome of the exact model, with an arrangement that keeps the rules."""

    found: Found
    at: Arrangement | None = None


def _asked(problem: Problem, work: ExactWork) -> _Asked:
    """Run the exact model of the hard rules, if the problem is small enough."""
    moving = Moving.of(problem)
    if not fits_rules(moving.problem, RULE_CELLS):
        return _Asked(Found.UNKNOWN)
    from placement.core.exact.cp_sat.hard_rules_model import RulesModel

    found, at, _ = RulesModel(moving.problem).solve(work)
    return _Asked(found, None if at is None else moving.arranged(at))


def _unpackable(problem: Problem) -> Shortfall:
    """Return the shortfall of places for all movable items at the same time."""
    count = int(np.not_equal(problem.movability, Movability.NEVER).sum())
    return Shortfall(
        what="packing",
        have=count - 1,
        need=count,
        level=problem.levels[0].name,
        is_proven=True,
        proof=Proof(kind="exact", witness={"items": count}),
    )


def _able(problem: Problem, effort: Effort) -> Effort | None:
    """Return a budget with an exact model for the problem; `None`: too large."""
    if problem.has_caps:
        return replace(effort, milp_cells=max(effort.milp_cells, CAPPED_CELLS))
    able = for_exact(effort)
    return able if fits_model(without_bands(problem), able.milp_cells) else None


def _both(best: Solution, *spent: Solution) -> Solution:
    """Return a solution with the summed steps and seconds of several."""
    return replace(
        best,
        steps=sum(one.steps for one in spent),
        seconds={
            name: sum(one.seconds[name] for one in spent) for name in best.seconds
        },
        is_cut=any(one.is_cut for one in spent),
    )


def _disproved(problem: Problem, found: Solution, work: ExactWork) -> Solution:
    """Return a solution with the shortfall of a cap, if one is infeasible."""
    began = time.perf_counter()
    lack = _beyond(problem, work)
    bound = found.seconds["bound"] + time.perf_counter() - began
    found = replace(found, seconds={**found.seconds, "bound": bound})
    if lack is None:
        return found
    lacks = (lack, *found.shortfalls)
    return replace(found, status=Status.INFEASIBLE, shortfalls=lacks)


def _beyond(problem: Problem, work: ExactWork) -> Shortfall | None:
    """Return the shortfall of a cap that every arrangement exceeds, if any."""
    bare = Moving.of(without_bands(problem)).problem
    if not problem.has_caps or not fits_rules(bare, RULE_CELLS):
        return None
    from placement.core.feasibility.least_cost import least_spent

    for what, most in caps_of(bare).items():
        if most >= NO_LIMIT:
            continue
        need = least_spent(bare, what, work)
        if need is None:
            # The other caps are infeasible, too: drop this one and try the next.
            free: dict[str, Any] = {CAP_FIELDS[what]: NO_LIMIT}
            bare = replace(bare, **free)
        elif need > most:
            return Shortfall(what=what, have=most, need=need, is_proven=True)
    return None
