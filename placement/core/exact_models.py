"""The exact models of one problem: solved for an answer, asked again for its proof."""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from placement.core.bounds import Bands
from placement.core.effort import Effort
from placement.core.exact_fit import fits_model, scale_of
from placement.core.problem import NO_LIMIT, Problem

if TYPE_CHECKING:
    from placement.core.milp import Exact


class ExactModels:
    """
    What HiGHS says of one problem; it is asked each question once.

    Parameters
    ----------
    problem
        What may move. Bands are on all that a bin holds, so that what is proven here
        holds for the problem of which this is a part.
    effort
        How large a model may be, and how many nodes each may open.
    """

    def __init__(self, problem: Problem, effort: Effort) -> None:
        self._problem = problem
        self._max_cells = effort.milp_cells
        self.max_nodes = effort.milp_nodes
        self._known: dict[tuple[str, int, bytes, bytes], Exact] = {}

    @cached_property
    def is_fitting(self) -> bool:
        """Whether the problem is small and plain enough."""
        return fits_model(self._problem, self._max_cells)

    def cheapest(self, bands: Bands) -> "Exact":
        """Return what costs least within bands, the prices of moves included."""
        return self._solved(self._problem, bands, "cost")

    def nearest(self) -> "Exact":
        """Return what comes nearest to the bands of the problem."""
        bins = self._problem.bins
        # Of what nobody uses there is no band to be outside of.
        upper = np.where(bins.target > 0, bins.upper, NO_LIMIT)
        return self._solved(self._problem, Bands(bins.lower, upper), "deviation")

    def least_copied(self, bands: Bands) -> int:
        """Return a cost below which nothing within bands is copied."""
        copies = self._problem
        if copies.price_per_move:
            copies = replace(copies, price_per_move=0)
        exact = self._solved(copies, bands, "cost")
        if exact.is_infeasible:
            return 0
        return copied_at_least(copies, exact.dual_bound)

    def least_distance(self) -> float:
        """Return a distance nearer than which nothing comes to the bands."""
        exact = self.nearest()
        # HiGHS keeps to rows by 1e-6.
        return 0.0 if exact.is_infeasible else exact.dual_bound - 1e-5

    def _solved(self, problem: Problem, bands: Bands, objective: str) -> "Exact":
        from placement.core.milp import solve_model

        asked = (
            objective,
            problem.price_per_move,
            bands.lower.tobytes(),
            bands.upper.tobytes(),
        )
        if asked not in self._known:
            self._known[asked] = solve_model(problem, bands, objective, self.max_nodes)
        return self._known[asked]


def copied_at_least(problem: Problem, dual_bound: float) -> int:
    """Turn a model's dual bound into a cost: ties and tolerance are taken off."""
    scale = scale_of(problem)
    bound = (dual_bound - scale.slack) * scale.cost
    return int(np.ceil(bound - 1e-6 * max(1.0, abs(bound)))) if bound > 0 else 0
