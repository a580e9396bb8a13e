"""An answer after CP-SAT has looked at it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from placement.core.exact.milp.spread_check import crowds
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import Value, evaluate, keeps_caps, misplaced_roles
from placement.core.model.problem import Problem


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
    spread_from
        Arrangement whose counts of a collection per bin, or the soft caps if larger,
        are upper bounds for every better answer.
    is_spread
        Whether the bound on the cost assumes these upper bounds.
    prices
        Duals of the bands by side (0: upper, 1: lower), bin and resource: a bound on
        the cost that can be checked.
    needs_roles
        Whether places alone, at these prices, left no roles within the bands.
    solver
        Name and version of the solver that states `cost_bound`.
    spent
        Deterministic seconds of all solves.
    """

    at: Arrangement
    value: Value
    spread_from: Arrangement
    cost_bound: int | None = None
    deviation_bound: float | None = None
    is_spread: bool = False
    prices: Mapping[tuple[int, int, int], float] = field(default_factory=dict)
    needs_roles: bool = False
    solver: str | None = None
    spent: float = 0.0


def better(problem: Problem, known: Improved, at: Arrangement | None) -> Improved:
    """Take an arrangement if it is worth more than the best one known."""
    if at is None or misplaced_roles(problem, at).any() or not keeps_caps(problem, at):
        return known
    if crowds(problem, known.spread_from, at):
        return known
    worth = evaluate(problem, at)
    return replace(known, at=at, value=worth) if worth < known.value else known
