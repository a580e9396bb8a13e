r"""
Rows of the exact model that rounding proves: mixed-integer rounding of one bin's load.

Of whole :math:`z_j \ge 0` with :math:`\sum_j a_j z_j - t d \le \beta`, :math:`d \ge 0`,
any divisor :math:`D > 0` and :math:`\rho = \beta \bmod D` prove

.. math::

    \sum_j \Bigl( \Bigl\lfloor \frac{a_j}{D} \Bigr\rfloor (D - \rho)
    + \max(0,\; a_j \bmod D - \rho) \Bigr) z_j - t d
    \;\le\; \Bigl\lfloor \frac{\beta}{D} \Bigr\rfloor (D - \rho)

(Marchand and Wolsey, Aggregation and mixed integer rounding to solve MIPs, Operations
Research 49, 2001; lifted covers are among these). A row is the load of a bin in one
resource against an end of its band, :math:`d` what it is outside of it. What a group
has in the bin is nothing, an item, or an item with its role: one of the three is one
less the others, and written so where the relaxation has most of it.

A cut is told by its row, divisor and what is written otherwise; `core.verify.mir_cuts`
works its numbers out again.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import HALF, Rows
from placement.core.model.problem import (
    NO_LIMIT,
    BoolArray,
    FloatArray,
    IntArray,
    Problem,
)

NOTHING, ITEM, ROLE = 0, 1, 2
"""What a group has in a bin, the second without its role."""
DIVISORS = 8
"""Loads of columns that are tried as divisors of one row."""
HALVINGS = 3
"""How often each of these is halved."""
WHOLE = 1e-6
"""How far from 0 and 1 a column may be and count as whole."""
LEAST_DEPTH = 1e-3
"""By how much a cut must cut off what it was made for, as a part of its length."""


class Cut(NamedTuple):
    """
    One cut: a row of the exact model, and how it is rounded.

    Parameters
    ----------
    bin, resource, is_lower
        The load, and which end of its band.
    divisor
        By which it is divided.
    items, roles
        Groups of which an item without its role, or one with it, is written as one
        less the others.
    """

    bin: int
    resource: int
    is_lower: bool
    divisor: int
    items: tuple[int, ...]
    roles: tuple[int, ...]


class Row(NamedTuple):
    """
    A cut as a row of the linear program: ``columns @ x - unit * d <= limit``.

    Parameters
    ----------
    cut
        Which one.
    columns, weights
        ``(k,)`` columns of `Rows`, and what each has in the row.
    limit
        Of the row.
    """

    cut: Cut
    columns: IntArray
    weights: FloatArray
    limit: float


class _Shares(NamedTuple):
    """How much of an item of each group a bin has, without its role and with it."""

    columns: IntArray
    groups: IntArray
    plain: FloatArray
    led: FloatArray


class _Load(NamedTuple):
    """What the groups bring to one bin in one resource, in the relaxation's answer."""

    groups: IntArray
    weight: IntArray
    role_weight: IntArray
    plain: FloatArray
    led: FloatArray

    def written(self) -> IntArray:
        """Return ``(g,)`` which of three to write as one less the others."""
        there = self.plain + self.led
        of_three = np.argmax([1 - there, self.plain, self.led], axis=0)
        with_item = np.where(there > HALF, ITEM, NOTHING)
        of_role = np.where(self.led > HALF, ROLE, NOTHING)
        either = np.where(self.weight == 0, of_role, of_three)
        written: IntArray = np.where(self.role_weight == 0, with_item, either)
        return written

    def whole(self, written: IntArray) -> tuple[IntArray, FloatArray, int]:
        """Return ``(2, g)`` factors and values of the columns left, and a constant."""
        item, more = self.weight, self.role_weight
        factors = np.stack([item, item + more])
        values = np.stack([self.plain, self.led])
        # The third column takes the place of the one that is written as one less.
        nothing = 1 - self.plain - self.led
        for kind, row, pair in (
            (ITEM, 0, np.stack([-item, more])),
            (ROLE, 1, np.stack([-more, -item - more])),
        ):
            at = written == kind
            values[row, at] = nothing[at]
            factors[:, at] = pair[:, at]
        less = np.where(written == NOTHING, 0, item) + np.where(
            written == ROLE, more, 0
        )
        return factors, values, int(less.sum())


class _Side(NamedTuple):
    """One end of a band: where, and what the groups may bring and pass it by."""

    bin: int
    resource: int
    is_lower: bool
    room: int
    slack: float


def separated(
    problem: Problem, rows: Rows, bands: Bands, columns: FloatArray, outside: float
) -> list[Row]:
    """
    Return the cuts that cut an answer of the relaxation off, the deepest of each row.

    Parameters
    ----------
    problem, rows, bands
        The problem, the columns of its relaxation, and the bands of it.
    columns, outside
        ``(columns,)`` the answer, and how far outside the bands it is, in targets.
    """
    found = []
    for b in range(problem.num_bins):
        shares = _shares_of(rows, np.nonzero(rows.bins == b)[0], columns)
        for r in range(problem.num_resources):
            load = _load_of(problem, shares, r)
            for side in _sides(problem, bands, (b, r), outside):
                made = _deepest(load, side)
                if made is not None:
                    found.append(_as_row(made, shares, rows))
    return found


def _sides(
    problem: Problem, bands: Bands, place: tuple[int, int], outside: float
) -> Iterator[_Side]:
    """Yield the ends of a band that anything can be beyond."""
    fixed = int(problem.bins.fixed[place])
    slack = outside * (float(problem.bins.target[place]) or 1.0)
    lower, upper = int(bands.lower[place]), int(bands.upper[place])
    if upper < NO_LIMIT:
        yield _Side(*place, is_lower=False, room=upper - fixed, slack=slack)
    if lower > 0:
        yield _Side(*place, is_lower=True, room=lower - fixed, slack=slack)


def _shares_of(rows: Rows, here: IntArray, columns: FloatArray) -> _Shares:
    groups, place = np.unique(rows.groups[here], return_inverse=True)
    leads, share = rows.leads[here], columns[here]
    plain, led = np.zeros(len(groups)), np.zeros(len(groups))
    plain[place[~leads]], led[place[leads]] = share[~leads], share[leads]
    return _Shares(here, groups, plain, led)


def _load_of(problem: Problem, shares: _Shares, r: int) -> _Load:
    groups = shares.groups
    weight, role_weight = problem.weight[groups, r], problem.role_weight[groups, r]
    return _Load(groups, weight, role_weight, shares.plain, shares.led)


class _Made(NamedTuple):
    """A cut, what an item without and one with its role has in it, and its limit."""

    cut: Cut
    item: IntArray
    role: IntArray
    limit: int


def _deepest(load: _Load, side: _Side) -> _Made | None:
    """Return the deepest cut of a row; `None` where none cuts the answer off."""
    written = load.written()
    factors, values, constant = load.whole(written)
    sign = -1 if side.is_lower else 1
    divisors = _divisors(factors, values)
    if not len(divisors):
        return None
    limit = sign * (side.room - constant)
    rounded, limits = rounded_rows(sign * factors.reshape(-1), limit, divisors)
    beyond = (rounded * values.reshape(-1)).sum(axis=1) - side.slack - limits
    length = np.sqrt((rounded.astype(np.float64) ** 2).sum(axis=1))
    depth = beyond / np.maximum(length, 1.0)
    best = int(np.argmax(depth))
    if depth[best] <= LEAST_DEPTH:
        return None
    is_item, is_role = written == ITEM, written == ROLE
    cut = Cut(
        side.bin,
        side.resource,
        side.is_lower,
        int(divisors[best]),
        tuple(load.groups[is_item].tolist()),
        tuple(load.groups[is_role].tolist()),
    )
    first, second = rounded[best].reshape(2, -1)
    # As sums of items without and with the role again.
    less = np.where(is_item, first, np.where(is_role, second, 0))
    item, role = np.where(is_item, 0, first) - less, np.where(is_role, 0, second) - less
    return _Made(cut, item, role, int(limits[best]) - int(less.sum()))


def rounded_rows(
    factors: IntArray, limit: int, divisors: IntArray
) -> tuple[IntArray, IntArray]:
    """Return ``(d, k)`` factors rounded by each divisor, and ``(d,)`` the limits."""
    rest = limit % divisors
    left = divisors - rest
    over, more = np.divmod(factors[None, :], divisors[:, None])
    above = np.maximum(more - rest[:, None], 0)
    return over * left[:, None] + above, limit // divisors * left


def _divisors(factors: IntArray, values: FloatArray) -> IntArray:
    """Return loads of columns that are not whole, nearest to a half, and parts."""
    is_open = (values > WHOLE) & (values < 1 - WHOLE) & (factors != 0)
    distance = np.abs(values[is_open] - HALF)
    loads = np.abs(factors[is_open])[np.argsort(distance, kind="stable")]
    tried = np.array(list(dict.fromkeys(loads.tolist()))[:DIVISORS], dtype=np.int64)
    parts = np.unique(tried[:, None] >> np.arange(HALVINGS + 1))
    found: IntArray = parts[parts > 1]
    return found


def _as_row(made: _Made, shares: _Shares, rows: Rows) -> Row:
    here = shares.columns
    place = np.searchsorted(shares.groups, rows.groups[here])
    weights: IntArray = np.where(rows.leads[here], made.role[place], made.item[place])
    is_used: BoolArray = weights != 0
    return Row(
        made.cut, here[is_used], weights[is_used].astype(np.float64), float(made.limit)
    )
