"""Number of places for the items of a group: bins that take them, within caps."""

from collections.abc import Sequence

import numpy as np

from placement.array_types import IntArray
from placement.core.bounds.occupancy import UsableBins
from placement.core.model.problem import NO_LIMIT, NOWHERE, Problem
from placement.core.model.solution import Shortfall


class Places:
    """
    Places for the items of some groups, counted for all of them at once.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    groups
        Rows of the groups.
    """

    def __init__(self, problem: Problem, groups: Sequence[int]) -> None:
        self._problem = problem
        self._groups = np.unique(np.array(groups, dtype=np.int64))
        self._row_of = {group: row for row, group in enumerate(self._groups.tolist())}
        self._usable = UsableBins(problem, self._groups)
        self._size: IntArray = np.diff(problem.group_start)[self._groups]
        never = self._usable.row[self._usable.is_never]
        self._stuck = np.bincount(never, minlength=len(self._groups))
        levels = range(len(problem.levels))
        # ``(levels, g)``: the level with the fewest places limits a group.
        self._at = np.array([self._places_at(position) for position in levels])

    def at(self, position: int, group: int) -> int:
        """Return the number of places of a group in the nodes of one level."""
        return int(self._at[position, self._row_of[group]])

    def too_few(self) -> list[int]:
        """Return the groups that have fewer places than items."""
        is_short = self._at.min(axis=0, initial=NO_LIMIT) < self._size
        return [int(group) for group in self._groups[is_short].tolist()]

    def shortfall(self, group: int, item: int) -> Shortfall:
        """Return the shortfall of places of a group; `item`: one unplaced, or -1."""
        row = self._row_of[group]
        position = int(self._at[:, row].argmin())
        have, need = int(self._at[position, row]), int(self._size[row])
        return Shortfall(
            what="spread" if position else "bins",
            have=have,
            need=need,
            item=item,
            group=group,
            bin=int(self._problem.home[item]) if item >= 0 else NOWHERE,
            level=self._problem.levels[position].name,
            is_proven=have < need,
        )

    def _places_at(self, position: int) -> IntArray:
        """Return ``(g,)`` number of places by the caps of one level."""
        problem, usable = self._problem, self._usable
        level = problem.levels[position]
        cap = np.zeros(len(self._groups), dtype=np.int64)
        if level.group_cap is not None:
            cap = level.group_cap[self._groups].astype(np.int64)
        elif position:
            return np.full(len(self._groups), NO_LIMIT)
        node, count = level.node_of_bin.astype(np.int64), level.num_nodes
        whole = np.ones(problem.num_bins, dtype=np.bool_)
        held = usable.stuck(node, count, whole)
        open_bins = usable.counts(node, count, whole)
        most = np.where(cap > 0, cap, NO_LIMIT)[:, None]
        # The level does not cap the bins outside it.
        loose = usable.counts(np.zeros_like(node), 1, node < 0)[:, 0]
        kept = np.minimum(held, most).sum(axis=1) + self._stuck - held.sum(axis=1)
        room = np.minimum(open_bins, np.maximum(most - held, 0)).sum(axis=1)
        found = kept + np.minimum(self._size - self._stuck, room + loose)
        is_limited = (cap > 0) | (position == 0)
        return np.where(is_limited, found, NO_LIMIT)
