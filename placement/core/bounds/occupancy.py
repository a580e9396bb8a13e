r"""
Fewest items of each group that a set of bins must hold in any arrangement.

Group :math:`g` has :math:`m_g` items that may move. Node :math:`k` of a level with cap
:math:`\kappa_g` takes at most

.. math::

    \min\bigl(a_{gk},\; \kappa_g - s_{gk}\bigr)

of these outside the set, where :math:`a_{gk}` bins of the node outside the set may hold
one in the end and :math:`s_{gk}` items of the group never leave the node. The items
that the nodes do not take must be in the set. `core.bounds.set_bounds` computes the
same without :math:`s_{gk}`.
"""

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.model.objective import open_bins
from placement.core.model.problem import Level, Movability, Problem

MOST_CELLS = 4_000_000
"""Largest number of (group, node) pairs counted at once."""
MOST_ALL_CELLS = 60_000_000
"""Largest number of (group, node) pairs of a level that is counted at all."""


class Occupancy:
    """
    Fewest items of each group in sets of bins.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        never = np.equal(problem.movability, Movability.NEVER)
        self._is_never: BoolArray = never & (problem.home >= 0)
        size = np.diff(problem.group_start)
        self._movable: IntArray = size - _count(problem, self._is_never)
        self._usable = UsableBins(problem, np.nonzero(self._movable > 0)[0])

    def stuck(self, inside: BoolArray) -> IntArray:
        """Return ``(G,)`` items of each group that never leave a set of bins."""
        return _count(self._problem, self._is_never & inside[self._problem.home])

    def least(self, inside: BoolArray) -> IntArray:
        """
        Return the fewest items of each group that a set of bins must hold.

        Parameters
        ----------
        inside
            ``(N,)`` true for the bins of the set.

        Returns
        -------
        ``(G,)`` lower bounds that hold for every arrangement within the hard rules.
        """
        usable, least = self._usable, self.stuck(inside)
        chosen = usable.groups
        most = np.full(len(chosen), np.iinfo(np.int64).max)
        floor = np.zeros(len(chosen), dtype=np.int64)
        for position, level in enumerate(self._problem.levels):
            if _is_too_large(level, len(chosen), position):
                continue
            room, forced = _of_level(usable, position, ~inside)
            most = np.minimum(most, room)
            floor = np.maximum(floor, forced)
        forced = np.maximum(self._movable[chosen] - most, 0)
        least[chosen] = np.maximum(least[chosen] + forced, floor)
        return least


def _count(problem: Problem, items: BoolArray) -> IntArray:
    return np.bincount(problem.group_of[items], minlength=problem.num_groups)


def _is_too_large(level: Level, groups: int, position: int) -> bool:
    return bool(position) and groups * level.num_nodes > MOST_ALL_CELLS


class UsableBins:
    """
    Bins that may hold a movable item in the end, for some groups.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    groups
        ``(g,)`` rows of the groups, ascending.
    """

    def __init__(self, problem: Problem, groups: IntArray) -> None:
        self.problem, self.groups = problem, groups
        self.open_to = _open_to(problem)
        row_of = np.full(problem.num_groups, -1, dtype=np.int64)
        row_of[groups] = np.arange(len(groups))
        row = row_of[problem.group_of]
        items = np.nonzero((row >= 0) & (problem.home >= 0))[0]
        self.row, self.home = row[items], problem.home[items].astype(np.int64)
        kind = problem.movability[items]
        self.is_never = np.equal(kind, Movability.NEVER)
        takes = self.open_to[self.problem.group_class[groups[self.row]], self.home]
        # A bin is usable if an item may stay there. A bin that an item must leave takes
        # no other item of the group.
        may_stay = np.equal(kind, Movability.MAY)
        self.delta = np.where(may_stay, 1, 0) - takes
        key = self.row * problem.num_bins + self.home
        order = np.lexsort((-self.delta, key))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = np.not_equal(key[order][1:], key[order][:-1])
        self.delta[order[~first]] = 0

    def counts(self, node: IntArray, num_nodes: int, where: BoolArray) -> IntArray:
        """Return ``(g, M)`` number of usable bins of each node among some bins."""
        inside = where & (node >= 0)
        base = np.array(
            [
                np.bincount(node[inside & is_open], minlength=num_nodes)
                for is_open in self.open_to
            ],
            dtype=np.int64,
        ).reshape(len(self.open_to), num_nodes)
        found = base[self.problem.group_class[self.groups]]
        here = inside[self.home]
        np.add.at(found, (self.row[here], node[self.home[here]]), self.delta[here])
        return found

    def stuck(self, node: IntArray, num_nodes: int, where: BoolArray) -> IntArray:
        """Return ``(g, M)`` number of items that never leave some bins of each node."""
        found = np.zeros((len(self.groups), num_nodes), dtype=np.int64)
        here = self.is_never & (node[self.home] >= 0) & where[self.home]
        np.add.at(found, (self.row[here], node[self.home[here]]), 1)
        return found

    def matrix(self) -> BoolArray:
        """Return ``(g, N)`` whether each bin is usable."""
        found = self.open_to[self.problem.group_class[self.groups]].astype(np.int64)
        np.add.at(found, (self.row, self.home), self.delta)
        return found > 0

    def places(self, level: Level, position: int, fits: BoolArray) -> IntArray:
        """
        Return ``(g,)`` the most items that have places, by the caps of one level.

        Parameters
        ----------
        level, position
            Level and its index in the levels of the problem.
        fits
            ``(g, N)`` whether each bin may be used.
        """
        size = np.diff(self.problem.group_start)[self.groups]
        if position and level.group_cap is None:
            return size
        node = level.node_of_bin.astype(np.int64)
        inside = node >= 0
        one_hot = np.zeros((len(node), level.num_nodes), dtype=np.int64)
        one_hot[np.nonzero(inside)[0], node[inside]] = 1
        open_bins_of = fits.astype(np.int64) @ one_hot
        whole = np.ones(len(node), dtype=np.bool_)
        held = self.stuck(node, level.num_nodes, whole)
        cap = size if level.group_cap is None else level.group_cap[self.groups]
        most = np.where(cap > 0, cap, size).astype(np.int64)[:, None]
        alone = self.problem.levels[0].group_cap
        if alone is None or not (alone[self.groups] == 1).all():
            open_bins_of = np.where(open_bins_of > 0, size[:, None], 0)
        room = np.minimum(open_bins_of, np.maximum(most - held, 0)).sum(axis=1)
        loose = fits[:, ~inside].any(axis=1)
        movable = size - np.bincount(self.row[self.is_never], minlength=len(size))
        room = np.where(loose, movable, np.minimum(room, movable))
        stays: IntArray = size - movable
        return stays + room

    def part(self, start: int, stop: int) -> "UsableBins":
        """Return the usable bins of a slice of the groups."""
        if start == 0 and stop >= len(self.groups):
            return self
        return UsableBins(self.problem, self.groups[start:stop])


def _open_to(problem: Problem) -> BoolArray:
    """Return ``(classes, N)`` bins that take items of each class of groups."""
    is_open: BoolArray = problem.is_eligible[:, problem.bin_class] & problem.may_receive
    return is_open


def _of_level(
    usable: UsableBins, position: int, outside: BoolArray
) -> tuple[IntArray, IntArray]:
    """
    Return two ``(g,)`` counts by the rules of one level.

    The first is the most movable items that the bins outside a set take by the caps;
    the second is the fewest items that an even spread leaves in the set.
    """
    problem = usable.problem
    level, count = problem.levels[position], len(usable.groups)
    size = np.diff(problem.group_start)[usable.groups]
    if position == 0:
        return _of_bins(usable, outside, size), np.zeros(count, dtype=np.int64)
    step = max(MOST_CELLS // max(level.num_nodes, 1), 1)
    parts = [
        _of_nodes(usable.part(first, first + step), level, outside)
        for first in range(0, count, step)
    ]
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    room, floor = (np.concatenate(column) for column in zip(*parts, strict=True))
    return room, floor


def _of_bins(usable: UsableBins, outside: BoolArray, size: IntArray) -> IntArray:
    """Return the most movable items of each group by the caps of single bins."""
    cap = usable.problem.levels[0].group_cap
    node = np.zeros(usable.problem.num_bins, dtype=np.int64)
    bins = usable.counts(node, 1, outside)[:, 0]
    if cap is None:
        return np.where(bins > 0, size, 0)
    each = cap[usable.groups].astype(np.int64)
    each = np.where(each > 0, each, size)
    room: IntArray = bins * each
    return room


def _of_nodes(
    usable: UsableBins, level: Level, outside: BoolArray
) -> tuple[IntArray, IntArray]:
    problem, node = usable.problem, level.node_of_bin.astype(np.int64)
    size = np.diff(problem.group_start)[usable.groups]
    whole = np.ones(problem.num_bins, dtype=np.bool_)
    bins = usable.counts(node, level.num_nodes, outside)
    alone = problem.levels[0].group_cap
    is_one_each = alone is not None and bool(np.equal(alone, 1).all())
    places = bins if is_one_each else np.where(bins > 0, size[:, None], 0)
    loose = usable.counts(np.zeros_like(node), 1, outside & (node < 0))[:, 0]
    loose = np.where(loose > 0, size, 0)
    if level.group_cap is None:
        return places.sum(axis=1) + loose, np.zeros(len(size), dtype=np.int64)
    cap = level.group_cap[usable.groups].astype(np.int64)
    most = np.where(cap > 0, cap, size)[:, None]
    left = np.maximum(most - usable.stuck(node, level.num_nodes, whole), 0)
    room = np.minimum(places, left).sum(axis=1) + loose
    floor = np.zeros(len(size), dtype=np.int64)
    if level.is_even:
        # A node is at the cap, so no node with a free bin holds two items fewer.
        least = np.minimum(np.maximum(cap - 1, 0)[:, None], open_bins(level))
        is_full = (least.sum(axis=1) < size) & (_loose_items(usable, level) == 0)
        held = places + usable.stuck(node, level.num_nodes, outside)
        floor = np.where(is_full, np.maximum(least - held, 0).sum(axis=1), 0)
    return room, floor


def _loose_items(usable: UsableBins, level: Level) -> IntArray:
    """Return ``(g,)`` number of bins outside a level for items of each group."""
    is_loose = np.less(level.node_of_bin, 0)
    one = np.zeros(len(is_loose), dtype=np.int64)
    found: IntArray = usable.counts(one, 1, is_loose)[:, 0]
    return found + usable.stuck(one, 1, is_loose)[:, 0]
