"""
Removal of groups without a decision from a problem.

If a few bins are emptied and all else stays, most groups are fixed. Their items become
fixed load and still count towards the caps on collections. The search covers the
other groups alone.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.model.arrangement import Arrangement, home_loads, sum_rows_into
from placement.core.model.problem import Level, Movability, Problem
from placement.core.presolve.restriction import extended, restricted, rows_of

WORTH_IT = 0.5
"""Share of groups that may move (0-1) up to which removing the others pays."""


@dataclass(frozen=True, slots=True, eq=False)
class Moving:
    """
    Problem without the groups whose items and roles are all fixed.

    Parameters
    ----------
    whole
        Original problem.
    items, groups
        ``(k,)``, ``(g,)`` remaining rows of `whole`.
    problem
        Reduced problem; `whole` itself where few groups are fixed.
    """

    whole: Problem
    items: IntArray
    groups: IntArray
    problem: Problem

    @classmethod
    def of(cls, whole: Problem) -> Self:
        """Return the reduction of a problem."""
        is_left = _is_moving(whole)
        groups = np.nonzero(is_left)[0]
        if len(groups) > WORTH_IT * whole.num_groups:
            return cls(whole, np.zeros(0, np.int64), groups, whole)
        items = np.nonzero(is_left[whole.group_of])[0]
        return cls(whole, items, groups, _without_others(whole, items, groups))

    @property
    def is_all(self) -> bool:
        """Whether nothing was removed."""
        return self.problem is self.whole

    def part_of(self, at: Arrangement) -> Arrangement:
        """Return an arrangement of `whole` restricted to `problem`."""
        if self.is_all:
            return at
        row_of = rows_of(self.whole, self.items)
        return Arrangement(at.bin_of[self.items], row_of[at.role_of[self.groups]])

    def arranged(self, at: Arrangement) -> Arrangement:
        """Return an arrangement of `problem` extended to `whole`."""
        if self.is_all:
            return at
        return extended(self.whole, self.items, self.groups, at)


def _is_moving(problem: Problem) -> BoolArray:
    """Return ``(G,)`` true for groups with an item or a role that may go elsewhere."""
    may = np.not_equal(problem.movability, Movability.NEVER) | (problem.home < 0)
    found = problem.is_role_movable.copy()
    found[problem.group_of[np.nonzero(may)[0]]] = True
    return found


def _without_others(whole: Problem, items: IntArray, groups: IntArray) -> Problem:
    part = restricted(whole, items, groups)
    stays = home_loads(whole) - home_loads(part)
    fixed_items, fixed_roles = _fixed_collections(whole, items, groups)
    return replace(
        part,
        levels=tuple(_with_fixed(level, stays) for level in part.levels),
        collection_fixed=fixed_items,
        collection_fixed_roles=fixed_roles,
    )


def _with_fixed(level: Level, load: IntArray) -> Level:
    """Return a level with ``(N, R)`` additional fixed load."""
    limits = level.limits
    if limits is None:
        return level
    inside = np.nonzero(level.node_of_bin >= 0)[0]
    nodes = level.node_of_bin[inside]
    brought = sum_rows_into(nodes, load[inside], level.num_nodes)
    return replace(level, limits=replace(limits, fixed=limits.fixed + brought))


def _fixed_collections(
    whole: Problem, items: IntArray, groups: IntArray
) -> tuple[IndexArray, IndexArray]:
    """Return removed items and roles that count towards caps of collections."""
    if not len(whole.collection_cap):
        return whole.collection_fixed, whole.collection_fixed_roles
    is_left_out = np.ones(whole.num_items, dtype=np.bool_)
    is_left_out[items] = False
    others = np.ones(whole.num_groups, dtype=np.bool_)
    others[groups] = False
    roles = whole.role_home[others]
    return (
        _collected(whole, np.nonzero(is_left_out)[0]),
        _collected(whole, roles[roles >= 0]),
    )


def _collected(whole: Problem, items: IntArray) -> IndexArray:
    """Return ``(2, n)`` the collection and the bin of each item."""
    of = whole.collection_of[whole.group_of[items]]
    return np.stack([of, whole.home[items]])
