r"""
Lower bounds on the cost and the number of moves.

**Cover** (docs/theory.md, "Cover bound", and "Count bound" for unit weights). A bin
:math:`b` over its band by :math:`e_r` in some resources, role changes not counted, must
lose items whose weights sum to the excess. For any multipliers :math:`\lambda_r \ge 0`,
weak duality of the fractional covering problem gives

.. math::

    \sum_{i \text{ leaves } b} c_i \ge
    \sum_r \lambda_r e_r - \sum_{i \in b} \max(0, \sum_r \lambda_r w_{ir} - c_i).

Each item leaves one bin, so the bounds of all bins add up; the same holds for the bins
under their band and the items that arrive. The larger side is the bound. Items that
must move count in full. The witness is :math:`\lambda` per bin as fractions, from which
`core.verify.cover_and_cut` computes the bound again in integers.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from placement.array_types import IntArray
from placement.core.bounds.knapsack_multipliers import Pool, cover
from placement.core.model.arrangement import (
    Arrangement,
    home_loads,
    loads,
    sum_into,
    sum_rows_into,
)
from placement.core.model.objective import distances, usable_capacity
from placement.core.model.problem import NO_LIMIT, Movability, Problem
from placement.core.model.solution import Proof

Entry = tuple[int, ...]
"""Bin, denominator of its multipliers, then resource and numerator alternately."""


ROUNDING = 1e-9
"""Relative margin above the rounding error of float sums."""
NEARLY = 0.9999
"""Share of a known answer's cost (0-1) at which a bound needs no improvement."""


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """``(N, R)`` lower and upper ends of the bands for which a bound holds."""

    lower: IntArray
    upper: IntArray


def aimed_bands(problem: Problem) -> Bands:
    """Return the bands of the problem; unlimited where a resource has no target."""
    bins = problem.bins
    has_band = bins.target > 0
    return Bands(
        np.where(has_band, bins.lower, 0), np.where(has_band, bins.upper, NO_LIMIT)
    )


def reached_bands(problem: Problem, at: Arrangement) -> Bands:
    """
    Return bands widened to the loads that an arrangement reached.

    A bin outside its band gets its distance from the target as the half width of the
    band, which then admits all loads that are no further outside, too. Bounds hold for
    the widened bands. No band exceeds a capacity that the arrangement keeps.
    """
    bins = problem.bins
    load = loads(problem, at)
    has_band = bins.target > 0
    off = np.maximum(np.maximum(load - bins.upper, bins.lower - load), 0)
    half = np.abs(load - bins.target) - (bins.target - bins.lower)
    off = np.where(off > 0, np.maximum(off, np.floor(half).astype(np.int64)), 0)
    has_end = has_band & (bins.upper < NO_LIMIT)
    most = np.where(has_end, np.minimum(bins.upper, NO_LIMIT - off) + off, NO_LIMIT)
    capacity = usable_capacity(problem)
    return Bands(
        np.where(has_band, bins.lower - off, 0),
        np.where(load <= capacity, np.minimum(most, capacity), most),
    )


def furthest_bands(problem: Problem, at: Arrangement) -> Bands:
    """
    Return bands widened everywhere by the largest distance that an arrangement reached.

    Loads within them are no further outside the bands than the furthest one. They
    include the bands that each bin reached.
    """
    bins, reached = problem.bins, reached_bands(problem, at)
    has_band = bins.target > 0
    more = float(distances(problem, loads(problem, at)).max(initial=0.0))
    beyond = np.ceil(more * bins.target).astype(np.int64)
    lower = np.where(has_band, np.maximum(bins.lower - beyond, 0), 0)
    has_end = has_band & (bins.upper < NO_LIMIT)
    upper = np.where(has_end, np.minimum(bins.upper, NO_LIMIT) + beyond, NO_LIMIT)
    capacity = usable_capacity(problem)
    keeps = loads(problem, at) <= capacity
    upper = np.where(keeps, np.minimum(upper, capacity), upper)
    return Bands(np.minimum(lower, reached.lower), np.maximum(upper, reached.upper))


def cost_bound(
    problem: Problem, bands: Bands, enough: int | None = None
) -> tuple[int, Proof | None]:
    """
    Return a lower bound on the cost of moving, and its proof.

    The search for a better bound ends close to `enough`, the cost of a known answer.
    """
    return _bound(problem, bands, problem.cost * problem.least_price, enough)


def moves_bound(
    problem: Problem, bands: Bands, enough: int | None = None
) -> tuple[int, Proof | None]:
    """Return a lower bound on the number of moves, and its proof."""
    return _bound(problem, bands, np.ones_like(problem.cost), enough)


def _bound(
    problem: Problem, bands: Bands, cost: IntArray, enough: int | None
) -> tuple[int, Proof | None]:
    must = np.equal(problem.movability, Movability.MUST)
    forced = int(cost[problem.group_of[must]].sum())
    if enough is not None and 0 < enough <= forced:
        return _proven(forced, [], "leave")
    value, entries = _arriving(problem, bands, cost)
    if enough is not None and value >= NEARLY * enough:
        return _proven(value, entries, "arrive")
    leaving, leaving_entries = _leaving(problem, bands, cost, (forced, value))
    if leaving >= value:
        return _proven(leaving, leaving_entries, "leave")
    return _proven(value, entries, "arrive")


def _proven(value: int, entries: list[Entry], side: str) -> tuple[int, Proof | None]:
    if value <= 0:
        return 0, None
    return value, Proof(
        kind="cover" if entries else "forced",
        witness={"side": side, "bins": [list(entry) for entry in entries]},
    )


def _leaving(
    problem: Problem, bands: Bands, cost: IntArray, known: tuple[int, int]
) -> tuple[int, list[Entry]]:
    """
    Bound the cost of items leaving bins over their band, forced moves in full.

    `known`: the cost of forced moves, and the bound proven already. If no multipliers
    can prove more than that, the result covers forced moves alone.
    """
    value, proven = known
    entries: list[Entry] = []
    excess = home_loads(problem) - role_loads(problem) - forced_loads(problem)
    excess = excess - bands.upper
    over = np.nonzero((excess > 0).any(axis=1))[0]
    may = np.equal(problem.movability, Movability.MAY) & (problem.home >= 0)
    items = np.nonzero(may)[0]
    if not len(over) or value + _most_to_leave(problem, items, excess, cost) < proven:
        return value, entries
    items = items[np.argsort(problem.home[items], kind="stable")]
    first = np.searchsorted(problem.home[items], np.arange(problem.num_bins + 1))
    for b in over:
        rows = items[first[b] : first[b + 1]]
        covered = cover(
            excess[b], item_weights(problem, rows), cost[problem.group_of[rows]]
        )
        if covered.value > 0:
            value += covered.value
            entries.append(covered.entry(int(b)))
    return value, entries


def _most_to_leave(
    problem: Problem, items: IntArray, excess: IntArray, cost: IntArray
) -> float:
    """
    Return an upper bound on the cost of covering every excess, and so on any bound.

    An equal fraction of every item of a bin covers the excess, if the fraction is the
    largest that any resource requires. Each bin's bound is rounded up. Infinite if all
    items of a bin together do not cover its excess.
    """
    home, group = problem.home[items], problem.group_of[items]
    part = np.zeros(problem.num_bins)
    for r in np.nonzero((excess > 0).any(axis=0))[0]:
        weight = problem.weight[group, r]
        if len(problem.extra):
            weight = weight + problem.extra[items, r]
        held = np.bincount(home, weights=weight, minlength=problem.num_bins)
        asked = np.full(problem.num_bins, np.inf)
        np.divide(excess[:, r], held, out=asked, where=held > 0)
        part = np.maximum(part, np.where(excess[:, r] > 0, asked, 0.0))
    if (part > 1).any():
        return float("inf")
    costs = np.bincount(home, weights=cost[group], minlength=problem.num_bins)
    return float((part * costs).sum() * (1 + ROUNDING) + (part > 0).sum())


def _arriving(
    problem: Problem, bands: Bands, cost: IntArray
) -> tuple[int, list[Entry]]:
    """Bound the cost of items arriving in bins under their band."""
    missing = bands.lower - home_loads(problem) + forced_loads(problem)
    missing[~problem.may_receive] = 0
    if not (missing > 0).any():
        return 0, []
    missing -= role_gains(problem)
    missing[~problem.may_receive] = 0
    count = arrivals(problem)
    pools = {
        r: Pool(
            problem.weight[:, r] + problem.role_weight[:, r],
            cost,
            count,
            enough=int(missing[:, r].max()),
        )
        for r in np.nonzero((missing > 0).any(axis=0))[0]
    }
    value, entries = 0, []
    for b in np.nonzero((missing > 0).any(axis=1))[0]:
        covers = [
            pools[r].cover(int(r), int(missing[b, r]))
            for r in np.nonzero(missing[b] > 0)[0]
        ]
        best = max(covers, key=lambda covered: covered.value)
        if best.value > 0:
            value += best.value
            entries.append(best.entry(int(b)))
    return value, entries


def role_loads(problem: Problem) -> IntArray:
    """Return ``(N, R)`` load of the roles: the most that role changes relieve."""
    held = np.nonzero(problem.role_home >= 0)[0]
    place = problem.home[problem.role_home[held]]
    return sum_rows_into(place, problem.role_weight[held], problem.num_bins)


_role_gains: WeakKeyDictionary[Problem, IntArray] = WeakKeyDictionary()


def role_gains(problem: Problem) -> IntArray:
    """
    Return ``(N, R)`` load gained if every item of a bin took its group's role.

    Computed once for each problem; read-only.
    """
    if problem not in _role_gains:
        _role_gains[problem] = _sum_role_gains(problem)
    return _role_gains[problem]


def _sum_role_gains(problem: Problem) -> IntArray:
    # Role weights of all items of groups with a holder, minus those of the holders.
    gains = -role_loads(problem)
    is_held = problem.role_home >= 0
    for r in np.nonzero(problem.role_weight.any(axis=0))[0]:
        weight = np.where(is_held, problem.role_weight[:, r], 0)
        gains[:, r] += sum_into(
            problem.home, weight[problem.group_of], problem.num_bins
        )
    return gains


def forced_loads(problem: Problem) -> IntArray:
    """Return ``(N, R)`` weights of the items that must leave, without roles."""
    must = np.equal(problem.movability, Movability.MUST) & (problem.home >= 0)
    rows = np.nonzero(must)[0]
    weight = item_weights(problem, rows)
    return sum_rows_into(problem.home[rows], weight, problem.num_bins)


def item_weights(problem: Problem, rows: IntArray) -> IntArray:
    """Return ``(rows, R)`` weights of items in their home bin."""
    weight = problem.weight[problem.group_of[rows]]
    if len(problem.extra):
        weight = weight + problem.extra[rows]
    return weight


def arrivals(problem: Problem) -> IntArray:
    """Return ``(G,)`` the most items of a group that may arrive in one bin."""
    may = np.not_equal(problem.movability, Movability.NEVER)
    movable = np.bincount(problem.group_of[may], minlength=problem.num_groups)
    cap = problem.levels[0].group_cap
    return movable if cap is None else np.minimum(movable, cap)
