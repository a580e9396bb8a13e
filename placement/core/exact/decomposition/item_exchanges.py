"""
Exchanges of up to eight items at once among the bins of a node.

If loads are at the ends of their bands, no item can move alone, and a cheaper solution
exchanges several items. A node has billions of such exchanges, but few can pay: those
that lower the cost, not below its bound, and use no column whose reduced cost exceeds
the gap. So half exchanges of up to four items are sorted by cost, and each is joined
only to the partners in that range (meet in the middle). The results are checked against
the rows that do not depend on destinations, then against all rows for each choice of
destinations.

References
----------
Horowitz, E. and Sahni, S. (1974), Computing partitions with applications to the
knapsack problem, Journal of the ACM 21. https://doi.org/10.1145/321812.321823
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.exact.decomposition.half_pairs import (
    Pairs,
    Window,
    by_cost,
    by_cost_and_load,
)
from placement.core.exact.decomposition.item_moves import (
    ItemMoves,
    sets_of_moves,
    summed,
)
from placement.core.exact.decomposition.node_relaxation import Relaxed, reduced_costs
from placement.core.exact.decomposition.node_rows import NodeRows


class Stage(NamedTuple):
    """
    Size of the exchanges of one stage of the search.

    Parameters
    ----------
    most_moves
        Largest number of moves of one half.
    num_moves
        Number of smallest single-item moves that take part; `None`: all.
    """

    most_moves: int
    num_moves: int | None = None


STAGES = (Stage(2), Stage(3), Stage(4, 60), Stage(4))
"""Stages in order; the next one follows if a stage finds no exchange."""
NEAR = 3e-3
"""Relative gap up to which a half may have more than two moves."""
MOST_HALVES = 1_600_000
"""Largest number of halves of each size; of more, a random sample."""
MOST_JOINED = 1_000_000
"""Largest number of pairs of halves to examine."""
MOST_TRIED, TRIED_AT_ONCE = 20_000, 500
"""Largest number of exchanges with destinations to examine, and batch size."""
MOST_CHOICES = 100
"""Largest number of choices of destinations to examine per exchange."""
HALVES = 0.3
"""Share of the remaining work for the halves of one stage (0-1)."""
WORK_HALF, WORK_JOINED, WORK_CHOICE = 2e-7, 3e-8, 1e-7
"""Deterministic seconds per half, pair of halves, and choice of destinations."""


class _Halves(NamedTuple):
    """
    Halves of exchanges by ascending cost.

    Parameters
    ----------
    moves
        ``(m, w)`` indices of moves of different groups.
    cost
        ``(m,)`` change of cost by each half.
    """

    moves: IntArray
    cost: IntArray


class Exchanges:
    """
    Search that lowers the cost of the places in some bins by exchanges.

    Parameters
    ----------
    rows
        Constraints of the bins.
    relaxed
        Solution of the linear relaxation: its duals price the rows, and its cost is a
        lower bound.
    enough
        Cost at which to end.
    rng
        Random generator for samples of halves, pairs and destinations.
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
        self._enough = enough
        self._weights = np.zeros((len(rows.rows), len(rows)), dtype=np.int64)
        for number, row in enumerate(rows.rows):
            self._weights[number, row.columns] = row.weights
        self._limits = np.array([row.limit for row in rows.rows], dtype=np.int64)
        _, self._excess = reduced_costs(rows, self._prices)
        shape = (rows.problem.num_groups, rows.problem.num_bins)
        self._column = np.full(shape, -1, dtype=np.int64)
        self._column[rows.groups, rows.bins] = np.arange(len(rows))
        self.spent = self._end = 0.0

    def improved(self, columns: BoolArray, work: float) -> BoolArray:
        """
        Return columns improved until no cheaper exchange is found.

        Parameters
        ----------
        columns
            ``(n,)`` columns used by a solution that keeps every row.
        work
            Work limit in deterministic seconds.
        """
        stage, self._end = 0, self.spent + work
        while stage < len(STAGES) and self.spent < self._end:
            cost = self._rows.cost_of(columns)
            is_near = cost - self._least <= NEAR * self._least
            if cost <= self._enough or (STAGES[stage].most_moves > 2 and not is_near):
                break
            found = self._cheaper(columns, cost, STAGES[stage])
            stage = stage + 1 if found is None else 0
            columns = columns if found is None else found
        return columns

    def _cheaper(
        self, columns: BoolArray, cost_now: int, stage: Stage
    ) -> BoolArray | None:
        """Return the columns after the best exchange of a stage, if any."""
        # Costs are integers; the relaxation of HiGHS is in floats: add a unit.
        gap = cost_now - self._least + 1
        moves = self._moves(columns, gap)
        if stage.num_moves is not None and len(moves) > stage.num_moves:
            moves = moves.chosen(self._smallest(moves, stage.num_moves))
        if not len(moves):
            return None
        halves = self._halves(moves, stage.most_moves)
        slack = self._limits - self._weights[:, columns].sum(axis=1)
        for joined in self._joined(moves, halves, gap, slack):
            pairs = self._within_settled(moves, halves, joined, slack)
            found = self._placed(moves, _exchanges(moves, halves, pairs), slack)
            if found is not None:
                out, into = found
                after = columns.copy()
                after[out], after[into] = False, True
                return after
            if self.spent >= self._end:
                break
        return None

    def _moves(self, columns: BoolArray, gap: float) -> ItemMoves:
        """Return moves of single items to columns of a reduced cost within the gap."""
        rows, bins = self._rows, np.array(self._rows.node_bins.bins)
        chosen = np.nonzero(columns & ~rows.is_kept)[0]
        out = np.repeat(chosen, len(bins))
        into = self._column[rows.groups[chosen]][:, bins].ravel()
        is_open = (into >= 0) & ~columns[into] & (self._excess[into] <= gap)
        return ItemMoves.of(
            out[is_open],
            into[is_open],
            self._weights,
            rows.groups,
            rows.cost,
            self._prices > 0,
        )

    def _smallest(self, moves: ItemMoves, most: int) -> IntArray:
        """Return the moves with the smallest change of cost and of priced rows."""
        is_priced = self._prices > 0
        paid = np.abs(moves.change[is_priced, :-1, 0]).T * self._prices[is_priced]
        size = np.maximum(np.abs(moves.cost[:-1]), paid.max(axis=1, initial=0))
        smallest: IntArray = np.sort(np.argsort(size, kind="stable")[:most])
        return smallest

    def _halves(self, moves: ItemMoves, most_moves: int) -> _Halves:
        """Return all halves of up to `most_moves` moves, or a random sample."""
        most = int(min(MOST_HALVES, (self._end - self.spent) * HALVES / WORK_HALF))
        sets = sets_of_moves(len(moves), most_moves, max(most, 1), self._rng)
        none = np.full((1, most_moves), len(moves))
        every = np.concatenate([none, *sets])
        self.spent += WORK_HALF * len(every)
        every = every[moves.are_apart(every)]
        cost = summed(moves.cost, every)
        order = np.argsort(cost, kind="stable")
        return _Halves(every[order], cost[order])

    def _joined(
        self, moves: ItemMoves, halves: _Halves, gap: float, slack: IntArray
    ) -> Iterator[Pairs]:
        """
        Yield pairs of halves that lower the cost, but not below its bound.

        If there are too many, yield first the pairs that fill the most expensive row as
        far as the gap requires, then the cheapest pairs, then a random sample.
        """
        window = Window(-gap, 0.0)
        ranges = by_cost(halves.cost, window)
        if ranges.total > MOST_JOINED:
            yield from self._by_load(moves, halves, window, slack)
            part = Window(-gap, -gap * (1 - MOST_JOINED / ranges.total))
            yield by_cost(halves.cost, part).pairs(MOST_JOINED, self._rng)
        yield ranges.pairs(MOST_JOINED, self._rng)

    def _by_load(
        self, moves: ItemMoves, halves: _Halves, window: Window, slack: IntArray
    ) -> Iterator[Pairs]:
        """Yield pairs in a window of cost that nearly fill the most expensive row."""
        cost = self._prices * np.abs(self._limits)
        row = int(np.argmax(cost))
        if not cost[row]:
            return
        load = summed(moves.change[row, :, 0], halves.moves)
        free = slack[row] + 1
        of_load = Window(free + window.low / self._prices[row] - 1, free)
        for ranges in by_cost_and_load(halves.cost, load, window, of_load):
            self.spent += WORK_HALF * len(halves.cost)
            pairs = ranges.pairs(MOST_JOINED, self._rng)
            total = halves.cost[pairs.first] + halves.cost[pairs.second]
            yield pairs.kept((total >= window.low) & (total < window.high))

    def _within_settled(
        self, moves: ItemMoves, halves: _Halves, joined: Pairs, slack: IntArray
    ) -> Pairs:
        """Return the pairs that keep the rows that do not depend on destinations."""
        self.spent += WORK_JOINED * len(joined.first)
        at_risk = moves.rows_at_risk(slack, 2 * halves.moves.shape[1])
        rows = [row for row in at_risk if moves.is_settled[row]]
        for row in rows:
            change = moves.change[row, :, 0]
            if len(joined.first) > len(halves.cost):
                load = summed(change, halves.moves)
                total = load[joined.first] + load[joined.second]
            else:
                total = summed(change, halves.moves[joined.first])
                total = total + summed(change, halves.moves[joined.second])
            joined = joined.kept(total <= slack[row])
        return joined

    def _placed(
        self, moves: ItemMoves, exchanges: IntArray, slack: IntArray
    ) -> tuple[IntArray, IntArray] | None:
        """Return the columns left and taken by the first exchange within all rows."""
        at_risk = moves.rows_at_risk(slack, exchanges.shape[1])
        rows = [row for row in at_risk if not moves.is_settled[row]]
        for start in range(0, len(exchanges), TRIED_AT_ONCE):
            some = exchanges[start : start + TRIED_AT_ONCE]
            exchange, number = moves.destinations(some, MOST_CHOICES, self._rng)
            self.spent += WORK_CHOICE * len(exchange)
            for row in rows:
                change = moves.change[row][some[exchange], number].sum(axis=1)
                is_within = change <= slack[row]
                exchange, number = exchange[is_within], number[is_within]
            if len(exchange):
                own, into = some[exchange[0]], number[0]
                is_move = own < len(moves)
                return moves.out[own[is_move]], moves.into[own[is_move], into[is_move]]
        return None


def _exchanges(moves: ItemMoves, halves: _Halves, pairs: Pairs) -> IntArray:
    """Return ``(m, 2 w)`` the cheapest pairs whose moves are of different groups."""
    total = halves.cost[pairs.first] + halves.cost[pairs.second]
    cheapest = np.argsort(total, kind="stable")[:MOST_TRIED]
    both = np.concatenate([halves.moves[own[cheapest]] for own in pairs], axis=1)
    return both[moves.are_apart(both)]
