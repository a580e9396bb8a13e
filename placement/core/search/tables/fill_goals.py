"""Goals of the bulk fill of empty bins."""

import numpy as np
import numpy.typing as npt

from placement.core.model.problem import Problem


def fill_units(problem: Problem, cost_resource: int) -> npt.NDArray[np.float64]:
    """
    Return ``(N, R)`` reciprocals of the loads that empty bins are filled to; 0: none.

    If the cost of an item is its weight in a resource, every unit of load above the
    lower end costs, so the lower end is the goal. The same holds if every item weighs
    the same and every move has a price. Otherwise the goal is the mean of lower end and
    target.
    """
    bins = problem.bins
    goal = (bins.lower + bins.target) / 2
    if cost_resource >= 0:
        goal[:, cost_resource] = bins.lower[:, cost_resource]
    if problem.price_per_move and problem.num_groups:
        is_count = np.equal(problem.weight, problem.weight[:1]).all(axis=0)
        goal[:, is_count] = bins.lower[:, is_count]
    counts = (bins.target > 0) & (bins.lower > 0)
    return np.where(counts, 1.0 / np.maximum(goal, 1.0), 0.0)


def is_shared(problem: Problem) -> npt.NDArray[np.bool_]:
    """Return ``(R,)`` true for resources with a lower end in any bin."""
    bins = problem.bins
    return np.any((bins.target > 0) & (bins.lower > 0), axis=0)
