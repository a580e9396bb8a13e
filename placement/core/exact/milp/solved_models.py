"""
Cached results of the exact models of one problem.

Cuts of HiGHS may remove the optimum, and its bound is then wrong (HiGHS issues 2664 and
3273), so its bounds prove nothing here. `core.exact.linear.branch_and_bound` proves
bounds instead.
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
    Exact models of one problem, each solved once by HiGHS.

    Parameters
    ----------
    problem
        Reduced problem, with fixed loads of the items left out.
    effort
        Budget with the largest model and the node limit.
    work
        Remaining work of all models; `None`: the limit of `effort` for one problem.
    """

    def __init__(
        self, problem: Problem, effort: Effort, work: ExactWork | None = None
    ) -> None:
        self._problem = problem
        self._max_cells, self._tree_cells = effort.milp_cells, effort.tree_cells
        self._max_nodes = effort.milp_nodes
        self._work = work or ExactWork.of(effort)
        self._known: dict[tuple[str, bytes, bytes], Exact] = {}

    @cached_property
    def is_fitting(self) -> bool:
        """Whether the problem is small enough and has a supported structure."""
        return fits_model(self._problem, self._max_cells)

    @cached_property
    def fits_tree(self) -> bool:
        """Whether branch and bound with a witness is worth its time without a model."""
        return fits_model(self._problem, self._tree_cells)

    def cheapest(self, bands: Bands) -> "Exact":
        """Return the cheapest arrangement within bands, price per move included."""
        return self._solved(bands, "cost")

    def nearest(self) -> "Exact":
        """Return the arrangement nearest to the bands of the problem."""
        return self._solved(self._bands_used(), "deviation")

    def _bands_used(self) -> Bands:
        """Return the bands, without upper ends where there is no target."""
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
