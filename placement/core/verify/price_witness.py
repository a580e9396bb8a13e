"""
Prices of load read from a witness, in 64 bits where they fit.

`core.verify.load_prices` computes the bound that the prices prove. Imports the problem
and the rows of rounding cuts alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from placement.array_types import IntArray
from placement.core.model.problem import Problem
from placement.core.verify.mir_cuts import RoundedRow

SAFE = 1 << 61
"""Sums below this limit fit into 64 bits after one more addition."""
WIDE_CELLS = 5_000
"""Largest number of (group, bin) pairs with integers of any length."""
FORBIDDEN = 1 << 62
"""Price of a bin that a group may not use; negated: of a bin that must stay in use."""
WIDE_FORBIDDEN = 1 << 600
"""`FORBIDDEN` among integers of any length."""


class Fixing(NamedTuple):
    """Fixing of an item of a group, or of its role, inside or outside a bin."""

    group: int
    bin: int
    is_role: bool
    is_there: bool


class Known(NamedTuple):
    """Fixings and valid inequalities of the arrangements that a bound covers."""

    fixings: tuple[Fixing, ...] = ()
    rows: Sequence[RoundedRow] = ()


NOTHING_KNOWN = Known()


class Priced(NamedTuple):
    """A rounded row and the numerator of its price."""

    row: RoundedRow
    price: int


class Prices(NamedTuple):
    """
    ``(N, R)`` numerators of prices above and below the bands, over `denominator`.

    `copy` is ``(G,)`` the cost of moving an item of each group, times the denominator;
    `fixings` are the fixed items and roles, `rounded` the cuts with prices, and
    `forbidden` is a price above all others.
    """

    above: IntArray
    below: IntArray
    denominator: int
    copy: IntArray
    fixings: tuple[Fixing, ...]
    rounded: tuple[Priced, ...]
    forbidden: int = FORBIDDEN

    @property
    def net(self) -> IntArray:
        """``(N, R)`` net price of one unit of load."""
        return self.above - self.below


def read_prices(
    problem: Problem,
    witness: Mapping[str, Any],
    cost: IntArray,
    known: Known,
) -> Prices | None:
    """Return the prices of a witness; `None` where they prove nothing."""
    denominator = int(witness["denominator"])
    shape = (problem.num_bins, problem.num_resources)
    # Start with integers of any length, because their size is not known yet.
    above, below = np.zeros(shape, dtype=object), np.zeros(shape, dtype=object)
    for side, table in (("above", above), ("below", below)):
        for b, r, numerator in witness[side]:
            table[b, r] = int(numerator)
    rounded = tuple(
        Priced(known.rows[row], int(price)) for row, price in witness.get("rounded", ())
    )
    least = min([0, *above.flat, *below.flat, *(one.price for one in rounded)])
    if denominator < 1 or least < 0:
        return None
    prices = Prices(above, below, denominator, cost, known.fixings, rounded)
    return _fitted(problem, prices)


def _fitted(problem: Problem, prices: Prices) -> Prices | None:
    """
    Return the prices in 64 bits where they fit; `None` where they are too large.

    The argument has the costs of moves without the factor of the denominator.
    """
    largest, cost = _largest(problem, prices), prices.copy
    if largest < SAFE:
        above, below = (t.astype(np.int64) for t in (prices.above, prices.below))
        copy = prices.denominator * cost
        return prices._replace(above=above, below=below, copy=copy)
    is_small = problem.num_groups * problem.num_bins <= WIDE_CELLS
    if not is_small or largest >= WIDE_FORBIDDEN >> 1:
        return None
    rounded = tuple(Priced(_widened(row), price) for row, price in prices.rounded)
    copy = prices.denominator * cost.astype(object)
    return prices._replace(rounded=rounded, copy=copy, forbidden=WIDE_FORBIDDEN)


def _widened(row: RoundedRow) -> RoundedRow:
    item, role = row.item.astype(object), row.role.astype(object)
    return replace(row, item=item, role=role)


def _largest(problem: Problem, prices: Prices) -> int:
    """Return an upper bound on the cost of one group."""
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
