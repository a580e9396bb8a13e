"""
The hard rules of a problem alone, for items that found no place among bands.

Whether all items have a place is a packing problem: the search, which puts the largest
first where they fit best, does not solve it to the end. Without bands an exact model
does, if the problem is small, whether items have a home or not.
"""

from dataclasses import replace

import numpy as np

from placement.core.bounds.infeasibility import share_proofs
from placement.core.model.deadline import Deadline
from placement.core.model.problem import NO_LIMIT, Level, Problem
from placement.core.model.search_budget import NORMAL, Effort
from placement.core.model.solution import Solution
from placement.core.solve import solve

EXACT_CELLS = 2000
"""Pairs of group and bin up to which an exact model looks for places."""
EXACT_NODES = 2000
"""Nodes that it may open for that."""


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
    bare = without_bands(problem)
    return solve(bare, effort=for_exact(effort), seed=seed, deadline=deadline)


def for_exact(effort: Effort) -> Effort:
    """Return an effort with which small problems get an exact model in any case."""
    return replace(
        effort,
        milp_cells=max(effort.milp_cells, EXACT_CELLS),
        milp_nodes=max(effort.milp_nodes, EXACT_NODES),
        milp_looks=max(effort.milp_looks, NORMAL.milp_looks),
    )


def has_bands(problem: Problem) -> bool:
    """Return whether any load has a band."""
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
    bare = replace(problem, levels=(first, *others))
    share_proofs(problem, bare)
    return bare


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
