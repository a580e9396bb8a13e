r"""
Re-check a bound from prices of load, in exact integers (theory T5).

Whatever the prices :math:`\lambda^+_{br}, \lambda^-_{br} \ge 0` of a bin's load above
and below its band, with :math:`\mu = \lambda^+ - \lambda^-`,

.. math::

    \sum_g \min_{S_g} \Bigl( \sum_{b \in S_g} (c_{gb} + \mu_b w_g)
    + \min_{b \in S_g} \mu_b v_g \Bigr)
    + \sum_b (\mu_b f_b - \lambda^+_b u_b + \lambda^-_b l_b)

is at most the cost of any arrangement within the bands: the Lagrangian dual of the
exact model. :math:`S_g` are bins enough for the items of a group, at most
:math:`\kappa_g` in each node; the cheapest by the greedy, for these sets are bases of a
matroid. This module imports the problem alone.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from placement.core.problem import (
    NO_LIMIT,
    Movability,
    Problem,
)

IntArray = npt.NDArray[np.int64]
SAFE = 1 << 61
"""Sums below this fit into 64 bits, whatever is added to them next."""
GROUPS_AT_ONCE = 4096
FORBIDDEN = 1 << 62
"""Price of a bin that a group may not use."""


class Fixing(NamedTuple):
    """That an item of a group, or its role, lies in a bin, or does not."""

    group: int
    bin: int
    is_role: bool
    is_there: bool


class _Prices(NamedTuple):
    """
    ``(N, R)`` numerators of prices above and below the bands, over `denominator`.

    `copy` is ``(G,)`` what a move of an item of each group costs, in these units, and
    `fixings` what is known of arrangements besides.
    """

    above: IntArray
    below: IntArray
    denominator: int
    copy: IntArray
    fixings: tuple[Fixing, ...]

    @property
    def net(self) -> IntArray:
        """``(N, R)`` what one unit of load costs."""
        return self.above - self.below


def verify_prices(
    problem: Problem,
    lower: IntArray,
    upper: IntArray,
    witness: Mapping[str, Any],
    *,
    counts_moves: bool = False,
    fixings: tuple[Fixing, ...] = (),
) -> int:
    """
    Return the cost that prices of load prove, or the number of moves.

    Parameters
    ----------
    problem
        What the bound is about; one item of a group in a bin.
    lower, upper
        ``(N, R)`` the bands for which it is claimed.
    witness
        ``denominator``, and ``above`` and ``below``: rows of bin, resource, numerator.
    counts_moves
        Whether every move costs one, whatever its group.
    fixings
        Of the arrangements that the bound is about.

    Returns
    -------
    A number that no arrangement within the bands can be below; 0 if the witness
    proves nothing.
    """
    cost = problem.cost * problem.least_price
    cost = np.ones_like(cost) if counts_moves else cost
    prices = _read(problem, witness, cost, fixings)
    if prices is None:
        return 0
    total = _total(problem, prices, lower, upper)
    return 0 if total is None else max(0, -(-total // prices.denominator))


def is_impossible(problem: Problem, fixings: tuple[Fixing, ...]) -> bool:
    """Tell whether no arrangement has these fixings, whatever the loads."""
    free = {"denominator": 1, "above": (), "below": ()}
    prices = _read(problem, free, np.zeros_like(problem.cost), fixings)
    if prices is None:
        return False
    return _total(problem, prices, problem.bins.lower, problem.bins.upper) is None


def verify_distance(
    problem: Problem, witness: Mapping[str, Any], fixings: tuple[Fixing, ...] = ()
) -> float:
    """
    Return the distance outside the bands that prices of load prove.

    Where moving costs nothing, widening every band by :math:`d` targets lowers what
    prices come to by :math:`d` times the sum of prices times targets: an arrangement
    as near as that would cost less than nothing.

    Parameters
    ----------
    problem
        What the bound is about; one item of a group in a bin.
    witness
        As for `verify_prices`, of bins and resources that have a target.
    fixings
        As there.

    Returns
    -------
    Distance in targets, rounded downwards; 0 if the witness proves nothing.
    """
    prices = _read(problem, witness, np.zeros_like(problem.cost), fixings)
    if prices is None:
        return 0.0
    bins = problem.bins
    rows = np.argwhere((prices.above > 0) | (prices.below > 0)).tolist()
    if not rows or any(bins.target[b, r] <= 0 for b, r in rows):
        return 0.0
    total = _total(problem, prices, bins.lower, bins.upper)
    unit = sum(
        Fraction(float(bins.target[b, r]))
        * int(prices.above[b, r] + prices.below[b, r])
        for b, r in rows
    )
    return max(0.0, float(Fraction(total or 0) / unit) * (1 - 2**-50))


def _total(
    problem: Problem, prices: _Prices, lower: IntArray, upper: IntArray
) -> int | None:
    """Return what prices come to; `None` where they prove nothing."""
    if _may_overflow(problem, prices):
        return None
    if (prices.above[upper >= NO_LIMIT] > 0).any():
        return None
    total = _of_bands(problem, prices, lower, upper)
    for start in range(0, problem.num_groups, GROUPS_AT_ONCE):
        groups = np.arange(start, min(start + GROUPS_AT_ONCE, problem.num_groups))
        part = _of_groups(problem, prices, groups)
        if part is None:
            return None
        total += part
    return total


def _read(
    problem: Problem,
    witness: Mapping[str, Any],
    cost: IntArray,
    fixings: tuple[Fixing, ...],
) -> _Prices | None:
    denominator = int(witness["denominator"])
    tables: list[IntArray] = []
    for side in ("above", "below"):
        table = np.zeros((problem.num_bins, problem.num_resources), dtype=np.int64)
        for b, r, numerator in witness[side]:
            table[b, r] = numerator
        tables.append(table)
    if denominator < 1 or any((table < 0).any() for table in tables):
        return None
    above, below = tables
    if denominator * int(cost.max(initial=0)) >= SAFE:
        return None
    return _Prices(above, below, denominator, denominator * cost, fixings)


def _may_overflow(problem: Problem, prices: _Prices) -> bool:
    """Tell whether the price of one group might not fit into 64 bits."""
    steepest = np.abs(prices.net).max(axis=0, initial=0).tolist()
    heaviest = problem.weight.max(axis=0, initial=0) + np.abs(problem.role_weight).max(
        axis=0, initial=0
    )
    if len(problem.extra):
        heaviest = heaviest + np.abs(problem.extra).max(axis=0, initial=0)
    load = sum(p * int(w) for p, w in zip(steepest, heaviest, strict=True))
    copy = int(prices.copy.max(initial=0))
    largest = int(np.diff(problem.group_start).max(initial=0)) + 2
    return bool((load + copy) * largest >= SAFE)


def _exact_sum(values: IntArray) -> int:
    """Sum integers of either sign, past 2^63 too."""
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def _of_bands(
    problem: Problem, prices: _Prices, lower: IntArray, upper: IntArray
) -> int:
    """Return what the bands and the fixed loads come to, for all bins."""
    total = 0
    for b, r in np.argwhere((prices.above > 0) | (prices.below > 0)).tolist():
        fixed, above = int(problem.bins.fixed[b, r]), int(prices.above[b, r])
        below = int(prices.below[b, r])
        total += (above - below) * fixed
        total += below * int(lower[b, r])
        total -= above * int(upper[b, r])
    return total


def _of_groups(problem: Problem, prices: _Prices, groups: IntArray) -> int | None:
    """Return what the cheapest bins for each group come to; `None`: too few of them."""
    price, is_kept = _bin_prices(problem, prices, groups)
    size = np.diff(problem.group_start)[groups]
    chosen = _cheapest(problem, price, is_kept, groups)
    if ((chosen < FORBIDDEN).sum(axis=1) < size).any():
        return None
    is_taken = np.arange(chosen.shape[1])[None, :] < size[:, None]
    base = np.where(is_taken, chosen, 0)
    last = np.where(is_taken, chosen, -FORBIDDEN).max(axis=1, initial=-FORBIDDEN)
    more = np.where(is_kept, 0, np.maximum(price - last[:, None], 0))
    more[price >= FORBIDDEN] = FORBIDDEN
    roles = _of_roles(problem, prices, groups, more)
    return None if roles is None else _exact_sum(base) + roles


def _bin_prices(
    problem: Problem, prices: _Prices, groups: IntArray
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return ``(g, N)`` the price of each bin for an item, and where one must stay."""
    first, last = int(groups[0]), int(groups[-1]) + 1
    items = np.arange(problem.group_start[first], problem.group_start[last])
    row, home = problem.group_of[items] - first, problem.home[items]
    can = problem.is_eligible[problem.group_class[groups]][:, problem.bin_class]
    can = can & problem.may_receive
    copy = prices.copy[groups]
    price = np.repeat(copy[:, None], problem.num_bins, axis=1)
    at_home = home >= 0
    must = np.equal(problem.movability[items], Movability.MUST)
    leaves, stays = at_home & must, at_home & ~must
    can[row[leaves], home[leaves]] = False
    can[row[stays], home[stays]] = True
    price[row[stays], home[stays]] = 0
    price += problem.weight[groups] @ prices.net.T
    if len(problem.extra):
        more = (problem.extra[items] * prices.net[home]).sum(axis=1)
        # Or another item of the group is there, which was copied.
        more = np.minimum(more, copy[row])
        price[row[stays], home[stays]] += more[stays]
    price[~can] = FORBIDDEN
    is_kept = np.zeros(price.shape, dtype=np.bool_)
    never = at_home & np.equal(problem.movability[items], Movability.NEVER)
    is_kept[row[never], home[never]] = True
    for fixing in prices.fixings:
        if fixing.group in groups and not fixing.is_role:
            place = fixing.group - first, fixing.bin
            is_kept[place] = fixing.is_there
            price[place] = price[place] if fixing.is_there else FORBIDDEN
    return price, is_kept


def _cheapest(
    problem: Problem,
    price: IntArray,
    is_kept: npt.NDArray[np.bool_],
    groups: IntArray,
) -> IntArray:
    """Return ``(g, n)`` prices of bins, the cheapest first, no more than caps admit."""
    others = _cheapest_others(problem, price, is_kept, groups)
    if not is_kept.any():
        return others
    # What must stay comes before all others, whatever it costs; it is added later.
    kept = np.sort(np.where(is_kept, price, FORBIDDEN), axis=1)
    width = int(is_kept.sum(axis=1).max())
    both = np.concatenate([kept[:, :width], others], axis=1)
    order = np.argsort(both == FORBIDDEN, axis=1, kind="stable")
    return np.take_along_axis(both, order, axis=1)


def _cheapest_others(
    problem: Problem,
    price: IntArray,
    is_kept: npt.NDArray[np.bool_],
    groups: IntArray,
) -> IntArray:
    """Return the same for what need not stay, as many of a node as its cap leaves."""
    price = np.where(is_kept, FORBIDDEN, price)
    level = next((one for one in problem.levels[1:] if one.group_cap is not None), None)
    if level is None or level.group_cap is None:
        return np.sort(price, axis=1)
    cap = level.group_cap[groups]
    cap = np.where(cap > 0, cap, problem.num_bins)
    nodes = level.node_of_bin
    parts = [price[:, nodes < 0]]
    for node in np.unique(nodes[nodes >= 0]).tolist():
        is_inside = nodes == node
        inside = np.sort(price[:, is_inside], axis=1)
        kept = is_kept[:, is_inside].sum(axis=1)
        # Where more stay than there may be, no cap can be kept to.
        left = np.where(kept > cap, problem.num_bins, cap - kept)
        inside[np.arange(inside.shape[1])[None, :] >= left[:, None]] = FORBIDDEN
        parts.append(inside)
    return np.sort(np.concatenate(parts, axis=1), axis=1)


def _of_roles(
    problem: Problem, prices: _Prices, groups: IntArray, more: IntArray
) -> int | None:
    """
    Return what the roles come to; `None` where one has no place at all.

    `more` is what a bin costs that has to replace another one.
    """
    held = np.nonzero(problem.role_home[groups] >= 0)[0]
    if not len(held):
        return 0
    role = problem.role_weight[groups[held]] @ prices.net.T
    may = np.repeat(problem.may_hold_role[None, :], len(held), axis=0)
    holder = problem.home[problem.role_home[groups[held]]]
    at_home = np.nonzero(holder >= 0)[0]
    # A role that goes with its item alone has one place where that has to stay.
    item = problem.role_home[groups[held]]
    is_fixed = np.equal(problem.movability[item], Movability.NEVER) & (holder >= 0)
    may[is_fixed & ~problem.is_role_movable[groups[held]]] = False
    may[at_home, holder[at_home]] = True
    for fixing in prices.fixings:
        if fixing.is_role and fixing.group in groups[held]:
            row = int(np.searchsorted(held, fixing.group - int(groups[0])))
            is_here = np.arange(problem.num_bins) == fixing.bin
            may[row] &= is_here if fixing.is_there else ~is_here
    total = np.where(may & (more[held] < FORBIDDEN), role + more[held], FORBIDDEN)
    best = total.min(axis=1, initial=FORBIDDEN)
    return None if (best >= FORBIDDEN).any() else _exact_sum(best)
