"""Even distribution of roles (leaders) at given places, by the fewest changes."""

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.flow.equitable_flow import Arcs, EvenSinks


def even_roles(
    group_start: IntArray,
    bin_of: IndexArray,
    home: IndexArray,
    may_hold: BoolArray,
) -> IntArray:
    """
    Give each group's role to one of its items, evenly over the bins.

    The first item of a group holds the role now. The objective is lexicographic: even
    counts, then fewest changes, then holders that have not moved. A first item that has
    moved to another bin counts as a change.

    Parameters
    ----------
    group_start
        ``(G + 1,)`` start of the items of each group, at least one item per group.
    bin_of, home
        ``(I,)`` present and former bin of each item.
    may_hold
        ``(N,)`` whether the bin may hold roles. A group without an item in such a bin
        keeps its holder.

    Returns
    -------
    ``(G,)`` item that holds each role.
    """
    first = group_start[:-1].astype(np.int64)
    bins = np.nonzero(may_hold)[0]
    group = np.repeat(np.arange(len(first)), np.diff(group_start))
    item = np.nonzero(may_hold[bin_of])[0]
    if not len(item):
        return first
    asking = np.unique(group[item])
    place = np.full(len(may_hold), -1, dtype=np.int64)
    place[bins] = np.arange(len(bins))
    change = len(asking) + 1
    has_come = np.not_equal(bin_of[item], home[item])
    is_kept = np.equal(item, first[group[item]]) & ~has_come
    arcs = Arcs()
    tails = np.searchsorted(asking, group[item])
    heads = len(asking) + place[bin_of[item]]
    choices = arcs.add(tails, heads, 1, np.where(is_kept, 0, change + has_come))
    supplies = np.zeros(len(asking) + len(bins) + 1, dtype=np.int64)
    supplies[: len(asking)] = 1
    held = np.zeros(len(bins), dtype=np.int64)
    sinks = EvenSinks(held, len(asking), len(asking))
    total = (change + 1) * (len(asking) + 1)
    flow = sinks.solve_within_bounds(arcs, supplies, total)
    if flow is None:
        flow = sinks.solve_by_slopes(arcs, supplies, total)
    role_of = first
    if flow is not None:
        taken = item[flow[choices] > 0]
        role_of[group[taken]] = taken
    return role_of
