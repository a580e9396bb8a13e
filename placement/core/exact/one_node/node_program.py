"""
Integer program of the places in some bins, solved by HiGHS.

A node has about a dozen binding rows and a column for each pair of group and bin.
Branch and cut on its linear relaxation proves in a fifth of a second what takes CP-SAT
seconds. HiGHS works with floats and tolerances: solutions are verified in exact
integers, bounds are not verified.
"""

from typing import NamedTuple

import highspy
import numpy as np

from placement.array_types import BoolArray
from placement.core.exact.one_node.node_relaxation import (
    Relaxed,
    cost_unit,
    model_of,
    reduced_costs,
)
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.work_limit import Watch

TOLERANCE = 1e-9
"""Feasibility tolerance of rows, relative to their largest weight."""
WHOLE = 0.5
"""Value of a column above which it counts as used."""
SEED = 1
ROOT_CALLBACK, TREE_CALLBACK = 9e-6, 4e-7
"""
Deterministic seconds per column between two callbacks of HiGHS: in a round of cuts at
the root, and at a node of the tree. The means include the sub-problems that HiGHS
solves between two callbacks.
"""
LEAST_FREE = 100
"""Smallest number of columns that a model counts as."""
NEAR = 3e-5
"""Gap at which most solutions that are missing are found by exchanges alone."""
SAFE = 1e-9
"""Fraction by which a bound is lowered, for the rounding of HiGHS."""


class Outcome(NamedTuple):
    """
    Incumbent and bound of HiGHS.

    Parameters
    ----------
    columns
        ``(n,)`` columns of the best solution that keeps every row; `None`: none found.
    bound
        Lower bound on the cost.
    is_best
        Whether HiGHS reports an optimum.
    spent
        Work done in deterministic seconds.
    """

    columns: BoolArray | None
    bound: int
    is_best: bool
    spent: float


def solve_program(
    rows: NodeRows,
    relaxed: Relaxed,
    known: BoolArray,
    *,
    closed: float,
    work: float,
    seconds: float | None = None,
    seed: int = SEED,
    near: float = NEAR,
) -> Outcome:
    """
    Minimise the cost of the places in some bins.

    Parameters
    ----------
    rows, relaxed
        Constraints of the bins, and a solution of the linear relaxation.
    known
        ``(n,)`` columns to start from; they may break rows.
    closed
        Relative gap at which a solution counts as optimal.
    work
        Work limit in deterministic seconds.
    seconds
        Seconds to a deadline; `None`: no deadline.
    seed
        Seed of the random numbers of HiGHS.
    near
        Relative gap from which on the work may only double.
    """
    scale = cost_unit(rows)
    model = model_of(rows, scale)
    model.integrality_ = [highspy.HighsVarType.kInteger] * len(rows)
    can_pay, least_known = _that_can_pay(rows, relaxed, known)
    model.col_upper_ = can_pay * 1.0
    solver = _solver(closed, seconds, seed)
    size = max(_num_free(rows, can_pay), LEAST_FREE)
    watch = Watch(work, ROOT_CALLBACK * size, TREE_CALLBACK * size, near)
    solver.passModel(model)
    start = highspy.HighsSolution()
    start.col_value = known.astype(float).tolist()
    solver.setSolution(start)
    solver.setCallback(watch, None)
    solver.startCallback(highspy.cb.HighsCallbackType.kCallbackMipInterrupt)
    solver.run()
    info = solver.getInfo()
    columns = np.array(solver.getSolution().col_value) > WHOLE
    is_found = len(columns) == len(rows) and rows.is_solution(columns)
    bound = info.mip_dual_bound * scale
    is_best = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return Outcome(
        columns if is_found else None,
        max(int(min(bound, least_known) * (1 - SAFE)), 0) if np.isfinite(bound) else 0,
        is_best,
        watch.spent,
    )


def _that_can_pay(
    rows: NodeRows, relaxed: Relaxed, known: BoolArray
) -> tuple[BoolArray, float]:
    """
    Return ``(n,)`` columns of solutions cheaper than a known one, and the known cost.

    If the known columns are no solution, all columns are returned.
    """
    if not rows.is_solution(known):
        return np.ones(len(rows), dtype=np.bool_), np.inf
    cost = rows.cost_of(known)
    least, extra = reduced_costs(rows, relaxed.prices)
    can_pay: BoolArray = extra <= cost - least + SAFE * cost + 1
    return can_pay | known, cost


def _num_free(rows: NodeRows, can_pay: BoolArray) -> int:
    """Return the number of columns of groups that have a choice."""
    count = np.bincount(rows.groups[can_pay], minlength=rows.problem.num_groups)
    has_choice = count > rows.least
    return int(count[has_choice].sum())


def _solver(closed: float, seconds: float | None, seed: int) -> highspy.Highs:
    solver = highspy.Highs()
    options: dict[str, bool | int | float] = {
        "output_flag": False,
        "threads": 1,
        "random_seed": seed,
        "mip_rel_gap": closed,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": TOLERANCE,
        "primal_feasibility_tolerance": TOLERANCE,
    }
    if seconds is not None:
        options["time_limit"] = max(seconds, 0.0)
    for name, value in options.items():
        solver.setOptionValue(name, value)
    return solver
