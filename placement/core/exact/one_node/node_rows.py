"""
Rows and columns in integers for the places in some bins, without or with fixed roles.

A column is an item of a group in a bin. If the bins are a separable node, or all bins,
every arrangement of the problem keeps the rows, so bounds of the rows hold for the
problem. Loads of roles count in favour of each row: none for an upper limit, one of
each group for a lower limit. If the groups whose role is in these bins are known and
have one item there, loads are exact instead.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import Tables
from placement.core.exact.milp.spread_check import most_of_collections
from placement.core.exact.separable_levels import NodeBins
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import NO_LIMIT, Problem

Pair = tuple[int, int]
"""Pair of group and bin."""


class Row(NamedTuple):
    """
    Upper limit of a weighted sum of columns.

    Parameters
    ----------
    columns
        ``(k,)`` column indices, ascending.
    weights
        ``(k,)`` weights of the columns; negative for a lower limit of a load.
    limit
        Upper limit of the sum.
    band
        Side (0: above, 1: below), bin and resource of a band; `None`: another rule,
        which bounds on the cost ignore.
    """

    columns: IntArray
    weights: IntArray
    limit: int
    band: tuple[int, int, int] | None


class NodeRows:
    """
    Rows and columns of the places in some bins.

    Parameters
    ----------
    problem, bands
        Problem, and bands that loads keep.
    node
        Bins, with bounds on the items of each group in them.
    spread_from
        Arrangement whose counts of a collection per bin, or the soft caps if larger,
        are upper limits; `None`: no such limits.
    leads
        ``(G,)`` whether the role of each group is in these bins; `None`: unknown.

    Attributes
    ----------
    groups, bins
        ``(n,)`` group and bin of each column.
    cost
        ``(n,)`` cost of a move to the bin; 0 if an item of the group is there now.
    is_kept
        ``(n,)`` whether an item must stay.
    least, most
        ``(G,)`` bounds on the items of each group in these bins.
    rows
        Bands, caps of nodes, and soft caps of collections.
    """

    def __init__(
        self,
        problem: Problem,
        bands: Bands,
        node: NodeBins,
        spread_from: Arrangement | None,
        leads: BoolArray | None = None,
    ) -> None:
        self.problem, self.node_bins = problem, node
        self._brings = _brought(problem, node, leads)
        tables, inside = Tables.of(problem), np.array(node.bins)
        may = tables.may
        if leads is not None:
            may = np.where(leads[:, None], tables.may_lead, tables.may_follow)
            may |= tables.is_home & (node.most > 1)[:, None]
        self.groups, place = np.nonzero(may[:, inside])
        self.bins: IntArray = inside[place]
        at = (self.groups, self.bins)
        self.is_kept: BoolArray = tables.is_kept[at]
        self._is_home = tables.is_home[at]
        price = problem.cost * problem.price_across + problem.price_per_move
        self.cost: IntArray = price[self.groups] * ~self._is_home
        self.least, self.most = node.least, node.most
        self.rows = [
            *self._banded(bands),
            *self._capped(),
            *self._spread(spread_from),
        ]

    def __len__(self) -> int:
        return len(self.groups)

    def columns_of(self, at: Arrangement) -> BoolArray:
        """Return ``(n,)`` true for the columns of an arrangement."""
        problem = self.problem
        is_used = np.zeros((problem.num_groups, problem.num_bins), dtype=np.bool_)
        lies = at.bin_of >= 0
        is_used[problem.group_of[lies], at.bin_of[lies]] = True
        used: BoolArray = is_used[self.groups, self.bins]
        return used

    def columns_at(self, places: set[Pair]) -> BoolArray:
        """Return ``(n,)`` true for the columns of pairs of group and bin."""
        pairs = zip(self.groups.tolist(), self.bins.tolist(), strict=True)
        return np.array([pair in places for pair in pairs], dtype=np.bool_)

    def pairs(self, columns: BoolArray) -> set[Pair]:
        """Return the pairs of group and bin of some columns."""
        groups, bins = self.groups[columns].tolist(), self.bins[columns].tolist()
        return set(zip(groups, bins, strict=True))

    def holds(self, columns: BoolArray) -> bool:
        """Return whether columns keep every row."""
        return all(
            int(weights[columns[own]].sum()) <= limit
            for own, weights, limit, _ in self.rows
        )

    def is_solution(self, columns: BoolArray) -> bool:
        """Return whether columns keep every row and place all items of each group."""
        count = np.bincount(self.groups[columns], minlength=self.problem.num_groups)
        is_given = (count >= self.least) & (count <= self.most)
        has_kept = bool(columns[self.is_kept].all())
        return has_kept and bool(is_given.all()) and self.holds(columns)

    def cost_of(self, columns: BoolArray) -> int:
        """Return the cost of the moves of some columns."""
        return int(self.cost[columns].sum())

    def _weights(self, columns: IntArray, r: int, *, is_lower: bool) -> IntArray:
        """Return the weights of columns, with role weights in favour of the row."""
        problem, group = self.problem, self.groups[columns]
        role = self._brings[int(is_lower)][group, r]
        weight: IntArray = problem.weight[group, r] + role
        if len(problem.extra):
            weight = weight + self._extra(r)[columns]
        return weight

    def _extra(self, r: int) -> IntArray:
        """Return ``(n,)`` extra weight of each column's item while it is at home."""
        problem = self.problem
        own = np.zeros((problem.num_groups, problem.num_bins), dtype=np.int64)
        at_home = problem.home >= 0
        place = (problem.group_of[at_home], problem.home[at_home])
        own[place] = problem.extra[at_home, r]
        extra: IntArray = own[self.groups, self.bins] * self._is_home
        return extra

    def _banded(self, bands: Bands) -> list[Row]:
        rows, fixed = [], self.problem.bins.fixed
        for b in self.node_bins.bins:
            columns = np.nonzero(self.bins == b)[0]
            for r in range(self.problem.num_resources):
                upper, lower = int(bands.upper[b, r]), int(bands.lower[b, r])
                stays = int(fixed[b, r])
                if upper < NO_LIMIT:
                    weights = self._weights(columns, r, is_lower=False)
                    rows.append(Row(columns, weights, upper - stays, (0, b, r)))
                if lower > stays:
                    weights = -self._weights(columns, r, is_lower=True)
                    rows.append(Row(columns, weights, stays - lower, (1, b, r)))
        return rows

    def _capped(self) -> list[Row]:
        """Return rows for the caps on items of a group in a node of higher levels."""
        rows = []
        for level in self.problem.levels[1:]:
            if level.group_cap is None:
                continue
            node, cap = level.node_of_bin[self.bins], level.group_cap[self.groups]
            key = self.groups * level.num_nodes + node
            is_capped = (node >= 0) & (cap > 0)
            for columns in _by_key(key, is_capped):
                most = int(cap[columns[0]])
                if min(len(columns), self.most[self.groups[columns[0]]]) > most:
                    ones = np.ones(len(columns), dtype=np.int64)
                    rows.append(Row(columns, ones, most, None))
        return rows

    def _spread(self, at: Arrangement | None) -> list[Row]:
        problem, rows = self.problem, []
        if at is None or not len(problem.collection_cap):
            return []
        most = most_of_collections(problem, at)
        key = problem.collection_of[self.groups] * problem.num_bins + self.bins
        for columns in _by_key(key, np.ones(len(self), dtype=np.bool_)):
            first = columns[0]
            limit = most[problem.collection_of[self.groups[first]], self.bins[first]]
            if len(columns) > limit:
                ones = np.ones(len(columns), dtype=np.int64)
                rows.append(Row(columns, ones, int(limit), None))
        return rows


def _brought(
    problem: Problem, node: NodeBins, leads: BoolArray | None
) -> tuple[IntArray, IntArray]:
    """Return two ``(G, R)`` loads of roles: for upper and for lower limits."""
    role = problem.role_weight
    least, most = np.minimum(role, 0), np.maximum(role, 0)
    if leads is None:
        return least, most
    exact = role * leads[:, None]
    is_known = (~leads | (node.most <= 1))[:, None]
    return np.where(is_known, exact, least), np.where(is_known, exact, most)


def _by_key(key: IntArray, is_chosen: BoolArray) -> Sequence[IntArray]:
    """Return the chosen columns of each key."""
    chosen = np.nonzero(is_chosen)[0]
    if not len(chosen):
        return []
    order = chosen[np.argsort(key[chosen], kind="stable")]
    starts = np.nonzero(np.diff(key[order]))[0] + 1
    return np.split(order, starts)
