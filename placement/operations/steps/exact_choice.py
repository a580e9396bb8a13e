r"""
Nearest choice of one option per partition, as an integer program for CP-SAT.

Levels, one after the other: the largest distance from the bands of any load that
options change, the sum of all distances, options other than the first. Loads are
counted in small parts of their targets and rounded, so the answer is compared with the
known one by exact loads.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from placement.array_types import BoolArray, FloatArray, IntArray, RowArray
from placement.core.exact.cp_sat.limited_solver import limited_solver
from placement.core.model.problem import Limits
from placement.model.load import WeightArray
from placement.operations.steps.load_options import Options, worth_of

PARTS = 10.0**9
"""Integer units of a load of one target, unless loads are very many targets."""
LARGEST = 2.0**44
"""Most integer units of any load, far within the 64 bits that CP-SAT adds up in."""
WORK = 0.2
"""Deterministic seconds of each level."""


def nearest_choice(
    options: Options, load: WeightArray, limits: Limits, known: RowArray
) -> RowArray:
    """
    Return the choice that brings loads nearest to their bands.

    Parameters
    ----------
    options, load, limits
        As for `choose`.
    known
        ``(G,)`` a choice.

    Returns
    -------
    ``(G,)`` options; `known` if nothing better is found within the work limit.
    """
    found = _ChoiceModel(options, load, limits, known).solved()
    return min([known, *found], key=lambda one: worth_of(options, load, limits, one))


class _Row(NamedTuple):
    """
    One load that options change.

    Parameters
    ----------
    change
        ``(O,)`` load added by each option.
    fixed
        Load without any option.
    lower, upper
        Ends of the band, without parts that no choice reaches.
    capacity
        Largest load allowed.
    target
        Unit of distances; 0: no band.
    """

    change: FloatArray
    fixed: float
    lower: float
    upper: float
    capacity: float
    target: float

    @property
    def reach(self) -> float:
        """Largest change by any choice, at most."""
        return float(np.abs(self.change).sum())

    @property
    def extent(self) -> float:
        """Largest number that the row adds up or compares, at most."""
        ends = abs(self.lower - self.fixed), abs(self.upper - self.fixed)
        return self.reach + max(ends)


class _ChoiceModel:
    def __init__(
        self, options: Options, load: WeightArray, limits: Limits, known: RowArray
    ) -> None:
        self._model, self._options = cp_model.CpModel(), options
        self._takes = [self._model.new_bool_var("") for _ in options.change_start[1:]]
        for group in range(len(options.start) - 1):
            span = slice(*options.start[group : group + 2])
            self._model.add_exactly_one(self._takes[span])
        self._hint(np.isin(np.arange(len(self._takes)), known))
        self._outside: list[cp_model.IntVar] = []
        self._roundings: list[int] = []
        rows = [*_rows(options, load, limits, known)]
        extents = [row.extent / row.target for row in rows if row.target > 0]
        parts = min(PARTS, LARGEST / max(extents, default=1.0))
        for row in rows:
            self._add_capacity(row)
            if row.target > 0:
                self._add_band(row, row.target / parts)

    def _total(self, row: _Row, unit: float) -> cp_model.LinearExprT:
        used = np.nonzero(row.change)[0].tolist()
        takes = [self._takes[option] for option in used]
        parts: IntArray = np.rint(row.change[used] / unit).astype(np.int64)
        return cp_model.LinearExpr.weighted_sum(takes, parts.tolist())

    def _add_capacity(self, row: _Row) -> None:
        left = row.capacity - row.fixed
        if left >= row.reach:
            return
        unit = row.reach / LARGEST
        # Each rounded number may be half a unit too large.
        slack = np.count_nonzero(row.change)
        self._model.add(self._total(row, unit) <= int(left / unit) + slack)

    def _add_band(self, row: _Row, unit: float) -> None:
        total = self._total(row, unit)
        outside = self._model.new_int_var(0, int(2 * LARGEST), "")
        self._model.add(outside >= total - round((row.upper - row.fixed) / unit))
        self._model.add(outside >= round((row.lower - row.fixed) / unit) - total)
        self._outside.append(outside)
        self._roundings.append(1 + int(np.count_nonzero(row.change)))

    def _hint(self, values: BoolArray) -> None:
        self._model.clear_hints()  # type: ignore[no-untyped-call]
        for takes, value in zip(self._takes, values.tolist(), strict=True):
            self._model.add_hint(takes, value)

    def solved(self) -> list[RowArray]:
        """Return the choice after each level, which is limited by those before."""
        most = self._model.new_int_var(0, int(2 * LARGEST), "")
        for outside in self._outside:
            self._model.add(most >= outside)
        starts = np.repeat(self._options.start[:-1], np.diff(self._options.start))
        position = (np.arange(len(self._takes)) - starts).tolist()
        found: list[RowArray] = []
        # As good a choice may be rounded to so much more.
        for level, slack in (
            (most, max(self._roundings, default=0)),
            (cp_model.LinearExpr.sum(self._outside), sum(self._roundings)),
            (cp_model.LinearExpr.weighted_sum(self._takes, position), 0),
        ):
            self._model.minimize(level)
            solver = limited_solver(WORK)
            if solver.solve(self._model) not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
                break
            values = np.array([solver.boolean_value(takes) for takes in self._takes])
            found.append(np.nonzero(values)[0].astype(np.int64))
            self._model.add(level <= solver.value(level) + slack)
            self._hint(values)
        return found


def _rows(
    options: Options, load: WeightArray, limits: Limits, known: RowArray
) -> Iterator[_Row]:
    """Yield the loads that options change; a known choice may exceed a capacity."""
    count = len(options.change_start) - 1
    of = np.repeat(np.arange(count), np.diff(options.change_start))
    for b in np.unique(options.broker_idx).tolist():
        at = np.nonzero(options.broker_idx == b)[0]
        for r in np.nonzero(options.change[at].any(axis=0))[0].tolist():
            change = np.zeros(count)
            np.add.at(change, of[at], options.change[at, r])
            fixed, reach = float(load[b, r]), float(np.abs(change).sum())
            reached = fixed + float(change[known].sum())
            yield _Row(
                change=change,
                fixed=fixed,
                lower=max(float(limits.lower[b, r]), fixed - reach),
                upper=min(float(limits.upper[b, r]), fixed + reach),
                capacity=max(float(limits.capacity[b, r]), reached),
                target=float(limits.target[b, r]),
            )
