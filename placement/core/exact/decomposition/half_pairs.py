"""
Pairs of half exchanges whose sums are in a range (meet in the middle).

Halves are sorted by cost, and a binary search finds the partners of each half. If there
are too many pairs, the load in one row restricts them as well: halves are then sorted
by cells of cost, and by load within each cell.
"""

from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, IntArray

MOST_CELLS = 2**20
"""Largest number of cells of cost."""


class Pairs(NamedTuple):
    """Indices of the first and the second half, ``(p,)`` each."""

    first: IntArray
    second: IntArray

    def kept(self, is_kept: BoolArray) -> "Pairs":
        """Return the pairs with a true flag."""
        return Pairs(self.first[is_kept], self.second[is_kept])


class Window(NamedTuple):
    """Half-open range of a sum: at least `low` and less than `high`."""

    low: float
    high: float


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
        count = self.length
        if self.total > most:
            chosen = rng.permutation(len(count))
            is_over = np.empty(len(count), dtype=np.bool_)
            is_over[chosen] = np.cumsum(count[chosen]) > most
            count = np.where(is_over, 0, count)
        first = np.repeat(np.arange(len(count)), count)
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


def by_cost_and_load(
    cost: IntArray, load: IntArray, window: Window, of_load: Window
) -> list[Ranges]:
    """
    Return pairs of halves with a load in a window and a cost in or near a window.

    Parameters
    ----------
    cost, load
        ``(m,)`` costs and loads of the halves, by ascending cost.
    window, of_load
        Range of the cost of a pair, at most 0, and range of its load.
    """
    width = max(window.high - window.low, (int(cost[-1]) - int(cost[0])) / MOST_CELLS)
    cell = ((cost - cost[0]) / width).astype(np.int64)
    # Pack cell and load into one key of 62 bits.
    bits = (int(load.max()) - int(load.min())).bit_length()
    step = 1 << max((int(cell[-1]) + 2).bit_length() + bits - 61, 0)
    span = (int(load.max()) - int(load.min())) // step + 2
    key = cell * span + (load - load.min()) // step
    order = np.argsort(key, kind="stable")
    key = key[order]
    # In a pair that lowers the cost, at least one half lowers it alone.
    low = _within((of_load.low - load - load.min()) / step, span)
    # Loads rounded to the end of a step may be in the window.
    high = _within((of_load.high - load - load.min()) / step + (step > 1), span)
    ranges = []
    first_cell = np.floor((window.low - cost - cost[0]) / width).astype(np.int64)
    for other in (first_cell, first_cell + 1):
        is_there = (cost < 0) & (other >= 0) & (other <= cell[-1])
        base = np.where(is_there, other, 0) * span
        start = np.searchsorted(key, base + low, "left")
        count = np.searchsorted(key, base + high, "left") - start
        ranges.append(Ranges(order, start, np.where(is_there, np.maximum(count, 0), 0)))
    return ranges


def _within(value: IntArray, span: int) -> IntArray:
    clipped: IntArray = np.clip(np.floor(value), 0, span - 1).astype(np.int64)
    return clipped
