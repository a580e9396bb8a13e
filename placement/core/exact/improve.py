"""
Better an answer by CP-SAT, and say how good it can be at best.

First the distance from the bands, then the cost within the bands that are reached, then
moves, then role changes. What CP-SAT proves is its own word: nothing here can check it
again, so it stands beside the bounds that are checked and never in their place.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from placement.core.arrangement import Arrangement, loads
from placement.core.bounds import reached_bands
from placement.core.problem import IntArray, Problem
from placement.core.spread import crowds
from placement.core.value import Value, evaluate, keeps_caps, misplaced_roles

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExprT

    from placement.core.exact.bands_model import BandsModel, Outcome

FIRST = 0.9
"""Part of the work that a question may take where others follow."""
NEARER = 0.995
"""Part of a distance from which on an answer is nearer, whatever it costs."""
LEAST_WORK = 1e-3
"""Deterministic seconds below which nothing is asked any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Improved:
    """
    An answer after CP-SAT has looked at it.

    Parameters
    ----------
    at, value
        The best arrangement known, and what it is worth.
    cost_bound
        What CP-SAT says that moves cost at least, for the bands reached; `None`:
        nothing.
    deviation_bound
        The same of the largest distance outside the bands.
    """

    at: Arrangement
    value: Value
    cost_bound: int | None = None
    deviation_bound: float | None = None


Left = Callable[[], float | None]


def _any_time() -> float | None:
    """Return that nobody waits."""
    return None


@cache
def solver_name() -> str:
    """Return what CP-SAT calls itself, with its version."""
    return f"CP-SAT {version('ortools')}"


def improve(
    problem: Problem,
    at: Arrangement,
    *,
    known: int,
    work: float,
    left: Left = _any_time,
) -> Improved:
    """
    Better an answer that keeps the hard rules.

    Parameters
    ----------
    problem
        `exact_fit.fits_bands` must hold.
    at
        The answer: where the solver starts.
    known
        What moves cost at least, for the bands that it reaches.
    work
        Deterministic seconds that all of it may take.
    left
        Returns the seconds that are left, where somebody waits; `None`: any.
    """
    found = Improved(at=at, value=evaluate(problem, at))
    if found.value.is_outside:
        found, spent = _nearer(problem, found, (work / 2, left()))
        known, work = 0, work - spent
    return _Cheaper(problem, found, known, (work, left)).improved()


def _nearer(
    problem: Problem, known: Improved, limits: tuple[float, float | None]
) -> tuple[Improved, float]:
    """Come nearer to the bands; return the work it took as well."""
    from placement.core.exact.bands_model import FINENESS, BandsModel

    model = BandsModel(problem, None)
    objective = model.distance(known.value.deviation)
    model.suggest(known.at)
    outcome = model.least(objective, *limits)
    found = _better(problem, known, outcome.at)
    is_hardly = found.value.deviation > NEARER * known.value.deviation
    if is_hardly and found.value.cost > known.value.cost:
        found = known
    if outcome.bound is None or problem.has_caps:
        return found, model.spent
    return replace(found, deviation_bound=outcome.bound / FINENESS), model.spent


class _Cheaper:
    """
    Lowers the cost within the bands that an answer reaches, then moves, then roles.

    Parameters
    ----------
    problem, known
        The problem, and the answer.
    least
        What moves cost at least.
    limits
        Deterministic seconds, and the seconds that are left where somebody waits.
    """

    def __init__(
        self,
        problem: Problem,
        known: Improved,
        least: int,
        limits: tuple[float, Left],
    ) -> None:
        self._problem, self._found, self._least = problem, known, least
        self._work, self._left = limits
        self._bands = reached_bands(problem, known.at)

    def improved(self) -> Improved:
        """Return the answer after all that the work allows."""
        from placement.core.exact.bands_model import BandsModel
        from placement.core.exact.spread_rows import keep_spread

        if self._work < LEAST_WORK:
            return self._found
        model = BandsModel(self._problem, self._bands)
        cost = model.moves_cost()
        outcome = self._asked(model, cost, FIRST)
        if outcome.bound is None:
            return self._found
        # All moves together are less than one step: what is left are units of cost.
        units = outcome.bound // model.steps
        self._prove(units * model.unit)
        if outcome.at is not None and crowds(self._problem, self._found.at, outcome.at):
            # That is no answer, and proves nothing of those that are.
            keep_spread(model, self._problem, self._found.at)
            outcome = self._asked(model, cost, FIRST)._replace(is_best=False)
        if outcome.is_best and model.unit > 1:
            outcome = self._last_digits(model, units)
        elif outcome.is_best:
            self._prove(self._found.value.cost)
        self._fewer_roles(is_free=outcome.is_best)
        return self._found

    def _last_digits(self, model: "BandsModel", units: int) -> "Outcome":
        """Find the least cost to the last digit, where its units are known."""
        beyond = (self._found.value.cost - 1) // model.unit - units
        rest = model.rest_of_cost(units, max(beyond, 0))
        outcome = self._asked(model, rest, FIRST)
        if outcome.bound is not None:
            self._prove(units * model.unit + outcome.bound // model.steps)
        return outcome

    def _fewer_roles(self, *, is_free: bool) -> None:
        """Change as few roles as can be, moves staying as many or as they are."""
        from placement.core.exact.bands_model import BandsModel

        model = BandsModel(self._problem, self._bands)
        if is_free:
            model.keep_moves(self._found.value)
        else:
            model.fix_places(self._found.at)
        self._asked(model, model.role_changes(), 1.0)

    def _asked(
        self, model: "BandsModel", objective: "LinearExprT", part: float
    ) -> "Outcome":
        """Ask for the least of something, and keep a better answer."""
        outcome = self._solved(model, objective, part)
        over = self._outside(outcome.at)
        if len(over):
            # Rows let in what is outside by less than their units.
            model.tighten(over, self._bands)
            tight = self._solved(model, objective, part)
            outcome = outcome._replace(at=tight.at, is_best=False)
        self._found = _better(self._problem, self._found, outcome.at)
        return outcome

    def _outside(self, at: Arrangement | None) -> IntArray:
        """Return bins and resources of loads that are outside of the bands."""
        if at is None:
            return np.zeros((0, 2), dtype=np.int64)
        load = loads(self._problem, at)
        return np.argwhere((load < self._bands.lower) | (load > self._bands.upper))

    def _solved(
        self, model: "BandsModel", objective: "LinearExprT", part: float
    ) -> "Outcome":
        model.suggest(self._found.at)
        before = model.spent
        outcome = model.least(
            objective, max(self._work * part, LEAST_WORK), self._left()
        )
        self._work -= model.spent - before
        return outcome

    def _prove(self, cost: int) -> None:
        bound = max(cost, self._least)
        if bound <= self._found.value.cost:
            self._found = replace(self._found, cost_bound=bound)


def _better(problem: Problem, known: Improved, at: Arrangement | None) -> Improved:
    """Take an arrangement if it is worth more than the best one known."""
    if at is None or misplaced_roles(problem, at).any() or not keeps_caps(problem, at):
        return known
    if crowds(problem, known.at, at):
        return known
    worth = evaluate(problem, at)
    return replace(known, at=at, value=worth) if worth < known.value else known
