"""
Pairs of half exchanges whose sums are in a range (meet in the middle).

Halves are sorted by cost, and a binary search finds the partners of each half. If there
are too many pairs, the loads in one or two rows restrict them as well: halves are then
sorted by cells of the first kinds of sums, and by the last kind within each cell.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray

MOST_CELLS = (2**20, 2**17)
"""Largest number of cells of each kind of sums, with one and with two such kinds."""


class Pairs(NamedTuple):
    """Indices of the first and the second half, ``(p,)`` each."""

    first: IntArray
    second: IntArray

    def kept(self, is_kept: BoolArray | IntArray) -> "Pairs":
        """Return the pairs with a true flag, or of some numbers."""
        return Pairs(self.first[is_kept], self.second[is_kept])


NO_PAIR = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))


class Window(NamedTuple):
    """Half-open range of a sum: at least `low` and less than `high`."""

    low: float
    high: float


class Sum(NamedTuple):
    """``(m,)`` values of halves, and the range that the sum of a pair must be in."""

    values: IntArray
    window: Window


class Ranges(NamedTuple):
    """
    Ranges of partners of each half.

    Parameters
    ----------
    order
        ``(m,)`` indices of halves in the order that the ranges refer to.
    start, length
        ``(m,)`` start and length of the range of each half.
    """

    order: IntArray
    start: IntArray
    length: IntArray

    @property
    def total(self) -> int:
        """Number of pairs."""
        return int(self.length.sum())

    def pairs(self, most: int, rng: np.random.Generator) -> Pairs:
        """Return all pairs, or a random sample of at most `most`."""
        halves = np.arange(len(self.length))
        if self.total > most:
            chosen = rng.permutation(len(halves))
            is_over = np.empty(len(halves), dtype=np.bool_)
            is_over[chosen] = np.cumsum(self.length[chosen]) > most
            halves = halves[~is_over]
        return self._of(halves)

    def in_blocks(self, size: int, rng: np.random.Generator) -> Iterator[Pairs]:
        """Yield the pairs of halves in random order, about `size` at once."""
        halves = rng.permutation(np.nonzero(self.length)[0])
        block = np.cumsum(self.length[halves]) // size
        for some in np.split(halves, np.nonzero(np.diff(block))[0] + 1):
            yield self._of(some)

    def _of(self, halves: IntArray) -> Pairs:
        """Return all pairs of some halves."""
        count = self.length[halves]
        first = np.repeat(halves, count)
        begins = np.repeat(np.cumsum(count) - count, count)
        return Pairs(
            first, self.order[self.start[first] + np.arange(len(first)) - begins]
        )


def by_cost(cost: IntArray, window: Window) -> Ranges:
    """
    Return each pair of halves with a cost in a window once.

    Parameters
    ----------
    cost
        ``(m,)`` costs of the halves, ascending.
    window
        Range of the cost of a pair.
    """
    every = np.arange(len(cost))
    start = np.maximum(np.searchsorted(cost, window.low - cost, "left"), every)
    count = np.searchsorted(cost, window.high - cost, "left") - start
    return Ranges(every, start, np.maximum(count, 0))


def by_cells(sums: Sequence[Sum], is_first: BoolArray) -> list[Ranges]:
    """
    Return pairs of halves whose sums are in or near a window of each kind.

    Halves are sorted by cells as wide as the windows of all kinds but the last, and by
    the last kind within each cell.

    Parameters
    ----------
    sums
        One to three kinds of sums. The first ones should exclude the most pairs.
    is_first
        ``(m,)`` halves whose partners are wanted.
    """
    *cells, last = sums
    least, most = int(last.values.min()), int(last.values.max())
    most_cells = MOST_CELLS[max(len(cells), 1) - 1]
    grid = [_Cells.of(kind, most_cells) for kind in cells]
    bits = prod(kind.size for kind in grid).bit_length() + (most - least).bit_length()
    step = 1 << max(bits - 61, 0)
    span = (most - least) // step + 2
    key = _key([kind.own for kind in grid], grid, len(is_first)) * span
    key += (last.values - least) // step
    order = np.argsort(key, kind="stable")
    key = key[order]
    low = _within((last.window.low - last.values - least) / step, span)
    # Loads rounded to the end of a step may be in the window.
    high = _within((last.window.high - last.values - least) / step + (step > 1), span)
    ranges = []
    for offsets in product((0, 1), repeat=len(grid)):
        other = [
            kind.first + offset for kind, offset in zip(grid, offsets, strict=True)
        ]
        is_there = is_first.copy()
        for own, kind in zip(other, grid, strict=True):
            is_there &= (own >= 0) & (own < kind.size)
        base = np.where(is_there, _key(other, grid, len(is_first)), 0) * span
        start, count = _found(key, base + low, base + high, is_there)
        ranges.append(Ranges(order, start, count))
    return ranges


def across(
    first: Sequence[Sum],
    second: Sequence[IntArray],
    most: int,
    rng: np.random.Generator,
) -> Iterator[Pairs]:
    """
    Yield pairs of halves of two sides whose sums are in or near a window of each kind.

    Parameters
    ----------
    first
        One to three kinds of sums of the ``(m,)`` first halves.
    second
        ``(n,)`` values of the second halves, of each kind.
    most, rng
        Largest number of pairs of each choice of cells, and generator of the sample.
    """
    num = len(first[0].values)
    both = [
        Sum(np.concatenate([kind.values, values]), kind.window)
        for kind, values in zip(first, second, strict=True)
    ]
    # No pair of two first halves, or of two second ones, reaches the shifted window.
    *cells, (values, (low, high)) = both
    apart = 2 * int(values.max() - values.min()) + int(max(abs(low), abs(high))) + 1
    shifted = np.append(values[:num], values[num:] + apart)
    both = [*cells, Sum(shifted, Window(low + apart, high + apart))]
    for ranges in by_cells(both, np.arange(len(shifted)) < num):
        one, other = ranges.pairs(most, rng)
        # Very large loads are rounded, and some pairs near the window are of one side.
        is_across = other >= num
        yield Pairs(one[is_across], other[is_across] - num)


def independent(values: IntArray, windows: Sequence[Window], most: int) -> list[int]:
    """
    Return the kinds of sums that exclude the most pairs, the best first.

    A kind excludes pairs as far as its values spread beyond its window, apart from the
    part of them that the kinds before it determine.

    Parameters
    ----------
    values
        ``(k, n)`` change by each move, of each kind.
    windows
        Window of each kind.
    most
        Largest number of kinds.
    """
    widths = np.array([max(high - low, 1.0) for low, high in windows])
    rest = values / widths[:, None]
    chosen: list[int] = []
    for _ in range(min(most, len(rest))):
        spread = np.linalg.norm(rest, axis=1)
        best = int(spread.argmax())
        if spread[best] < 1.0:
            break
        chosen.append(best)
        along = rest[best] / spread[best]
        rest = rest - np.outer(rest @ along, along)
        rest[chosen] = 0.0
    return chosen


class _Cells(NamedTuple):
    """
    Cells of one kind of sums.

    Parameters
    ----------
    own, first
        ``(m,)`` cell of each half, and the first of the two cells of its partners.
    size
        Number of cells.
    """

    own: IntArray
    first: IntArray
    size: int

    @classmethod
    def of(cls, kind: Sum, most_cells: int) -> "_Cells":
        """Return cells as wide as the window, or wider to be no more than a number."""
        values, (low, high) = kind
        least = int(values.min())
        width = max(high - low, (int(values.max()) - least) / most_cells, 1.0)
        own = ((values - least) / width).astype(np.int64)
        first = np.floor((low - values - least) / width).astype(np.int64)
        return cls(own, first, int(own.max()) + 1)


def _key(cells: Sequence[IntArray], grid: Sequence[_Cells], size: int) -> IntArray:
    """Return ``(m,)`` one number for the cells of all kinds."""
    key: IntArray = np.zeros(size, dtype=np.int64)
    for own, kind in zip(cells, grid, strict=True):
        key = key * kind.size + own
    return key


def _found(
    key: IntArray, low: IntArray, high: IntArray, is_wanted: BoolArray
) -> tuple[IntArray, IntArray]:
    """Return ``(m,)`` start and length of each wanted range of the sorted keys."""
    start, length = np.zeros(len(key), np.int64), np.zeros(len(key), np.int64)
    # Searches in order of the keys find most of what they read in the cache.
    wanted = np.nonzero(is_wanted)[0]
    wanted = wanted[np.argsort(low[wanted])]
    start[wanted] = np.searchsorted(key, low[wanted], "left")
    end = np.searchsorted(key, high[wanted], "left")
    length[wanted] = np.maximum(end - start[wanted], 0)
    return start, length


def _within(value: FloatArray, span: int) -> IntArray:
    clipped: IntArray = np.clip(np.floor(value), 0, span - 1).astype(np.int64)
    return clipped
