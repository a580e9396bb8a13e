"""
Roles at fixed places by CP-SAT: every level of the objective minimized, with proof.

Counts of roles are even first, and stay as even; loads come as near to their bands as
they can, the largest distance before the sum of all; then as few roles as can be change
hands.
"""

import numpy as np
from ortools.sat.python import cp_model

from placement.core.exact.improvement.objective_levels import (
    DistancesModel,
    Levels,
    by_levels,
)
from placement.core.exact.time_limits import Left
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import FloatArray, IntArray, Problem


def best_order(
    problem: Problem,
    at: Arrangement,
    even: tuple[IntArray, FloatArray] | None,
    work: float,
    left: Left,
) -> Levels:
    """
    Return the best answer, and what is proven of any.

    Parameters
    ----------
    problem
        All items stay; `exact_fit.fits_bands` must hold.
    at
        An answer that keeps the hard rules.
    even
        Where counts are balanced, ``(N,)`` how many roles each bin has in an answer
        than which none is more even, as `at` is, and ``(N,)`` the bins' shares.
    work, left
        Deterministic seconds that it may take, and what returns the seconds left.
    """

    def keep_even(model: DistancesModel) -> None:
        if even is not None:
            _keep_even(model, *even)

    return by_levels(problem, at, work, left, keep_even)


def _keep_even(model: DistancesModel, counts: IntArray, share: FloatArray) -> None:
    """Keep counts as they are, but for which of several like bins has one more."""
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
    """Return by bin how many roles it has."""
    of_bin: dict[int, list[cp_model.IntVar]] = {b: [] for b in model.bins}
    for (_, b), leads in model.role.items():
        of_bin[b].append(leads)
    return {b: cp_model.LinearExpr.sum(leads) for b, leads in of_bin.items()}
