"""
Integer program of the places in some bins, solved by HiGHS.

A node has a dozen rows that bind and a column for each pair of group and bin: branch
and cut on its linear relaxation proves in a fifth of a second what CP-SAT, whose
strength is logic, needs seconds for. HiGHS works with floats, within tolerances. What
it finds is checked in whole numbers; what it proves is its own word.
"""

from typing import NamedTuple

import highspy
import numpy as np

from placement.core.exact.node_relaxation import cost_unit, model_of
from placement.core.exact.node_rows import NodeRows
from placement.core.exact_work import Watch
from placement.core.problem import BoolArray

TOLERANCE = 1e-9
"""Feasibility tolerance of rows, relative to their largest weight."""
WHOLE = 0.5
"""Value of a column from which on it counts as used."""
SEED = 1
ROOT_CALLBACK, TREE_CALLBACK = 7e-6, 3e-7
"""
Deterministic seconds per column between two callbacks of HiGHS: in a round of cuts at
the root, and at a node of the tree.
"""
EFFORT = 0.05
"""Part of the work of HiGHS that its heuristics may take."""
SAFE = 1e-9
"""Part by which a bound is lowered, for the rounding of HiGHS."""


class Outcome(NamedTuple):
    """
    Incumbent and bound of HiGHS.

    Parameters
    ----------
    columns
        ``(n,)`` of the best solution that keeps every row; `None`: there is none.
    bound
        Lower bound on the cost.
    is_best
        Whether HiGHS ended because nothing is better.
    spent
        Deterministic seconds.
    """

    columns: BoolArray | None
    bound: int
    is_best: bool
    spent: float


def solve_program(
    rows: NodeRows,
    known: BoolArray,
    *,
    closed: float,
    work: float,
    seconds: float | None = None,
    has_heuristics: bool = False,
) -> Outcome:
    """
    Minimize the cost.

    Parameters
    ----------
    rows
        Constraints of the bins.
    known
        ``(n,)`` columns to start from; those that break a row do no harm.
    closed
        Relative gap at which a solution counts as optimal.
    work
        Deterministic seconds that it may take.
    seconds
        To a deadline; `None`: there is none.
    has_heuristics
        Whether HiGHS also searches around its relaxation: worth it far from a bound.
    """
    scale = cost_unit(rows)
    model = model_of(rows, scale)
    model.integrality_ = [highspy.HighsVarType.kInteger] * len(rows)
    solver = _solver(closed, seconds, has_heuristics=has_heuristics)
    watch = Watch(work, ROOT_CALLBACK * len(rows), TREE_CALLBACK * len(rows))
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
        max(int(bound * (1 - SAFE)), 0) if np.isfinite(bound) else 0,
        is_best,
        watch.spent,
    )


def _solver(
    closed: float, seconds: float | None, *, has_heuristics: bool
) -> highspy.Highs:
    solver = highspy.Highs()
    options: dict[str, bool | int | float] = {
        "output_flag": False,
        "threads": 1,
        "random_seed": SEED,
        "mip_rel_gap": closed,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": TOLERANCE,
        "primal_feasibility_tolerance": TOLERANCE,
        # The callback that measures the work does not see the work of these.
        "mip_allow_restart": False,
        "mip_detect_symmetry": False,
        "mip_heuristic_run_rins": False,
        "mip_heuristic_run_root_reduced_cost": False,
        "mip_heuristic_run_rens": has_heuristics,
        "mip_heuristic_effort": EFFORT if has_heuristics else 0.0,
    }
    if seconds is not None:
        options["time_limit"] = max(seconds, 0.0)
    for name, value in options.items():
        solver.setOptionValue(name, value)
    return solver
