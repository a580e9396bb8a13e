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

A cut is told by its row, divisor and what is written otherwise; `core.verify_rounding`
works its numbers out again.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from placement.core.bounds import Bands
from placement.core.problem import NO_LIMIT, BoolArray, FloatArray, IntArray, Problem
from placement.core.relaxation import Rows

NOTHING, ITEM, ROLE = 0, 1, 2
"""What is written as one less the others: that a group has nothing there, or …"""
DIVISORS = 8
"""Loads of columns that are tried as divisors of one row, and how often each is halved."""
HALVINGS = 3
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
        nothing = 1 - there
        of_three = np.argmax([nothing, self.plain, self.led], axis=0)
        with_item = np.where(there > nothing, ITEM, NOTHING)
        of_role = np.where(self.led > 1 - self.led, ROLE, NOTHING)
        has_role, has_item = self.role_weight != 0, self.weight != 0
        return np.select([~has_role, ~has_item], [with_item, of_role], of_three)

    def whole(self, written: IntArray) -> tuple[IntArray, FloatArray, int]:
        """Return ``(2, g)`` factors and values of the columns left, and a constant."""
        item, role = self.weight, self.weight + self.role_weight
        nothing = 1 - self.plain - self.led
        is_item, is_role = written == ITEM, written == ROLE
        choices = [is_item, is_role]
        factors = np.stack([
            np.select(choices, [-item, -self.role_weight], item),
            np.select(choices, [self.role_weight, -role], role),
        ])
        values = np.stack([
            np.select(choices, [nothing, self.plain], self.plain),
            np.select(choices, [self.led, nothing], self.led),
        ])
        return factors, values, int(item[is_item].sum() + role[is_role].sum())


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
    fixed, target = problem.bins.fixed, problem.bins.target
    for b in range(problem.num_bins):
        here = np.nonzero(rows.bins == b)[0]
        for r in range(problem.num_resources):
            load = _load_of(problem, rows, here, columns, r)
            for is_lower in (False, True):
                end = int((bands.lower if is_lower else bands.upper)[b, r])
                if end <= 0 if is_lower else end >= NO_LIMIT:
                    continue
                slack = outside * (float(target[b, r]) or 1.0)
                key = b, r, is_lower
                made = _deepest(load, end - int(fixed[b, r]), slack, key)
                if made is not None:
                    found.append(_as_row(made, load.groups, rows, here))
    return found


def _load_of(
    problem: Problem, rows: Rows, here: IntArray, columns: FloatArray, r: int
) -> _Load:
    groups, place = np.unique(rows.groups[here], return_inverse=True)
    leads, share = rows.leads[here], columns[here]
    plain = np.bincount(place[~leads], share[~leads], len(groups))
    led = np.bincount(place[leads], share[leads], len(groups))
    return _Load(
        groups, problem.weight[groups, r], problem.role_weight[groups, r], plain, led
    )


class _Made(NamedTuple):
    cut: Cut
    item: IntArray
    role: IntArray
    limit: int


def _deepest(
    load: _Load, room: int, slack: float, key: tuple[int, int, bool]
) -> _Made | None:
    """Return the deepest cut of a row; `None` where none cuts the answer off."""
    written = load.written()
    factors, values, constant = load.whole(written)
    sign = -1 if key[2] else 1
    factors, limit = sign * factors, sign * (room - constant)
    best, depth = None, LEAST_DEPTH
    for divisor in _divisors(factors, values):
        rounded, right = rounded_row(factors, limit, divisor)
        length = float(np.sqrt((rounded.astype(np.float64) ** 2).sum())) or 1.0
        beyond = float((rounded * values).sum()) - slack - right
        if beyond / length > depth:
            best, depth = (divisor, rounded, right), beyond / length
    if best is None:
        return None
    divisor, (first, second), right = best
    is_item, is_role = written == ITEM, written == ROLE
    choices = [is_item, is_role]
    item = np.select(choices, [-first, first - second], first)
    role = np.select(choices, [second - first, -second], second)
    right -= int(first[is_item].sum() + second[is_role].sum())
    cut = Cut(
        *key,
        divisor,
        tuple(load.groups[is_item].tolist()),
        tuple(load.groups[is_role].tolist()),
    )
    return _Made(cut, item, role, right)


def rounded_row(
    factors: IntArray, limit: int, divisor: int
) -> tuple[IntArray, int]:
    """Round a row of whole numbers that are not negative; see the module's formula."""
    rest = limit % divisor
    above = np.maximum(factors % divisor - rest, 0)
    return (
        factors // divisor * (divisor - rest) + above,
        limit // divisor * (divisor - rest),
    )


def _divisors(factors: IntArray, values: FloatArray) -> Iterator[int]:
    """Yield loads of columns that are not whole, nearest to a half first; their parts."""
    is_open = (values > WHOLE) & (values < 1 - WHOLE) & (factors != 0)
    distance = np.abs(values[is_open] - 0.5)
    loads = np.abs(factors[is_open])[np.argsort(distance, kind="stable")]
    tried = list(dict.fromkeys(loads.tolist()))[:DIVISORS]
    parts = [load >> k for k in range(HALVINGS + 1) for load in tried]
    yield from (part for part in dict.fromkeys(parts) if part > 1)


def _as_row(made: _Made, groups: IntArray, rows: Rows, here: IntArray) -> Row:
    place = np.searchsorted(groups, rows.groups[here])
    weights: IntArray = np.where(rows.leads[here], made.role[place], made.item[place])
    is_used: BoolArray = weights != 0
    return Row(
        made.cut, here[is_used], weights[is_used].astype(np.float64), float(made.limit)
    )
