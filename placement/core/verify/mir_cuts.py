r"""
Re-check cuts of mixed-integer rounding, in exact integers.

A cut names the load of a bin in one resource, an end of its band, a divisor, and groups
of which an item, or one with its role, is written as one less what else the group may
have there. From these its numbers are worked out anew: of whole :math:`z_j \ge 0` with
:math:`\sum_j a_j z_j - t d \le \beta` and :math:`\rho = \beta \bmod D`, each
:math:`a_j` becomes :math:`\lfloor a_j / D \rfloor (D - \rho) + \max(0, a_j \bmod D -
\rho)`, the limit :math:`\lfloor \beta / D \rfloor (D - \rho)`, and :math:`t` stays
(Marchand and Wolsey 2001). This module imports the problem alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.core.model.problem import NO_LIMIT, Problem

IntArray = npt.NDArray[np.int64]
SAFE = 1 << 60
"""Loads, limits and divisors below this are rounded within 64 bits."""


@dataclass(frozen=True, eq=False)
class RoundedRow:
    """
    A row that holds of all arrangements: ``item`` and ``role`` sum to `limit` at most.

    Parameters
    ----------
    bin, resource
        Where; the row may be passed by so many targets of these as the bin is outside.
    item, role
        ``(G,)`` what an item of each group has in it, and what more one with its role.
    limit
        The most that these come to.
    """

    bin: int
    resource: int
    item: IntArray
    role: IntArray
    limit: int

    @cached_property
    def most(self) -> int:
        """The most that one group can have in the row, in size."""
        return sum(int(np.abs(part).max(initial=0)) for part in (self.item, self.role))


def rounded_rows(
    problem: Problem,
    lower: IntArray,
    upper: IntArray,
    cuts: Sequence[Mapping[str, Any]],
) -> list[RoundedRow]:
    """
    Return the rows of some cuts.

    Parameters
    ----------
    problem
        One item of a group in a bin, and what an item weighs is the same everywhere.
    lower, upper
        ``(N, R)`` the bands.
    cuts
        Each ``bin``, ``resource``, ``side`` (``lower`` or ``upper``), ``divisor``, and
        ``items`` and ``roles``: groups that are written otherwise.

    Raises
    ------
    ValueError
        If a cut is none.
    """
    if cuts and len(problem.extra):
        msg = "items weigh more where they were: no cut says anything of that"
        raise ValueError(msg)
    return [_row(problem, lower, upper, cut) for cut in cuts]


def _row(
    problem: Problem, lower: IntArray, upper: IntArray, cut: Mapping[str, Any]
) -> RoundedRow:
    b, r, divisor = int(cut["bin"]), int(cut["resource"]), int(cut["divisor"])
    weight = problem.weight[:, r].astype(np.int64)
    role = problem.role_weight[:, r].astype(np.int64)
    is_lower = cut["side"] == "lower"
    end = int((lower if is_lower else upper)[b, r])
    fixed = int(problem.bins.fixed[b, r])
    heaviest = int(np.abs(weight).max(initial=0)) + int(np.abs(role).max(initial=0))
    if max(heaviest, divisor) >= SAFE or divisor < 1 or abs(end) >= NO_LIMIT:
        msg = f"nothing follows from {dict(cut)}"
        raise ValueError(msg)
    as_item, as_role = _marked(problem, cut["items"]), _marked(problem, cut["roles"])
    if (as_item & as_role).any():
        msg = f"{dict(cut)} writes a group in two ways"
        raise ValueError(msg)
    sign = -1 if is_lower else 1
    # What a group's two columns weigh, once the third is written as one less these:
    # nothing, an item, or an item with its role.
    base = np.where(as_item, weight, 0) + np.where(as_role, weight + role, 0)
    ways = {
        "nothing": sign * -base,
        "item": sign * (weight - base),
        "role": sign * (weight + role - base),
    }
    limit = sign * (end - fixed - sum(base.tolist()))
    rounded = {name: _rounded(way, limit, divisor) for name, way in ways.items()}
    # As sums of items and roles again.
    least = np.where(as_item | as_role, rounded["nothing"], 0)
    item = np.where(as_item, 0, rounded["item"]) - least
    led = np.where(as_role, 0, rounded["role"]) - least
    most = limit // divisor * (divisor - limit % divisor) - sum(least.tolist())
    return RoundedRow(b, r, item, led - item, most)


def _marked(problem: Problem, groups: Sequence[int]) -> npt.NDArray[np.bool_]:
    marked = np.zeros(problem.num_groups, dtype=np.bool_)
    marked[np.asarray(groups, dtype=np.int64)] = True
    return marked


def _rounded(factors: IntArray, limit: int, divisor: int) -> IntArray:
    rest = limit % divisor
    above = np.maximum(factors % divisor - rest, 0)
    rounded: IntArray = factors // divisor * (divisor - rest) + above
    return rounded
