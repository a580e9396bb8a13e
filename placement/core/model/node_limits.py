"""
Hard capacities of the nodes above the bins, shared by the bins of a node.

The load of a node is the sum of the loads of its bins. As with bins, a node over its
capacity takes no more load. A node that no move can relieve breaks no rule as long as
its load does not grow.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.model.arrangement import Arrangement, home_loads, loads
from placement.core.model.problem import NO_LIMIT, Level, Limits, Movability, Problem


@dataclass(frozen=True, slots=True, eq=False)
class NodeLoads:
    """
    Loads and capacities of the nodes of one level.

    Parameters
    ----------
    level
        Level of the nodes.
    load
        ``(M, R)`` peak load: departed items still fill their old node in transient
        resources.
    before
        ``(M, R)`` load before any move.
    capacity
        ``(M, R)`` capacity, or the load before where that is larger and nothing can
        leave.
    """

    level: Level
    load: IntArray
    before: IntArray
    capacity: IntArray

    @property
    def is_over(self) -> BoolArray:
        """``(M, R)`` true where the load exceeds a capacity that could be kept."""
        over: BoolArray = self.load > self.capacity
        return over

    @property
    def num_over(self) -> int:
        """Number of loads over capacity; a load that has grown counts twice."""
        over = self.is_over
        return int(over.sum()) + int((over & (self.load > self.before)).sum())


def limited_levels(problem: Problem) -> Iterator[tuple[Level, Limits]]:
    """Yield the levels above the bins that have limits."""
    for level in problem.levels[1:]:
        if level.limits is not None:
            yield level, level.limits


def node_loads(problem: Problem, at: Arrangement) -> Iterator[NodeLoads]:
    """Yield the loads and capacities of the nodes of each limited level."""
    for level, limits in limited_levels(problem):
        before = _sum_up(level, limits, home_loads(problem) - problem.bins.fixed)
        load = _sum_up(level, limits, loads(problem, at) - problem.bins.fixed)
        yield NodeLoads(
            level=level,
            load=load + _departed(problem, level, at),
            before=before,
            capacity=usable_in_nodes(problem, level, limits),
        )


def node_distances(problem: Problem, load: IntArray) -> Iterator[FloatArray]:
    """
    Yield ``(M, R)`` distances outside the bands of each limited level, in targets.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    load
        ``(N, R)`` loads of the bins.
    """
    for level, limits in limited_levels(problem):
        if not (limits.target > 0).any():
            continue
        total = _sum_up(level, limits, load - problem.bins.fixed)
        off = np.maximum(np.maximum(total - limits.upper, limits.lower - total), 0)
        unit = np.where(limits.target > 0, limits.target, 1.0)
        yield np.where(limits.target > 0, off / unit, 0.0)


def usable_in_nodes(problem: Problem, level: Level, limits: Limits) -> IntArray:
    """Return ``(M, R)`` capacities, or a larger load now that nothing can relieve."""
    before = _sum_up(level, limits, home_loads(problem) - problem.bins.fixed)
    relieved = can_relieve(problem) & (level.node_of_bin >= 0)
    can = np.zeros(level.num_nodes, dtype=np.bool_)
    can[level.node_of_bin[relieved]] = True
    return np.where(can[:, None], limits.capacity, np.maximum(limits.capacity, before))


def can_relieve(problem: Problem) -> BoolArray:
    """Return ``(N,)`` true for bins that an item or a role may leave."""
    found = np.zeros(problem.num_bins, dtype=np.bool_)
    may = np.not_equal(problem.movability, Movability.NEVER) & (problem.home >= 0)
    found[problem.home[may]] = True
    held = problem.role_home[(problem.role_home >= 0) & problem.is_role_movable]
    found[problem.home[held]] = True
    return found


def with_loads_kept(problem: Problem) -> Problem:
    """
    Return a problem whose capacities admit present loads that nothing can relieve.

    A bin or a node over its capacity of a resource keeps its load, but takes no more,
    if no item and no role can reduce that load. A role reduces only the resources in
    which it has a weight: no role change frees disk space.
    """
    load = home_loads(problem)
    levels = [
        _with_loads_kept(problem, level, load) if level.limits is not None else level
        for level in problem.levels
    ]
    if all(new is old for new, old in zip(levels, problem.levels, strict=True)):
        return problem
    return replace(problem, levels=tuple(levels))


def _with_loads_kept(problem: Problem, level: Level, load: IntArray) -> Level:
    assert level.limits is not None  # noqa: S101 - chosen by the caller
    limits, now = level.limits, load
    if level is not problem.levels[0]:
        now = _sum_up(level, limits, load - problem.bins.fixed)
    if np.less_equal(now, limits.capacity).all():
        return level
    inside = level.node_of_bin >= 0
    relieved = np.zeros(limits.capacity.shape, dtype=np.bool_)
    np.logical_or.at(relieved, level.node_of_bin[inside], _relieved(problem)[inside])
    kept = np.where(relieved, limits.capacity, np.maximum(limits.capacity, now))
    return replace(level, limits=replace(limits, capacity=kept))


def _relieved(problem: Problem) -> BoolArray:
    """Return ``(N, R)`` true where an item or a role may reduce the load."""
    found = np.zeros((problem.num_bins, problem.num_resources), dtype=np.bool_)
    may = np.not_equal(problem.movability, Movability.NEVER) & (problem.home >= 0)
    found[problem.home[may]] = True
    groups = np.nonzero((problem.role_home >= 0) & problem.is_role_movable)[0]
    place = problem.home[problem.role_home[groups]]
    groups, place = groups[place >= 0], place[place >= 0]
    for r in range(problem.num_resources):
        found[place[problem.role_weight[groups, r] > 0], r] = True
    return found


def set_capacity(problem: Problem, capacity: IntArray, chosen: BoolArray) -> list[int]:
    """
    Return the joint capacity of a set of bins, per resource.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    capacity
        ``(N, R)`` capacities of the bins.
    chosen
        ``(N,)`` true for the bins of the set.

    Returns
    -------
    Exact integers; at least `NO_LIMIT` where nothing limits the set. The bins of one
    node count at most the capacity of the node.
    """
    clip = NO_LIMIT // max(problem.num_bins, 1)
    clipped = np.where(chosen[:, None], np.minimum(capacity, clip), 0)
    most = _or_no_limit(clipped, clip)
    for level, limits in limited_levels(problem):
        inside = level.node_of_bin >= 0
        total = np.zeros((level.num_nodes, problem.num_resources), dtype=np.int64)
        np.add.at(total, level.node_of_bin[inside], clipped[inside])
        total = np.minimum(total, usable_in_nodes(problem, level, limits))
        parts = np.concatenate([total, clipped[~inside]])
        most = [min(pair) for pair in zip(most, _or_no_limit(parts, clip), strict=True)]
    return most


def _or_no_limit(parts: IntArray, clip: int) -> list[int]:
    """Return sums per resource; `NO_LIMIT` where a part has no limit."""
    has_none = (parts >= clip).any(axis=0)
    sums = parts.sum(axis=0)
    return [int(one) for one in np.where(has_none, NO_LIMIT, sums)]


def node_room(problem: Problem, stuck: IntArray) -> IntArray:
    """
    Return ``(N, R)`` the least free capacity among the nodes of each bin.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    stuck
        ``(N, R)`` load of the bins that stays in every arrangement.
    """
    room = np.full(stuck.shape, NO_LIMIT)
    for level, limits in limited_levels(problem):
        inside = level.node_of_bin >= 0
        held = _sum_up(level, limits, stuck - problem.bins.fixed)
        left = usable_in_nodes(problem, level, limits) - held
        room[inside] = np.minimum(room[inside], left[level.node_of_bin[inside]])
    return room


def _sum_up(level: Level, limits: Limits, brought: IntArray) -> IntArray:
    """Return ``(M, R)`` sums over the bins of each node, plus the node's fixed load."""
    total = limits.fixed.copy()
    inside = level.node_of_bin >= 0
    np.add.at(total, level.node_of_bin[inside], brought[inside])
    return total


def _departed(problem: Problem, level: Level, at: Arrangement) -> IntArray:
    """Return ``(M, R)`` load of departed items that stays until copies are made."""
    left = np.zeros((level.num_nodes, problem.num_resources), dtype=np.int64)
    if not problem.is_transient.any():
        return left
    rows = np.nonzero((problem.home >= 0) & (at.bin_of >= 0))[0]
    node = level.node_of_bin[problem.home[rows]]
    gone = (node >= 0) & (node != level.node_of_bin[at.bin_of[rows]])
    rows, node = rows[gone], node[gone]
    weight = problem.weight[problem.group_of[rows]]
    if len(problem.extra):
        weight = weight + problem.extra[rows]
    np.add.at(left, node, weight * problem.is_transient)
    return left
