"""
Cheapest places in the bins of a node: exchanges, then branch and cut, then exchanges.

Where a single load binds, the cost of the linear relaxation is nearly reached, by one
of very many sums of the same sizes: exchanges find it. Where several bind, branch and
cut does, and raises the bound. Each goes on from the solution of the other.
"""

from typing import NamedTuple

import numpy as np

from placement.core.exact.cp_sat.placement_variables import SEED
from placement.core.exact.decomposition.item_exchanges import Exchanges
from placement.core.exact.decomposition.node_program import solve_program
from placement.core.exact.decomposition.node_relaxation import Relaxed
from placement.core.exact.decomposition.node_rows import NodeRows
from placement.core.exact.time_limits import LEAST_WORK, Limits
from placement.core.model.problem import BoolArray

EXCHANGES = 0.4
"""Part of the work for exchanges ahead of branch and cut."""
PROGRAM = 0.85
"""Part of the remaining work for branch and cut."""
NEAR = 0.02
"""Gap up to which exchanges of a few items are worth their while."""


class Searched(NamedTuple):
    """
    Solution of a node.

    Parameters
    ----------
    columns
        ``(n,)`` that cost no more than those before.
    bound
        Lower bound on the cost that HiGHS states; 0: none.
    spent
        Deterministic seconds.
    """

    columns: BoolArray
    bound: int
    spent: float


class NodeSearch:
    """
    Lowers the cost of the places in the bins of a node.

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
        enough = self._least * (1 + closed)
        self._exchanges = Exchanges(rows, relaxed, enough, np.random.default_rng(SEED))

    def searched(self, columns: BoolArray, limits: Limits) -> Searched:
        """
        Return what exchanges, then branch and cut, and exchanges again come to.

        Parameters
        ----------
        columns
            ``(n,)`` of a solution.
        limits
            Work and time limits.
        """
        work, left = limits
        columns, spent = self.exchanged(columns, work * EXCHANGES)
        if not self._is_open(columns, self._least):
            return Searched(columns, 0, spent)
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
            columns, used = self.exchanged(columns, work - spent)
            spent += used
        return Searched(columns, solved.bound, spent)

    def exchanged(self, columns: BoolArray, work: float) -> tuple[BoolArray, float]:
        """Return the columns after exchanges of a few items, and the work spent."""
        is_near = self._rows.cost_of(columns) <= self._least * (1 + NEAR)
        if not is_near or not self._rows.holds(columns):
            return columns, 0.0
        before = self._exchanges.spent
        columns = self._exchanges.improved(columns, work)
        return columns, self._exchanges.spent - before

    def _cheaper(self, known: BoolArray, found: BoolArray | None) -> BoolArray:
        cost_of = self._rows.cost_of
        return known if found is None or cost_of(found) >= cost_of(known) else found

    def _is_open(self, columns: BoolArray, bound: float) -> bool:
        return self._rows.cost_of(columns) > bound * (1 + self._closed)
