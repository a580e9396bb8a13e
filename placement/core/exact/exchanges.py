"""
Exchanges of up to six items at once among the bins of a node.

Where loads hit the ends of their bands, a cheaper solution is one of other sums of the
same sizes: no item can move alone. A node has some billions of such exchanges. Few of
them can pay: they lower the cost, not below its bound, and use no column whose reduced
cost exceeds the gap. So changes of two or three items are sorted by cost, and each is
joined to the ones in that range alone (meet in the middle).

References
----------
Horowitz, E. and Sahni, S. (1974), Computing partitions with applications to the
knapsack problem, Journal of the ACM 21. https://doi.org/10.1145/321812.321823
"""

from typing import NamedTuple

import numpy as np

from placement.core.exact.node_relaxation import Relaxed
from placement.core.exact.node_rows import NodeRows
from placement.core.problem import BoolArray, FloatArray, IntArray


class Stage(NamedTuple):
    """
    Which exchanges are looked for.

    Parameters
    ----------
    window
        Part of what the cost is above what is enough by which it may stay above it.
    num_triples
        Changes of three items that are drawn; 0: two items at most.
    num_moves
        Smallest moves of single items that take part; `None`: all.
    """

    window: float
    num_triples: int = 0
    num_moves: int | None = None


TRIPLES = 200_000
STAGES = (
    Stage(0.0),
    Stage(0.02),
    Stage(0.2),
    Stage(1.0),
    Stage(0.0, TRIPLES),
    Stage(0.0, TRIPLES, 80),
    Stage(1.0, TRIPLES),
    Stage(1.0, TRIPLES, 80),
)
"""The next one is taken where one finds nothing."""
NEAR = 3e-3
"""Gap up to which three items of a half may move."""
MOST_HALVES = 100_000
"""Changes of two items that are looked at."""
MOST_JOINED = 1_000_000
"""Pairs of halves that are looked at."""
AT_ONCE = 200_000
"""Pairs of halves of which loads are worked out at once."""
MOST_TRIED = 5_000
"""Exchanges within the rows of which the groups are looked at."""
WORK_HALF, WORK_JOINED = 1e-7, 2e-8
"""Deterministic seconds that a half, and a pair of halves, count as."""


class _Moves(NamedTuple):
    """
    Moves of single items; the last of each, which stands for none, adds nothing.

    Parameters
    ----------
    out, into
        ``(k,)`` columns that they leave and take.
    group
        ``(k,)`` row of the group.
    cost
        ``(k + 1,)`` that they add.
    load
        ``(rows, k + 1)`` that they add to each row.
    """

    out: IntArray
    into: IntArray
    group: IntArray
    cost: IntArray
    load: IntArray


class _Pairs(NamedTuple):
    """Halves of exchanges: ``(p,)`` numbers of the first and of the second one."""

    first: IntArray
    second: IntArray

    def kept(self, is_kept: BoolArray) -> "_Pairs":
        """Return some of them."""
        return _Pairs(self.first[is_kept], self.second[is_kept])


class Exchanges:
    """
    Lowers the cost of the places in some bins.

    Parameters
    ----------
    rows
        Constraints of the bins.
    relaxed
        Solution of the linear relaxation: its duals price the rows, and no solution
        costs less.
    enough
        Cost at which to end.
    rng
        Draws changes where there are many.
    """

    def __init__(
        self,
        rows: NodeRows,
        relaxed: Relaxed,
        enough: float,
        rng: np.random.Generator,
    ) -> None:
        self._rows, self._prices, self._rng = rows, relaxed.prices, rng
        self._least = float(relaxed.columns @ rows.cost)
        self._enough, prices = enough, relaxed.prices
        self._weights = np.zeros((len(rows.rows), len(rows)), dtype=np.int64)
        for number, row in enumerate(rows.rows):
            self._weights[number, row.columns] = row.weights
        self._limits = np.array([row.limit for row in rows.rows], dtype=np.int64)
        # Rows that bind reject most.
        self._order = np.argsort(-prices * np.abs(self._limits), kind="stable")
        self._excess = _excess(rows, prices @ self._weights)
        shape = (rows.problem.num_groups, rows.problem.num_bins)
        self._column = np.full(shape, -1, dtype=np.int64)
        self._column[rows.groups, rows.bins] = np.arange(len(rows))
        self.spent = 0.0

    def improved(self, columns: BoolArray, work: float) -> BoolArray:
        """
        Return columns that no exchange was found to make cheaper.

        Parameters
        ----------
        columns
            ``(n,)`` that keep every row.
        work
            Deterministic seconds after which to end.
        """
        stage, end = 0, self.spent + work
        while stage < len(STAGES) and self.spent < end:
            cost = self._rows.cost_of(columns)
            is_near = cost - self._least <= NEAR * self._least
            if cost <= self._enough or (STAGES[stage].num_triples and not is_near):
                break
            found = self._cheaper(columns, cost, STAGES[stage])
            stage = stage + 1 if found is None else 0
            columns = columns if found is None else found
        return columns

    def _cheaper(
        self, columns: BoolArray, cost_now: int, stage: Stage
    ) -> BoolArray | None:
        """Return the columns after the best exchange of a stage, if any."""
        # Costs are whole, what HiGHS says of the relaxation is not.
        gap = cost_now - self._least + 1
        moves = self._moves(columns, gap, stage.num_moves)
        halves = self._halves(moves, stage.num_triples)
        cost: IntArray = moves.cost[halves].sum(axis=1)
        order = np.argsort(cost, kind="stable")
        halves, cost = halves[order], cost[order]
        over = cost_now - self._enough
        joined = self._joined(cost, (-gap, -over * (1 - stage.window)))
        self.spent += WORK_HALF * len(halves) + WORK_JOINED * len(joined.first)
        slack = self._limits - self._weights[:, columns].sum(axis=1)
        found = self._fitting(moves, halves, joined, slack)
        total = cost[found.first] + cost[found.second]
        cheapest = np.argsort(total, kind="stable")[:MOST_TRIED]
        first, second = (halves[own[cheapest]] for own in found)
        both = np.concatenate([first, second], axis=1)
        apart = np.nonzero(_are_apart(moves, both))[0]
        if not len(apart):
            return None
        chosen = both[apart[0]]
        chosen = chosen[chosen < len(moves.out)]
        after = columns.copy()
        after[moves.out[chosen]], after[moves.into[chosen]] = False, True
        return after

    def _moves(self, columns: BoolArray, gap: float, most: int | None) -> _Moves:
        """Return moves of single items to columns of a reduced cost within the gap."""
        rows, bins = self._rows, np.array(self._rows.node_bins.bins)
        chosen = np.nonzero(columns & ~rows.is_kept)[0]
        out = np.repeat(chosen, len(bins))
        into = self._column[rows.groups[chosen]][:, bins].ravel()
        is_open = (into >= 0) & ~columns[into] & (self._excess[into] <= gap)
        out, into = out[is_open], into[is_open]
        if most is not None and len(out) > most:
            smallest = np.sort(np.argsort(self._size(out, into), kind="stable")[:most])
            out, into = out[smallest], into[smallest]
        load = self._weights[:, into] - self._weights[:, out]
        none = np.zeros((len(load), 1), dtype=np.int64)
        return _Moves(
            out=out,
            into=into,
            group=rows.groups[out],
            cost=np.append(rows.cost[into] - rows.cost[out], 0),
            load=np.concatenate([load, none], axis=1),
        )

    def _size(self, out: IntArray, into: IntArray) -> FloatArray:
        """Return what moves change of the cost, or of what binding rows cost."""
        size: FloatArray = np.abs(self._rows.cost[into] - self._rows.cost[out]) * 1.0
        for row in np.nonzero(self._prices > 0)[0].tolist():
            load = np.abs(self._weights[row, into] - self._weights[row, out])
            size = np.maximum(size, self._prices[row] * load)
        return size

    def _halves(self, moves: _Moves, num_triples: int) -> IntArray:
        """Return ``(m, 3)`` numbers of up to three moves of different groups."""
        none = len(moves.out)
        first, second = np.triu_indices(none, 1)
        if len(first) > MOST_HALVES:
            drawn = self._rng.choice(len(first), MOST_HALVES, replace=False)
            first, second = first[drawn], second[drawn]
        pairs = np.stack([first, second, np.full(len(first), none)], axis=1)
        alone = np.full((none + 1, 3), none, dtype=np.int64)
        alone[:, 0] = np.arange(none + 1)
        chosen = [pairs, alone]
        if num_triples and none:
            chosen.append(self._rng.integers(0, none, (num_triples, 3)))
        halves = np.concatenate(chosen)
        return halves[_are_apart(moves, halves)]

    def _joined(self, cost: IntArray, window: tuple[float, float]) -> _Pairs:
        """Return pairs of halves that add to the cost what is in a window."""
        every = np.arange(len(cost))
        start = np.maximum(np.searchsorted(cost, window[0] - cost, "left"), every)
        stop = np.searchsorted(cost, window[1] - cost, "left")
        count = np.maximum(stop - start, 0)
        chosen = np.nonzero(count)[0]
        if count.sum() > MOST_JOINED:
            chosen = self._rng.permutation(chosen)
            chosen = chosen[np.cumsum(count[chosen]) <= MOST_JOINED]
        count = count[chosen]
        first = np.repeat(chosen, count)
        begins = np.repeat(np.cumsum(count) - count, count)
        return _Pairs(first, start[first] + np.arange(len(first)) - begins)

    def _fitting(
        self, moves: _Moves, halves: IntArray, joined: _Pairs, slack: IntArray
    ) -> _Pairs:
        """Return the pairs that keep every row."""
        added: dict[int, IntArray] = {}
        found = []
        for start in range(0, len(joined.first), AT_ONCE):
            some = _Pairs(*(own[start : start + AT_ONCE] for own in joined))
            for row in self._order.tolist():
                if not len(some.first):
                    break
                if self._prices[row] > 0:
                    # Few rows have a price, and each meets nearly every half.
                    if row not in added:
                        added[row] = moves.load[row][halves].sum(axis=1)
                    load = added[row][some.first] + added[row][some.second]
                else:
                    load = moves.load[row][halves[some.first]].sum(axis=1)
                    load = load + moves.load[row][halves[some.second]].sum(axis=1)
                some = some.kept(load <= slack[row])
            found.append(some)
        if not found:
            return joined
        return _Pairs(*(np.concatenate(own) for own in zip(*found, strict=True)))


def _are_apart(moves: _Moves, chosen: IntArray) -> BoolArray:
    """Return ``(m,)`` whether the moves of each row are of different groups."""
    group = np.sort(np.append(moves.group, -1)[chosen], axis=1)
    apart: BoolArray = ~((group[:, 1:] == group[:, :-1]) & (group[:, 1:] >= 0)).any(1)
    return apart


def _excess(rows: NodeRows, paid: FloatArray) -> FloatArray:
    """
    Return ``(n,)`` the reduced cost of each column.

    `paid`: what the loads of a column cost at the prices of the rows.
    """
    price = rows.cost + paid
    order = np.lexsort((price, rows.groups))
    starts = np.searchsorted(rows.groups, np.arange(rows.problem.num_groups))
    last = np.minimum(starts + np.maximum(rows.least, 1) - 1, len(rows) - 1)
    excess: FloatArray = price - price[order][last][rows.groups]
    return excess
