r"""
Proven lower bounds on the cost and the number of moves.

**Cover** (theory T3, with T1 as its case of unit weights). A bin :math:`b` over its
band by :math:`e` in a resource, role changes not counted, must lose items whose
weights sum to :math:`e`. For any multiplier :math:`\lambda \ge 0`, weak duality of the
fractional knapsack gives

.. math::

    \sum_{i \text{ leaves } b} c_i \ge
    \lambda e - \sum_{i \in b} \max(0, \lambda w_i - c_i).

Items leave one bin each, so the bounds of all bins add up; the same holds for the bins
under their band and the items that arrive. The larger side is the bound. Items that
must move count in full. The witness is :math:`\lambda` per bin as a fraction, which
`core.verify` puts in again with integers.
"""

from dataclasses import dataclass

import numpy as np

from placement.core.problem import (
    NO_LIMIT,
    Arrangement,
    IntArray,
    Movability,
    Problem,
    home_arrangement,
    loads,
)
from placement.core.solution import Proof

Entry = tuple[int, int, int, int]
"""A bin, a resource, and the multiplier as numerator and denominator."""


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """``(N, R)`` lower and upper ends of the bands for which a bound holds."""

    lower: IntArray
    upper: IntArray


def reached_bands(problem: Problem, at: Arrangement) -> Bands:
    """
    Widen each band to what an arrangement reached.

    A bin whose load is further from its target than its band allows gets a band of
    just that width, to both sides: the bounds hold for these.
    """
    bins = problem.bins
    load = loads(problem, at)
    has_band = bins.target > 0
    off = np.abs(load - bins.target)
    lower = np.minimum(bins.lower, np.floor(bins.target - off).astype(np.int64))
    upper = np.maximum(bins.upper, np.ceil(bins.target + off).astype(np.int64))
    outside = has_band & ((load < bins.lower) | (load > bins.upper))
    return Bands(
        np.where(has_band, np.where(outside, lower, bins.lower), 0),
        np.where(has_band, np.where(outside, upper, bins.upper), NO_LIMIT),
    )


def cost_bound(problem: Problem, bands: Bands) -> tuple[int, Proof | None]:
    """Return a lower bound on the cost of moving, and its proof."""
    return _bound(problem, bands, problem.cost * problem.least_price)


def moves_bound(problem: Problem, bands: Bands) -> tuple[int, Proof | None]:
    """Return a lower bound on the number of moves, and its proof."""
    return _bound(problem, bands, np.ones_like(problem.cost))


def _bound(problem: Problem, bands: Bands, cost: IntArray) -> tuple[int, Proof | None]:
    leaving = _leaving(problem, bands, cost)
    arriving = _arriving(problem, bands, cost)
    best = max((leaving, "leave"), (arriving, "arrive"), key=lambda side: side[0][0])
    (value, entries), side = best
    if value <= 0:
        return 0, None
    return value, Proof(
        kind="cover" if entries else "forced",
        witness={"side": side, "bins": [list(entry) for entry in entries]},
    )


def _leaving(problem: Problem, bands: Bands, cost: IntArray) -> tuple[int, list[Entry]]:
    """Bound what leaves the bins over their band, forced moves in full."""
    start = home_arrangement(problem)
    load = loads(problem, start)
    relief = role_loads(problem)
    must = np.equal(problem.movability, Movability.MUST)
    value = int(cost[problem.group_of[must]].sum())
    entries: list[Entry] = []
    may = np.equal(problem.movability, Movability.MAY) & (problem.home >= 0)
    items = np.nonzero(may)[0]
    items = items[np.argsort(problem.home[items], kind="stable")]
    first = np.searchsorted(problem.home[items], np.arange(problem.num_bins + 1))
    forced = forced_loads(problem)
    excess = load - relief - forced - bands.upper
    for b in np.nonzero((excess > 0).any(axis=1))[0]:
        rows = items[first[b] : first[b + 1]]
        weight = item_weights(problem, rows)
        gained, entry = _best_cover(
            int(b), excess[b], weight, cost[problem.group_of[rows]]
        )
        if entry is not None:
            value += gained
            entries.append(entry)
    return value, entries


def _arriving(
    problem: Problem, bands: Bands, cost: IntArray
) -> tuple[int, list[Entry]]:
    """Bound what arrives in the bins under their band."""
    load = loads(problem, home_arrangement(problem))
    missing = bands.lower - load + forced_loads(problem) - role_gains(problem)
    missing[~problem.may_receive] = 0
    groups = arrivals(problem)
    weight = problem.weight[groups] + problem.role_weight[groups]
    order = [_by_ratio(weight[:, r], cost[groups]) for r in range(weight.shape[1])]
    value, entries = 0, []
    for b in np.nonzero((missing > 0).any(axis=1))[0]:
        gained, entry = _best_cover(int(b), missing[b], weight, cost[groups], order)
        if entry is not None:
            value += gained
            entries.append(entry)
    return value, entries


def role_loads(problem: Problem) -> IntArray:
    """Return ``(N, R)`` what role holders add: the most that role changes relieve."""
    total = np.zeros((problem.num_bins, problem.num_resources), dtype=np.int64)
    held = np.nonzero(problem.role_home >= 0)[0]
    place = problem.home[problem.role_home[held]]
    inside = place >= 0
    np.add.at(total, place[inside], problem.role_weight[held[inside]])
    return total


def role_gains(problem: Problem) -> IntArray:
    """Return ``(N, R)`` what a bin's items would add if each took its group's role."""
    total = np.zeros((problem.num_bins, problem.num_resources), dtype=np.int64)
    items = np.arange(problem.num_items)
    holder = problem.role_home[problem.group_of]
    rows = items[(holder >= 0) & (holder != items) & (problem.home >= 0)]
    np.add.at(total, problem.home[rows], problem.role_weight[problem.group_of[rows]])
    return total


def forced_loads(problem: Problem) -> IntArray:
    """Return ``(N, R)`` what items that must leave take with them, roles apart."""
    total = np.zeros((problem.num_bins, problem.num_resources), dtype=np.int64)
    must = np.equal(problem.movability, Movability.MUST) & (problem.home >= 0)
    rows = np.nonzero(must)[0]
    np.add.at(total, problem.home[rows], item_weights(problem, rows))
    return total


def item_weights(problem: Problem, rows: IntArray) -> IntArray:
    """Return ``(rows, R)`` weights of items in their home bin."""
    weight = problem.weight[problem.group_of[rows]]
    if len(problem.extra):
        weight = weight + problem.extra[rows]
    return weight


def arrivals(problem: Problem) -> IntArray:
    """Return the group of everything that may arrive in one bin, caps respected."""
    may = np.not_equal(problem.movability, Movability.NEVER)
    movable = np.bincount(problem.group_of[may], minlength=problem.num_groups)
    cap = problem.levels[0].group_cap
    most = movable if cap is None else np.minimum(movable, cap)
    return np.repeat(np.arange(problem.num_groups), most)


def _by_ratio(weight: IntArray, cost: IntArray) -> IntArray:
    """Order rows by cost per weight, those without weight left out."""
    rows = np.nonzero(weight > 0)[0]
    return rows[np.argsort(cost[rows] / weight[rows], kind="stable")]


def _best_cover(
    b: int,
    excess: IntArray,
    weight: IntArray,
    cost: IntArray,
    order: list[IntArray] | None = None,
) -> tuple[int, Entry | None]:
    """Return the largest cover bound of one bin over its resources."""
    best: tuple[int, Entry | None] = (0, None)
    for r in np.nonzero(excess > 0)[0]:
        rows = _by_ratio(weight[:, r], cost) if order is None else order[r]
        multiplier = _multiplier(weight[rows, r], cost[rows], int(excess[r]))
        if multiplier is None:
            continue
        numerator, denominator = multiplier
        value = dual_value(weight[:, r], cost, int(excess[r]), numerator, denominator)
        if value > best[0]:
            best = (value, (b, int(r), numerator, denominator))
    return best


def _multiplier(
    weight: IntArray, cost: IntArray, excess: int
) -> tuple[int, int] | None:
    """Return cost / weight of the item that covers the excess, as a fraction."""
    if not len(weight):
        return None
    covered = np.cumsum(weight)
    critical = min(int(np.searchsorted(covered, excess)), len(weight) - 1)
    c, w = int(cost[critical]), int(weight[critical])
    if c % w == 0:
        return (c // w, 1) if c else None
    # Numbers of the check must stay below 2^63: λ is rounded down, any λ is valid.
    bits = 61 - max(int(cost.max()).bit_length(), 1)
    bits = min(bits, 24)
    while bits > 0 and ((c << bits) // w) * int(weight.max()) >= 1 << 62:
        bits -= 1
    numerator = (c << bits) // w
    return (numerator, 1 << bits) if numerator else None


def dual_value(
    weight: IntArray, cost: IntArray, excess: int, numerator: int, denominator: int
) -> int:
    """Return the cover bound of a multiplier, rounded up, in exact integers."""
    saved = np.maximum(numerator * weight - denominator * cost, 0)
    high, low = int((saved >> 32).sum()), int((saved & 0xFFFFFFFF).sum())
    value = numerator * excess - ((high << 32) + low)
    return -(-value // denominator)
