r"""
Least excess over capacities that cannot be kept.

A bin that is over a capacity :math:`c` by :math:`x` has the excess :math:`x / c`. If no
arrangement keeps all capacities, the objective is lexicographic: number of other hard
rules broken and of excesses that grow, largest excess, sum of excesses, then bands and
costs. The exact model of the hard rules solves small problems in this order. For larger
ones, a search treats the capacities broken now as bands, without any other band.
"""

from dataclasses import replace
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from placement.array_types import FloatArray, IntArray
from placement.core.exact.model_scaling import Found, fits_rules
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import Arrangement, home_loads, loads
from placement.core.model.deadline import Deadline
from placement.core.model.node_limits import NodeLoads, limited_levels, node_loads
from placement.core.model.objective import (
    evaluate,
    keeps_caps,
    misplaced_roles,
    peaks,
    usable_capacity,
)
from placement.core.model.problem import NO_LIMIT, Level, Problem
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Solution
from placement.core.presolve.fix_immovable import Moving
from placement.core.solve import prove, solve
from placement.core.solve_hard_rules import without_bands

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExprT

    from placement.core.exact.cp_sat.hard_rules_model import RulesModel

RULE_CELLS = 6000
"""Largest number of (group, bin) pairs for the exact model."""
MOST_WORK = 0.8
"""Work limit in deterministic seconds of CP-SAT, about two to four real seconds."""
SCALE = 2**56
"""Upper limit of the scaled integer sum of excesses."""


class Standing(NamedTuple):
    """Objective of an arrangement over capacities, to be minimised in order."""

    failures: int
    largest: float
    total: float
    rest: tuple[float, ...]


def standing(problem: Problem, at: Arrangement) -> Standing:
    """Return the objective of an arrangement if capacities cannot be kept."""
    value = evaluate(problem, at)
    excess = np.concatenate([one.ravel() for one in _excesses(problem, at)])
    worse = peaks(problem, at) > np.maximum(
        usable_capacity(problem), home_loads(problem)
    )
    failures = value.unmet + value.broken_groups + int(worse.sum())
    failures += sum(
        int((nodes.is_over & (nodes.load > nodes.before)).sum())
        for nodes in node_loads(problem, at)
    )
    return Standing(
        failures=failures,
        largest=round(float(excess.max(initial=0.0)), 12),
        total=round(float(excess.sum()), 10),
        rest=value.key[1:],
    )


def _excesses(problem: Problem, at: Arrangement) -> list[FloatArray]:
    """Return the excess of each load, as a fraction of its capacity."""
    pairs = [(loads(problem, at), usable_capacity(problem))]
    pairs += [(nodes.load, nodes.capacity) for nodes in node_loads(problem, at)]
    return [_fraction(load, capacity) for load, capacity in pairs]


def _fraction(load: IntArray, capacity: IntArray) -> FloatArray:
    over: FloatArray = np.maximum(load - capacity, 0) / np.maximum(capacity, 1)
    return over


def with_least_excess(
    problem: Problem,
    found: Solution,
    *,
    effort: Effort,
    seed: int,
    deadline: Deadline,
    work: ExactWork,
) -> Solution:
    """
    Return a solution with the least excess over capacities.

    Parameters
    ----------
    problem
        Problem without a known arrangement that keeps its hard rules.
    found
        Best solution found so far.
    effort, seed, deadline, work
        As in `solve`.

    Returns
    -------
    Improved solution; `found` itself if it exceeds no capacity or none is better.
    """
    known = standing(problem, found.best)
    if not known.largest or deadline.is_over():
        return found
    measured = _measured(problem)
    lowest = _exact(measured, found.best, work)
    if lowest is None:
        once = replace(effort, starts=1)
        lowest = solve(measured, effort=once, seed=seed, deadline=deadline).best
    better = [lowest] if keeps_caps(problem, lowest) else []
    best = min([found.best, *better], key=lambda at: standing(problem, at))
    # Skip proofs: their results are not used here.
    unproven = replace(effort, leaves=0, near_cells=0, milp_cells=0)
    near = solve(
        _limited(problem, best),
        effort=unproven,
        seed=seed,
        deadline=deadline,
        start=best,
    )
    best = min([best, near.best], key=lambda at: standing(problem, at))
    if standing(problem, best) >= known:
        return found
    again = prove(problem, best, effort=effort, deadline=deadline)
    kept = {(one.what, one.group) for one in again.shortfalls}
    proven = [
        one
        for one in found.shortfalls
        if one.is_proven and (one.what, one.group) not in kept
    ]
    return replace(
        again,
        status=found.status if proven else again.status,
        shortfalls=(*proven, *again.shortfalls),
        steps=found.steps + near.steps,
        seconds={
            name: found.seconds[name] + near.seconds[name] + again.seconds[name]
            for name in again.seconds
        },
        is_cut=found.is_cut or near.is_cut,
    )


def _measured(problem: Problem) -> Problem:
    """
    Return a problem whose only bands are the capacities broken now.

    The hard limit of such a load is its present value.
    """
    bare, capacity = without_bands(problem), usable_capacity(problem)
    at_home = Arrangement(problem.home.copy(), problem.role_home.copy())
    first, *others = bare.levels
    levels = [_with_excess(first, capacity, home_loads(problem))]
    of_nodes = {id(nodes.level): nodes for nodes in node_loads(bare, at_home)}
    for level in others:
        nodes: NodeLoads | None = of_nodes.get(id(level))
        if nodes is not None:
            level = _with_excess(level, nodes.capacity, nodes.before)  # noqa: PLW2901
        levels.append(level)
    return replace(bare, levels=tuple(levels))


def _with_excess(level: Level, capacity: IntArray, load: IntArray) -> Level:
    """Return a level with broken capacities as bands and present loads as limits."""
    assert level.limits is not None  # noqa: S101 - chosen by the callers
    is_over = load > capacity
    limits = replace(
        level.limits,
        capacity=np.where(is_over, load, capacity),
        upper=np.where(is_over, capacity, NO_LIMIT),
        target=np.where(is_over, np.maximum(capacity, 1), 0).astype(np.float64),
    )
    return replace(level, limits=limits)


def _limited(problem: Problem, at: Arrangement) -> Problem:
    """Return the problem with capacities raised to the loads of an arrangement."""
    first, *others = problem.levels
    assert first.limits is not None  # noqa: S101 - bins have limits
    capacity = np.maximum(usable_capacity(problem), loads(problem, at))
    levels = [replace(first, limits=replace(first.limits, capacity=capacity))]
    of_nodes = {id(nodes.level): nodes for nodes in node_loads(problem, at)}
    for level in others:
        nodes = of_nodes.get(id(level))
        if nodes is not None and level.limits is not None:
            most = np.maximum(nodes.capacity, nodes.load)
            limits = replace(level.limits, capacity=most)
            level = replace(level, limits=limits)  # noqa: PLW2901 - few of many
        levels.append(level)
    return replace(problem, levels=tuple(levels))


def _exact(
    measured: Problem, known: Arrangement, work: ExactWork
) -> Arrangement | None:
    """Return an arrangement of least excess of a small problem; `None`: not found."""
    moving = Moving.of(measured)
    has_nodes = any((one.target > 0).any() for _, one in limited_levels(measured))
    if has_nodes or not fits_rules(moving.problem, RULE_CELLS):
        return None
    from placement.core.exact.cp_sat.hard_rules_model import RulesModel

    part = moving.problem
    model = RulesModel(part, is_lenient=True)
    best, begin = None, moving.part_of(known)
    own = ExactWork(0, 0, rules=min(work.rules, MOST_WORK))
    work.rules -= own.rules
    for objective in (model.failures, *_excess(part, model), model.cost()):
        model.suggest(begin if best is None else best)
        found, at, is_best = model.solve(own, objective)
        if found is not Found.SOME or at is None:
            break
        best = at
        if not is_best:
            break
        model.keep(objective)
    work.rules += max(own.rules, 0.0)
    if best is None or misplaced_roles(part, best).any():
        return None
    return moving.arranged(best)


def _excess(problem: Problem, model: "RulesModel") -> "list[LinearExprT]":
    """Return expressions of the largest excess and of their sum, scaled to integers."""
    bins = problem.bins
    over = [(int(b), int(r)) for b, r in np.argwhere(bins.target > 0)]
    capacity = [max(int(bins.upper[pair]), 1) for pair in over]
    most = [int(bins.capacity[pair] - bins.upper[pair]) for pair in over]
    whole = lcm(*capacity)
    fullest = max((x / c for x, c in zip(most, capacity, strict=True)), default=0.0)
    # Exact if the common denominator of the fractions is small enough for the sum.
    unit = min(whole, int(SCALE / max(fullest * len(over), 1.0)))
    weight = [max(unit // c, 1) for c in capacity]
    return model.excess(over, list(zip(capacity, most, weight, strict=True)))
