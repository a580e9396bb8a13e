"""
Solve of the hard rules alone, for items that the search with bands did not place.

Placing all items is a packing problem. The search, which places the largest items first
at their best fit, may not solve it. Without bands, an exact model solves it for small
problems, with or without homes of the items.
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
"""Largest number of (group, bin) pairs for an exact model of the hard rules."""
EXACT_NODES = 2000
"""Node limit of branch and bound in that model."""


def solve_bare(
    problem: Problem, *, effort: Effort, seed: int, deadline: Deadline
) -> Solution:
    """
    Find the cheapest arrangement that keeps the hard rules.

    Parameters
    ----------
    problem
        Problem to solve; its bands are ignored.
    effort, seed, deadline
        As in `solve`; the exact model may be larger than the budget allows.

    Returns
    -------
    Solution of the problem without bands.
    """
    bare = without_bands(problem)
    return solve(bare, effort=for_exact(effort), seed=seed, deadline=deadline)


def for_exact(effort: Effort) -> Effort:
    """Return a budget with which small problems always get an exact model."""
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
    """Return a problem with the hard rules alone."""
    first, *others = (_without_band(level) for level in problem.levels)
    if first.group_cap is None and (np.diff(problem.group_start) == 1).all():
        # The exact model needs this cap; groups of one item always keep it.
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
