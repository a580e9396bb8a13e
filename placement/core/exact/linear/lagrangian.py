r"""
Prices of load that prove a bound on cost: the Lagrangian dual of the exact model.

Any prices prove a bound; the duals of the linear relaxation prove the best one
(docs/theory.md, "Lagrangian bound"). The relaxation has a column for each pair of group
and bin, but few of them matter. So it is solved with the columns of a known answer, its
duals price all others, promising columns are added, and so on (sifting). Only
`verify_prices` computes the bound, in exact integers.
"""

from collections.abc import Callable

import numpy as np

from placement.array_types import BoolArray, FloatArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import Rows, Tables, duals_of, whole_prices
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Problem
from placement.core.model.solution import Proof
from placement.core.verify.load_prices import verify_prices

ROUNDS = 8
"""Largest number of rounds of new columns."""
NEW_COLUMNS = 3000
"""Largest number of columns added per round."""
CLOSE = 1 - 1e-6
"""Share of the relaxation's optimum (0-1) at which a bound needs no improvement."""
WORTH_IT = -1e-7
"""Reduced cost, relative to the dearest copy, below which a column is added."""


def priced_bound(
    problem: Problem,
    at: Arrangement,
    bands: Bands,
    enough: int,
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[int, Proof | None]:
    """
    Return a lower bound on the cost of moving, and the prices that prove it.

    Parameters
    ----------
    problem
        Problem to bound; `fits_prices` must hold.
    at
        Known arrangement within the bands, whose moves are the first columns.
    bands
        Bands for which the bound holds.
    enough
        Cost of that arrangement, at which the search for a better bound ends.
    is_over
        Function that returns whether to end now, with the best bound so far.
    """
    best, proof = 0, None
    relaxed = _Relaxation(problem, bands)
    columns = relaxed.first_columns(at)
    for _ in range(ROUNDS):
        found = relaxed.solved(columns)
        if found is None:
            break
        prices, most = found
        witness = whole_prices(problem, prices, problem.least_price)
        value = verify_prices(problem, bands.lower, bands.upper, witness)
        if value > best:
            best, proof = value, Proof(kind="lambda", witness=witness)
        new = relaxed.worth_adding(prices, columns)
        # More columns only lower the optimum of the relaxation, a limit for all prices.
        if best >= min(enough, most * CLOSE) or not new.any() or is_over():
            break
        columns |= new
    return best, proof


class _Relaxation:
    """Linear relaxation of the exact model, with some of its columns."""

    def __init__(self, problem: Problem, bands: Bands) -> None:
        self._problem = problem
        self._bands = bands
        self._tables = Tables.of(problem)
        target = problem.bins.target
        self._unit = np.where(target > 0, target, 1.0)
        self._scale = max(float(problem.cost.max(initial=1)), 1.0)

    def first_columns(self, at: Arrangement) -> BoolArray:
        """Return ``(G, N)`` true for bins of groups now, or in a known answer."""
        columns = self._tables.is_home.copy()
        columns[self._problem.group_of, at.bin_of] = True
        return columns

    def solved(
        self, columns: BoolArray
    ) -> tuple[tuple[FloatArray, FloatArray], float] | None:
        """Return ``(N, R)`` prices above and below the bands, and the optimum."""
        from scipy import sparse
        from scipy.optimize import linprog

        rows = Rows(self._problem, self._tables, columns)
        loads, limits, place = rows.banded(self._bands, self._unit)
        caps, most = rows.at_most()
        sizes, counts = rows.equal()
        # The simplex method ends in the same vertex on any machine.
        found = linprog(
            rows.costs() / self._scale,
            A_ub=sparse.vstack([caps, loads]).tocsr(),
            b_ub=np.concatenate([most, limits]),
            A_eq=sizes,
            b_eq=counts,
            bounds=rows.bounds(),
            method="highs-ds",
        )
        if found.x is None:
            return None
        marginals = found.ineqlin.marginals[len(most) :] * self._scale
        return duals_of(marginals, place, self._unit), float(found.fun) * self._scale

    def _dearest(self, price: FloatArray) -> FloatArray:
        """Return ``(G,)`` price of the dearest bin that each group takes."""
        problem = self._problem
        size = np.diff(problem.group_start)
        for level in problem.levels[1:]:
            if level.group_cap is None:
                continue
            cap = np.where(level.group_cap > 0, level.group_cap, problem.num_bins)
            for node in range(level.num_nodes):
                inside = np.nonzero(level.node_of_bin == node)[0]
                order = price[:, inside].argsort(axis=1, kind="stable")
                rank = order.argsort(axis=1, kind="stable")
                price[:, inside] = np.where(
                    rank < cap[:, None], price[:, inside], np.inf
                )
        rows = np.arange(len(size))
        last: FloatArray = np.sort(price, axis=1)[rows, np.maximum(size - 1, 0)]
        return last

    def worth_adding(
        self, prices: tuple[FloatArray, FloatArray], columns: BoolArray
    ) -> BoolArray:
        """Return ``(G, N)`` true for columns of negative reduced cost."""
        problem, tables = self._problem, self._tables
        net = prices[0] - prices[1]
        copy = problem.cost[:, None] * problem.least_price * ~tables.is_home
        price = np.where(tables.may, copy + problem.weight @ net.T, np.inf)
        last = self._dearest(np.where(columns, price, np.inf))
        lead = np.where(tables.may_lead, problem.role_weight @ net.T, 0.0)
        # A new bin may also pay because of the role.
        best_lead = np.where(columns & tables.may_lead, lead, np.inf).min(axis=1)
        gain = np.minimum(lead - np.where(best_lead < np.inf, best_lead, 0)[:, None], 0)
        reduced = (price - last[:, None] + gain) / self._scale
        reduced[columns | ~tables.may] = 0.0
        worth = reduced < WORTH_IT
        if int(worth.sum()) > NEW_COLUMNS:
            worth &= reduced <= np.partition(reduced.ravel(), NEW_COLUMNS)[NEW_COLUMNS]
        found: BoolArray = worth
        return found
