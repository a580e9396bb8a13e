"""
Sets of moves as products: each the union of one row of every factor.

A million sets of a dozen moves, stored as rows of a few small factors, take a tenth of
the memory, and their sums are sums of a few numbers each.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.exact.one_node.item_moves import (
    ItemMoves,
    sets_of_moves,
    summed,
)


class MoveSets(NamedTuple):
    """
    Sets of moves.

    Parameters
    ----------
    factors
        ``(m_k, w_k)`` indices of moves, one array per factor.
    rows
        ``(n,)`` row of each set in each factor.
    """

    factors: tuple[IntArray, ...]
    rows: tuple[IntArray, ...]

    def __len__(self) -> int:
        return len(self.rows[0])

    def summed(self, values: IntArray) -> IntArray:
        """Return ``(n,)`` sums of the values of the moves of each set."""
        total: IntArray = np.zeros(len(self), dtype=np.int64)
        for factor, rows in zip(self.factors, self.rows, strict=True):
            total += summed(values, factor)[rows]
        return total

    def kept(self, chosen: IntArray | BoolArray) -> "MoveSets":
        """Return a subset of the sets."""
        return MoveSets(self.factors, tuple(rows[chosen] for rows in self.rows))

    def times(self, factor: IntArray, rows: IntArray) -> "MoveSets":
        """Return the unions of each set with a row of one more factor."""
        return MoveSets((*self.factors, factor), (*self.rows, rows))

    def moves(self) -> IntArray:
        """Return ``(n, w)`` indices of the moves of each set."""
        pairs = zip(self.factors, self.rows, strict=True)
        return np.concatenate([factor[rows] for factor, rows in pairs], axis=1)


def product(
    factors: Sequence[IntArray], most: int, rng: np.random.Generator
) -> MoveSets:
    """Return all unions of a row of each of two factors, or a random sample."""
    first, second = factors
    size = len(first) * len(second)
    every = np.arange(min(size, most))
    if size > most:
        # One of each stretch of equal length, so that none is drawn twice.
        every = ((every + rng.random(most)) * (size / most)).astype(np.int64)
    return MoveSets((first, second), tuple(np.divmod(every, len(second))))


def sets_up_to(
    moves: ItemMoves, numbers: IntArray, size: int, most: int, rng: np.random.Generator
) -> IntArray:
    """
    Return ``(m, size)`` sets of up to `size` of some moves, the empty set first.

    `most`: largest number of sets per size; beyond it, a random sample is returned.
    """
    none = len(moves)
    of = np.append(numbers, none)
    every = np.concatenate(list(_sets_and_none(len(numbers), size, most, rng)))
    sets: IntArray = of[every]
    return sets[moves.are_apart(sets)]


def _sets_and_none(
    num: int, size: int, most: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    yield np.full((1, size), num)
    width = min(size, num)
    for sets in sets_of_moves(num, width, most, rng) if num else ():
        yield np.pad(sets, ((0, 0), (0, size - width)), constant_values=num)


def subsets(moves: ItemMoves, numbers: IntArray) -> IntArray:
    """Return ``(2^n, n)`` all subsets of a few moves of different groups."""
    none, most = len(moves), max(len(numbers), 1)
    found = np.full((1 << len(numbers), most), none)
    chosen = (
        some
        for size in range(len(numbers) + 1)
        for some in combinations(numbers.tolist(), size)
    )
    for row, some in zip(found, chosen, strict=True):
        row[: len(some)] = some
    return found[moves.are_apart(found)]
