"""
Integer program of the places in some bins, solved by HiGHS.

A node has a dozen rows that bind and a column for each pair of group and bin: branch
and cut on its linear relaxation proves in a fifth of a second what CP-SAT, whose
strength is logic, needs seconds for. HiGHS works with floats, within tolerances. What
it finds is checked in whole numbers; what it proves is its own word.
"""

from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

import highspy
import numpy as np

from placement.core.exact.node_relaxation import cost_unit, model_of
from placement.core.exact.node_rows import NodeRows
from placement.core.problem import BoolArray

TOLERANCE = 1e-9
"""Of rows, in parts of their largest weight."""
WHOLE = 0.5
"""Value of a column from which on it counts as used."""
SEED = 1
ROOT_LOOK, TREE_LOOK = 7e-6, 3e-7
"""
Deterministic seconds per column that HiGHS works between two looks whether to go on:
in a round of cuts at the root, and at a node of the tree.
"""
EFFORT = 0.05
"""Part of the work of HiGHS that its heuristics may take."""
SAFE = 1e-9
"""Part of a bound that is given away for the sake of HiGHS's own rounding."""


class Outcome(NamedTuple):
    """
    What HiGHS found.

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


@cache
def solver_name() -> str:
    """Return what HiGHS calls itself, with its version."""
    return f"HiGHS {version('highspy')}"


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
    watch = _Watch(len(rows), work)
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


class _Watch:
    """Measures the work of HiGHS by how often it looks, and tells it to end."""

    def __init__(self, num_columns: int, work: float) -> None:
        self.spent, self._work, self._num_columns = 0.0, work, num_columns

    def __call__(self, *told: Any) -> None:  # noqa: ANN401 - HiGHS's own
        """Be called by HiGHS: kind, message, what it has, what it is told, our own."""
        look = TREE_LOOK if told[2].mip_node_count > 0 else ROOT_LOOK
        self.spent += look * self._num_columns
        if self.spent >= self._work:
            told[3].user_interrupt = True


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
        # What these cost is not seen by the callback that measures the work.
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
