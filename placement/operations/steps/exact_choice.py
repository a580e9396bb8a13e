r"""
Nearest choice of one option per partition, as an integer program for CP-SAT.

Levels, one after the other: the largest distance from the bands, the sum of all
distances, options other than the first. Loads are counted in ten-millionths of their
targets and rounded, so the answer is compared with the known one by exact loads.
"""

import numpy as np
from ortools.sat.python import cp_model

from placement.array_types import BoolArray, FloatArray, IntArray, RowArray
from placement.core.exact.cp_sat.placement_variables import limited_solver
from placement.core.model.problem import NO_LIMIT, Limits
from placement.model.load import WeightArray
from placement.operations.steps.load_options import Options, worth_of

PARTS = 10**7
"""Integer units of a load of one target."""
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
    if len(found) != len(known):
        return known
    before, after = (worth_of(options, load, limits, one) for one in (known, found))
    return found if after < before else known


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
        self._add_rows(load, limits, known)

    def _add_rows(self, load: WeightArray, limits: Limits, known: RowArray) -> None:
        """Add the distance of each load that options change, and its capacity."""
        options = self._options
        of = np.repeat(np.arange(len(self._takes)), np.diff(options.change_start))
        reached = load.astype(np.float64)
        chosen = np.isin(of, known)
        np.add.at(reached, options.broker_idx[chosen], options.change[chosen])
        for b in np.unique(options.broker_idx).tolist():
            rows = np.nonzero(options.broker_idx == b)[0]
            for r in np.nonzero(options.change[rows].any(axis=0))[0].tolist():
                change = np.zeros(len(self._takes))
                np.add.at(change, of[rows], options.change[rows, r])
                ends = float(limits.lower[b, r]), float(limits.upper[b, r])
                most = max(float(limits.capacity[b, r]), reached[b, r])
                unit = float(limits.target[b, r])
                self._add_load(change, float(load[b, r]), ends, most, unit)

    def _add_load(
        self,
        change: FloatArray,
        fixed: float,
        ends: tuple[float, float],
        most: float,
        target: float,
    ) -> None:
        unit = (target if target > 0 else max(float(np.abs(change).max()), 1.0)) / PARTS
        used = np.nonzero(change)[0].tolist()
        takes = [self._takes[option] for option in used]
        parts: IntArray = np.rint(change[used] / unit).astype(np.int64)
        total = cp_model.LinearExpr.weighted_sum(takes, parts.tolist())
        if most < NO_LIMIT:
            self._model.add(total <= int((most - fixed) / unit) + len(used))
        if target <= 0:
            return
        reach = int(np.abs(parts).sum()) + int(abs(fixed - ends[1]) / unit) + 1
        reach += int(abs(ends[0] - fixed) / unit) + 1
        outside = self._model.new_int_var(0, reach, "")
        self._model.add(outside >= total + round((fixed - ends[1]) / unit))
        self._model.add(outside >= round((ends[0] - fixed) / unit) - total)
        self._outside.append(outside)

    def _hint(self, values: BoolArray) -> None:
        self._model.clear_hints()  # type: ignore[no-untyped-call]
        for takes, value in zip(self._takes, values.tolist(), strict=True):
            self._model.add_hint(takes, value)

    def solved(self) -> RowArray:
        """Return the choice after every level, each limited by those before."""
        most = self._model.new_int_var(0, 1 << 60, "")
        for outside in self._outside:
            self._model.add(most >= outside)
        starts = np.repeat(self._options.start[:-1], np.diff(self._options.start))
        position = (np.arange(len(self._takes)) - starts).tolist()
        found: RowArray = np.zeros(0, dtype=np.int64)
        for level in (
            most,
            cp_model.LinearExpr.sum(self._outside),
            cp_model.LinearExpr.weighted_sum(self._takes, position),
        ):
            self._model.minimize(level)
            solver = limited_solver(WORK)
            if solver.solve(self._model) not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
                break
            values = np.array([solver.boolean_value(takes) for takes in self._takes])
            found = np.nonzero(values)[0].astype(np.int64)
            self._model.add(level <= solver.value(level))
            self._hint(values)
        return found
