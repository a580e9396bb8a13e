"""
Search for the cheapest places in a node: exchanges, enumeration, and branch and cut.

If a single load binds, exchanges find a solution near the cost of the linear
relaxation among very many sums of equal sizes. Where the bands admit few moves, an
enumeration of these ends with the optimum. If several loads bind, branch and cut
finds it and raises the bound. Each method starts from the solution of the other.
"""

from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray
from placement.core.exact.cp_sat.limited_solver import SEED
from placement.core.exact.one_node.item_exchanges import Exchanges
from placement.core.exact.one_node.move_enumeration import enumerate_moves
from placement.core.exact.one_node.node_program import solve_program
from placement.core.exact.one_node.node_relaxation import Relaxed
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.one_node.node_start import WORK_COLUMN, start_of
from placement.core.exact.time_limits import LEAST_WORK, Limits

EXCHANGES = 0.4
"""Share of the work for exchanges before branch and cut (0-1)."""
ENUMERATION = 0.5
"""Share of the remaining work for an enumeration before branch and cut (0-1)."""
PROGRAM = 0.85
"""Share of the remaining work for branch and cut (0-1)."""
NEAR = 0.02
"""Relative gap up to which exchanges of a few items pay without another start."""


class Searched(NamedTuple):
    """
    Solution of a node.

    Parameters
    ----------
    columns
        ``(n,)`` columns of a solution that costs no more than the given one.
    bound
        Lower bound on the cost that HiGHS or an enumeration states; 0: none.
    spent
        Work done in deterministic seconds.
    """

    columns: BoolArray
    bound: int
    spent: float


class NodeSearch:
    """
    Search that lowers the cost of the places in the bins of a node.

    Parameters
    ----------
    rows, relaxed
        Constraints of the bins, and a solution of the linear relaxation.
    closed
        Relative gap at which a solution counts as optimal.
    """

    def __init__(self, rows: NodeRows, relaxed: Relaxed, closed: float) -> None:
        self._rows, self._relaxed, self._closed = rows, relaxed, closed
        self._least = float(relaxed.columns @ rows.cost)
        self._exchanges = Exchanges(rows, relaxed, closed, np.random.default_rng(SEED))

    def searched(self, columns: BoolArray, limits: Limits) -> Searched:
        """
        Return the result of exchanges, enumeration, branch and cut, and exchanges.

        Parameters
        ----------
        columns
            ``(n,)`` columns of a solution.
        limits
            Work and time limits.
        """
        work, left = limits
        columns, spent = self.exchanged(columns, work * EXCHANGES)
        if not self._is_open(columns, self._least):
            return Searched(columns, 0, spent)
        few = enumerate_moves(
            self._rows, self._relaxed, columns, (work - spent) * ENUMERATION
        )
        columns, spent = few.columns, spent + few.spent
        if few.is_best:
            return Searched(columns, self._rows.cost_of(columns), spent)
        solved = solve_program(
            self._rows,
            self._relaxed,
            columns,
            closed=self._closed,
            work=(work - spent) * PROGRAM,
            seconds=left(),
        )
        columns, spent = self._cheaper(columns, solved.columns), spent + solved.spent
        if self._is_open(columns, solved.bound) and work - spent >= LEAST_WORK:
            columns, used = self.exchanged(columns, work - spent, solved.bound)
            spent += used
        return Searched(columns, solved.bound, spent)

    def exchanged(
        self, columns: BoolArray, work: float, bound: float = 0
    ) -> tuple[BoolArray, float]:
        """
        Return the columns after exchanges of a few items, and the work spent.

        `bound`: lower bound on the cost that is known besides the relaxation.
        """
        spent = 0.0
        if self._rows.cost_of(columns) > self._least * (1 + NEAR):
            spent = WORK_COLUMN * len(columns)
            start = start_of(self._rows, self._relaxed)
            if start is None:
                return columns, spent
            columns = self._cheaper(columns, start)
        if not self._rows.holds(columns):
            return columns, spent
        before = self._exchanges.spent
        columns = self._exchanges.improved(columns, work, bound)
        return columns, spent + self._exchanges.spent - before

    def _cheaper(self, known: BoolArray, found: BoolArray | None) -> BoolArray:
        cost_of = self._rows.cost_of
        return known if found is None or cost_of(found) >= cost_of(known) else found

    def _is_open(self, columns: BoolArray, bound: float) -> bool:
        return self._rows.cost_of(columns) > bound * (1 + self._closed)
