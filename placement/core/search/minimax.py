"""
Minimax search: reduces the largest distance to bands that are out of reach.

The local search minimises the sum of squared distances, but the objective has the
largest distance first. So this search widens the bands by a fraction of the largest
distance reached: only the furthest bins are then out of band and relieved. It repeats
this with a larger or smaller step, depending on success. Finally the other bins come
nearer to their bands, with the distance reached as a capacity.
"""

from dataclasses import replace

import numpy as np

from placement.array_types import IntArray
from placement.core.model.arrangement import Arrangement, settled
from placement.core.model.objective import Value, evaluate
from placement.core.model.problem import NO_LIMIT, Limits, Problem
from placement.core.model.search_budget import scans
from placement.core.search.kernels import stages
from placement.core.search.kernels.layout import (
    BASE_PRICE,
    LIMITS,
    LOAD_NOW,
    LOAD_WIDTH,
    LOADS,
    ROW_LOWER,
    ROW_UPPER,
    ROW_WIDTH,
    SCALE,
)
from placement.core.search.kernels.state import arrangement_of, limit_rows
from placement.core.search.local_search import (
    BASE_PRICES,
    ROLE_SWEEPS,
    SMALL_ITEMS,
    Searcher,
)

FIRST_STEP = 0.1
"""Fraction of the largest distance by which the first attempt lowers it."""
LONGER, SHORTER = 1.5, 1 / 3
"""Factors of the step after a successful and after a failed attempt."""
NOISE = 1e-9
"""Tolerance of equal distances, in targets."""


class Narrower(Searcher):
    """Minimax search for bands that are out of reach; parameters as `Searcher`."""

    def narrow(self, at: Arrangement, value: Value) -> tuple[Arrangement, Value]:
        """
        Reduce the largest distance of an arrangement outside the bands.

        Parameters
        ----------
        at, value
            Arrangement that keeps the hard rules, and its objective value.

        Returns
        -------
        Best arrangement and its value; the given one if none is better.
        """
        found = self._narrowed(at, value.deviation)
        if found is at:
            return at, value
        worth = evaluate(self._problem, found)
        return (found, worth) if worth < value else (at, value)

    def _narrowed(self, at: Arrangement, reached: float) -> Arrangement:
        best, step, is_best = at, FIRST_STEP, False
        bands = limit_rows(self._problem).reshape(-1, ROW_WIDTH)
        for _ in range(self._effort.narrowings):
            if self._deadline.is_over():
                break
            if not is_best:
                self._begin(best)
            self._relieve(_widened(self._problem, reached * (1 - step)))
            furthest = self._furthest(bands)
            is_best = furthest < reached - NOISE
            step *= LONGER if is_best else SHORTER
            if is_best:
                reached, best = furthest, self._arrangement()
        if best is at or self._deadline.is_over():
            return best
        self._begin(best)
        self._relieve(_held(self._problem, reached), is_last=True)
        self._tidy()
        return self._arrangement() if self._furthest(bands) <= reached + NOISE else best

    def _relieve(self, limited: Problem, *, is_last: bool = False) -> None:
        """Relieve the bins outside the bands of `limited`, from the present state."""
        rows = limit_rows(limited)
        start = int(self._now.ints[LIMITS])
        self._now.ints[start : start + len(rows)] = self._column(rows)
        price = self._problem.price_per_move
        self._now.floats[BASE_PRICE] = 1.0 + BASE_PRICES[0] * (self._mean_cost + price)
        self._call(stages.level_roles, ROLE_SWEEPS)
        for scan in scans(price):
            self._balance(scan)
        if is_last or self._problem.num_items <= SMALL_ITEMS:
            self._balance(self._effort.pair_scan, is_thorough=True)
            self._trade_roles()

    def _arrangement(self) -> Arrangement:
        return settled(self._problem, arrangement_of(self._now, self._problem))

    def _furthest(self, bands: IntArray) -> float:
        """Return the largest distance from the bands of the problem, in targets."""
        ints, floats = self._now
        lower, upper = bands[:, ROW_LOWER], bands[:, ROW_UPPER]
        loads, scale = int(ints[LOADS]), int(ints[SCALE])
        end = loads + LOAD_WIDTH * len(lower)
        load = np.array(ints[loads + LOAD_NOW : end : LOAD_WIDTH])
        off = np.maximum(load - upper, lower - load).clip(0)
        unit = np.array(floats[scale : scale + len(lower)])
        return float((off * unit).max(initial=0.0))


def _beyond(limits: Limits, distance: float) -> tuple[IntArray, IntArray]:
    """Return ``(N, R)`` lower and upper ends of bands, widened by a distance."""
    more = np.floor(distance * limits.target).astype(np.int64)
    return np.maximum(0, limits.lower - more), limits.upper + more


def _widened(problem: Problem, distance: float) -> Problem:
    """Return the problem with the bands of its bins widened."""
    lower, upper = _beyond(problem.bins, distance)
    return _with_bins(problem, replace(problem.bins, lower=lower, upper=upper))


def _held(problem: Problem, distance: float) -> Problem:
    """Return the problem with upper ends widened by a distance as capacities."""
    _, most = _beyond(problem.bins, distance)
    # Capacities of transient resources apply to peaks: leave them as they are.
    is_held = (problem.bins.target > 0) & ~problem.is_transient
    capacity = np.where(is_held, most, NO_LIMIT)
    capacity = np.minimum(problem.bins.capacity, capacity)
    return _with_bins(problem, replace(problem.bins, capacity=capacity))


def _with_bins(problem: Problem, bins: Limits) -> Problem:
    first, *others = problem.levels
    return replace(problem, levels=(replace(first, limits=bins), *others))
