"""
First solution of a node, from the relaxation: cheap, and with slack in the other rows.

Many solutions of the linear relaxation cost the same, since each load that a band
forces out may be made up of different items. The one with the most slack in the rows
without a price is rounded: exchanges from there break few rows, and end nearer to the
bound than exchanges from a solution at the ends of several bands.
"""

import highspy
import numpy as np

from placement.array_types import BoolArray, FloatArray
from placement.core.exact.one_node.node_relaxation import (
    Relaxed,
    cost_unit,
    model_of,
    reduced_costs,
    row_units,
)
from placement.core.exact.one_node.node_rows import NodeRows

DEARER = (1e-4, 5e-2)
"""Relative cost above the relaxation of the starts that are tried in turn."""
NEAR = 1e-3
"""Reduced cost of a column of a start, relative to that cost."""
MOST_SLACK = 3.0
"""Slack of a row beyond which more is worth nothing, in mean weights of its columns."""
WHOLE = 1e-6
"""Distance from an integer up to which a value counts as one."""
MOST_NODES = 50
"""Node limit of branch and bound for the groups without a whole place."""
WORK_COLUMN = 2e-5
"""Deterministic seconds per column of the relaxation."""


def start_of(rows: NodeRows, relaxed: Relaxed) -> BoolArray | None:
    """
    Return ``(n,)`` columns of a solution near the cost of the relaxation.

    Parameters
    ----------
    rows, relaxed
        Constraints of the bins, and a solution of the linear relaxation.

    Returns
    -------
    Columns that keep every row; `None` if rounding finds none.
    """
    least, extra = reduced_costs(rows, relaxed.prices)
    for dearer in DEARER:
        can_pay: BoolArray = extra <= NEAR * dearer * least + 1
        inner = _with_slack(rows, relaxed, can_pay, least * (1 + dearer))
        if inner is None:
            continue
        rounded = _rounded(rows, inner, can_pay)
        if len(rounded) == len(rows) and rows.is_solution(rounded):
            return rounded
    return None


def _with_slack(
    rows: NodeRows, relaxed: Relaxed, can_pay: BoolArray, dearest: float
) -> FloatArray | None:
    """Return a solution up to a cost, with much slack in the unpriced rows."""
    scale, units = cost_unit(rows), row_units(rows)
    model = model_of(rows, scale)
    model.col_upper_ = can_pay * 1.0
    model.col_cost_ = np.zeros(len(rows))
    solver = _solver(model)
    # The simplex method ends in the same vertex on any machine.
    solver.setOptionValue("solver", "simplex")
    for number, row in enumerate(rows.rows):
        weights = np.abs(row.weights[can_pay[row.columns]])
        if relaxed.prices[number] <= 0 and weights.any():
            own = np.array([number], dtype=np.int32)
            unit = np.array([weights.mean() / units[number]])
            solver.addCol(-1.0, 0.0, MOST_SLACK, 1, own, unit)
    paid = np.nonzero(rows.cost)[0].astype(np.int32)
    most = dearest / scale
    solver.addRow(-highspy.kHighsInf, most, len(paid), paid, rows.cost[paid] / scale)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value[: len(rows)])


def _rounded(rows: NodeRows, inner: FloatArray, can_pay: BoolArray) -> BoolArray:
    """Return columns with the whole places of a relaxation, and chosen other ones."""
    is_part = (inner > WHOLE) & (inner < 1 - WHOLE)
    is_split = np.zeros(rows.problem.num_groups, dtype=np.bool_)
    is_split[rows.groups[is_part]] = True
    is_free, is_used = is_split[rows.groups], inner > 1 - WHOLE
    model = model_of(rows, cost_unit(rows))
    model.integrality_ = [highspy.HighsVarType.kInteger] * len(rows)
    model.col_lower_ = np.where(is_free, rows.is_kept, is_used) * 1.0
    model.col_upper_ = np.where(is_free, can_pay | rows.is_kept, is_used) * 1.0
    solver = _solver(model)
    solver.setOptionValue("mip_max_nodes", MOST_NODES)
    solver.run()
    rounded: BoolArray = np.array(solver.getSolution().col_value) > 1 / 2
    return rounded


def _solver(model: highspy.HighsLp) -> highspy.Highs:
    solver = highspy.Highs()
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("random_seed", 1),
    ):
        solver.setOptionValue(name, value)
    solver.passModel(model)
    return solver
