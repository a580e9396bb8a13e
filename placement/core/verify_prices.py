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
matroid. Rows that rounding proves (`core.verify_rounding`) have prices as well: what an
item, or its role, has in a row adds to its price. This module imports the problem and
these rows alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from placement.core.problem import (
    NO_LIMIT,
    Movability,
    Problem,
)
from placement.core.verify_rounding import RoundedRow

IntArray = npt.NDArray[np.int64]
SAFE = 1 << 61
"""Sums below this fit into 64 bits, whatever is added to them next."""
WIDE_CELLS = 5_000
"""Pairs of group and bin up to which integers may be of any length."""
GROUPS_AT_ONCE = 4096
FORBIDDEN = 1 << 62
"""Price of a bin that a group may not use; with a minus, of what cannot give way."""
WIDE_FORBIDDEN = 1 << 600
"""The same among integers of any length."""


class Fixing(NamedTuple):
    """That an item of a group, or its role, lies in a bin, or does not."""

    group: int
    bin: int
    is_role: bool
    is_there: bool


class Known(NamedTuple):
    """What is known of the arrangements that a bound is about, besides the problem."""

    fixings: tuple[Fixing, ...] = ()
    rows: Sequence[RoundedRow] = ()


NOTHING_KNOWN = Known()


class _Priced(NamedTuple):
    """A rounded row and the numerator of its price."""

    row: RoundedRow
    price: int


class _Prices(NamedTuple):
    """
    ``(N, R)`` numerators of prices above and below the bands, over `denominator`.

    `copy` is ``(G,)`` what a move of an item of each group costs, in these units,
    `fixings` what is known of arrangements besides, `rounded` the rows with prices, and
    `forbidden` a price above all others.
    """

    above: IntArray
    below: IntArray
    denominator: int
    copy: IntArray
    fixings: tuple[Fixing, ...]
    rounded: tuple[_Priced, ...]
    forbidden: int = FORBIDDEN

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
    known: Known = NOTHING_KNOWN,
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
        ``denominator``, and ``above`` and ``below``: rows of bin, resource, numerator;
        ``rounded``: rows of a place in `known.rows` and a numerator, if any have one.
    counts_moves
        Whether every move costs one, whatever its group.
    known
        Of the arrangements that the bound is about.

    Returns
    -------
    A number that no arrangement within the bands can be below; 0 if the witness
    proves nothing.
    """
    cost = problem.cost * problem.least_price
    cost = np.ones_like(cost) if counts_moves else cost
    prices = _read(problem, witness, cost, known)
    if prices is None:
        return 0
    total = _total(problem, prices, lower, upper)
    return 0 if total is None else max(0, -(-total // prices.denominator))


def is_impossible(problem: Problem, fixings: tuple[Fixing, ...]) -> bool:
    """Tell whether no arrangement has these fixings, whatever the loads."""
    free = {"denominator": 1, "above": (), "below": ()}
    prices = _read(problem, free, np.zeros_like(problem.cost), Known(fixings))
    if prices is None:
        return False
    return _total(problem, prices, problem.bins.lower, problem.bins.upper) is None


def verify_distance(
    problem: Problem,
    witness: Mapping[str, Any],
    known: Known = NOTHING_KNOWN,
    bands: tuple[IntArray, IntArray] | None = None,
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
    known
        As there.
    bands
        ``(N, R)`` lower and upper ends; `None`: those of the problem.

    Returns
    -------
    Distance in targets, rounded downwards; 0 if the witness proves nothing.
    """
    prices = _read(problem, witness, np.zeros_like(problem.cost), known)
    if prices is None:
        return 0.0
    bins = problem.bins
    sold = _sold(prices)
    if not sold or any(bins.target[b, r] <= 0 for b, r, _ in sold):
        return 0.0
    total = _total(problem, prices, *(bands or (bins.lower, bins.upper)))
    unit = sum(Fraction(float(bins.target[b, r])) * price for b, r, price in sold)
    return max(0.0, float(Fraction(total or 0) / unit) * (1 - 2**-50))


def _sold(prices: _Prices) -> list[tuple[int, int, int]]:
    """Return bin, resource and numerator of each price of load outside a band."""
    both = prices.above + prices.below
    loads = [(b, r, int(both[b, r])) for b, r in np.argwhere(both > 0).tolist()]
    return loads + [(row.bin, row.resource, p) for row, p in prices.rounded]


def _total(
    problem: Problem, prices: _Prices, lower: IntArray, upper: IntArray
) -> int | None:
    """Return what prices come to; `None` where they prove nothing."""
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
    known: Known,
) -> _Prices | None:
    """Return the prices of a witness; `None` where they prove nothing."""
    denominator = int(witness["denominator"])
    shape = (problem.num_bins, problem.num_resources)
    # Integers of any length first, until it is known how large they are.
    above, below = np.zeros(shape, dtype=object), np.zeros(shape, dtype=object)
    for side, table in (("above", above), ("below", below)):
        for b, r, numerator in witness[side]:
            table[b, r] = int(numerator)
    rounded = tuple(
        _Priced(known.rows[row], int(price))
        for row, price in witness.get("rounded", ())
    )
    least = min([0, *above.flat, *below.flat, *(one.price for one in rounded)])
    if denominator < 1 or least < 0:
        return None
    prices = _Prices(above, below, denominator, cost, known.fixings, rounded)
    return _fitted(problem, prices)


def _fitted(problem: Problem, prices: _Prices) -> _Prices | None:
    """
    Return the prices in 64 bits where they fit; `None` where there are too many.

    What comes in has the costs of moves as they are, not in units of the prices.
    """
    largest, cost = _largest(problem, prices), prices.copy
    if largest < SAFE:
        above, below = (t.astype(np.int64) for t in (prices.above, prices.below))
        copy = prices.denominator * cost
        return prices._replace(above=above, below=below, copy=copy)
    is_small = problem.num_groups * problem.num_bins <= WIDE_CELLS
    if not is_small or largest >= WIDE_FORBIDDEN >> 1:
        return None
    rounded = tuple(_Priced(_widened(row), price) for row, price in prices.rounded)
    copy = prices.denominator * cost.astype(object)
    return prices._replace(rounded=rounded, copy=copy, forbidden=WIDE_FORBIDDEN)


def _widened(row: RoundedRow) -> RoundedRow:
    item, role = row.item.astype(object), row.role.astype(object)
    return replace(row, item=item, role=role)


def _largest(problem: Problem, prices: _Prices) -> int:
    """Return more than what one group can cost."""
    steepest = np.maximum(prices.above, prices.below).max(axis=0, initial=0).tolist()
    heaviest = problem.weight.max(axis=0, initial=0) + np.abs(problem.role_weight).max(
        axis=0, initial=0
    )
    if len(problem.extra):
        heaviest = heaviest + np.abs(problem.extra).max(axis=0, initial=0)
    load = sum(p * int(w) for p, w in zip(steepest, heaviest, strict=True))
    load += sum(price * row.most for row, price in prices.rounded)
    copy = prices.denominator * int(prices.copy.max(initial=0))
    most_items = int(np.diff(problem.group_start).max(initial=0))
    return int(load + copy) * (most_items + 2)


def _exact_sum(values: IntArray) -> int:
    """Sum integers of either sign, past 2^63 too."""
    if values.dtype == object:
        return int(values.sum())
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
    return total - sum(price * row.limit for row, price in prices.rounded)


def _of_groups(problem: Problem, prices: _Prices, groups: IntArray) -> int | None:
    """Return what the cheapest bins for each group come to; `None`: too few of them."""
    price, is_kept = _bin_prices(problem, prices, groups)
    open_price = np.where(is_kept, prices.forbidden, price)
    others, dearest = _cheapest_of_nodes(
        problem, (open_price, prices.forbidden), is_kept, groups
    )
    wanted = np.diff(problem.group_start)[groups] - is_kept.sum(axis=1)
    taken = np.arange(others.shape[1])[None, :] < wanted[:, None]
    if (wanted > others.shape[1]).any() or (others[taken] >= prices.forbidden).any():
        return None
    base = np.where(taken, others, 0)
    kept = np.where(is_kept, price, 0)
    if (kept >= prices.forbidden).any():
        return None
    none = -prices.forbidden
    last = np.where(taken, others, none).max(axis=1, initial=none)
    replaced = np.minimum(last[:, None], dearest)
    more = np.maximum(price - replaced, 0)
    more[(price >= prices.forbidden) | (replaced <= none)] = prices.forbidden
    more[is_kept] = 0
    roles = _of_roles(problem, prices, groups, more)
    return None if roles is None else _exact_sum(base) + _exact_sum(kept) + roles


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
    for rounded, sold in prices.rounded:
        price[:, rounded.bin] += sold * rounded.item[groups]
    price[~can] = prices.forbidden
    is_kept = np.zeros(price.shape, dtype=np.bool_)
    never = at_home & np.equal(problem.movability[items], Movability.NEVER)
    is_kept[row[never], home[never]] = True
    for fixing in prices.fixings:
        if fixing.group in groups and not fixing.is_role:
            place = fixing.group - first, fixing.bin
            is_kept[place] = fixing.is_there
            price[place] = price[place] if fixing.is_there else prices.forbidden
    return price, is_kept


def _cheapest_of_nodes(
    problem: Problem,
    open_price: tuple[IntArray, int],
    is_kept: npt.NDArray[np.bool_],
    groups: IntArray,
) -> tuple[IntArray, IntArray]:
    """
    Return ``(g, n)`` sorted prices, of each node as many as its cap leaves.

    With these ``(g, N)`` the dearest that a bin's node may have: no other of the node
    can be taken unless one of those gives way. `open_price` are those of what need not
    stay, and what is above all of them.
    """
    price, forbidden = open_price
    level = next((one for one in problem.levels[1:] if one.group_cap is not None), None)
    dearest = np.full_like(price, forbidden)
    if level is None or level.group_cap is None:
        return np.sort(price, axis=1), dearest
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
        inside[np.arange(inside.shape[1])[None, :] >= left[:, None]] = forbidden
        parts.append(inside)
        dearest[:, is_inside] = _last_of(inside, left, forbidden)[:, None]
    return np.sort(np.concatenate(parts, axis=1), axis=1), dearest


def _last_of(inside: IntArray, left: IntArray, forbidden: int) -> IntArray:
    """Return ``(g,)`` the last that a node has room for; none where it has no room."""
    width = inside.shape[1]
    place = np.clip(left - 1, 0, width - 1)[:, None]
    last = np.take_along_axis(inside, place, axis=1)[:, 0]
    last = np.where(left > width, forbidden, last)
    return np.where(left > 0, last, -forbidden)


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
    for row, price in prices.rounded:
        role[:, row.bin] += price * row.role[groups[held]]
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
            place = int(np.searchsorted(held, fixing.group - int(groups[0])))
            is_here = np.arange(problem.num_bins) == fixing.bin
            may[place] &= is_here if fixing.is_there else ~is_here
    forbidden = prices.forbidden
    total = np.where(may & (more[held] < forbidden), role + more[held], forbidden)
    best = total.min(axis=1, initial=forbidden)
    return None if (best >= forbidden).any() else _exact_sum(best)
