r"""
Mixed-integer rounding (MIR) cuts of the exact model, from the load of one bin.

For integers :math:`z_j \ge 0` with :math:`\sum_j a_j z_j - t d \le \beta`,
:math:`d \ge 0`, any divisor :math:`D > 0` and :math:`\rho = \beta \bmod D` prove

.. math::

    \sum_j \Bigl( \Bigl\lfloor \frac{a_j}{D} \Bigr\rfloor (D - \rho)
    + \max(0,\; a_j \bmod D - \rho) \Bigr) z_j - t d
    \;\le\; \Bigl\lfloor \frac{\beta}{D} \Bigr\rfloor (D - \rho)

(Marchand and Wolsey, Aggregation and mixed integer rounding to solve MIPs, Operations
Research 49, 2001; lifted covers are among these). A row limits the load of a bin in one
resource by an end of its band; :math:`d` is the distance outside. A group has in the
bin either nothing, an item, or an item with its role. The variable of the state with
the largest value in the relaxation is complemented: written as one minus the others.

The witness of a cut is its row, its divisor and the complemented groups;
`core.verify.mir_cuts` computes the coefficients again.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import HALF, Rows
from placement.core.model.problem import NO_LIMIT, Problem

NOTHING, ITEM, ROLE = 0, 1, 2
"""States of a group in a bin: nothing, an item without its role, an item with it."""
DIVISORS = 8
"""Largest number of column loads to try as divisors of one row."""
HALVINGS = 3
"""Number of halvings of each divisor."""
WHOLE = 1e-6
"""Largest distance from 0 and 1 of a column that counts as integral."""
LEAST_DEPTH = 1e-3
"""Least depth of a cut: its violation relative to its length."""


class Cut(NamedTuple):
    """
    Description of a cut: a row of the exact model, and its rounding.

    Parameters
    ----------
    bin, resource, is_lower
        Load, and end of its band.
    divisor
        Divisor of the rounding.
    items, roles
        Groups whose variable of an item without its role, or with it, is complemented.
    """

    bin: int
    resource: int
    is_lower: bool
    divisor: int
    items: tuple[int, ...]
    roles: tuple[int, ...]


class Row(NamedTuple):
    """
    Cut as a row of the linear program: ``columns @ x - unit * d <= limit``.

    Parameters
    ----------
    cut
        Description of the cut.
    columns, weights
        ``(k,)`` columns of `Rows`, and the coefficient of each in the row.
    limit
        Right-hand side of the row.
    """

    cut: Cut
    columns: IntArray
    weights: FloatArray
    limit: float


class _Shares(NamedTuple):
    """Values of the columns of one bin by group, without and with the role."""

    columns: IntArray
    groups: IntArray
    plain: FloatArray
    led: FloatArray


class _Load(NamedTuple):
    """Loads of the groups in one bin and resource, with their relaxation values."""

    groups: IntArray
    weight: IntArray
    role_weight: IntArray
    plain: FloatArray
    led: FloatArray

    def written(self) -> IntArray:
        """Return ``(g,)`` which of the three states to complement."""
        there = self.plain + self.led
        of_three = np.argmax([1 - there, self.plain, self.led], axis=0)
        with_item = np.where(there > HALF, ITEM, NOTHING)
        of_role = np.where(self.led > HALF, ROLE, NOTHING)
        either = np.where(self.weight == 0, of_role, of_three)
        written: IntArray = np.where(self.role_weight == 0, with_item, either)
        return written

    def whole(self, written: IntArray) -> tuple[IntArray, FloatArray, int]:
        """Return ``(2, g)`` factors and values after complementing, and a constant."""
        item, more = self.weight, self.role_weight
        factors = np.stack([item, item + more])
        values = np.stack([self.plain, self.led])
        # The variable of the state "nothing" replaces the complemented one.
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
    """One end of a band: its load, the room for groups, and the distance outside."""

    bin: int
    resource: int
    is_lower: bool
    room: int
    slack: float


def separated(
    problem: Problem, rows: Rows, bands: Bands, columns: FloatArray, outside: float
) -> list[Row]:
    """
    Return the deepest cut of each row that separates a solution of the relaxation.

    Parameters
    ----------
    problem, rows, bands
        Problem, columns of its relaxation, and its bands.
    columns, outside
        ``(columns,)`` values of the solution, and its distance outside the bands, in
        targets.
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
    """Yield the limited ends of a band."""
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
    """Cut with the coefficients of items without and with their role, and its limit."""

    cut: Cut
    item: IntArray
    role: IntArray
    limit: int


def _deepest(load: _Load, side: _Side) -> _Made | None:
    """Return the deepest cut of a row; `None` if none separates the solution."""
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
    # Convert back to coefficients of items without and with the role.
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
    """Return loads of fractional columns, nearest to a half first, and halvings."""
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
