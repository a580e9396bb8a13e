r"""
Bring brokers nearer to their bands by other options for one or two partitions.

*Algorithm*: local search. The sum of :math:`(d / T)^p` is minimised, with :math:`d` a
distance outside the band and :math:`T` the target, for larger and larger powers, so
that in the end the largest distances count. Each step changes the one option, or the
two of different partitions, that reduce the sum most; the first of two is one of the
best changes by itself. Capacities come before all.
"""

import numpy as np

from placement.array_types import FloatArray, RowArray
from placement.core.model.problem import Limits
from placement.model.load import WeightArray
from placement.operations.steps.load_options import Options

SQUARINGS = (1, 3, 5)
"""For the powers 2, 8 and 32, exactly the same on every processor."""
MOST_FIRST = 60
"""Maximum number of changes that are tried together with every other one."""
MOST_LOADS = 400_000
"""Maximum number of loads, of every broker by every option, that are searched."""
MOST_SUMS = 5_000_000
"""Maximum number of loads that one step adds up, about 40 MB."""
MOST_STEPS = 100
"""Maximum number of steps for each power."""
OVER = 1e6
"""Penalty per target of a load over its capacity."""
LEAST_GAIN = 1e-2
"""Smallest part of the sum that a step has to gain."""
FURTHEST = 1e8
"""Largest multiple of the present distance that counts; its powers are finite."""
NEAR = 1e-7
"""Distances from the bands below this part of a target are rounding."""


def exchanged(
    options: Options, load: WeightArray, limits: Limits, known: RowArray
) -> RowArray:
    """
    Return a choice that exchanges of one or two options hardly improve.

    Where brokers and options are too many, that is the known one.

    Parameters
    ----------
    options, load, limits
        As for `choose`.
    known
        ``(G,)`` a choice.
    """
    if (len(options.change_start) - 1) * load.size > MOST_LOADS:
        return known
    search = _Exchanges(options, load, limits, known)
    for squarings in SQUARINGS:
        search.run(squarings)
    return search.chosen


class _Exchanges:
    """Loads that options change, in targets, as ``(C,)`` columns."""

    def __init__(
        self, options: Options, load: WeightArray, limits: Limits, known: RowArray
    ) -> None:
        has_band = limits.target > 0
        unit = np.where(has_band, limits.target, 1.0)
        change = np.zeros((len(options.change_start) - 1, *load.shape))
        of = np.repeat(np.arange(len(change)), np.diff(options.change_start))
        parts = options.change / unit[options.broker_idx]
        np.add.at(change, (of, options.broker_idx), parts)
        used = change.any(axis=0)
        self.change = change[:, used]
        ends = limits.lower / unit, limits.upper / unit
        self.lower = np.where(has_band, ends[0], -np.inf)[used]
        self.upper = np.where(has_band, ends[1], np.inf)[used]
        self.capacity = (limits.capacity / unit)[used]
        self.group = np.repeat(np.arange(len(known)), np.diff(options.start))
        self.chosen = known.copy()
        self.load = (load / unit)[used] + self.change[known].sum(axis=0)

    def run(self, squarings: int) -> None:
        """Improve until no exchange does."""
        for _ in range(MOST_STEPS):
            largest = float(self._outside(self.load).max(initial=0.0))
            if largest <= NEAR or not self._step(squarings, largest):
                return

    def _outside(self, load: FloatArray) -> FloatArray:
        return np.maximum(np.maximum(load - self.upper, self.lower - load), 0.0)

    def _worth(self, load: FloatArray, squarings: int, largest: float) -> FloatArray:
        """Return the sums to minimise, of loads with columns on the last axis."""
        over = np.maximum(load - self.capacity, 0.0).sum(axis=-1)
        parts = np.minimum(self._outside(load) / largest, FURTHEST)
        for _ in range(squarings):
            parts = parts * parts
        found: FloatArray = parts.sum(axis=-1) + OVER * over
        return found

    def _step(self, squarings: int, largest: float) -> bool:
        """Change the best one or two options; return whether that is any better."""
        change = self.change - self.change[self.chosen[self.group]]
        now = float(self._worth(self.load, squarings, largest))
        one = self._worth(self.load + change, squarings, largest)
        one[self.chosen] = np.inf
        width = min(MOST_FIRST, max(MOST_SUMS // change.size, 1))
        first = np.argsort(one, kind="stable")[:width]
        both = self.load + change[first][:, None, :] + change[None, :, :]
        two = self._worth(both, squarings, largest)
        two[self.group[first][:, None] == self.group[None, :]] = np.inf
        two[:, self.chosen] = np.inf
        a, b = np.unravel_index(np.argmin(two), two.shape)
        least = min(float(two[a, b]), float(one[first[0]]))
        if not least < now * (1 - LEAST_GAIN):
            return False
        best = [first[0]] if one[first[0]] <= two[a, b] else [first[a], b]
        self.chosen[self.group[best]] = best
        self.load = self.load + change[best].sum(axis=0)
        return True
