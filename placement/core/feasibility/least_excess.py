r"""
The least excess over capacities that cannot be kept.

A bin that is over a capacity :math:`c` by :math:`x` has the excess :math:`x / c`. Where
no arrangement keeps all capacities, the best one breaks the other hard rules least
often, makes no bin worse than it was, and then has the smallest largest excess, and of
these the smallest sum. Only after that come the bands. Small problems are solved by the
exact model of the hard rules, in this order; others by a search in which the capacities
that are broken now are bands, and no other load has one.
"""

from dataclasses import replace
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from placement.core.exact.model_scaling import Found, fits_rules
from placement.core.exact.work_limit import ExactWork
from placement.core.feasibility.hard_rules import without_bands
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
from placement.core.model.problem import (
    NO_LIMIT,
    FloatArray,
    IntArray,
    Level,
    Problem,
)
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Solution
from placement.core.presolve.fix_immovable import Moving
from placement.core.solve import prove, solve

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExprT

    from placement.core.exact.cp_sat.hard_rules_model import RulesModel

RULE_CELLS = 6000
"""Pairs of group and bin up to which the exact model is asked."""
MOST_WORK = 0.8
"""Deterministic seconds of CP-SAT that this may take, some two to four of a machine."""
SCALE = 2**56
"""The most that excesses add up to in whole numbers."""


class Standing(NamedTuple):
    """What an arrangement that breaks capacities is worth; the less, the better."""

    failures: int
    largest: float
    total: float
    rest: tuple[float, ...]


def standing(problem: Problem, at: Arrangement) -> Standing:
    """Return what an arrangement is worth where capacities cannot be kept."""
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
    """Return how far loads are over capacities, as fractions of these."""
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
    Return a solution that is over capacities by as little as can be.

    Parameters
    ----------
    problem
        What is to be arranged; nothing is known that keeps its hard rules.
    found
        The best that was found.
    effort, seed, deadline, work
        As in `solve`.

    Returns
    -------
    `found` itself where no capacity is broken in it, or nothing better is found.
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
    # Of what is proven here, nothing is kept.
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
    again = prove(problem, best, effort=effort)
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
    Return a problem whose bands are the capacities that are broken now.

    These may be broken as far as they are; nothing else has a band.
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
    """Return a level whose broken capacities are bands, and limits as loaded now."""
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
    """Return the problem with capacities that an arrangement keeps."""
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
    """Return the least excess of a small problem; `None` where that is not found."""
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
    """Return the largest excess and the sum of all, in whole numbers."""
    bins = problem.bins
    over = [(int(b), int(r)) for b, r in np.argwhere(bins.target > 0)]
    capacity = [max(int(bins.upper[pair]), 1) for pair in over]
    most = [int(bins.capacity[pair] - bins.upper[pair]) for pair in over]
    whole = lcm(*capacity)
    fullest = max((x / c for x, c in zip(most, capacity, strict=True)), default=0.0)
    # Exact where the fractions have a common unit of a size that sums allow for.
    unit = min(whole, int(SCALE / max(fullest * len(over), 1.0)))
    weight = [max(unit // c, 1) for c in capacity]
    return model.excess(over, list(zip(capacity, most, weight, strict=True)))
