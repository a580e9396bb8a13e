"""
Moves of single items within a node, and exchanges made of them.

Moves of an item with equal changes of the cost and of the priced rows differ only in
their destination. They form one move with several destinations: exchanges of many items
are searched by cost, and destinations are chosen last.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeVar

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray

Values = TypeVar("Values", IntArray, FloatArray)

BLOCK = 500_000
"""Number of sets of moves in a block."""


@dataclass(frozen=True)
class ItemMoves:
    """
    Moves of single items; the last entry means no move and changes nothing.

    Parameters
    ----------
    out
        ``(k,)`` column that each move leaves.
    into
        ``(k, d)`` destination columns; beyond `num_into` the first one is repeated.
    num_into
        ``(k + 1,)`` number of destinations of each move.
    group
        ``(k + 1,)`` row of the group; -1: none.
    cost
        ``(k + 1,)`` change of cost by each move.
    change
        ``(rows, k + 1, d)`` change of each row by each move, by destination.
    """

    out: IntArray
    into: IntArray
    num_into: IntArray
    group: IntArray
    cost: IntArray
    change: IntArray

    def __len__(self) -> int:
        return len(self.out)

    @classmethod
    def of(
        cls,
        out: IntArray,
        into: IntArray,
        weights: IntArray,
        group: IntArray,
        cost: IntArray,
        is_priced: BoolArray,
    ) -> "ItemMoves":
        """
        Return moves of single items, with moves that differ only in destination joined.

        Parameters
        ----------
        out, into
            ``(m,)`` columns that each move leaves and takes.
        weights
            ``(rows, n)`` weights of the columns.
        group, cost
            ``(n,)`` groups and costs of the columns.
        is_priced
            ``(rows,)`` whether the row has a price.
        """
        added = weights[:, into] - weights[:, out]
        extra = cost[into] - cost[out]
        key = np.stack([out, extra, *added[is_priced]], axis=1)
        _, first, move = np.unique(key, axis=0, return_index=True, return_inverse=True)
        move = move.ravel()
        order = np.argsort(move, kind="stable")
        count = np.bincount(move, minlength=len(first))
        place = np.arange(len(out)) - np.repeat(np.cumsum(count) - count, count)
        num_moves, most = len(first), int(count.max(initial=1))
        columns = np.repeat(into[first, None], most, axis=1)
        columns[move[order], place] = into[order]
        change = np.zeros((len(weights), num_moves + 1, most), dtype=np.int64)
        change[:, :-1] = weights[:, columns] - weights[:, out[first], None]
        return cls(
            out=out[first],
            into=columns,
            num_into=np.append(count, 1),
            group=np.append(group[out[first]], -1),
            cost=np.append(extra[first], 0),
            change=change,
        )

    def chosen(self, numbers: IntArray) -> "ItemMoves":
        """Return a subset of the moves."""
        with_none = np.append(numbers, len(self))
        return ItemMoves(
            out=self.out[numbers],
            into=self.into[numbers],
            num_into=self.num_into[with_none],
            group=self.group[with_none],
            cost=self.cost[with_none],
            change=self.change[:, with_none],
        )

    def are_apart(self, exchanges: IntArray) -> BoolArray:
        """Return ``(m,)`` whether the moves of each row are of different groups."""
        is_apart = np.ones(len(exchanges), dtype=np.bool_)
        for one, other in combinations(range(exchanges.shape[1]), 2):
            first, second = (
                self.group[exchanges[:, one]],
                self.group[exchanges[:, other]],
            )
            is_apart &= (first != second) | (first < 0)
        return is_apart

    @cached_property
    def is_settled(self) -> BoolArray:
        """``(rows,)`` whether the row does not depend on destinations."""
        is_same: BoolArray = (self.change == self.change[:, :, :1]).all(axis=(1, 2))
        return is_same

    def rows_at_risk(self, slack: IntArray, most_moves: int) -> list[int]:
        """Return the rows that `most_moves` moves may break, least slack first."""
        heaviest = self.change.max(axis=(1, 2), initial=0)
        order = np.argsort(slack / np.maximum(heaviest, 1), kind="stable")
        may_break = heaviest * most_moves > slack
        return [row for row in order.tolist() if may_break[row]]

    def destinations(
        self, exchanges: IntArray, most: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """
        Return all choices of destinations, or a random sample if there are many.

        Parameters
        ----------
        exchanges
            ``(m, w)`` indices of moves.
        most
            Largest number of choices of each exchange.
        rng
            Random generator of the sample.

        Returns
        -------
        exchange
            ``(c,)`` row of `exchanges`, in order.
        number
            ``(c, w)`` index of the destination of each move.
        """
        radix = self.num_into[exchanges]
        total = radix.prod(axis=1)
        count = np.minimum(total, most)
        exchange = np.repeat(np.arange(len(exchanges)), count)
        left = np.arange(len(exchange)) - np.repeat(np.cumsum(count) - count, count)
        is_drawn = (total > most)[exchange]
        left[is_drawn] = rng.integers(0, total[exchange[is_drawn]])
        number = np.empty((len(exchange), exchanges.shape[1]), dtype=np.int64)
        for slot in range(exchanges.shape[1]):
            left, number[:, slot] = np.divmod(left, radix[exchange, slot])
        return exchange, number


def sets_of_moves(
    num_moves: int, size: int, most: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """
    Yield ``(m, size)`` all sets of 1 to `size` moves, or a random sample, in blocks.

    Parameters
    ----------
    num_moves
        Number of moves; unused places of a row have this value.
    size
        Largest number of moves of a set.
    most
        Largest number of sets of each size.
    rng
        Random generator of the sample.
    """
    sets = np.arange(num_moves)[:, None]
    yield _padded(sets, size, num_moves)
    for width in range(2, size + 1):
        count = num_moves - 1 - sets[:, -1]
        if count.sum() > most:
            yield rng.integers(0, num_moves, (most, size))
            return
        block = np.cumsum(count) // BLOCK
        starts = np.nonzero(np.diff(block))[0] + 1
        blocks = (_longer(some, num_moves) for some in np.split(sets, starts))
        if width == size:
            yield from blocks
            return
        sets = np.concatenate(list(blocks))
        yield _padded(sets, size, num_moves)


def _longer(sets: IntArray, num_moves: int) -> IntArray:
    """Return each set with each further move of a higher index."""
    count = num_moves - 1 - sets[:, -1]
    begins = np.repeat(np.cumsum(count) - count, count)
    longer = np.repeat(sets, count, axis=0)
    added = np.arange(len(longer)) - begins + longer[:, -1] + 1
    return np.column_stack([longer, added])


def _padded(sets: IntArray, size: int, num_moves: int) -> IntArray:
    free = ((0, 0), (0, size - sets.shape[1]))
    return np.pad(sets, free, constant_values=num_moves)


def summed(values: Values, sets: IntArray) -> Values:
    """Return ``(m,)`` sums of the values of the moves of each set."""
    total: Values = values[sets[:, 0]]
    for slot in range(1, sets.shape[1]):
        total = total + values[sets[:, slot]]
    return total
