"""
Rows and columns of the linear relaxation of the exact model.

A column is an item of a group in a bin, with or without the group's role.
`core.exact.linear.lagrangian` and `core.exact.linear.lp_rounding` choose the columns
and the objective.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from placement.array_types import BoolArray, FloatArray, IndexArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import NO_LIMIT, NOWHERE, Movability, Problem
from placement.core.verify.price_witness import WIDE_CELLS

HALF = 0.5
BITS, MORE_BITS = 60, 110
"""Bits of the cost of one group, in units of the prices; and in small problems."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """
    Permissions of each pair of group and bin, ``(G, N)``.

    Parameters
    ----------
    may, may_lead, may_follow
        Whether the bin may have an item of the group, with the role, without the role.
    is_home, is_kept
        Whether an item is there now and may stay, and whether it must stay.
    """

    may: BoolArray
    may_lead: BoolArray
    may_follow: BoolArray
    is_home: BoolArray
    is_kept: BoolArray

    @classmethod
    def of(cls, problem: Problem) -> "Tables":
        """Return the tables of a problem."""
        shape = (problem.num_groups, problem.num_bins)
        group, home = problem.group_of, problem.home
        may = problem.is_eligible[problem.group_class][:, problem.bin_class]
        may = may & problem.may_receive
        is_home, is_kept = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        never = np.equal(problem.movability, Movability.NEVER)
        must = np.equal(problem.movability, Movability.MUST) & (home >= 0)
        stays = ~must & (home >= 0)
        may[group[must], home[must]] = False
        may[group[stays], home[stays]] = True
        is_home[group[stays], home[stays]] = True
        is_kept[group[never], home[never]] = True
        held = np.nonzero(problem.role_home != NOWHERE)[0]
        may_lead = np.zeros(shape, np.bool_)
        may_lead[held] = problem.may_hold_role
        holder = home[problem.role_home[held]]
        may_lead[held[holder >= 0], holder[holder >= 0]] = True
        # An immovable role is in the bin of its item if that item stays.
        tied = held[~problem.is_role_movable[held] & (holder >= 0)]
        may_follow = may.copy()
        may_follow[tied, home[problem.role_home[tied]]] = False
        kept = tied[never[problem.role_home[tied]]]
        may_lead[kept] = False
        may_lead[kept, home[problem.role_home[kept]]] = True
        return cls(may, may_lead & may, may_follow, is_home, is_kept)


class Rows:
    """
    Rows and columns of the relaxation: items without, then with their group's role.

    Parameters
    ----------
    problem, tables
        Problem, and permissions of each pair.
    pairs
        ``(G, N)`` whether the pair of group and bin has columns.
    """

    def __init__(self, problem: Problem, tables: Tables, pairs: BoolArray) -> None:
        self._problem, self._tables = problem, tables
        follow, lead = pairs & tables.may_follow, pairs & tables.may_lead
        plain, led = np.nonzero(follow), np.nonzero(lead)
        self.groups: IntArray = np.concatenate([plain[0], led[0]])
        self.bins: IntArray = np.concatenate([plain[1], led[1]])
        self.leads = np.arange(len(self.groups)) >= len(plain[0])
        self._is_kept = tables.is_kept[self.groups, self.bins]
        self._has_two = (follow & lead)[self.groups, self.bins]

    def __len__(self) -> int:
        return len(self.groups)

    def costs(self) -> FloatArray:
        """Return ``(columns,)`` costs of the moves."""
        cost = self._problem.cost[self.groups] * self._problem.least_price
        paid: IntArray = cost * ~self._tables.is_home[self.groups, self.bins]
        return paid.astype(np.float64)

    def _loads(self, r: int) -> FloatArray:
        """Return ``(columns,)`` loads in one resource."""
        problem = self._problem
        role = np.where(self.leads, problem.role_weight[self.groups, r], 0)
        load: IntArray = problem.weight[self.groups, r] + role
        return load.astype(np.float64)

    def _sums(self, key: IntArray, columns: BoolArray) -> tuple[Any, IntArray]:
        """Return a row for the sum of the columns of each key, and its first column."""
        from scipy import sparse

        chosen = np.nonzero(columns)[0]
        _, first, row = np.unique(key[chosen], return_index=True, return_inverse=True)
        ones, shape = np.ones(len(chosen)), (len(first), len(self))
        rows = sparse.csr_array((ones, (row.reshape(-1), chosen)), shape=shape)
        return rows, chosen[first]

    def equal(self) -> tuple[Any, FloatArray]:
        """Return rows for the items and roles of groups, and their right-hand sides."""
        from scipy import sparse

        size = np.diff(self._problem.group_start)
        everything = np.ones(len(self), dtype=np.bool_)
        items, some = self._sums(self.groups, everything)
        roles, led = self._sums(self.groups, self.leads)
        kept, pairs = self._sums(self._pair, self._has_two & self._is_kept)
        right = [size[self.groups[some]], np.ones(len(led)), np.ones(len(pairs))]
        return sparse.vstack([items, roles, kept]).tocsr(), np.concatenate(right)

    def at_most(self) -> tuple[Any, FloatArray]:
        """Return rows for one item in a bin and the caps of nodes, and their limits."""
        from scipy import sparse

        is_open = self._has_two & ~self._is_kept
        rows, limits = [], []
        for level in self._problem.levels[1:]:
            if level.group_cap is None:
                continue
            node = level.node_of_bin[self.bins]
            cap = np.where(node >= 0, level.group_cap[self.groups], 0)
            table, first = self._sums(self.groups * level.num_nodes + node, cap > 0)
            rows.append(table)
            limits.append(cap[first].astype(np.float64))
            # At most one item per node implies at most one per bin.
            is_open &= cap != 1
        pairs, first = self._sums(self._pair, is_open)
        return (
            sparse.vstack([*rows, pairs]).tocsr(),
            np.concatenate([*limits, np.ones(len(first))]),
        )

    def pairs(self) -> tuple[Any, IntArray]:
        """Return rows for pairs with two columns, and the first column of each."""
        return self._sums(self._pair, self._has_two)

    @property
    def _pair(self) -> IntArray:
        return self.groups * self._problem.num_bins + self.bins

    def bounds(self) -> FloatArray:
        """Return ``(columns, 2)`` lower and upper bounds."""
        least = (self._is_kept & ~self._has_two) * 1.0
        return np.stack([least, np.ones(len(self))], axis=1)

    def banded(
        self, bands: Bands, unit: FloatArray
    ) -> tuple[Any, FloatArray, IntArray]:
        """Return rows of the loads, their limits, and side, bin, resource of each."""
        from scipy import sparse

        fixed, every = self._problem.bins.fixed, np.arange(len(self))
        parts, limits, place = [], [], []
        for r in range(self._problem.num_resources):
            brought = self._loads(r) / unit[self.bins, r]
            shape = (self._problem.num_bins, len(self))
            load = sparse.csr_array((brought, (self.bins, every)), shape=shape)
            for side, limit, counts in (
                (0, bands.upper[:, r], bands.upper[:, r] < NO_LIMIT),
                (1, bands.lower[:, r], bands.lower[:, r] > 0),
            ):
                sign, b = 1 - 2 * side, np.nonzero(counts)[0]
                parts.append(sign * load[b])
                limits.append(sign * (limit[b] - fixed[b, r]) / unit[b, r])
                place.append(np.stack([0 * b + side, b, 0 * b + r], axis=1))
        return sparse.vstack(parts), np.concatenate(limits), np.concatenate(place)

    def arrangement(self, columns: FloatArray) -> Arrangement:
        """Return the arrangement of integral columns; items stay if possible."""
        problem = self._problem
        is_used = np.zeros(self._tables.may.shape, dtype=np.bool_)
        chosen = columns > HALF
        is_used[self.groups[chosen], self.bins[chosen]] = True
        group, home = problem.group_of, problem.home
        stays = is_used[group, home] & np.not_equal(problem.movability, Movability.MUST)
        bin_of = home.copy()
        is_used[group[stays], home[stays]] = False
        # The remaining items and bins are both in group order.
        bin_of[np.nonzero(~stays)[0]] = np.nonzero(is_used)[1]
        return Arrangement(bin_of, self._roles(chosen & self.leads, bin_of))

    def columns_of(self, at: Arrangement) -> FloatArray:
        """Return the column values of an arrangement."""
        problem = self._problem
        is_used = np.zeros(self._tables.may.shape, dtype=np.bool_)
        lies = at.bin_of >= 0
        is_used[problem.group_of[lies], at.bin_of[lies]] = True
        leads_at = np.full(problem.num_groups, NOWHERE, dtype=np.int64)
        has_role = at.role_of >= 0
        leads_at[has_role] = at.bin_of[at.role_of[has_role]]
        leads = np.equal(leads_at[self.groups], self.bins)
        found = is_used[self.groups, self.bins] & np.equal(leads, self.leads)
        return found.astype(np.float64)

    def _roles(self, chosen: BoolArray, bin_of: IndexArray) -> IntArray:
        """Return ``(G,)`` the item in the bin of each role."""
        problem = self._problem
        leads_at = np.full(problem.num_groups, NOWHERE, dtype=np.int64)
        leads_at[self.groups[chosen]] = self.bins[chosen]
        holds = np.nonzero(np.equal(bin_of, leads_at[problem.group_of]))[0]
        role_of = problem.role_home.copy()
        role_of[problem.group_of[holds]] = holds
        return role_of


def duals_of(
    marginals: FloatArray, place: IntArray, unit: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """
    Return ``(N, R)`` prices above and below the bands, per unit of load.

    Parameters
    ----------
    marginals
        Marginals of the rows of `Rows.banded`.
    place, unit
        As in `Rows.banded`.
    """
    prices = np.zeros((2, *unit.shape))
    side, b, r = place.T
    prices[side, b, r] = np.maximum(-marginals, 0.0) / unit[b, r]
    return prices[0], prices[1]


def whole_prices(
    problem: Problem,
    prices: tuple[FloatArray, FloatArray],
    copy: int,
    rounded: Sequence[tuple[float, int]] = (),
) -> dict[str, Any]:
    """
    Round prices to fractions of one denominator: a witness for `verify_prices`.

    Parameters
    ----------
    problem
        Problem whose cost per group must fit into the bits of the prices.
    prices
        ``(N, R)`` prices above and below the bands.
    copy
        Price of a unit of cost; 0: moves are free.
    rounded
        Price of each rounding cut, and the largest contribution of a group to it.
    """
    above, below = prices
    heaviest = problem.weight.max(axis=0, initial=0).astype(np.float64)
    heaviest += np.abs(problem.role_weight).max(axis=0, initial=0)
    if len(problem.extra):
        heaviest += np.abs(problem.extra).max(axis=0, initial=0)
    steepest = np.maximum(above, below).max(axis=0, initial=0.0)
    largest = float(problem.cost.max(initial=0)) * copy
    largest += float((steepest * heaviest).sum())
    largest += sum(price * most for price, most in rounded)
    largest *= float(np.diff(problem.group_start).max(initial=0)) + 2
    is_small = problem.num_groups * problem.num_bins <= WIDE_CELLS
    most = MORE_BITS if is_small and copy else BITS
    bits = most - ceil(log2(largest)) if largest > 0 else 0
    # If moves are free, only ratios of prices matter.
    bits = max(0, bits) if copy else bits
    sold = [(row, int(price * 2.0**bits)) for row, (price, _) in enumerate(rounded)]
    return {
        "denominator": 1 << bits if copy else 1,
        "above": _listed(above * 2.0**bits),
        "below": _listed(below * 2.0**bits),
    } | ({"rounded": [[row, p] for row, p in sold if p > 0]} if rounded else {})


def _listed(price: FloatArray) -> list[list[int]]:
    return [[b, r, int(price[b, r])] for b, r in np.argwhere(price >= 1).tolist()]
