"""
Exchanges of up to three items for up to three others between two bins.

Where loads hit the ends of their bands, a better solution is one of other sums of the
same sizes: no item can move alone. Two bins have some millions of such exchanges. Those
that can pay are few: they lower the cost, and not below its bound. So the halves of
exchanges are sorted by cost, and each is joined to the ones in that range alone.
"""

from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from placement.core.exact.node_rows import NodeRows
from placement.core.problem import BoolArray, IntArray

MOST_ITEMS = {2: 80, 3: 60}
"""Items of a bin that are looked at, by how many of them may go at once."""
WORK = {2: 0.001, 3: 0.004}
"""Deterministic seconds that two bins count as."""
NEARLY = 1e-3
"""Gap up to which three items may go at once."""
MOST_JOINED = 150_000
"""Pairs of halves that are looked at, of two bins."""
MOST_TRIED = 50
"""Exchanges within the bands of which all other rows are asked."""


class _Halves(NamedTuple):
    """
    Moves of up to three items from one bin to another one.

    Parameters
    ----------
    moves
        ``(k, 2)`` columns from and to of single items.
    chosen
        ``(m, 3)`` rows of `moves` of each half, -1: none.
    cost
        ``(m,)`` that they add.
    load
        ``(rows, k + 1)`` that single items add to each row; the last one is 0.
    """

    moves: IntArray
    chosen: IntArray
    cost: IntArray
    load: IntArray

    def added(self, row: int, halves: IntArray) -> IntArray:
        """Return what some halves add to a row."""
        alone: IntArray = self.load[row][self.chosen[halves]]
        added: IntArray = alone.sum(axis=1)
        return added

    def columns(self, half: int) -> IntArray:
        """Return the columns from and to of the items of a half."""
        own: IntArray = self.chosen[half]
        columns: IntArray = self.moves[own[own >= 0]]
        return columns


class Exchanges:
    """
    Lowers the cost of the places in some bins, two of the bins at a time.

    Parameters
    ----------
    rows
        Constraints of the bins.
    rng
        Draws items where a bin has many.
    """

    def __init__(self, rows: NodeRows, rng: np.random.Generator) -> None:
        self._rows, self._rng = rows, rng
        self._weights = np.zeros((len(rows.rows), len(rows)), dtype=np.int64)
        for number, row in enumerate(rows.rows):
            self._weights[number, row.columns] = row.weights
        self._limits = np.array([row.limit for row in rows.rows], dtype=np.int64)
        bin_of = [-1 if row.band is None else row.band[1] for row in rows.rows]
        self._bin_of_row = np.array(bin_of, dtype=np.int64)
        shape = (rows.problem.num_groups, rows.problem.num_bins)
        self._column = np.full(shape, -1, dtype=np.int64)
        self._column[rows.groups, rows.bins] = np.arange(len(rows))
        bins = rows.node_bins.bins
        self._pairs = [(a, b) for a in bins for b in bins if a < b]

    def improved(self, columns: BoolArray, enough: float) -> tuple[BoolArray, float]:
        """
        Return columns that no exchange makes cheaper, and the work it took.

        Parameters
        ----------
        columns
            ``(n,)`` that keep every row.
        enough
            Cost at which to end: nothing is below.
        """
        turn = idle = 0
        spent, count = 0.0, len(self._pairs)
        while (cost := self._rows.cost_of(columns)) > enough:
            is_nearly = cost <= enough * (1 + NEARLY)
            if idle >= count * (1 + is_nearly):
                break
            size = 2 if idle < count else 3
            bins, gap = self._pairs[turn % count], int(cost - enough) + 1
            found = self._best(columns, bins, gap, size)
            turn, idle, spent = turn + 1, idle + 1, spent + WORK[size]
            if found is not None:
                columns, idle = found, 0
        return columns, spent

    def _best(
        self, columns: BoolArray, bins: tuple[int, int], gap: int, size: int
    ) -> BoolArray | None:
        """Return the columns after the best exchange between two bins, if any."""
        a, b = bins
        own = np.nonzero((self._bin_of_row == a) | (self._bin_of_row == b))[0]
        slack = self._limits[own] - self._weights[own][:, columns].sum(axis=1)
        there = self._halves(columns, (a, b), own, size)
        back = self._halves(columns, (b, a), own, size)
        first, second = self._joined(there.cost, back.cost, gap)
        for row in range(len(own)):
            fits = there.added(row, first) + back.added(row, second) <= slack[row]
            first, second = first[fits], second[fits]
        cheapest = np.argsort(there.cost[first] + back.cost[second], kind="stable")
        for place in cheapest[:MOST_TRIED].tolist():
            out, home = there.columns(first[place]), back.columns(second[place])
            found = _after(columns, np.concatenate([out, home]))
            if (self._weights[:, found].sum(axis=1) <= self._limits).all():
                return found
        return None

    def _halves(
        self, columns: BoolArray, way: tuple[int, int], own: IntArray, size: int
    ) -> _Halves:
        """Return the moves of up to `size` items from one bin to another one."""
        rows, (a, b) = self._rows, way
        out = np.nonzero((rows.bins == a) & columns & ~rows.is_kept)[0]
        into = self._column[rows.groups[out], b]
        is_open = (into >= 0) & ~columns[into]
        moves = np.stack([out[is_open], into[is_open]], axis=1)
        moves = self._rng.permutation(moves)[: MOST_ITEMS[size]]
        chosen = _choices(len(moves), size)
        out, into = moves.T
        cost = np.append(rows.cost[into] - rows.cost[out], 0)
        weights = self._weights[own]
        load = weights[:, into] - weights[:, out]
        # The last one, which -1 stands for, adds nothing.
        load = np.concatenate([load, np.zeros((len(own), 1), dtype=np.int64)], axis=1)
        return _Halves(moves, chosen, cost[chosen].sum(axis=1), load)

    def _joined(
        self, cost: IntArray, other: IntArray, gap: int
    ) -> tuple[IntArray, IntArray]:
        """Return pairs of halves that lower the cost by no more than the gap."""
        order = np.argsort(other, kind="stable")
        start = np.searchsorted(other[order], -cost - gap, "left")
        count = np.searchsorted(other[order], -cost, "left") - start
        chosen = np.nonzero(count)[0]
        if count.sum() > MOST_JOINED:
            chosen = self._rng.permutation(chosen)
            fits = np.cumsum(count[chosen]) <= MOST_JOINED
            chosen = chosen[fits]
        count = count[chosen]
        first = np.repeat(chosen, count)
        begins = np.repeat(np.cumsum(count) - count, count)
        second = order[start[first] + np.arange(len(first)) - begins]
        return first, second


@cache
def _choices(count: int, size: int) -> IntArray:
    """Return ``(m, 3)`` all choices of up to `size` of some items, -1: none."""
    chosen = [
        [*some, *[-1] * (3 - k)]
        for k in range(size + 1)
        for some in combinations(range(count), k)
    ]
    return np.array(chosen, dtype=np.int64)


def _after(columns: BoolArray, moves: IntArray) -> BoolArray:
    """Return columns after some moves."""
    found = columns.copy()
    found[moves[:, 0]], found[moves[:, 1]] = False, True
    return found
