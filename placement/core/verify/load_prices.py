r"""
Verify a bound from prices of load (docs/theory.md, "Lagrangian bound").

For any prices :math:`\lambda^+_{br}, \lambda^-_{br} \ge 0` of the load of a bin above
and below its band, with :math:`\mu = \lambda^+ - \lambda^-`,

.. math::

    \sum_g \min_{S_g} \Bigl( \sum_{b \in S_g} (c_{gb} + \mu_b w_g)
    + \min_{b \in S_g} \mu_b v_g \Bigr)
    + \sum_b (\mu_b f_b - \lambda^+_b u_b + \lambda^-_b l_b)

is at most the cost of any arrangement within the bands: the Lagrangian dual of the
exact model, in exact integers. :math:`S_g` has one bin per item of the group, at most
:math:`\kappa_g` in each node. The greedy algorithm finds the cheapest set, because
these sets are bases of a matroid (`core.verify.group_costs`). Mixed-integer rounding
cuts (`core.verify.mir_cuts`) have prices as well: the coefficient of an item or role in
a cut adds to its price. Imports the problem and the other verifiers alone.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from placement.array_types import IntArray
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.verify.group_costs import price_of_groups
from placement.core.verify.price_witness import (
    NOTHING_KNOWN,
    Fixing,
    Known,
    Prices,
    read_prices,
)

GROUPS_AT_ONCE = 4096


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
    Return the lower bound on cost, or on moves, that prices of load prove.

    Parameters
    ----------
    problem
        Problem that the bound covers; a bin holds at most one item of a group.
    lower, upper
        ``(N, R)`` ends of the bands for which the bound is claimed.
    witness
        ``denominator``; ``above`` and ``below``: rows of bin, resource, numerator;
        optional ``rounded``: rows of an index into `known.rows` and a numerator.
    counts_moves
        Whether every move costs 1, so that the bound is on the number of moves.
    known
        Fixings and cuts that hold for the arrangements the bound covers.

    Returns
    -------
    Lower bound for every arrangement within the bands; 0 if the witness proves
    nothing.
    """
    cost = problem.cost * problem.least_price
    cost = np.ones_like(cost) if counts_moves else cost
    prices = read_prices(problem, witness, cost, known)
    if prices is None:
        return 0
    total = _total(problem, prices, lower, upper)
    return 0 if total is None else max(0, -(-total // prices.denominator))


def is_impossible(problem: Problem, fixings: tuple[Fixing, ...]) -> bool:
    """Return whether no arrangement has these fixings, whatever the loads."""
    free = {"denominator": 1, "above": (), "below": ()}
    prices = read_prices(problem, free, np.zeros_like(problem.cost), Known(fixings))
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
    Return the lower bound on the distance outside the bands that prices prove.

    Moves are free here. Widening every band by :math:`d` targets lowers the dual value
    by :math:`d` times the sum of prices times targets. While the dual value is
    positive, no arrangement keeps the widened bands.

    Parameters
    ----------
    problem
        Problem that the bound covers; a bin holds at most one item of a group.
    witness
        As for `verify_prices`; every priced bin and resource has a target.
    known
        As for `verify_prices`.
    bands
        ``(N, R)`` lower and upper ends; `None`: the bands of the problem.

    Returns
    -------
    Distance in targets, rounded down; 0 if the witness proves nothing.
    """
    prices = read_prices(problem, witness, np.zeros_like(problem.cost), known)
    if prices is None:
        return 0.0
    bins = problem.bins
    sold = _sold(prices)
    if not sold or any(bins.target[b, r] <= 0 for b, r, _ in sold):
        return 0.0
    total = _total(problem, prices, *(bands or (bins.lower, bins.upper)))
    unit = sum(Fraction(float(bins.target[b, r])) * price for b, r, price in sold)
    return max(0.0, float(Fraction(total or 0) / unit) * (1 - 2**-50))


def _sold(prices: Prices) -> list[tuple[int, int, int]]:
    """Return bin, resource and numerator of each price of load outside a band."""
    both = prices.above + prices.below
    loads = [(b, r, int(both[b, r])) for b, r in np.argwhere(both > 0).tolist()]
    return loads + [(row.bin, row.resource, p) for row, p in prices.rounded]


def _total(
    problem: Problem, prices: Prices, lower: IntArray, upper: IntArray
) -> int | None:
    """Return the dual value of the prices; `None` where they prove nothing."""
    if (prices.above[upper >= NO_LIMIT] > 0).any():
        return None
    total = _of_bands(problem, prices, lower, upper)
    for start in range(0, problem.num_groups, GROUPS_AT_ONCE):
        groups = np.arange(start, min(start + GROUPS_AT_ONCE, problem.num_groups))
        part = price_of_groups(problem, prices, groups)
        if part is None:
            return None
        total += part
    return total


def _of_bands(
    problem: Problem, prices: Prices, lower: IntArray, upper: IntArray
) -> int:
    """Return the part of the dual value from bands and fixed loads of all bins."""
    total = 0
    for b, r in np.argwhere((prices.above > 0) | (prices.below > 0)).tolist():
        fixed, above = int(problem.bins.fixed[b, r]), int(prices.above[b, r])
        below = int(prices.below[b, r])
        total += (above - below) * fixed
        total += below * int(lower[b, r])
        total -= above * int(upper[b, r])
    return total - sum(price * row.limit for row, price in prices.rounded)
