"""
The exact models of one problem: solved for an answer, asked again for its proof.

HiGHS's cuts take the best answer away at times, and what it then calls a bound is none
(its issues 2664 and 3273). Nothing here can check a bound of branch and bound; but one
that an answer in hand refutes is not believed. The model is then solved with other
random numbers, and if those are refuted as well nothing is proven.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from placement.core.bounds import Bands
from placement.core.effort import Effort
from placement.core.exact_fit import LEAST, cap_unit, caps_of, fits_model, scale_of
from placement.core.exact_work import ExactWork
from placement.core.problem import NO_LIMIT, Problem
from placement.core.value import evaluate

if TYPE_CHECKING:
    from placement.core.milp import Exact


SEEDS = (1, 2, 3)
"""Random numbers with which a model is solved until no answer refutes its bound."""
CLOSE = 1e-9
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
        self.max_nodes = effort.milp_nodes
        self._work = work or ExactWork.of(effort.milp_looks)
        self._known: dict[tuple[str, int, bytes, bytes, int], Exact] = {}

    @cached_property
    def is_fitting(self) -> bool:
        """Whether the problem is small and plain enough."""
        return fits_model(self._problem, self._max_cells)

    def cheapest(self, bands: Bands) -> "Exact":
        """Return what costs least within bands, the prices of moves included."""
        return self._solved(self._problem, bands, "cost")

    def nearest(self) -> "Exact":
        """Return what comes nearest to the bands of the problem."""
        return self._solved(self._problem, self._bands_used(), "deviation")

    def _bands_used(self) -> Bands:
        """Return the bands; of what nobody uses there is none to be outside of."""
        bins = self._problem.bins
        upper = np.where(bins.target > 0, bins.upper, NO_LIMIT)
        return Bands(bins.lower, upper)

    def least_copied(self, bands: Bands, copied: int) -> int:
        """Return a cost below which nothing within bands is copied; `copied` is."""
        copies = self._problem
        if copies.price_per_move:
            copies = replace(copies, price_per_move=0)

        def bound_of(exact: "Exact") -> int:
            return copied_at_least(copies, exact.dual_bound)

        found = self._believed(copies, bands, "cost", lambda e: bound_of(e) > copied)
        return 0 if found is None else bound_of(found)

    def least_distance(self, reached: float) -> float:
        """Return a distance nearer than which nothing comes; `reached` is one."""

        def bound_of(exact: "Exact") -> float:
            # HiGHS keeps to rows by 1e-6.
            return exact.dual_bound - 1e-5

        def is_refuted(exact: "Exact") -> bool:
            own = np.inf
            if exact.at is not None:
                own = evaluate(self._problem, exact.at).deviation
            return bound_of(exact) > min(reached, own) + CLOSE

        found = self._believed(
            self._problem, self._bands_used(), "deviation", is_refuted
        )
        return 0.0 if found is None else bound_of(found)

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
        return self._solved(self._problem, self._bands_used(), LEAST + what, seed)

    def _believed(
        self,
        problem: Problem,
        bands: Bands,
        objective: str,
        is_refuted: Callable[["Exact"], bool],
    ) -> "Exact | None":
        """Return what HiGHS says, unless an answer in hand refutes it each time."""
        for seed in SEEDS:
            exact = self._solved(problem, bands, objective, seed)
            if not exact.is_infeasible and not is_refuted(exact):
                return exact
        return None

    def _solved(
        self, problem: Problem, bands: Bands, objective: str, seed: int = SEEDS[0]
    ) -> "Exact":
        from placement.core.milp import solve_model

        asked = (
            objective,
            problem.price_per_move,
            bands.lower.tobytes(),
            bands.upper.tobytes(),
            seed,
        )
        if asked not in self._known:
            most = self.max_nodes
            self._known[asked] = solve_model(
                problem, bands, objective, most, seed, self._work
            )
        return self._known[asked]


def copied_at_least(problem: Problem, dual_bound: float) -> int:
    """Turn a model's dual bound into a cost: ties and tolerance are taken off."""
    scale = scale_of(problem)
    bound = (dual_bound - scale.slack) * scale.cost
    return int(np.ceil(bound - 1e-6 * max(1.0, abs(bound)))) if bound > 0 else 0
