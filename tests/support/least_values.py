"""The best value of a tiny problem, level by level, by trying every arrangement."""

from itertools import product

import numpy as np

from placement.core.model.problem import NOWHERE
from support.oracles import (
    crossing_of,
    is_group_broken,
    is_role_unreleased,
    item_cost,
    items_of,
    may_lead,
    places_of,
    takes_a_siblings_place,
    usable_capacity,
    usable_in_nodes,
)

MOST_WAYS = 100_000
"""Arrangements of a problem up to which all of them are tried."""


def best_key(problem):
    """
    The least `Value.key` of the arrangements that keep every hard rule, caps included.

    `None` where no arrangement does. Of the groups' own rules nothing is shared with
    the core but the problem's tables.
    """
    rows = _rows_of_all(problem)
    if not len(rows):
        return None
    shape = problem.bins.fixed.shape
    size = problem.bins.fixed.size
    load = rows[:, :size].reshape(-1, *shape) + problem.bins.fixed
    peak = rows[:, size : 2 * size].reshape(-1, *shape) + problem.bins.fixed
    copied, moves, changes, crossing = rows[:, 2 * size :].T
    kept = (peak <= usable_capacity(problem)).all(axis=(1, 2))
    kept &= (copied <= problem.max_cost) & (moves <= problem.max_moves)
    kept &= crossing <= problem.max_crossing
    distances = [_off(load, problem.bins)]
    for level in problem.levels[1:]:
        if level.limits is None:
            continue
        own = _of_nodes(load - problem.bins.fixed, level)
        most = np.array(usable_in_nodes(problem, level)).reshape(own.shape[1:])
        kept &= (own <= most).all(axis=(1, 2))
        distances.append(_off(own, level.limits))
    off = np.concatenate(distances, axis=1)
    if not kept.any():
        return None
    cost = copied + problem.price_per_move * moves
    keys = np.stack(
        [
            np.round(off.max(axis=1, initial=0.0), 9),
            np.round(off.sum(axis=1), 7),
            cost,
            moves,
            changes,
        ],
        axis=1,
    )[kept]
    best = keys[np.lexsort(keys.T[::-1])[0]]
    return (0, *best.tolist())


def is_countable(problem):
    """Whether all arrangements of a problem can be tried."""
    count = 1
    for group in range(problem.num_groups):
        count *= max(len(_ways(problem, group)), 1)
        if count > MOST_WAYS:
            return False
    return True


def _off(load, limits):
    has_band = limits.target > 0
    off = np.maximum(np.maximum(load - limits.upper, limits.lower - load), 0)
    unit = np.where(has_band, limits.target, 1.0)
    return np.where(has_band, off / unit, 0.0).reshape(len(load), -1)


def _of_nodes(load, level):
    total = np.zeros((len(load), level.num_nodes, load.shape[2]), dtype=np.int64)
    for b, node in enumerate(level.node_of_bin.tolist()):
        if node != NOWHERE:
            total[:, node] += load[:, b]
    return total + level.limits.fixed


def _rows_of_all(problem):
    found = np.zeros((1, 2 * problem.bins.fixed.size + 4), dtype=np.int64)
    for group in range(problem.num_groups):
        ways = _ways(problem, group)
        if not ways:
            return found[:0]
        new = np.array(ways, dtype=np.int64)
        found = (found[:, None] + new[None, :]).reshape(-1, found.shape[1])
        found = np.unique(found, axis=0)
    return found


def _ways(problem, group):
    """Loads, peaks, cost, moves, role changes and crossing of what a group may do."""
    items = items_of(problem, group)
    ways = set()
    for places in product(*(places_of(problem, item) for item in items)):
        bins = dict(zip(items, places, strict=True))
        if is_group_broken(problem, group, list(places)):
            continue
        if takes_a_siblings_place(problem, bins):
            continue
        for holder in [NOWHERE, *items]:
            if may_lead(problem, group, holder, bins) and not is_role_unreleased(
                problem, group, holder, bins
            ):
                ways.add(_way(problem, group, bins, holder))
    return sorted(ways)


def _way(problem, group, bins, holder):
    load = np.zeros(problem.bins.fixed.shape, dtype=np.int64)
    left = np.zeros_like(load)
    moves = [item for item, b in bins.items() if b != problem.home[item]]
    for item, b in bins.items():
        home = int(problem.home[item])
        own = problem.weight[group] + (problem.extra[item] if len(problem.extra) else 0)
        load[b] += own if b == home else problem.weight[group]
        if b != home and home != NOWHERE:
            left[home] += own * problem.is_transient
    if holder != NOWHERE:
        load[bins[holder]] += problem.role_weight[group]
    cost = sum(item_cost(problem, item, b) for item, b in bins.items())
    return (
        *load.ravel().tolist(),
        *(load + left).ravel().tolist(),
        cost - problem.price_per_move * len(moves),
        len(moves),
        int(holder != problem.role_home[group]),
        crossing_of(problem, bins) if problem.has_zones else 0,
    )
