r"""
Minimisation of every level of the objective by CP-SAT, if bands are out of reach.

With :math:`d_{br}` the distance of a load outside its band, the levels are: largest
:math:`d_{br}`, their sum, cost with the number of moves, role changes. The optimum of
each level is a constraint of the next. Other methods leave the sum to the search, and
minimise the cost for the distance that each bin has reached.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from placement.core.exact.answer import Answer, Said, proven_answer
from placement.core.exact.cp_sat.bands_model import BandsModel, Outcome
from placement.core.exact.cp_sat.hard_rules_model import BITS
from placement.core.exact.cp_sat.spread_rows import keep_spread
from placement.core.exact.improvement.improved_answer import Improved, better
from placement.core.exact.solver_names import cp_sat
from placement.core.exact.time_limits import Left
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import Arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import Value, evaluate
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.model.search_budget import Effort

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExprT

MOST_DENOMINATOR = 10_000
"""Largest denominator of an exact target; with larger ones distances are rounded."""
SAME = 1e-12
"""Relative error of a target as a fraction."""


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
    # With a price per move, the bound is not on the copied cost.
    cost = None if problem.price_per_move else levels.cost
    distance = None if problem.has_caps else levels.deviation
    said = Said(cost, distance, cp_sat(), bool(len(problem.collection_cap)))
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
        value = evaluate(problem, at)
        self._found = Improved(at=at, value=value, spread_from=at)
        self.model = DistancesModel(problem, value)
        if len(problem.collection_cap):
            keep_spread(self.model, problem, at)

    def answer(self) -> Levels:
        """Return the best answer after all solves that the work allows."""
        model = self.model
        peak = self._least(model.peak)
        deviation = 0.0 if peak.bound is None else peak.bound / model.scale
        if not (peak.is_best and self._least(model.total).is_best):
            return Levels(self._found.at, deviation, None, None, model.spent)
        cost, roles = self._least_cost(), None
        if cost is not None:
            model.keep_moves(self._found.value)
            outcome = self._least(model.role_changes())
            roles = outcome.bound if outcome.is_best else None
        return Levels(self._found.at, deviation, cost, roles, model.spent)

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
        model, before = self.model, self.model.spent
        model.suggest(self._found.at)
        outcome = model.least(objective, max(self._work, 0.0), self._left())
        self._work -= model.spent - before
        self._found = better(self._problem, self._found, outcome.at)
        if outcome.is_best:
            model.keep(objective)
        return outcome


class DistancesModel(BandsModel):
    """
    Model of the hard rules, with the distance of every load outside its band.

    Parameters
    ----------
    problem
        Problem to model; `fits_bands` must hold.
    known
        Value of an answer, whose largest distance limits all distances.

    Attributes
    ----------
    scale
        Number of parts that a target is divided into.
    peak, total
        Largest distance and sum of all distances, in these parts.
    """

    def __init__(self, problem: Problem, known: Value) -> None:
        super().__init__(problem, None)
        self.scale = _scale(problem, known.deviation)
        most = ceil(known.deviation * self.scale) + 1
        self.peak = self.model.new_int_var(0, most, "")
        off = [
            self._distance(b, r, most)
            for b, r in np.argwhere(problem.bins.target > 0).tolist()
        ]
        self.total = cp_model.LinearExpr.sum(off)

    def _distance(self, b: int, r: int, most: int) -> cp_model.IntVar:
        """Return the distance of a load; rounding never overestimates it."""
        bins = self.problem.bins
        part = self.scale / _fraction(float(bins.target[b, r]))
        terms, weights = self._load_terms(b, r)
        fixed = int(bins.fixed[b, r])
        off = self.model.new_int_var(0, most, "")
        if bins.upper[b, r] < NO_LIMIT:
            down = [floor(weight * part) for weight in weights]
            upper = ceil((int(bins.upper[b, r]) - fixed) * part)
            self.model.add(cp_model.LinearExpr.weighted_sum(terms, down) - upper <= off)
        lower = floor((int(bins.lower[b, r]) - fixed) * part)
        if lower > 0:
            up = [ceil(weight * part) for weight in weights]
            self.model.add(lower - cp_model.LinearExpr.weighted_sum(terms, up) <= off)
        self.model.add(off <= self.peak)
        return off


def _fraction(target: float) -> Fraction:
    """Return a target as a fraction, with a small denominator if possible."""
    short = Fraction(target).limit_denominator(MOST_DENOMINATOR)
    is_same = abs(float(short) - target) <= SAME * target
    return short if is_same else Fraction(target)


def _scale(problem: Problem, deviation: float) -> int:
    """Return the number of parts of a target, with integral distances if possible."""
    targets = problem.bins.target
    fractions = [_fraction(t) for t in np.unique(targets[targets > 0]).tolist()]
    heaviest = problem.weight.max(axis=0) + problem.role_weight.max(axis=0)
    least = np.where(targets > 0, targets, np.inf).min(axis=0)
    longest = max(deviation, float((heaviest / least).max()), 1.0)
    most = int(2.0**BITS / longest)
    whole = lcm(*(target.numerator for target in fractions))
    return whole if whole <= most else max(most, 1)
