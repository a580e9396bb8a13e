"""
Exchanges of up to eight items at once among the bins of a node.

If loads are at the ends of their bands, no item can move alone, and a cheaper solution
exchanges several items. A node has billions of such exchanges, but few can pay: those
that lower the cost, not below its bound, and use no column whose reduced cost exceeds
the gap. So half exchanges of up to four items are sorted by cost, and each is joined
only to the partners in that range (meet in the middle). If several rows are tight, as
in a node whose loads all end at their bands, most exchanges break one of them: halves
are then joined by the loads of these rows as well, and halves of small changes are
preferred, as their sums are the densest near zero. The results are checked against the
rows that do not depend on destinations, then against all rows for each choice of
destinations.

References
----------
Horowitz, E. and Sahni, S. (1974), Computing partitions with applications to the
knapsack problem, Journal of the ACM 21. https://doi.org/10.1145/321812.321823
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.exact.one_node.exchange_stages import STAGES, Stage
from placement.core.exact.one_node.half_pairs import (
    Pairs,
    Sum,
    Window,
    by_cells,
    by_cost,
    independent,
)
from placement.core.exact.one_node.item_moves import (
    ItemMoves,
    sets_of_moves,
    summed,
)
from placement.core.exact.one_node.node_relaxation import Relaxed, reduced_costs
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.one_node.tight_rows import TightRows
from placement.core.exact.one_node.two_row_exchanges import (
    MOST_MOVES,
    RowTargets,
    TwoRowExchanges,
)

NEAR = 3e-3
"""Relative gap up to which a half may have more than two moves."""
MOST_HALVES = 1_600_000
"""Largest number of halves of each size; of more, a random sample."""
MOST_KEPT = 300_000
"""Largest number of halves to join: those that change loads least."""
MOST_JOINED = 1_000_000
"""Largest number of pairs of halves to examine."""
MOST_TRIED, TRIED_AT_ONCE = 20_000, 500
"""Largest number of exchanges with destinations to examine, and batch size."""
MOST_CHOICES = 100
"""Largest number of choices of destinations to examine per exchange."""
MOST_SUMS = 3
"""Largest number of sums by which halves are joined."""
NEAR_ZERO = 0.5
"""Ratio of the windows of near-zero halves to those of about `MOST_KEPT` halves."""
BY_ROWS = 0.8
"""Share of the remaining work for one search of a part per priced row (0-1)."""
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
    closed
        Relative gap to a lower bound at which to end.
    rng
        Random generator for samples of halves, pairs and destinations.
    """

    def __init__(
        self,
        rows: NodeRows,
        relaxed: Relaxed,
        closed: float,
        rng: np.random.Generator,
    ) -> None:
        self._rows, self._tight, self._rng = rows, TightRows(rows, relaxed), rng
        self._closed = closed
        _, self._excess = reduced_costs(rows, relaxed.prices)
        shape = (rows.problem.num_groups, rows.problem.num_bins)
        self._column = np.full(shape, -1, dtype=np.int64)
        self._column[rows.groups, rows.bins] = np.arange(len(rows))
        self.spent = self._end = 0.0

    def improved(self, columns: BoolArray, work: float, bound: float = 0) -> BoolArray:
        """
        Return columns improved until no cheaper exchange is found.

        Parameters
        ----------
        columns
            ``(n,)`` columns used by a solution that keeps every row.
        work
            Work limit in deterministic seconds.
        bound
            Lower bound on the cost that is known besides the relaxation.
        """
        stage, self._end = 0, self.spent + work
        self._tight.take_bound(bound)
        least = self._tight.least
        while stage < len(STAGES) and self.spent < self._end:
            if self._end - self.spent < STAGES[stage].work:
                stage += 1
                continue
            gap = self._rows.cost_of(columns) - least
            is_near = gap <= NEAR * least
            if gap <= self._closed * least:
                break
            if STAGES[stage].most_moves > 2 and not is_near:
                break
            found = self._cheaper(columns, STAGES[stage])
            stage = stage + 1 if found is None else 0
            columns = columns if found is None else found
        return columns

    def _cheaper(self, columns: BoolArray, stage: Stage) -> BoolArray | None:
        """Return the columns after the best exchange of a stage, if any."""
        cost, slack = self._rows.cost_of(columns), self._tight.slack(columns)
        moves = self._moves(columns, cost, self._tight.are_tight(slack))
        if stage.num_moves is not None and len(moves) > stage.num_moves:
            moves = moves.chosen(self._smallest(moves, slack, stage.num_moves))
        if not len(moves):
            return None
        if stage.is_by_rows:
            return self._by_rows(columns, moves, slack)
        halves = self._halves(moves, slack, cost, stage)
        for joined in self._joined(moves, halves, cost, slack):
            pairs = self._within_settled(moves, halves, joined, slack)
            exchanges = _exchanges(moves, halves, pairs)
            found = self._placed(columns, moves, exchanges, slack)
            if found is not None or self.spent >= self._end:
                return found
        return None

    def _by_rows(
        self, columns: BoolArray, moves: ItemMoves, slack: IntArray
    ) -> BoolArray | None:
        """Return the columns after an exchange of one part per priced row, if any."""
        cost, priced = self._rows.cost_of(columns), self._tight.priced_loads(moves)
        if len(priced) != 2:
            return None
        at_risk = moves.rows_at_risk(slack, MOST_MOVES)
        targets = RowTargets(
            priced=(priced[0], priced[1]),
            window=self._tight.windows(cost, slack),
            cost=self._tight.gap_below(cost),
            slack=slack,
            at_risk=[row for row in at_risk if moves.is_settled[row]],
        )
        work = (self._end - self.spent) * BY_ROWS
        search = TwoRowExchanges(moves, targets, work, self._rng)
        found = None
        for exchanges in search.found(MOST_TRIED):
            found = self._placed(columns, moves, exchanges, slack)
            if found is not None:
                break
        self.spent += search.spent
        return found

    def _moves(self, columns: BoolArray, cost: int, is_tight: BoolArray) -> ItemMoves:
        """Return moves of single items to columns that a cheaper solution may use."""
        rows, bins = self._rows, np.array(self._rows.node_bins.bins)
        chosen = np.nonzero(columns & ~rows.is_kept)[0]
        out = np.repeat(chosen, len(bins))
        into = self._column[rows.groups[chosen]][:, bins].ravel()
        # Costs are integers; the relaxation of HiGHS is in floats: add a unit.
        can_pay = self._excess[into] <= cost - self._tight.relaxed + 1
        is_open = (into >= 0) & ~columns[into] & can_pay
        return ItemMoves.of(
            out[is_open],
            into[is_open],
            self._tight.weights,
            rows.groups,
            rows.cost,
            is_tight,
        )

    def _smallest(self, moves: ItemMoves, slack: IntArray, most: int) -> IntArray:
        """Return the moves with the smallest changes of the cost and of tight rows."""
        every = np.arange(len(moves))[:, None]
        size = self._tight.size(moves, every, slack)
        smallest: IntArray = np.sort(np.argsort(size, kind="stable")[:most])
        return smallest

    def _halves(
        self, moves: ItemMoves, slack: IntArray, cost_now: int, stage: Stage
    ) -> _Halves:
        """
        Return the halves of a stage by ascending cost.

        If there are too many, a random sample is drawn, and the smallest are kept.
        """
        left = int((self._end - self.spent) * HALVES / WORK_HALF)
        most = max(min(MOST_HALVES, left), 1)
        kept = np.full((1, stage.most_moves), len(moves))
        if stage.is_near_zero:
            every = self._near_zero(moves, slack, cost_now, stage)
        else:
            every = sets_of_moves(len(moves), stage.most_moves, most, self._rng)
        for sets in every:
            self.spent += WORK_HALF * len(sets)
            kept = np.concatenate([kept, sets[moves.are_apart(sets)]])
            if len(kept) > MOST_KEPT:
                size = self._tight.size(moves, kept, slack)
                kept = kept[_is_smallest(size, MOST_KEPT)]
        cost = summed(moves.cost, kept)
        order = np.argsort(cost, kind="stable")
        return _Halves(kept[order], cost[order])

    def _near_zero(
        self, moves: ItemMoves, slack: IntArray, cost: int, stage: Stage
    ) -> Iterator[IntArray]:
        """Yield pairs of sets of moves whose changes nearly cancel out, each once."""
        none, width = len(moves), stage.most_moves // 2
        few = np.concatenate(list(sets_of_moves(none, width, MOST_HALVES, self._rng)))
        few = few[moves.are_apart(few)]
        yield np.pad(few, ((0, 0), (0, width)), constant_values=none)
        sums = self._sums(moves, few, cost, slack)
        if not sums:
            return
        # Of all pairs of two halves, one in six is in order.
        part = NEAR_ZERO * (24 * MOST_KEPT / len(few) ** 2) ** (1 / len(sums))
        width_of = [part * float(values.std()) for values, _ in sums]
        near = [
            Sum(values, Window(-most, most + 1))
            for (values, _), most in zip(sums, width_of, strict=True)
        ]
        for ranges in by_cells(near, np.ones(len(few), dtype=np.bool_)):
            self.spent += WORK_HALF * len(few)
            pairs = ranges.pairs(MOST_JOINED * 2, self._rng)
            # The lower indices of a set are its first half.
            pairs = pairs.kept(few[pairs.first, -1] < few[pairs.second, 0])
            yield np.concatenate([few[pairs.first], few[pairs.second]], axis=1)

    def _joined(
        self, moves: ItemMoves, halves: _Halves, cost: int, slack: IntArray
    ) -> Iterator[Pairs]:
        """
        Yield pairs of halves that lower the cost, but not below its bound.

        If there are too many, yield first the pairs that also nearly fill the tight
        rows. If these are few, the cheapest pairs follow, and a random sample.
        """
        window = self._tight.gap_below(cost)
        ranges = by_cost(halves.cost, window)
        if ranges.total > MOST_JOINED:
            sums = self._sums(moves, halves.moves, cost, slack)
            if sums:
                yield from self._by_sums(halves, sums, window)
            if len(sums) == MOST_SUMS:
                return
            part = Window(window.low, window.low * (1 - MOST_JOINED / ranges.total))
            yield by_cost(halves.cost, part).pairs(MOST_JOINED, self._rng)
        yield ranges.pairs(MOST_JOINED, self._rng)

    def _sums(
        self, moves: ItemMoves, sets: IntArray, cost: int, slack: IntArray
    ) -> list[Sum]:
        """Return the sums of sets by which they are joined: cost and tight rows."""
        of_rows = self._tight.windows(cost, slack)
        values = [moves.cost, *moves.change[list(of_rows), :, 0]]
        windows = [self._tight.gap_below(cost), *of_rows.values()]
        chosen = independent(np.array(values), windows, MOST_SUMS)
        return [Sum(summed(values[k], sets), windows[k]) for k in chosen]

    def _by_sums(
        self, halves: _Halves, sums: list[Sum], window: Window
    ) -> Iterator[Pairs]:
        """Yield pairs within the windows of all sums, and within that of the cost."""
        # In a pair that lowers the cost, at least one half lowers it alone.
        for ranges in by_cells(sums, halves.cost < 0):
            self.spent += WORK_HALF * len(halves.cost)
            pairs = ranges.pairs(MOST_JOINED, self._rng)
            total = halves.cost[pairs.first] + halves.cost[pairs.second]
            yield pairs.kept((total >= window.low) & (total < window.high))
            if self.spent >= self._end:
                break

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
        self,
        columns: BoolArray,
        moves: ItemMoves,
        exchanges: IntArray,
        slack: IntArray,
    ) -> BoolArray | None:
        """Return the columns after the first exchange within all rows, if any."""
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
                after = columns.copy()
                after[moves.out[own[is_move]]] = False
                after[moves.into[own[is_move], into[is_move]]] = True
                return after
        return None


def _is_smallest(values: FloatArray, most: int) -> BoolArray:
    """
    Return ``(m,)`` whether a value is one of the `most` smallest ones.

    Ties are broken by index; `numpy.argpartition` breaks them depending on the vector
    instructions of the processor.
    """
    last = np.partition(values, most - 1)[most - 1]
    is_chosen: BoolArray = values < last
    equal = np.nonzero(values == last)[0]
    is_chosen[equal[: most - int(is_chosen.sum())]] = True
    return is_chosen


def _exchanges(moves: ItemMoves, halves: _Halves, pairs: Pairs) -> IntArray:
    """
    Return ``(m, 2 w)`` pairs whose moves are of different groups, the cheapest first.

    If there are too many, half of them are the cheapest, and half are spread over the
    costs of the others: where the cheapest break a row, most of them break the same.
    """
    total = halves.cost[pairs.first] + halves.cost[pairs.second]
    chosen = np.argsort(total, kind="stable")
    if len(chosen) > MOST_TRIED:
        cheapest, others = np.split(chosen, [MOST_TRIED // 2])
        spread = np.linspace(0, len(others) - 1, MOST_TRIED // 2).astype(np.int64)
        chosen = np.append(cheapest, others[spread])
    both = np.concatenate([halves.moves[own[chosen]] for own in pairs], axis=1)
    return both[moves.are_apart(both)]
