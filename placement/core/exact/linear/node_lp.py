"""
Linear relaxation at every node of a tree, built once and solved from the last basis.

Nodes differ only in the fixings of a few pairs of group and bin, that is in bounds of
columns and rows. The dual simplex method continues from the basis of the previous node
in a few steps; building the program takes ten times as long.
"""

from typing import Any, NamedTuple

import highspy
import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import Rows
from placement.core.exact.linear.mir_cuts import Row
from placement.core.verify.price_witness import Fixing

INFINITE = highspy.kHighsInf
FORCE = 1e5
"""Price of a target outside a band, in dearest copies: above the cost of any answer."""


class Vertex(NamedTuple):
    """
    Optimal vertex of one node.

    Parameters
    ----------
    columns
        ``(columns,)`` values of the columns of `Rows`.
    outside
        Distance outside the bands, in units of load.
    marginals, of_cuts
        ``(rows,)`` marginals of `Rows.banded`, and of cuts in the order of their
        addition: change of the objective per unit of the limit.
    reduced_costs
        ``(columns,)`` change of the objective per unit of each column.
    """

    columns: FloatArray
    outside: float
    marginals: FloatArray
    of_cuts: FloatArray
    reduced_costs: FloatArray


class LeafProgram:
    """
    Linear program of any node: minimises the copied cost or the largest distance.

    Parameters
    ----------
    rows, bands, unit
        Columns and rows, bands, and ``(N, R)`` unit of each load.
    costs
        ``(columns,)`` cost of each column in the objective.
    force
        Cost of the last column, which is the distance of loads outside their bands.
    is_solved_once
        Whether to solve it by an interior point method, which takes half as long as the
        simplex method but starts from no basis.
    """

    def __init__(
        self,
        rows: Rows,
        bands: Bands,
        unit: FloatArray,
        costs: FloatArray,
        force: float,
        *,
        is_solved_once: bool = False,
    ) -> None:
        self._rows = rows
        loads, limits, self.place = rows.banded(bands, unit)
        self._unit = unit
        table, lower, upper = self._table(loads, limits)
        columns = np.vstack([rows.bounds(), [0.0, INFINITE]])
        self._columns, self._pair_bounds = columns, (lower, upper)
        self._solver = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "on" if is_solved_once else "off"),
            ("solver", "ipm" if is_solved_once else "simplex"),
            ("random_seed", 1),
        ):
            self._solver.setOptionValue(option, value)
        self._solver.passModel(
            _program(table, (lower, upper), columns, np.append(costs, force))
        )

    def _table(
        self,
        loads: Any,  # noqa: ANN401 - a sparse table
        limits: FloatArray,
    ) -> tuple[Any, FloatArray, FloatArray]:
        """Return all rows with their lower and upper limits, those of loads last."""
        from scipy import sparse

        rows = self._rows
        sizes, counts = rows.equal()
        caps, most = rows.at_most()
        pairs, self._first_of_pair = rows.pairs()
        self._first_pair = len(counts) + len(most)
        self._first_load = self._first_pair + len(self._first_of_pair)
        free = [np.full(len(most) + len(self._first_of_pair) + len(limits), -INFINITE)]
        lower = np.concatenate([counts, *free])
        upper = np.concatenate(
            [counts, most, np.ones(len(self._first_of_pair)), limits]
        )
        without = sparse.vstack([sizes, caps, pairs])
        without = sparse.hstack([without, sparse.csr_array((without.shape[0], 1))])
        forced = sparse.hstack([loads, np.full((len(limits), 1), -1.0)])
        return sparse.vstack([without, forced]).tocsr(), lower, upper

    def limit(self, seconds: float) -> None:
        """Set a limit on the seconds of all solves; a solve it ends has no vertex."""
        self._solver.setOptionValue("time_limit", seconds)

    def add(self, cut: Row) -> None:
        """Add a cut that is valid at every node."""
        unit = float(self._unit[cut.cut.bin, cut.cut.resource])
        columns = np.append(cut.columns, len(self._rows)).astype(np.int32)
        weights = np.append(cut.weights / unit, -1.0)
        limit = cut.limit / unit
        self._solver.addRow(-INFINITE, limit, len(columns), columns, weights)

    def keep(self, kept: BoolArray) -> None:
        """Drop cuts; `kept`: for each added cut, whether it stays."""
        first = self._first_load + len(self.place)
        gone = (first + np.nonzero(~kept)[0]).astype(np.int32)
        self._solver.deleteRows(len(gone), gone)

    def solved(self, fixings: tuple[Fixing, ...]) -> Vertex | None:
        """Return an optimal vertex of a node; `None` if infeasible or cut short."""
        columns, lower = self._columns.copy(), self._pair_bounds[0].copy()
        for fixing in fixings:
            self._fix(fixing, columns, lower)
        if (columns[:, 0] > columns[:, 1]).any():
            return None
        every = np.arange(len(columns), dtype=np.int32)
        self._solver.changeColsBounds(
            len(every), every, columns[:, 0].copy(), columns[:, 1].copy()
        )
        some = np.arange(self._first_pair, self._first_load, dtype=np.int32)
        for row in some.tolist():
            self._solver.changeRowBounds(row, lower[row], self._pair_bounds[1][row])
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        found = self._solver.getSolution()
        columns, marginals = np.array(found.col_value), np.array(found.row_dual)
        marginals = marginals[self._first_load :]
        loads = len(self.place)
        return Vertex(
            columns=columns[:-1],
            outside=float(columns[-1]),
            marginals=marginals[:loads],
            of_cuts=marginals[loads:],
            reduced_costs=np.array(found.col_dual)[:-1],
        )

    def _fix(self, fixing: Fixing, columns: FloatArray, lower: FloatArray) -> None:
        """Set the bounds of columns and rows that express a fixing."""
        group, b, is_role, is_there = fixing
        rows = self._rows
        of_group, here = np.equal(rows.groups, group), np.equal(rows.bins, b)
        is_pair: BoolArray = of_group & here
        closed = is_pair & rows.leads
        if is_role and is_there:
            closed = of_group & np.where(here, ~rows.leads, rows.leads)
        elif not is_role:
            closed = is_pair & (not is_there)
        columns[:-1][closed, 1] = 0.0
        if is_role or not is_there:
            return
        both = self._rows_of_pair(is_pair)
        if len(both):
            lower[self._first_pair + both] = 1.0
        else:
            columns[:-1][is_pair, 0] = 1.0

    def _rows_of_pair(self, is_pair: BoolArray) -> IntArray:
        """Return the row for the two columns of a pair; empty if it has one column."""
        found: IntArray = np.nonzero(is_pair[self._first_of_pair])[0]
        return found


def _program(
    table: Any,  # noqa: ANN401 - a sparse table
    limits: tuple[FloatArray, FloatArray],
    columns: FloatArray,
    costs: FloatArray,
) -> highspy.HighsLp:
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = table.shape
    program.col_cost_ = costs
    program.col_lower_, program.col_upper_ = columns.T.copy()
    program.row_lower_, program.row_upper_ = limits
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.num_row_, program.a_matrix_.num_col_ = table.shape
    program.a_matrix_.start_ = table.indptr
    program.a_matrix_.index_ = table.indices
    program.a_matrix_.value_ = table.data
    return program
