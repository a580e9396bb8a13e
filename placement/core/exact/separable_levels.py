"""Separable levels of a problem; imports no solver."""

from typing import NamedTuple

import numpy as np

from placement.array_types import IntArray
from placement.core.model.problem import Level, Problem

LEAST_FIXED = 0.9
"""Least share of items whose node is fixed in a separable level (0-1)."""


class NodeBins(NamedTuple):
    """
    Subset of the bins, with bounds on the items of each group in it.

    Parameters
    ----------
    bins
        Rows of the bins.
    least, most
        ``(G,)`` bounds on the number of items of each group in these bins.
    """

    bins: tuple[int, ...]
    least: IntArray
    most: IntArray


def separable_nodes(problem: Problem) -> list[NodeBins]:
    """Return the nodes of the first separable level, or an empty list."""
    for level in problem.levels[1:]:
        is_whole = bool((level.node_of_bin >= 0).all()) and level.num_nodes > 1
        if level.group_cap is None or not is_whole or level.limits is not None:
            continue
        least, most = _bounds_in_nodes(problem, level)
        if least.sum() >= LEAST_FIXED * problem.num_items:
            bins = [np.nonzero(level.node_of_bin == n)[0] for n in range(len(least))]
            return [
                NodeBins(tuple(own.tolist()), least[node], most[node])
                for node, own in enumerate(bins)
                if len(own)
            ]
    return []


def _bounds_in_nodes(problem: Problem, level: Level) -> tuple[IntArray, IntArray]:
    """Return two ``(M, G)`` bounds on the items of each group in each node."""
    assert level.group_cap is not None  # noqa: S101 - chosen by the caller
    sizes = np.diff(problem.group_start)
    may = problem.is_eligible[problem.group_class][:, problem.bin_class]
    may &= problem.may_receive
    at_home = problem.home >= 0
    may[problem.group_of[at_home], problem.home[at_home]] = True
    open_ = np.zeros((level.num_nodes, problem.num_groups), dtype=np.int64)
    np.add.at(open_, level.node_of_bin, may.T)
    cap = np.where(level.group_cap > 0, level.group_cap, sizes)
    room = np.minimum(open_, cap)
    least: IntArray = np.clip(sizes - (room.sum(axis=0) - room), 0, sizes)
    return least, np.minimum(room, sizes)
