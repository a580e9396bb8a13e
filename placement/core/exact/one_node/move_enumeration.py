"""
Exhaustive enumeration of the few moves by which a node's places may be cheaper.

Reduced costs leave few columns to solutions cheaper than a known one, and the bands of
counts often admit only a few moves of these. All sets of moves that cost no more than
the known solution are then enumerated: halves of a set are joined by cost (meet in the
middle), pairs of halves are checked against each row with the least change of any
destination, and destinations are chosen for the remaining sets in order of increasing
cost. The first set within all rows is optimal, and if there is none, the known solution
is. Sums of few items seldom come nearer to a band than some millionths, so no other
method proves such a solution: the linear relaxation and its cuts admit fractions of
items.

References
----------
Horowitz, E. and Sahni, S. (1974), Computing partitions with applications to the
knapsack problem, Journal of the ACM 21. https://doi.org/10.1145/321812.321823
"""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

import highspy
import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.exact.one_node.item_moves import ItemMoves, summed
from placement.core.exact.one_node.node_relaxation import (
    Relaxed,
    cost_unit,
    model_of,
    reduced_costs,
)
from placement.core.exact.one_node.node_rows import NodeRows

MOST_MOVES = 12
"""Largest number of moves of a set."""
MOST_HALVES = 3_000_000
"""Largest number of halves of sets."""
MOST_STARTS = 64
"""Largest number of choices of places for the groups that have to move."""
MOST_CHOICES = 3**12
"""Largest number of choices of destinations of a set."""
JOINED_AT_ONCE, TRIED_AT_ONCE = 1_000_000, 100_000
"""Number of pairs of halves, and of choices of destinations, in a batch."""
WORK_HALF, WORK_JOINED, WORK_CHOICE = 1e-7, 3e-8, 1e-7
"""Deterministic seconds per half, pair of halves, and choice of destinations."""
SAFE = 1e-9
"""Fraction of the cost that is added to a gap, for rounding in floats."""
WHOLE = 1e-6
"""Distance below which a bound on the number of moves counts as whole."""


class Enumerated(NamedTuple):
    """
    Result of an enumeration.

    Parameters
    ----------
    columns
        ``(n,)`` columns of a solution that costs no more than the given one.
    is_best
        Whether all sets of moves were examined, so that the solution is optimal.
    spent
        Work done in deterministic seconds.
    """

    columns: BoolArray
    is_best: bool
    spent: float


class _TooMuchError(Exception):
    """The enumeration exceeds its work limit, or a limit of its size."""


class _Sets(NamedTuple):
    """
    Sets of moves of different groups.

    Parameters
    ----------
    moves
        ``(m, w)`` ascending indices of moves; unused places have the index of no move.
    cost
        ``(m,)`` cost of each set.
    """

    moves: IntArray
    cost: IntArray

    def part(self, chosen: BoolArray | IntArray) -> "_Sets":
        """Return some of the sets."""
        return _Sets(self.moves[chosen], self.cost[chosen])


def enumerate_moves(
    rows: NodeRows,
    relaxed: Relaxed,
    columns: BoolArray,
    work: float,
    bound: int = 0,
) -> Enumerated:
    """
    Return an optimal solution, if the moves of cheaper ones can be enumerated.

    Parameters
    ----------
    rows, relaxed
        Constraints of the bins, and a solution of the linear relaxation.
    columns
        ``(n,)`` columns of a solution.
    work
        Work limit in deterministic seconds.
    bound
        Lower bound on the cost that is known; cheaper sets are left out.
    """
    if not rows.is_solution(columns) or not _is_one_item_each(rows):
        return Enumerated(columns, is_best=False, spent=0.0)
    search = _Enumeration(rows, relaxed, columns, work, bound)
    try:
        return Enumerated(search.solved(), is_best=True, spent=search.spent)
    except _TooMuchError:
        return Enumerated(search.columns, is_best=False, spent=search.spent)


def _is_one_item_each(rows: NodeRows) -> bool:
    """Return whether each group has exactly one item in the bins."""
    here = np.unique(rows.groups)
    return bool((rows.least[here] == 1).all() and (rows.most[here] == 1).all())


class _Enumeration:
    """Enumeration of all solutions cheaper than the incumbent."""

    def __init__(
        self,
        rows: NodeRows,
        relaxed: Relaxed,
        columns: BoolArray,
        work: float,
        bound: int = 0,
    ) -> None:
        self._rows, self.columns = rows, columns
        self._work, self.spent = work, 0.0
        self._cost = rows.cost_of(columns)
        self._weights = np.zeros((len(rows.rows), len(rows)), dtype=np.int64)
        for number, row in enumerate(rows.rows):
            self._weights[number, row.columns] = row.weights
        self._limits = np.array([row.limit for row in rows.rows], dtype=np.int64)
        least, extra = reduced_costs(rows, relaxed.prices)
        least -= SAFE * self._cost + 1
        self._can_pay = self._within(extra <= self._cost - least)
        self._least = max(least, bound - 1)
        self._is_priced = relaxed.prices > 0

    def solved(self) -> BoolArray:
        """Return the columns of an optimal solution."""
        stays, moves = self._starts_and_moves()
        most = min(self._most_moves(), len(moves))
        if most > MOST_MOVES:
            raise _TooMuchError
        limit = self._cost - 1
        halves = self._sets(moves, -(-most // 2), limit)
        for start in stays:
            self._from_start(start, moves, halves, most)
        return self.columns

    def _within(self, can_pay: BoolArray) -> BoolArray:
        """Return ``(n,)`` columns that pay, without those beside a kept item."""
        rows = self._rows
        has_kept = np.zeros(rows.problem.num_groups, dtype=np.bool_)
        has_kept[rows.groups[rows.is_kept]] = True
        within: BoolArray = np.where(has_kept[rows.groups], rows.is_kept, can_pay)
        return within

    def _starts_and_moves(self) -> tuple[list[IntArray], ItemMoves]:
        """
        Return the starts, and the moves of single items from any of them.

        A start has the free items at home, and one choice of places of the others. The
        moves are in order of increasing cost.
        """
        rows, can_pay = self._rows, self._can_pay
        # Without a home in the bins, or where staying costs too much, an item moves.
        home = np.full(rows.problem.num_groups, -1, dtype=np.int64)
        stays = np.nonzero(can_pay & (rows.cost == 0))[0]
        home[rows.groups[stays[::-1]]] = stays[::-1]
        must = np.unique(rows.groups[home[rows.groups] < 0])
        choices = [np.nonzero(can_pay & (rows.groups == group))[0] for group in must]
        if prod(len(some) for some in choices) > MOST_STARTS:
            raise _TooMuchError
        own = home[home >= 0]
        starts = [
            np.append(own, np.array(some, dtype=np.int64))
            for some in product(*(some.tolist() for some in choices))
        ]
        is_home = np.zeros(len(rows), dtype=np.bool_)
        is_home[own] = True
        into = np.nonzero(can_pay & ~is_home & (home[rows.groups] >= 0))[0]
        moves = ItemMoves.of(
            home[rows.groups[into]],
            into,
            self._weights,
            rows.groups,
            rows.cost,
            self._is_priced,
        )
        return starts, moves.chosen(np.argsort(moves.cost[:-1], kind="stable"))

    def _most_moves(self) -> int:
        """Return an upper bound on the moves of free items, by a linear relaxation."""
        rows, scale = self._rows, cost_unit(self._rows)
        model = model_of(rows, scale)
        model.col_upper_ = self._can_pay * 1.0
        stays = np.zeros(rows.problem.num_groups, dtype=np.bool_)
        stays[rows.groups[self._can_pay & (rows.cost == 0)]] = True
        model.col_cost_ = -1.0 * (stays[rows.groups] & (rows.cost > 0))
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("solver", "simplex")
        solver.passModel(model)
        paid = np.nonzero(rows.cost)[0].astype(np.int32)
        most = self._cost / scale
        solver.addRow(
            -highspy.kHighsInf, most, len(paid), paid, rows.cost[paid] / scale
        )
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise _TooMuchError
        return int(WHOLE - solver.getInfo().objective_function_value)

    def _sets(self, moves: ItemMoves, most: int, limit: int) -> _Sets:
        """Return all sets of 0 to `most` moves up to a limit of the cost."""
        none = len(moves)
        sets = _Sets(np.full((1, 0), none), np.zeros(1, dtype=np.int64))
        every = [_padded(sets, most, none)]
        for width in range(most):
            last = sets.moves[:, -1] if width else np.full(1, -1)
            end = np.searchsorted(moves.cost[:-1], limit - sets.cost, "right")
            count = np.maximum(end - 1 - last, 0)
            self._spend(WORK_HALF * int(count.sum()))
            if count.sum() > MOST_HALVES:
                raise _TooMuchError
            begins = np.repeat(np.cumsum(count) - count, count)
            added = np.arange(len(begins)) - begins + np.repeat(last, count) + 1
            longer = np.repeat(np.arange(len(count)), count)
            cost = sets.cost[longer] + moves.cost[added]
            both = np.column_stack([sets.moves[longer], added])
            sets = _Sets(both, cost).part(moves.are_apart(both))
            every.append(_padded(sets, most, none))
        return _Sets(*(np.concatenate(part) for part in zip(*every, strict=True)))

    def _from_start(
        self, start: IntArray, moves: ItemMoves, halves: _Sets, most: int
    ) -> None:
        """Find the cheapest solution with some moves from a start, if it is cheaper."""
        rows = self._rows
        spent_by_start = int(rows.cost[start].sum())
        low = self._least - spent_by_start
        limit = self._cost - 1 - spent_by_start
        slack = self._limits - self._weights[:, start].sum(axis=1)
        found = [
            some.part(self._may_keep(moves, some.moves, slack))
            for some in self._joined(halves, most, (low, limit), len(moves))
        ]
        every = _Sets(*(np.concatenate(part) for part in zip(*found, strict=True)))
        every = every.part(np.argsort(every.cost, kind="stable"))
        placed = self._placed(moves, every.moves, slack)
        if placed is not None:
            out, into = placed
            columns = np.zeros(len(rows), dtype=np.bool_)
            columns[start] = True
            columns[out], columns[into] = False, True
            self.columns, self._cost = columns, rows.cost_of(columns)

    def _joined(
        self, halves: _Sets, most: int, window: tuple[float, int], none: int
    ) -> Iterator[_Sets]:
        """Yield each set of up to `most` moves with a cost in a window once."""
        low, limit = window
        width = halves.moves.shape[1]
        size = (halves.moves < none).sum(axis=1)
        alone = halves.part((halves.cost >= low) & (halves.cost <= limit))
        yield _padded(alone, most, none)
        first = halves.part(size == width)
        second = halves.part((size > 0) & (size <= most - width))
        if not width or not len(second.cost):
            return
        order = np.argsort(second.cost, kind="stable")
        second = _Sets(second.moves[order, : most - width], second.cost[order])
        begin = np.searchsorted(second.cost, low - first.cost, "left")
        count = np.searchsorted(second.cost, limit - first.cost, "right") - begin
        count = np.maximum(count, 0)
        self._spend(WORK_HALF * len(halves.cost) + WORK_JOINED * int(count.sum()))
        batch = np.cumsum(count) // JOINED_AT_ONCE
        for number in np.unique(batch[count > 0]).tolist():
            own = np.nonzero((batch == number) & (count > 0))[0]
            one = np.repeat(own, count[own])
            begins = np.repeat(np.cumsum(count[own]) - count[own], count[own])
            other = begin[one] + np.arange(len(one)) - begins
            # The lower indices of a set are its first half.
            is_once = first.moves[one, -1] < second.moves[other, 0]
            one, other = one[is_once], other[is_once]
            both = np.column_stack([first.moves[one], second.moves[other]])
            yield _padded(_Sets(both, first.cost[one] + second.cost[other]), most, none)

    def _may_keep(self, moves: ItemMoves, sets: IntArray, slack: IntArray) -> IntArray:
        """Return the sets that keep each row with some destinations."""
        left = np.nonzero(moves.are_apart(sets))[0]
        least = moves.change.min(axis=2)
        reach = -np.minimum(least, 0).sum(axis=1) + np.abs(least).max(axis=1)
        for row in np.argsort(slack / np.maximum(reach, 1), kind="stable").tolist():
            if not len(left):
                break
            if least[row].max() * sets.shape[1] > slack[row]:
                left = left[summed(least[row], sets[left]) <= slack[row]]
        return left

    def _placed(
        self, moves: ItemMoves, sets: IntArray, slack: IntArray
    ) -> tuple[IntArray, IntArray] | None:
        """Return the columns left and taken by the first set within all rows."""
        rows = moves.rows_at_risk(slack, sets.shape[1])
        num_choices = moves.num_into[sets].prod(axis=1)
        if num_choices.max(initial=0) > MOST_CHOICES:
            raise _TooMuchError
        batch = np.cumsum(num_choices) // TRIED_AT_ONCE
        starts = np.nonzero(np.diff(batch, prepend=-1))[0]
        for some in np.split(sets, starts[1:]) if len(sets) else []:
            self._spend(WORK_CHOICE * int(moves.num_into[some].prod(axis=1).sum()))
            own, number = moves.destinations(
                some, MOST_CHOICES, np.random.default_rng(0)
            )
            for row in rows:
                change = moves.change[row][some[own], number].sum(axis=1)
                is_within = change <= slack[row]
                own, number = own[is_within], number[is_within]
            if len(own):
                chosen, to = some[own[0]], number[0]
                is_move = chosen < len(moves)
                taken = moves.into[chosen[is_move], to[is_move]]
                return moves.out[chosen[is_move]], taken
        return None

    def _spend(self, work: float) -> None:
        """Count work, unless it exceeds the limit."""
        if self.spent + work > self._work:
            raise _TooMuchError
        self.spent += work


def _padded(sets: _Sets, width: int, none: int) -> _Sets:
    """Return sets with as many places as wanted."""
    free = width - sets.moves.shape[1]
    moves = np.pad(sets.moves, ((0, 0), (0, free)), constant_values=none)
    return _Sets(moves, sets.cost)
