"""
The hard rules of a problem alone, for items that found no place among bands.

Whether all items have a place is a packing problem: the search, which puts the largest
first where they fit best, does not solve it to the end. Without bands an exact model
does, if the problem is small, whether items have a home or not.
"""

from dataclasses import replace

import numpy as np

from placement.core.arrangement import Arrangement
from placement.core.deadline import Deadline
from placement.core.effort import NORMAL, Effort
from placement.core.exact_work import ExactWork
from placement.core.problem import NO_LIMIT, Level, Problem
from placement.core.solution import MET, Solution, Status
from placement.core.solve import solve

EXACT_CELLS = 2000
"""Pairs of group and bin up to which an exact model looks for places."""
EXACT_NODES = 2000
"""Nodes that it may open for that."""
CAPPED_CELLS = 3600
"""The same pairs where moves are capped: 12 brokers and 300 partitions."""


def solve_within_caps(
    problem: Problem,
    *,
    effort: Effort,
    seed: int,
    deadline: Deadline,
    known: Arrangement | None = None,
    work: ExactWork | None = None,
) -> Solution:
    """
    Find the best arrangement within the caps on all moves, as `solve` does.

    The search makes moves one by one and does not see which of them fit a cap together.
    What it leaves broken then an exact model of the hard rules looks at, and from its
    answer the search comes nearer to the bands.

    Parameters
    ----------
    problem, effort, seed, deadline, known, work
        As in `solve`.
    """
    found = solve(
        problem, effort=effort, seed=seed, deadline=deadline, known=known, work=work
    )
    is_open = found.status is Status.PARTIAL and problem.has_caps
    if not is_open or deadline.is_over():
        return found
    able = replace(effort, milp_cells=max(effort.milp_cells, CAPPED_CELLS))
    bare = solve_bare(problem, effort=able, seed=seed, deadline=deadline)
    if bare.status not in MET:
        return _both(found, found, bare)
    again = solve(problem, effort=effort, seed=seed, deadline=deadline, known=bare.best)
    return _both(again, found, bare, again)


def _both(best: Solution, *spent: Solution) -> Solution:
    """Return a solution with the steps and seconds that all took."""
    return replace(
        best,
        steps=sum(one.steps for one in spent),
        seconds={
            name: sum(one.seconds[name] for one in spent) for name in best.seconds
        },
        is_cut=any(one.is_cut for one in spent),
    )


def solve_bare(
    problem: Problem, *, effort: Effort, seed: int, deadline: Deadline
) -> Solution:
    """
    Find an arrangement that keeps the hard rules; of such ones the cheapest.

    Parameters
    ----------
    problem
        What to solve; its bands do not count.
    effort, seed, deadline
        As in `solve`; the exact model may be larger than the effort has it.

    Returns
    -------
    What was found, judged without bands.
    """
    exact = replace(
        effort,
        milp_cells=max(effort.milp_cells, EXACT_CELLS),
        milp_nodes=max(effort.milp_nodes, EXACT_NODES),
        milp_looks=max(effort.milp_looks, NORMAL.milp_looks),
    )
    bare = without_bands(problem)
    return solve(bare, effort=exact, seed=seed, deadline=deadline)


def has_bands(problem: Problem) -> bool:
    """Tell whether any load has a band."""
    return any(
        level.limits is not None and bool((level.limits.target > 0).any())
        for level in problem.levels
    )


def without_bands(problem: Problem) -> Problem:
    """Return a problem of which the hard rules alone count."""
    first, *others = (_without_band(level) for level in problem.levels)
    if first.group_cap is None and (np.diff(problem.group_start) == 1).all():
        # As no group has two items that says nothing, but to the exact model.
        cap = np.ones(problem.num_groups, dtype=np.int32)
        first = replace(first, group_cap=cap)
    return replace(problem, levels=(first, *others))


def _without_band(level: Level) -> Level:
    limits = level.limits
    if limits is None:
        return level
    free = replace(
        limits,
        lower=np.zeros_like(limits.lower),
        upper=np.full_like(limits.upper, NO_LIMIT),
        target=np.zeros_like(limits.target),
    )
    return replace(level, limits=free)
