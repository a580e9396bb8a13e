"""Which nodes are problems of their own; apart from the models, which load a solver."""

from typing import NamedTuple

import numpy as np

from placement.core.problem import IntArray, Level, Problem

LEAST_FIXED = 0.9
"""Part of all items from which on it is worth looking at nodes one by one."""


class Inside(NamedTuple):
    """
    Some bins, and how many items of each group they hold at least.

    Parameters
    ----------
    bins
        Rows of the bins.
    least
        ``(G,)`` how many of its items each group has in them at least.
    """

    bins: tuple[int, ...]
    least: IntArray


def nodes_apart(problem: Problem) -> list[Inside]:
    """Return the nodes that hardly anything moves between; none if there are none."""
    for level in problem.levels[1:]:
        is_whole = bool((level.node_of_bin >= 0).all()) and level.num_nodes > 1
        if level.group_cap is None or not is_whole or level.limits is not None:
            continue
        least = _least_in_nodes(problem, level)
        if least.sum() >= LEAST_FIXED * problem.num_items:
            return [
                Inside(tuple(np.nonzero(level.node_of_bin == node)[0].tolist()), row)
                for node, row in enumerate(least)
            ]
    return []


def _least_in_nodes(problem: Problem, level: Level) -> IntArray:
    """Return ``(M, G)`` how many of its items a group has in a node at least."""
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
    return least
