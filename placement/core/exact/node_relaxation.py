r"""
The linear relaxation of the places in some bins, and the bound that its duals prove.

Whatever the prices :math:`\lambda \ge 0` of the rows, the sum over all groups of the
cheapest columns at these prices, less the limits at theirs, is at most the cost of any
arrangement within the bands: the Lagrangian dual. Prices are rounded to whole numbers,
and the sum is worked out in integers: it needs no trust in the solver.

References
----------
Geoffrion, A. M. (1974), Lagrangean relaxation for integer programming, Mathematical
Programming Studies 2. https://doi.org/10.1007/BFb0120690
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from placement.core.bounds import Bands
from placement.core.exact.node_rows import NodeRows, Row
from placement.core.exact_fit import fits_prices
from placement.core.problem import BoolArray, FloatArray, IntArray, Problem
from placement.core.relaxation import whole_prices
from placement.core.solution import Proof
from placement.core.verify_prices import verify_prices

DENOMINATOR = 2**20
"""Parts of a unit of cost that prices are rounded to."""


class Relaxed(NamedTuple):
    """
    A solution of the linear relaxation.

    Parameters
    ----------
    columns
        ``(n,)`` between 0 and 1.
    prices
        ``(rows,)`` of each row, per unit of its weights; not negative.
    """

    columns: FloatArray
    prices: FloatArray


def solve_relaxation(rows: NodeRows) -> Relaxed | None:
    """Return a vertex of the linear relaxation; `None` where there is none."""
    from scipy import sparse
    from scipy.optimize import linprog

    if not len(rows):
        return None
    scale = max(float(rows.cost.max(initial=1)), 1.0)
    units = np.array([_unit(row) for row in rows.rows])
    table, limits = _table(rows, units)
    equal = np.equal(rows.least, rows.most)[rows.groups]
    sums, group = _sums(rows, equal)
    more, open_group = _sums(rows, ~equal)
    # The simplex method ends in a vertex, the same one anywhere.
    found = linprog(
        rows.cost / scale,
        A_ub=sparse.vstack([table, more, -more]).tocsr(),
        b_ub=np.concatenate(
            [limits, rows.most[open_group], -rows.least[open_group]]
        ).astype(float),
        A_eq=sums,
        b_eq=rows.least[group].astype(float),
        bounds=np.stack([rows.is_kept * 1.0, np.ones(len(rows))], axis=1),
        method="highs-ds",
    )
    if found.x is None:
        return None
    marginals = found.ineqlin.marginals[: len(units)]
    return Relaxed(found.x, np.maximum(-marginals, 0.0) * scale / units)


def _unit(row: Row) -> float:
    """Return what a row is divided by, so that its weights are about 1."""
    return max(float(np.abs(row.weights).max(initial=0)), 1.0)


def _table(rows: NodeRows, units: FloatArray) -> tuple[Any, FloatArray]:
    from scipy import sparse

    number = np.repeat(np.arange(len(rows.rows)), [len(r.columns) for r in rows.rows])
    empty = np.zeros(0, dtype=np.int64)
    columns = np.concatenate([empty, *(row.columns for row in rows.rows)])
    weights = np.concatenate([empty, *(row.weights for row in rows.rows)])
    shape = (len(rows.rows), len(rows))
    table = sparse.csr_array((weights / units[number], (number, columns)), shape=shape)
    return table, np.array([row.limit for row in rows.rows]) / units


def _sums(rows: NodeRows, is_chosen: BoolArray) -> tuple[Any, IntArray]:
    """Return rows for the items of some groups, and these groups."""
    from scipy import sparse

    chosen = np.nonzero(is_chosen)[0]
    group, row = np.unique(rows.groups[chosen], return_inverse=True)
    shape = (len(group), len(rows))
    sums = sparse.csr_array((np.ones(len(chosen)), (row, chosen)), shape=shape)
    return sums, group


def bound_of(rows: NodeRows, prices: FloatArray) -> int:
    """
    Return the cost that prices prove, in whole numbers.

    Parameters
    ----------
    rows
        Constraints of the bins.
    prices
        ``(rows,)``, not negative; those of rows that are no bands count as 0.
    """
    # 64 bits do not hold what prices times loads come to.
    price = rows.cost.astype(object) * DENOMINATOR
    total = 0
    for row, of_row in zip(rows.rows, prices.tolist(), strict=True):
        whole = int(of_row * DENOMINATOR) if row.band is not None else 0
        if whole:
            price[row.columns] += row.weights.astype(object) * whole
            total -= row.limit * whole
    total += _cheapest(rows, price)
    return max(-(-total // DENOMINATOR), 0)


def _cheapest(rows: NodeRows, price: IntArray) -> int:
    """Return what the cheapest columns of all groups come to."""
    starts = np.append(np.nonzero(np.diff(rows.groups, prepend=-1))[0], len(rows))
    total = 0
    for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        group, kept = int(rows.groups[start]), rows.is_kept[start:stop]
        own = price[start:stop]
        free = sorted(own[~kept].tolist())
        needed = max(int(rows.least[group]) - int(kept.sum()), 0)
        room = int(rows.most[group]) - int(kept.sum())
        extra = [one for one in free[needed:room] if one < 0]
        total += sum(own[kept].tolist()) + sum(free[:needed]) + sum(extra)
    return total


def proof_of(
    problem: Problem, bands: Bands, prices: Mapping[tuple[int, int, int], float]
) -> tuple[int, Proof | None]:
    """
    Return a lower bound on the cost of moving, and the prices that prove it.

    Parameters
    ----------
    problem, bands
        The problem, and the bands for which the bound holds.
    prices
        Duals of the bands by side (0: upper, 1: lower), bin and resource.
    """
    cells = problem.num_groups * problem.num_bins
    if not prices or not fits_prices(problem, cells):
        return 0, None
    both = np.zeros((2, problem.num_bins, problem.num_resources))
    for place, price in prices.items():
        both[place] = price
    witness = whole_prices(problem, (both[0], both[1]), problem.least_price)
    bound = verify_prices(problem, bands.lower, bands.upper, witness)
    return bound, Proof(kind="lambda", witness=witness)
