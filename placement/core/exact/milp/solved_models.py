"""
The exact models of one problem: asked for answers, each question once.

HiGHS's cuts take the best answer away at times, and what it then calls a bound is none
(its issues 2664 and 3273): what it says of bounds proves nothing here.
`core.exact.linear.branch_and_bound` proves what it finds.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.model_scaling import fits_model
from placement.core.exact.work_limit import ExactWork
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.model.search_budget import Effort

if TYPE_CHECKING:
    from placement.core.exact.milp.small_model import Exact


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
    work
        What all of them may take; `None`: what `search_budget` has for one problem.
    """

    def __init__(
        self, problem: Problem, effort: Effort, work: ExactWork | None = None
    ) -> None:
        self._problem = problem
        self._max_cells = effort.milp_cells
        self._max_nodes = effort.milp_nodes
        self._work = work or ExactWork.of(effort)
        self._known: dict[tuple[str, bytes, bytes], Exact] = {}

    @cached_property
    def is_fitting(self) -> bool:
        """Whether the problem is small and plain enough."""
        return fits_model(self._problem, self._max_cells)

    def cheapest(self, bands: Bands) -> "Exact":
        """Return what costs least within bands, the prices of moves included."""
        return self._solved(bands, "cost")

    def nearest(self) -> "Exact":
        """Return what comes nearest to the bands of the problem."""
        return self._solved(self._bands_used(), "deviation")

    def _bands_used(self) -> Bands:
        """Return the bands; of what nobody uses there is none to be outside of."""
        bins = self._problem.bins
        upper = np.where(bins.target > 0, bins.upper, NO_LIMIT)
        return Bands(bins.lower, upper)

    def _solved(self, bands: Bands, objective: str) -> "Exact":
        from placement.core.exact.milp.small_model import solve_model

        asked = (objective, bands.lower.tobytes(), bands.upper.tobytes())
        if asked not in self._known:
            self._known[asked] = solve_model(
                self._problem, bands, objective, self._max_nodes, work=self._work
            )
        return self._known[asked]
