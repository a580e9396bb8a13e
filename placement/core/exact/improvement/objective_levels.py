r"""
Minimisation of every level of the objective by CP-SAT, if bands are out of reach.

With :math:`d_{br}` the distance of a load outside its band, the levels are: largest
:math:`d_{br}`, their sum, cost with the number of moves, role changes. The optimum of
each level is a constraint of the next. Other budgets minimise the largest distance, and
the cost at the largest distance and the sum that they have reached
(`core.exact.improvement.band_distance`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from placement.core.exact.answer import Answer, Said, proven_answer
from placement.core.exact.cp_sat.bands_model import Outcome
from placement.core.exact.cp_sat.distances_model import DistancesModel
from placement.core.exact.cp_sat.spread_rows import keep_spread
from placement.core.exact.improvement.improved_answer import (
    better,
    improved_from,
    is_hardly_nearer,
)
from placement.core.exact.milp.spread_check import crowds
from placement.core.exact.solver_names import cp_sat
from placement.core.exact.time_limits import Left
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem
from placement.core.model.search_budget import Effort

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExprT


def in_every_level(
    problem: Problem,
    answer: Answer,
    effort: Effort,
    work: ExactWork,
    deadline: Deadline,
) -> Answer:
    """
    Return an answer out of its bands with every level of the objective minimised.

    Parameters
    ----------
    problem
        Problem to solve; `model_scaling.fits_bands` must hold.
    answer
        Incumbent.
    effort, work, deadline
        Work limit of proofs, remaining work of all models of the plan, and deadline.
    """
    if deadline.is_over():
        return answer
    levels = by_levels(problem, answer.at, work.bands, deadline.left)
    work.bands -= levels.spent
    # Record whether the solve ended at the deadline.
    deadline.is_over()
    is_crowded = crowds(problem, home_arrangement(problem), answer.at)
    # With a price per move, the bound is not on the copied cost; under the counts of an
    # answer over the soft caps, it does not hold for answers that keep them.
    is_void = problem.price_per_move > 0 or is_crowded
    cost = None if is_void else levels.cost
    distance = None if problem.has_caps else levels.deviation
    is_spread = bool(len(problem.collection_cap))
    said = Said(cost, distance, cp_sat(), is_spread, cp_sat())
    value = evaluate(problem, levels.at)
    proven = proven_answer(problem, levels.at, value, (answer.distance_proof, effort))
    return proven._replace(said=said.at_best(answer.said, is_in_band=False))


class Levels(NamedTuple):
    """
    Incumbent and bounds of CP-SAT.

    Parameters
    ----------
    at
        Best arrangement.
    deviation
        Lower bound on the largest distance outside the bands, in targets.
    cost
        Least cost of moves among arrangements with least distances, price per move
        included; `None`: not proven.
    roles
        Fewest role changes among arrangements of that cost; `None`: not proven.
    spent
        Deterministic seconds of all solves.
    """

    at: Arrangement
    deviation: float
    cost: int | None
    roles: int | None
    spent: float


def by_levels(
    problem: Problem,
    at: Arrangement,
    work: float,
    left: Left,
    limit: "Callable[[DistancesModel], None] | None" = None,
) -> Levels:
    """
    Improve an answer outside its bands, level by level.

    Parameters
    ----------
    problem
        Problem to solve; `model_scaling.fits_bands` must hold.
    at
        Answer that keeps the hard rules: the first hint.
    work
        Work limit of all solves, in deterministic seconds.
    left
        Function that returns the seconds to a deadline; `None`: no deadline.
    limit
        Function that adds constraints that `at` keeps, before any solve; `None`: none.
    """
    asked = _ByLevels(problem, at, work, left)
    if limit is not None:
        limit(asked.model)
    return asked.answer()


class _ByLevels:
    """Sequence of solves, one per level, that keeps the best answer."""

    def __init__(
        self, problem: Problem, at: Arrangement, work: float, left: Left
    ) -> None:
        self._problem, self._left, self._work = problem, left, work
        self._found = improved_from(problem, at)
        self.model = DistancesModel(problem, self._found.value.deviation)

    def answer(self) -> Levels:
        """Return the best answer after all solves that the work allows."""
        model, known = self.model, self._found
        deviation, has_nearest = self._nearest()
        if not (has_nearest and self._least(model.total).is_best):
            # Its cost has not been minimised yet.
            is_hardly = is_hardly_nearer(self._found.value, known.value)
            at = known.at if is_hardly and not has_nearest else self._found.at
            return Levels(at, deviation, None, None, model.spent)
        cost, roles = self._least_cost(), None
        if cost is not None:
            model.keep_moves(self._found.value)
            outcome = self._least(model.role_changes())
            roles = outcome.bound if outcome.is_best else None
        return Levels(self._found.at, deviation, cost, roles, model.spent)

    def _nearest(self) -> tuple[float, bool]:
        """
        Minimise the largest distance among answers that keep the soft caps.

        Returns
        -------
        Lower bound on the distance of all answers, those over the soft caps included,
        and whether the minimum is proven.
        """
        problem, model = self._problem, self.model
        spread_from = self._found.spread_from
        peak = self._solved(model.peak)
        deviation = 0.0 if peak.bound is None else peak.bound / model.scale
        if len(problem.collection_cap):
            keep_spread(model, problem, spread_from)
            if peak.at is not None and crowds(problem, spread_from, peak.at):
                peak = self._solved(model.peak)
        if peak.is_best:
            model.keep(model.peak)
        return deviation, peak.is_best

    def _least_cost(self) -> int | None:
        """Minimise cost and moves; return the least cost, if proven."""
        model = self.model
        outcome = self._least(model.moves_cost())
        if not outcome.is_best or outcome.bound is None:
            return None
        units = outcome.bound // model.steps
        least = units * model.unit
        if model.unit > 1:
            beyond = (self._found.value.cost - 1) // model.unit - units
            rest = self._least(model.rest_of_cost(units, max(beyond, 0)))
            if not rest.is_best or rest.bound is None:
                return None
            least += rest.bound // model.steps
        return least if least <= self._found.value.cost else None

    def _least(self, objective: "LinearExprT") -> Outcome:
        """Minimise an objective, and fix its upper bound if optimal."""
        outcome = self._solved(objective)
        if outcome.is_best:
            self.model.keep(objective)
        return outcome

    def _solved(self, objective: "LinearExprT") -> Outcome:
        """Minimise an objective, and keep a better answer."""
        model, before = self.model, self.model.spent
        model.suggest(self._found.at)
        outcome = model.least(objective, max(self._work, 0.0), self._left())
        self._work -= model.spent - before
        self._found = better(self._problem, self._found, outcome.at)
        return outcome
