"""Problems restricted to some groups, and their arrangements extended to all groups."""

from dataclasses import replace

import numpy as np

from placement.array_types import IntArray
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import NOWHERE, Level, Problem


def rows_of(whole: Problem, items: IntArray) -> IntArray:
    """Return the index of each item in `items`; `NOWHERE` for others and no item."""
    row_of = np.full(whole.num_items + 1, NOWHERE, dtype=np.int64)
    row_of[items] = np.arange(len(items))
    return row_of


def restricted(whole: Problem, items: IntArray, groups: IntArray) -> Problem:
    """
    Return a problem of some groups, without the others and their load.

    Parameters
    ----------
    whole
        Original problem.
    items
        ``(k,)`` all items of the groups, in order.
    groups
        ``(g,)`` groups, in order.
    """
    row_of = rows_of(whole, items)
    sizes = np.diff(whole.group_start)[groups]
    return replace(
        whole,
        group_start=np.concatenate(([0], np.cumsum(sizes))),
        group_class=whole.group_class[groups],
        weight=whole.weight[groups],
        role_weight=whole.role_weight[groups],
        cost=whole.cost[groups],
        home=whole.home[items],
        extra=whole.extra[items] if len(whole.extra) else whole.extra,
        movability=whole.movability[items],
        role_home=row_of[whole.role_home[groups]],
        is_role_movable=whole.is_role_movable[groups],
        levels=tuple(_with_caps(level, groups) for level in whole.levels),
        collection_of=whole.collection_of[groups]
        if len(whole.collection_cap)
        else whole.collection_of,
        source_zone=whole.source_zone[groups] if whole.has_zones else whole.source_zone,
    )


def _with_caps(level: Level, groups: IntArray) -> Level:
    """Return a level with the caps of some groups."""
    cap = level.group_cap
    return replace(level, group_cap=None if cap is None else cap[groups])


def extended(
    whole: Problem, items: IntArray, groups: IntArray, at: Arrangement
) -> Arrangement:
    """
    Return an arrangement of a restricted problem as one of the original problem.

    Parameters
    ----------
    whole, items, groups
        Original problem, and its rows in the restricted one.
    at
        Arrangement of the restricted problem; the other items stay at home.
    """
    bin_of, role_of = whole.home.copy(), whole.role_home.copy()
    bin_of[items] = at.bin_of
    has_role = np.not_equal(at.role_of, NOWHERE)
    role_of[groups] = np.where(has_role, items[at.role_of], NOWHERE)
    return Arrangement(bin_of, role_of)
