"""
Relaxation-induced neighbourhoods: what an answer and the linear relaxation disagree on.

The linear relaxation places nearly every item whole, and costs hardly less than the
best arrangement. So what the two agree on is mostly right: it is fixed, and an integer
program of a few dozen groups is left. The first one is around the relaxation alone,
with groups of every size, so that small ones make up for the rounding of large ones.

References
----------
Danna, E., Rothberg, E. and Le Pape, C. (2005), Exploring relaxation induced
neighborhoods to improve MIP solutions, Mathematical Programming 102.
https://doi.org/10.1007/s10107-004-0518-7
"""

import numpy as np
from ortools.sat.python import cp_model

from placement.core.exact.exchanges import Exchanges
from placement.core.exact.node_relaxation import Relaxed
from placement.core.exact.node_rows import NodeRows
from placement.core.exact.work_limits import Left
from placement.core.exact_places import SEED, limited_solver
from placement.core.problem import BoolArray, IntArray

FIRST_GROUPS, FIRST_WORK = 50, 0.1
"""Groups beside those in fractions, and deterministic seconds, of the first program."""
NUM_GROUPS, PART_WORK = 35, 0.05
"""The same of the next one; later ones have as many as are solved in that work."""
QUICK, GROWTH, SHRINKING = 0.2, 1.25, 0.8
"""
Part of that work below which a program is followed by larger ones, and by how much they
grow, or shrink after one that was not solved.
"""
LEAST_GROUPS, MOST_GROUPS = 20, 150
"""Groups of a program at least and at most."""
NEAR = 0.02
"""Gap up to which exchanges of a few items are worth their while."""
DISAGREEING = 2 / 3
"""Part of the groups that may be ones on which answer and relaxation disagree."""
EXCHANGES = 0.15
"""Deterministic seconds of exchanges after each better solution."""
OVERHEAD = 0.01
"""Deterministic seconds to build one program."""
STALLED = 30
"""So many programs without a gain end the search."""
BITS = 26
"""Bits of a weight."""
WHOLE = 1e-6
"""Integrality tolerance of a column."""


class InducedSearch:
    """
    Lowers the cost of the places in some bins.

    Parameters
    ----------
    rows
        Constraints of the bins.
    relaxed
        Solution of the linear relaxation.
    enough
        Cost at which to end.
    work
        Deterministic seconds that all programs may take together.
    left
        Returns the seconds to a deadline; `None`: there is none.
    """

    def __init__(
        self,
        rows: NodeRows,
        relaxed: Relaxed,
        *,
        enough: float,
        work: float,
        left: Left,
    ) -> None:
        self._rows, self._relaxed, self._enough = rows, relaxed.columns, enough
        self._work, self._left = work, left
        self._all_groups = np.unique(rows.groups)
        self._rng = np.random.default_rng(SEED)
        self._exchanges = Exchanges(rows, relaxed, enough, self._rng)
        self._num_groups: float = NUM_GROUPS
        self.spent = 0.0

    def improved(self, known: BoolArray) -> BoolArray:
        """Return ``(n,)`` columns that cost no more than some known ones."""
        best, idle = self.exchanged(self._cheaper(known, self._first())), 0
        while self._goes_on(best) and idle < STALLED:
            free = self._drawn(best)
            before = self.spent
            found = self._solved(free, best, PART_WORK, is_known=True)
            self._adapt(self.spent - before - OVERHEAD)
            better = self._cheaper(best, found)
            idle = idle + 1 if better is best else 0
            best = best if better is best else self.exchanged(better)
        return best

    def _adapt(self, spent: float) -> None:
        """Adapt the number of free groups to the work of the last program."""
        if spent < QUICK * PART_WORK:
            self._num_groups = min(self._num_groups * GROWTH, MOST_GROUPS)
        elif spent >= PART_WORK:
            self._num_groups = max(self._num_groups * SHRINKING, LEAST_GROUPS)

    def exchanged(self, columns: BoolArray) -> BoolArray:
        """Return the columns after exchanges of a few items."""
        is_near = self._rows.cost_of(columns) <= self._enough * (1 + NEAR)
        if not is_near or not self._rows.holds(columns):
            return columns
        exchanges, before = self._exchanges, self._exchanges.spent
        work = min(EXCHANGES, max(self._work - self.spent, 0.0))
        columns = exchanges.improved(columns, work)
        self.spent += exchanges.spent - before
        return columns

    def _goes_on(self, best: BoolArray) -> bool:
        left = self._left()
        has_time = left is None or left > 0
        is_open = self._rows.cost_of(best) > self._enough
        return is_open and has_time and self.spent < self._work

    def _cheaper(self, known: BoolArray, found: BoolArray | None) -> BoolArray:
        cost_of = self._rows.cost_of
        if found is None or cost_of(found) >= cost_of(known):
            return known
        return found

    def _first(self) -> BoolArray | None:
        """Solve around the relaxation: groups in fractions, and some of every size."""
        x = self._relaxed
        is_fraction = (x > WHOLE) & (x < 1 - WHOLE)
        split = np.unique(self._rows.groups[is_fraction])
        others = np.setdiff1d(self._all_groups, split)
        size = self._rows.problem.cost
        largest = size[split].max(initial=0) if len(split) else size.max(initial=0)
        others = others[np.argsort(size[others], kind="stable")]
        others = others[size[others] <= largest]
        evenly = np.linspace(0, len(others) - 1, FIRST_GROUPS).astype(np.int64)
        added = others[np.unique(evenly)] if len(others) else others
        free = np.concatenate([split, added])
        return self._solved(free, x > 1 - WHOLE, FIRST_WORK, is_known=False)

    def _drawn(self, best: BoolArray) -> IntArray:
        """Return groups on which the relaxation disagrees, and others at random."""
        differs = np.abs(self._relaxed - best) > WHOLE
        apart = np.unique(self._rows.groups[differs])
        agreed = np.setdiff1d(self._all_groups, apart)
        most = int(self._num_groups)
        drawn = self._rng.permutation(apart)[: int(most * DISAGREEING)]
        others = self._rng.permutation(agreed)[: most - len(drawn)]
        return np.concatenate([drawn, others])

    def _solved(
        self, free: IntArray, base: BoolArray, work: float, *, is_known: bool
    ) -> BoolArray | None:
        """Solve for some groups, all others as in `base`; `None`: nothing found."""
        program = _Program(self._rows, free, base, is_known=is_known)
        work = min(work, max(self._work - self.spent, OVERHEAD))
        found = program.solved(work, self._left())
        self.spent += program.spent + OVERHEAD
        return found


class _Program:
    """The integer program of some groups, all others being fixed."""

    def __init__(
        self, rows: NodeRows, free: IntArray, base: BoolArray, *, is_known: bool
    ) -> None:
        self._rows, self.spent = rows, 0.0
        self._is_free = np.isin(rows.groups, free)
        self._fixed = base & ~self._is_free
        self._model = cp_model.CpModel()
        self._variable = {
            column: self._model.new_bool_var("")
            for column in np.nonzero(self._is_free)[0].tolist()
        }
        for group in free.tolist():
            self._add_group(group)
        for column in np.nonzero(self._is_free & rows.is_kept)[0].tolist():
            self._model.add(self._variable[column] == 1)
        self._add_rows()
        self._add_cost()
        if is_known:
            for column, variable in self._variable.items():
                self._model.add_hint(variable, bool(base[column]))

    def _add_group(self, group: int) -> None:
        rows = self._rows
        start, stop = np.searchsorted(rows.groups, [group, group + 1]).tolist()
        total = cp_model.LinearExpr.sum(
            [self._variable[column] for column in range(start, stop)]
        )
        least, most = int(rows.least[group]), int(rows.most[group])
        self._model.add_linear_constraint(total, least, most)

    def _add_rows(self) -> None:
        """Add rows rounded such that no column outside of one gets in."""
        for columns, weights, limit, _ in self._rows.rows:
            is_free = self._is_free[columns]
            if not is_free.any():
                continue
            own, fixed = weights[is_free], int(weights[self._fixed[columns]].sum())
            unit = max(int(np.abs(own).max()) >> BITS, 1)
            total = self._sum(columns[is_free], -(-own // unit))
            self._model.add(total <= (limit - fixed) // unit)

    def _add_cost(self) -> None:
        columns = np.nonzero(self._is_free & (self._rows.cost > 0))[0]
        cost = self._rows.cost[columns]
        unit = max(int(cost.max(initial=0)) >> BITS, 1)
        self._model.minimize(self._sum(columns, cost // unit))

    def _sum(self, columns: IntArray, weights: IntArray) -> cp_model.LinearExprT:
        variables = [self._variable[column] for column in columns.tolist()]
        return cp_model.LinearExpr.weighted_sum(variables, weights.tolist())

    def solved(self, work: float, seconds: float | None) -> BoolArray | None:
        """Return the columns of the best solution found, if any."""
        solver = limited_solver(work, seconds)
        status = solver.solve(self._model)
        self.spent = solver.response_proto.deterministic_time
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return None
        columns = self._fixed.copy()
        for column, variable in self._variable.items():
            columns[column] = solver.boolean_value(variable)
        return columns
