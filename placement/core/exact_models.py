"""
The exact models of one problem: asked for answers, each question once.

HiGHS's cuts take the best answer away at times, and what it then calls a bound is none
(its issues 2664 and 3273): what it says of bounds proves nothing here.
`core.branching` proves what it finds.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from placement.core.bounds import Bands
from placement.core.effort import Effort
from placement.core.exact_fit import LEAST, cap_unit, caps_of, fits_model
from placement.core.exact_work import ExactWork
from placement.core.problem import NO_LIMIT, Problem

if TYPE_CHECKING:
    from placement.core.milp import Exact


SEEDS = (1, 2, 3)
"""Random numbers with which HiGHS must say the same of a cap on all moves."""
CAP_TOLERANCE = 1e-6
"""Part of a cap by which HiGHS may be off."""


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
        What all of them may take; `None`: what `effort` has for one problem.
    """

    def __init__(
        self, problem: Problem, effort: Effort, work: ExactWork | None = None
    ) -> None:
        self._problem = problem
        self._max_cells = effort.milp_cells
        self._max_nodes = effort.milp_nodes
        self._work = work or ExactWork.of(effort)
        self._known: dict[tuple[str, bytes, bytes, int], Exact] = {}

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

    def least_spent(self, what: str) -> int:
        """
        Return how much of a cap on all moves is spent at the least, as HiGHS says.

        The other caps hold, and all hard rules. What it says with any random numbers
        counts, as no answer is in hand that could refute it; 0 where it says nothing.
        """
        bounds = [self._spent(what, seed) for seed in SEEDS[:1]]
        if bounds[0] > caps_of(self._problem)[what]:
            bounds += [self._spent(what, seed) for seed in SEEDS[1:]]
        return min(bounds)

    def can_do_without(self, what: str) -> bool:
        """Tell whether HiGHS leaves open that all but one cap can be kept."""
        return not self._least(what, SEEDS[0]).is_infeasible

    def _spent(self, what: str, seed: int) -> int:
        bound = self._least(what, seed).dual_bound
        if not np.isfinite(bound):
            return 0
        least = bound - CAP_TOLERANCE * max(1.0, bound)
        return int(np.ceil(least * cap_unit(caps_of(self._problem)[what])))

    def _least(self, what: str, seed: int) -> "Exact":
        return self._solved(self._bands_used(), LEAST + what, seed)

    def _solved(self, bands: Bands, objective: str, seed: int = SEEDS[0]) -> "Exact":
        from placement.core.milp import solve_model

        asked = (objective, bands.lower.tobytes(), bands.upper.tobytes(), seed)
        if asked not in self._known:
            most, work = self._max_nodes, self._work
            self._known[asked] = solve_model(
                self._problem, bands, objective, most, seed, work
            )
        return self._known[asked]
