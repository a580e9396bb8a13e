r"""
Linear relaxation of the places in some bins, and the bound that its duals prove.

For any prices :math:`\lambda \ge 0` of the rows, the sum over all groups of the
cheapest columns at these prices, minus the priced limits of the rows, is at most the
cost of any arrangement within the bands: the Lagrangian dual. Prices are rounded to
integers and the sum is exact, so the bound does not depend on the solver.

References
----------
Geoffrion, A. M. (1974), Lagrangean relaxation for integer programming, Mathematical
Programming Studies 2. https://doi.org/10.1007/BFb0120690
"""

from collections.abc import Mapping
from typing import NamedTuple

import highspy
import numpy as np

from placement.array_types import FloatArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import whole_prices
from placement.core.exact.model_scaling import fits_prices
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.separable_levels import NodeBins
from placement.core.model.problem import Problem
from placement.core.model.solution import Proof
from placement.core.verify.load_prices import verify_prices

DENOMINATOR = 2**20
"""Denominator of the prices, per unit of cost."""


class Relaxed(NamedTuple):
    """
    Solution of the linear relaxation.

    Parameters
    ----------
    columns
        ``(n,)`` values between 0 and 1.
    prices
        ``(rows,)`` price of each row, per unit of its weights; not negative.
    """

    columns: FloatArray
    prices: FloatArray


def solve_relaxation(rows: NodeRows) -> Relaxed | None:
    """Return an optimal vertex of the linear relaxation; `None`: infeasible."""
    if not len(rows):
        return None
    scale = cost_unit(rows)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    # The simplex method ends in the same vertex on any machine.
    solver.setOptionValue("solver", "simplex")
    solver.passModel(model_of(rows, scale))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    marginals = np.array(solution.row_dual[: len(rows.rows)])
    prices = np.maximum(-marginals, 0.0) * scale / row_units(rows)
    return Relaxed(np.array(solution.col_value), prices)


def cost_unit(rows: NodeRows) -> float:
    """Return the divisor that scales costs to at most 1."""
    return max(float(rows.cost.max(initial=0)), 1.0)


def row_units(rows: NodeRows) -> FloatArray:
    """Return ``(rows,)`` divisors that scale weights to at most 1."""
    heaviest = [float(np.abs(row.weights).max(initial=0)) for row in rows.rows]
    units: FloatArray = np.maximum(np.array(heaviest), 1.0)
    return units


def model_of(rows: NodeRows, scale: float) -> highspy.HighsLp:
    """
    Return the linear program for HiGHS: constraints first, then a row per group.

    Parameters
    ----------
    rows
        Constraints of the bins.
    scale
        Divisor of the costs.
    """
    units, groups = row_units(rows), np.unique(rows.groups)
    number = np.repeat(np.arange(len(rows.rows)), [len(r.columns) for r in rows.rows])
    empty = np.zeros(0, dtype=np.int64)
    columns = np.concatenate([empty, *(row.columns for row in rows.rows)])
    weights = np.concatenate([empty, *(row.weights for row in rows.rows)])
    of_group = len(units) + np.searchsorted(groups, rows.groups)
    row = np.concatenate([number, of_group])
    column = np.concatenate([columns, np.arange(len(rows))])
    value = np.concatenate([weights / units[number], np.ones(len(rows))])
    order = np.argsort(row, kind="stable")
    num_rows = len(units) + len(groups)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(rows), num_rows
    model.col_cost_ = rows.cost / scale
    model.col_lower_, model.col_upper_ = rows.is_kept * 1.0, np.ones(len(rows))
    limits = np.array([row.limit for row in rows.rows]) / units
    none = np.full(len(units), -highspy.kHighsInf)
    model.row_lower_ = np.concatenate([none, rows.least[groups]])
    model.row_upper_ = np.concatenate([limits, rows.most[groups]])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.searchsorted(row[order], np.arange(num_rows + 1))
    model.a_matrix_.index_ = column[order]
    model.a_matrix_.value_ = value[order]
    return model


def reduced_costs(rows: NodeRows, prices: FloatArray) -> tuple[float, FloatArray]:
    r"""
    Return a lower bound on the cost, and the increase by using each column.

    At prices :math:`\lambda \ge 0` every group takes its cheapest columns: as many as
    it must, and those of a negative price as far as it may. A solution with another
    column takes it in addition, or in place of the dearest of these.

    Parameters
    ----------
    rows
        Constraints of the bins.
    prices
        ``(rows,)`` prices, not negative.

    Returns
    -------
    bound
        Lagrangian dual at these prices, in floats.
    extra
        ``(n,)`` least cost above the bound of a solution that uses the column; 0 for
        the columns of the bound.
    """
    price, total = rows.cost.astype(np.float64), 0.0
    for row, of_row in zip(rows.rows, prices.tolist(), strict=True):
        if of_row:
            price[row.columns] += row.weights * of_row
            total -= row.limit * of_row
    dearest, taken = _dearest_taken(rows, price)
    extra: FloatArray = np.maximum(price - dearest[rows.groups], 0.0)
    extra[rows.is_kept] = 0.0
    return total + float(price[rows.is_kept].sum()) + taken, extra


def _dearest_taken(rows: NodeRows, price: FloatArray) -> tuple[FloatArray, float]:
    """
    Return ``(G,)`` the highest price of a column that each group takes.

    The second value is the total price of the columns taken, without kept ones.
    """
    num_groups, free = rows.problem.num_groups, np.nonzero(~rows.is_kept)[0]
    free = free[np.lexsort((price[free], rows.groups[free]))]
    group = rows.groups[free]
    num_kept, num_free, num_paying = (
        np.bincount(chosen, minlength=num_groups)
        for chosen in (rows.groups[rows.is_kept], group, group[price[free] < 0])
    )
    least = np.clip(rows.least - num_kept, 0, num_free)
    most = np.clip(rows.most - num_kept, 0, num_free)
    count = np.clip(num_paying, least, most)
    start = np.searchsorted(group, np.arange(num_groups))
    rank = np.arange(len(free)) - start[group]
    dearest = np.zeros(num_groups)
    is_last = rank == count[group] - 1
    dearest[group[is_last]] = price[free[is_last]]
    # If there is room for one more, it need not replace another.
    dearest = np.where(count < most, np.maximum(dearest, 0.0), dearest)
    return dearest, float(price[free[rank < count[group]]].sum())


def bound_of(rows: NodeRows, prices: FloatArray) -> int:
    """
    Return the lower bound on cost that prices prove, in exact integers.

    Parameters
    ----------
    rows
        Constraints of the bins.
    prices
        ``(rows,)`` prices, not negative; rows that are no bands count as 0.
    """
    # Prices times loads may exceed 64 bits.
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
    """Return the total price of the cheapest columns of all groups."""
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
        Problem, and bands for which the bound holds.
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


def relaxed_bound(problem: Problem, bands: Bands) -> tuple[int, Proof | None]:
    """
    Return a lower bound on the cost, and its prices from the relaxation of all bins.

    Parameters
    ----------
    problem, bands
        Problem, and bands for which the bound holds.
    """
    sizes = np.diff(problem.group_start)
    every = NodeBins(tuple(range(problem.num_bins)), sizes, sizes)
    rows = NodeRows(problem, bands, every, None)
    relaxed = solve_relaxation(rows)
    if relaxed is None:
        return 0, None
    priced = zip(rows.rows, relaxed.prices.tolist(), strict=True)
    prices = {row.band: price for row, price in priced if row.band and price}
    return proof_of(problem, bands, prices)
