"""
Exchanges in a node with two priced rows, each joined from one part per row.

Where two brokers shed load to the others and all end at their bands, a cheaper solution
must fill both rows to some millionths, and few of many billions of exchanges do. Such
an exchange has two parts: moves that change the first row, and moves that change the
second. The parts of a row are searched for alone (meet in the middle): a subset of the
moves that take items back, and up to five moves that send others. A part must also keep
the rows that no move of the other part changes. What is left is joined by the cost and
the other tight rows.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from placement.array_types import IntArray
from placement.core.exact.one_node.half_pairs import (
    NO_PAIR,
    Pairs,
    Ranges,
    Sum,
    Window,
    across,
    independent,
)
from placement.core.exact.one_node.item_moves import ItemMoves, summed
from placement.core.exact.one_node.move_sets import (
    MoveSets,
    product,
    sets_up_to,
    subsets,
)

MOST_BACK = 9
"""Largest number of moves that take items back, of which all subsets are used."""
MOST_SETS = 600_000
"""Largest number of sets of two and of three moves that send items away."""
MOST_FIRST = 1_000_000
"""Largest number of first halves of parts: subsets taken back, and up to two sent."""
MOST_EXAMINED, AT_ONCE = 2_500_000, 500_000
"""Largest number of pairs of halves to examine for the parts of a row, and at once."""
MOST_PARTS = 400_000
"""Number of parts of a row after which no more are sought."""
MOST_JOINED = 1_000_000
"""Largest number of pairs of parts to examine for each choice of cells."""
MOST_MOVES = 2 * (MOST_BACK + 5)
"""Largest number of moves of an exchange."""
FULL_WORK = 1.6
"""Deterministic seconds below which the largest numbers are reduced in proportion."""
WORK_FIRST, WORK_EXAMINED, WORK_PART = 2e-7, 2e-7, 6e-7
"""Deterministic seconds per half, pair of halves examined, and part joined."""


class RowTargets(NamedTuple):
    """
    Rows that an exchange must fill.

    Parameters
    ----------
    priced
        The two rows with prices.
    window
        Range of the change of each tight row, the priced ones included.
    cost
        Range of the change of the cost.
    slack
        ``(rows,)`` largest change of each row.
    at_risk
        Rows that do not depend on destinations and that an exchange may break.
    """

    priced: tuple[int, int]
    window: dict[int, Window]
    cost: Window
    slack: IntArray
    at_risk: Sequence[int]


class TwoRowExchanges:
    """
    Search for exchanges with one part per priced row.

    Parameters
    ----------
    moves
        Moves of single items.
    targets
        Rows to fill.
    work
        Work limit in deterministic seconds.
    rng
        Random generator of samples.
    """

    def __init__(
        self,
        moves: ItemMoves,
        targets: RowTargets,
        work: float,
        rng: np.random.Generator,
    ) -> None:
        self._moves, self._targets, self._rng = moves, targets, rng
        self._share = min(work / FULL_WORK, 1.0)
        self.spent = 0.0

    def found(self, most: int) -> Iterator[IntArray]:
        """
        Yield ``(m, w)`` exchanges that keep the rows at risk, the cheapest first.

        `most`: largest number of exchanges at once.
        """
        change = self._moves.change[:, :-1, 0]
        first, second = self._targets.priced
        # Moves that change neither row belong to the first part.
        numbers = [
            np.nonzero(change[second] == 0)[0],
            np.nonzero((change[first] == 0) & (change[second] != 0))[0],
        ]
        alone = [self._alone(numbers[1]), self._alone(numbers[0])]
        parts = []
        for own, row, rows in zip(numbers, self._targets.priced, alone, strict=True):
            parts.append(self._parts(own, row, rows))
            if not len(parts[-1]):
                return
        shared = [
            row for row in self._targets.at_risk if row not in alone[0] + alone[1]
        ]
        yield from self._joined(parts, shared, most)

    def _alone(self, others: IntArray) -> list[int]:
        """Return the rows at risk that no move of the other part changes."""
        change = self._moves.change[:, others, 0]
        return [row for row in self._targets.at_risk if not change[row].any()]

    def _parts(self, numbers: IntArray, row: int, alone: Sequence[int]) -> MoveSets:
        """Return sets of moves that fill a priced row and keep the rows `alone`."""
        change = self._moves.change[row, :, 0]
        firsts, seconds = self._halves(numbers, change)
        self.spent += WORK_FIRST * (len(firsts) + len(seconds))
        value = summed(change, seconds)
        order = np.argsort(value, kind="stable")
        value = value[order]
        own = firsts.summed(change)
        # Searches in order find most of what they read in the cache.
        ascending = np.argsort(own, kind="stable")
        firsts, own = firsts.kept(ascending), own[ascending]
        low, high = self._targets.window[row]
        start = np.searchsorted(value, low - own, "left")
        count = np.searchsorted(value, high - own, "left") - start
        ranges = Ranges(np.arange(len(value)), start, np.maximum(count, 0))
        return self._within(firsts, seconds[order], ranges, alone)

    def _halves(self, numbers: IntArray, change: IntArray) -> tuple[MoveSets, IntArray]:
        """Return the first halves of parts, and the sets that complete them."""
        moves, rng = self._moves, self._rng
        most_sets, most = self._most(MOST_SETS), self._most(MOST_FIRST)
        back, away = numbers[change[numbers] > 0], numbers[change[numbers] <= 0]
        largest = np.argsort(-change[back], kind="stable")[:MOST_BACK]
        returned = subsets(moves, back[largest])
        two, three = (sets_up_to(moves, away, k, most_sets, rng) for k in (2, 3))
        return product([returned, two], most, rng), three

    def _most(self, number: int) -> int:
        """Return a largest number as far as the work allows it."""
        return max(int(number * self._share), 1)

    def _within(
        self, firsts: MoveSets, seconds: IntArray, ranges: Ranges, alone: Sequence[int]
    ) -> MoveSets:
        """Return first halves joined to their ranges of partners, within some rows."""
        slack, change = self._targets.slack, self._moves.change
        loads = [
            [summed(change[row, :, 0], each) for each in (*firsts.factors, seconds)]
            for row in alone
        ]
        found, num_found, examined = [NO_PAIR], 0, 0
        for pairs in ranges.in_blocks(AT_ONCE, self._rng):
            is_enough = num_found >= self._most(MOST_PARTS)
            if is_enough or examined >= self._most(MOST_EXAMINED):
                break
            examined += len(pairs.first)
            for row, of_factor in zip(alone, loads, strict=True):
                rows = (*(each[pairs.first] for each in firsts.rows), pairs.second)
                load = sum(own[at] for own, at in zip(of_factor, rows, strict=True))
                pairs = pairs.kept(load <= slack[row])  # noqa: PLW2901 - narrowed
            num_found += len(pairs.first)
            found.append(pairs)
        self.spent += WORK_EXAMINED * examined
        first, second = (np.concatenate(each) for each in zip(*found, strict=True))
        return firsts.kept(first).times(seconds, second)

    def _joined(
        self, parts: Sequence[MoveSets], shared: Sequence[int], most: int
    ) -> Iterator[IntArray]:
        """Yield exchanges of a part of each row that keep the rows of both."""
        targets, change = self._targets, self._moves.change[:, :, 0]
        rows = [row for row in targets.window if row not in targets.priced]
        values = [self._moves.cost, *change[rows]]
        windows = [targets.cost, *(targets.window[row] for row in rows)]
        kinds = independent(np.array(values), windows, 2) or [0]
        sums = [Sum(parts[0].summed(values[k]), windows[k]) for k in kinds]
        partners = [parts[1].summed(values[k]) for k in kinds]
        cost = [part.summed(self._moves.cost) for part in parts]
        loads = [[part.summed(change[row]) for part in parts] for row in shared]
        self.spent += WORK_PART * (len(parts[0]) + len(parts[1]))
        for pairs in across(sums, partners, MOST_JOINED, self._rng):
            total = cost[0][pairs.first] + cost[1][pairs.second]
            is_kept = (total >= targets.cost.low) & (total < targets.cost.high)
            for row, (one, other) in zip(shared, loads, strict=True):
                load = one[pairs.first] + other[pairs.second]
                is_kept &= load <= targets.slack[row]
            cheapest = np.argsort(total[is_kept], kind="stable")[:most]
            yield self._exchanges(parts, pairs.kept(is_kept).kept(cheapest))

    def _exchanges(self, parts: Sequence[MoveSets], pairs: Pairs) -> IntArray:
        """Return ``(m, w)`` moves of pairs of parts, where they are of other groups."""
        both = [part.kept(of).moves() for part, of in zip(parts, pairs, strict=True)]
        exchanges = np.concatenate(both, axis=1)
        return exchanges[self._moves.are_apart(exchanges)]
