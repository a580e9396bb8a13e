r"""
Verify mixed-integer rounding (MIR) cuts, in exact integers.

A cut names a bin, a resource, an end of the band, a divisor, and the groups whose item
variable (or item-with-role variable) is complemented: written as one minus the other
variables of the group in the bin. The coefficients are computed again from these: for
integers :math:`z_j \ge 0` with
:math:`\sum_j a_j z_j - t d \le \beta` and :math:`\rho = \beta \bmod D`, each
:math:`a_j` becomes :math:`\lfloor a_j / D \rfloor (D - \rho) + \max(0, a_j \bmod D -
\rho)`, the limit :math:`\lfloor \beta / D \rfloor (D - \rho)`, and :math:`t` stays
(Marchand and Wolsey 2001). Imports the problem alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import IntArray
from placement.core.model.problem import NO_LIMIT, Problem

SAFE = 1 << 60
"""Limit on weights and divisors up to which rounding fits into 64 bits."""


@dataclass(frozen=True, eq=False)
class RoundedRow:
    """
    Valid inequality: the ``item`` and ``role`` coefficients sum to `limit` at most.

    Parameters
    ----------
    bin, resource
        Bin and resource; a bin outside its band may exceed `limit` by its distance.
    item, role
        ``(G,)`` coefficient of an item of each group, and extra one of its role.
    limit
        Right-hand side of the row.
    """

    bin: int
    resource: int
    item: IntArray
    role: IntArray
    limit: int

    @cached_property
    def most(self) -> int:
        """Largest absolute contribution of one item and its role to the row."""
        return sum(int(np.abs(part).max(initial=0)) for part in (self.item, self.role))


def rounded_rows(
    problem: Problem,
    lower: IntArray,
    upper: IntArray,
    cuts: Sequence[Mapping[str, Any]],
) -> list[RoundedRow]:
    """
    Return the row of each cut, computed from its description.

    Parameters
    ----------
    problem
        Problem with at most one item of a group per bin and no extra weights.
    lower, upper
        ``(N, R)`` ends of the bands.
    cuts
        Each with ``bin``, ``resource``, ``side`` (``lower`` or ``upper``), ``divisor``,
        and ``items`` and ``roles``: groups whose variable is complemented.

    Raises
    ------
    ValueError
        If a cut is invalid, or items have extra weights at home.
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
    # Weights of the remaining two columns of a group after complementing the third.
    # The three columns are: no item, an item, an item with its role.
    base = np.where(as_item, weight, 0) + np.where(as_role, weight + role, 0)
    ways = {
        "nothing": sign * -base,
        "item": sign * (weight - base),
        "role": sign * (weight + role - base),
    }
    limit = sign * (end - fixed - sum(base.tolist()))
    rounded = {name: _rounded(way, limit, divisor) for name, way in ways.items()}
    # Convert back to coefficients of items and roles.
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
