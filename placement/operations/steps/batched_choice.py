"""
Batched variant of `multiple_choice` for very many partitions.

All partitions of a batch choose by the loads before the batch. A batch is small
compared to the number of brokers, so that rarely two of its partitions choose the same
broker. Choices that still increase the sum of penalties are reverted. The sum therefore
never grows, and the result does not depend on the machine.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import FloatArray, RowArray
from placement.core.model.problem import Limits
from placement.model.load import WeightArray, first_true


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Flat:
    """
    Options as flat columns; see `placement.operations.steps.multiple_choice.Options`.

    Parameters
    ----------
    start, change_start
        ``(G + 1,)`` and ``(O + 1,)``.
    broker_idx, change
        ``(D,)`` and ``(D, R)``.
    """

    start: RowArray
    change_start: RowArray
    broker_idx: npt.NDArray[np.int32]
    change: FloatArray


class Batches:
    """
    Options, loads and limits as arrays, for steps on batches of partitions.

    Parameters
    ----------
    options
        Options of all partitions.
    load
        ``(B, R)`` loads without any option.
    limits
        Bands and capacities of the brokers.
    over, least_gain
        Penalty per target of a load over its capacity, and the gain below which a
        change is rounding.
    """

    def __init__(
        self,
        options: Flat,
        load: WeightArray,
        limits: Limits,
        over: float,
        least_gain: float,
    ) -> None:
        self.unit = np.where(limits.target > 0, limits.target, 1.0)
        self.is_banded = limits.target > 0
        self.limits, self.over, self.least_gain = limits, over, least_gain
        self.load = load.astype(np.float64)
        self.given, self.order = options, self._heaviest_first(options)
        self.options = _reordered(options, self.order)
        self.batch = max(len(load) // 2, 1)

    def _heaviest_first(self, options: Flat) -> RowArray:
        size = np.abs(options.change / self.unit[options.broker_idx]).sum(axis=1)
        by_option = _sums(size, options.change_start)
        heaviest = np.maximum.reduceat(by_option, options.start[:-1])
        return np.lexsort((np.arange(len(heaviest)), -heaviest))

    def run(self, most_sweeps: int) -> RowArray:
        """Return ``(G,)`` the option of each partition, in the order given."""
        groups = len(self.order)
        spans = [
            (first, min(first + self.batch, groups))
            for first in range(0, groups, self.batch)
        ]
        chosen = np.zeros(groups, dtype=np.int64)
        for first, last in spans:
            best, _ = self._best(first, last, self._costs(first, last))
            chosen[first:last] = best
            self._apply(best, 1.0)
        for _ in range(most_sweeps):
            if not sum(self._improve(first, last, chosen) for first, last in spans):
                break
        for first, last in spans:
            self._prefer(first, last, chosen)
        found = np.empty(groups, dtype=np.int64)
        # The rank of an option within its partition is the same in both orders.
        place = chosen - self.options.start[:-1]
        found[self.order] = self.given.start[:-1][self.order] + place
        return found

    def _costs(self, first: int, last: int) -> FloatArray:
        """Return the increase of the sum of penalties by each option of a batch."""
        start, stop = self.options.start[[first, last]]
        rows = np.arange(start, stop, dtype=np.int64)
        return self._added(rows, 1.0)

    def _added(self, rows: RowArray, sign: float) -> FloatArray:
        """Return the increase of penalties by adding, or removing, each option."""
        changes, starts = _members(self.options.change_start, rows)
        broker = self.options.broker_idx[changes]
        now = self.load[broker]
        then = now + sign * self.options.change[changes]
        return _sums(self._penalty(broker, then) - self._penalty(broker, now), starts)

    def _penalty(self, broker: npt.NDArray[np.int32], load: FloatArray) -> FloatArray:
        """Return the penalty of each broker's load, summed over all resources."""
        limits, unit = self.limits, self.unit[broker]
        over = np.maximum(load - limits.capacity[broker], 0.0) / unit
        outside = np.maximum(load - limits.upper[broker], limits.lower[broker] - load)
        off = np.maximum(outside, 0.0) / unit * self.is_banded[broker]
        cost: FloatArray = (self.over * over + off**2).sum(axis=1)
        return cost

    def _best(
        self, first: int, last: int, costs: FloatArray
    ) -> tuple[RowArray, FloatArray]:
        """Return the cheapest option of each partition, the first one, and its cost."""
        starts = self.options.start[first : last + 1] - self.options.start[first]
        least = np.minimum.reduceat(costs, starts[:-1])
        near = costs <= np.repeat(least, np.diff(starts)) + self.least_gain
        best = first_true(near, starts)
        return best + self.options.start[first], costs[best]

    def _apply(self, rows: RowArray, sign: float) -> None:
        changes, _ = _members(self.options.change_start, rows)
        broker = self.options.broker_idx[changes]
        np.add.at(self.load, broker, sign * self.options.change[changes])

    def _improve(self, first: int, last: int, chosen: RowArray) -> int:
        """Change options of a batch to better ones; return the number of changes."""
        old = chosen[first:last]
        best, cost = self._best(first, last, self._costs(first, last))
        gain = cost + self._added(old, -1.0)
        better = np.nonzero((best != old) & (gain < -self.least_gain))[0]
        if not len(better):
            return 0
        if not self._exchange(old[better], best[better], -self.least_gain):
            return 0
        chosen[first:last][better] = best[better]
        return len(better)

    def _exchange(self, old: RowArray, new: RowArray, most: float) -> bool:
        """Exchange options; revert the exchange if the sum grows beyond `most`."""
        before = self._total()
        self._apply(old, -1.0)
        self._apply(new, 1.0)
        if self._total() <= before + most:
            return True
        self._apply(new, -1.0)
        self._apply(old, 1.0)
        return False

    def _prefer(self, first: int, last: int, chosen: RowArray) -> None:
        """Choose the first options of equal cost, by halves if not all of them can."""
        starts = self.options.start[first : last + 1]
        old = chosen[first:last]
        least = self._added(old, -1.0)
        costs = self._costs(first, last)
        as_good = costs + np.repeat(least, np.diff(starts)) <= self.least_gain
        found = first_true(as_good, starts - starts[0])
        better = np.nonzero((found >= 0) & (found + starts[0] < old))[0]
        self._take(first, better, (found + starts[0])[better], chosen)

    def _take(
        self, first: int, better: RowArray, new: RowArray, chosen: RowArray
    ) -> None:
        if not len(better):
            return
        if self._exchange(chosen[first + better], new, self.least_gain):
            chosen[first + better] = new
        elif len(better) > 1:
            half = len(better) // 2
            self._take(first, better[:half], new[:half], chosen)
            self._take(first, better[half:], new[half:], chosen)

    def _total(self) -> float:
        brokers = np.arange(len(self.load), dtype=np.int32)
        return float(self._penalty(brokers, self.load).sum())


def _sums(values: FloatArray, start: RowArray) -> FloatArray:
    """Sum the floats of each row in a fixed order, for the same result everywhere."""
    found = np.zeros(len(start) - 1)
    rows = np.repeat(np.arange(len(found)), np.diff(start))
    np.add.at(found, rows, values)
    return found


def _members(start: RowArray, rows: RowArray) -> tuple[RowArray, RowArray]:
    """Return the members of some compressed rows, and the start of each row."""
    counts = start[rows + 1] - start[rows]
    first = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(counts, out=first[1:])
    offset = np.arange(first[-1]) - np.repeat(first[:-1], counts)
    return np.repeat(start[rows], counts) + offset, first


def _reordered(options: Flat, order: RowArray) -> Flat:
    """Return the options with their partitions in another order."""
    rows, start = _members(options.start, order)
    changes, change_start = _members(options.change_start, rows)
    return Flat(
        start=start,
        change_start=change_start,
        broker_idx=options.broker_idx[changes],
        change=options.change[changes],
    )
