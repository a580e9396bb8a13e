"""Classes of interchangeable groups (docs/theory.md, "Interchangeable groups")."""

from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.model.problem import Level, Movability, Problem


class Classes(NamedTuple):
    """
    Groups with a movable item, by class of interchangeable groups.

    Parameters
    ----------
    groups
        ``(g,)`` group rows of the problem, class by class.
    start
        ``(K + 1,)`` members of class ``k`` are ``groups[start[k]:start[k + 1]]``.
    """

    groups: IntArray
    start: IntArray

    @property
    def first(self) -> IntArray:
        """``(K,)`` one group of each class."""
        return self.groups[self.start[:-1]]

    @property
    def size(self) -> IntArray:
        """``(K,)`` number of members of each class."""
        return np.diff(self.start)


def classes_of(
    problem: Problem, cost: IntArray, kind: IndexArray, level: Level | None
) -> Classes:
    """Join groups with equal homes, movability, class, kind, cap and cost."""
    free = np.not_equal(problem.movability, Movability.NEVER)
    groups = np.unique(problem.group_of[free]).astype(np.int64)
    items = np.nonzero(np.isin(problem.group_of, groups))[0]
    group = problem.group_of[items]
    code = problem.home[items].astype(np.int64) * len(Movability)
    code += problem.movability[items]
    order = np.lexsort((code, group))
    size = np.diff(problem.group_start)[groups]
    row = np.repeat(np.arange(len(groups)), size)
    place = np.arange(len(items)) - np.repeat(np.cumsum(size) - size, size)
    key = np.full((len(groups), int(size.max(initial=0)) + 4), -1, dtype=np.int64)
    key[row, place + 4] = code[order]
    key[:, 0], key[:, 1] = cost[groups], problem.group_class[groups]
    key[:, 3] = kind[groups]
    if level is not None and level.group_cap is not None:
        key[:, 2] = level.group_cap[groups]
    order = np.lexsort(key.T[::-1])
    is_first = np.ones(len(groups) + 1, dtype=np.bool_)
    is_first[1:-1] = (key[order[1:]] != key[order[:-1]]).any(axis=1)
    return Classes(groups[order], np.nonzero(is_first)[0])


class Pairs(NamedTuple):
    """
    Permissions of each pair of class and bin, ``(K, N)``.

    Parameters
    ----------
    is_home
        Whether an item of a group is in the bin now and may stay.
    is_kept
        Whether that item must stay.
    may_come
        Whether an item from another bin may come.
    """

    is_home: BoolArray
    is_kept: BoolArray
    may_come: BoolArray


def pairs_of(problem: Problem, groups: IntArray) -> Pairs:
    """Return the permissions of a group of each class in each bin."""
    shape = (len(groups), problem.num_bins)
    is_home, is_kept = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    may = problem.is_eligible[problem.group_class[groups]][:, problem.bin_class]
    may = may & problem.may_receive
    row = np.full(problem.num_groups, -1, dtype=np.int64)
    row[groups] = np.arange(len(groups))
    items = np.nonzero(row[problem.group_of] >= 0)[0]
    at, home = row[problem.group_of[items]], problem.home[items]
    may[at, home] = False
    stays = np.not_equal(problem.movability[items], Movability.MUST)
    is_home[at[stays], home[stays]] = True
    never = np.equal(problem.movability[items], Movability.NEVER)
    is_kept[at[never], home[never]] = True
    return Pairs(is_home, is_kept, may)


def dealt(
    classes: Classes, flow: tuple[IntArray, IntArray, IntArray], num_bins: int
) -> IntArray:
    """
    Distribute the flow of each class over its members in turn.

    Parameters
    ----------
    classes
        Classes of groups.
    flow
        Class, bin and amount, sorted by class; bins of one node are consecutive, and no
        amount exceeds the number of members of its class.
    num_bins
        Number of bins, ``N``.

    Returns
    -------
    Pairs of group and bin as ``group * N + bin``, ascending.

    Notes
    -----
    The units of a class are ordered by bin, and unit ``i`` goes to member ``i`` modulo
    the number of members. So no member gets a bin twice, and each member gets its even
    share of every node, rounded up or down.
    """
    k, b, amount = flow
    unit_class, unit_bin = np.repeat(k, amount), np.repeat(b, amount)
    first = np.searchsorted(unit_class, np.arange(len(classes.size)))
    turn = np.arange(len(unit_class)) - first[unit_class]
    member = classes.start[unit_class] + turn % classes.size[unit_class]
    return np.sort(classes.groups[member].astype(np.int64) * num_bins + unit_bin)
