"""
Roles at fixed places by CP-SAT: every level of the objective minimised, with bounds.

Counts of roles stay as even as they are. The levels are: largest distance of a load
outside its band, sum of all distances, role changes.
"""

import numpy as np
from ortools.sat.python import cp_model

from placement.array_types import FloatArray, IntArray
from placement.core.exact.cp_sat.distances_model import DistancesModel
from placement.core.exact.improvement.objective_levels import Levels, by_levels
from placement.core.exact.time_limits import Left
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Problem


def best_order(
    problem: Problem,
    at: Arrangement,
    even: tuple[IntArray, FloatArray] | None,
    work: float,
    left: Left,
) -> Levels:
    """
    Return the best choice of role holders, with lower bounds.

    Parameters
    ----------
    problem
        Problem whose items all stay; `model_scaling.fits_bands` must hold.
    at
        Answer that keeps the hard rules.
    even
        If counts are balanced: ``(N,)`` number of roles of each bin in a most even
        answer, as even as `at`, and ``(N,)`` shares of the bins.
    work, left
        Work limit in deterministic seconds, and a function that returns the seconds to
        a deadline.
    """

    def keep_even(model: DistancesModel) -> None:
        if even is not None:
            _keep_even(model, *even)

    return by_levels(problem, at, work, left, keep_even)


def _keep_even(model: DistancesModel, counts: IntArray, share: FloatArray) -> None:
    """Fix the counts, except which of several bins of equal share has one more."""
    led = _led(model)
    for one in np.unique(share).tolist():
        alike = np.nonzero(share == one)[0]
        least, most = int(counts[alike].min()), int(counts[alike].max())
        is_even = most - least <= 1
        for b in alike.tolist():
            ends = (least, most) if is_even else (int(counts[b]), int(counts[b]))
            model.model.add_linear_constraint(led[b], *ends)
        total = cp_model.LinearExpr.sum([led[b] for b in alike.tolist()])
        model.model.add(total == int(counts[alike].sum()))


def _led(model: DistancesModel) -> dict[int, cp_model.LinearExprT]:
    """Return the number of roles of each bin."""
    of_bin: dict[int, list[cp_model.IntVar]] = {b: [] for b in model.bins}
    for (_, b), leads in model.role.items():
        of_bin[b].append(leads)
    return {b: cp_model.LinearExpr.sum(leads) for b, leads in of_bin.items()}
