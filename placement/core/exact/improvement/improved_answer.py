"""Answer improved by CP-SAT, with its bounds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from placement.core.exact.milp.spread_check import crowds
from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.objective import Value, evaluate, keeps_caps, misplaced_roles
from placement.core.model.problem import Problem

NEARER = 0.995
"""Ratio of distances below which a nearer answer may cost more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Improved:
    """
    Answer improved by CP-SAT, with its bounds.

    Parameters
    ----------
    at, value
        Best arrangement known, and its objective value.
    cost_bound
        Lower bound on the cost of moves by a solver, for the bands reached; `None`:
        none.
    deviation_bound
        Lower bound on the largest distance outside the bands by CP-SAT, in targets;
        `None`: none.
    spread_from
        Arrangement whose counts of a collection per bin, or the soft caps if larger,
        are upper bounds for every better answer.
    is_spread
        Whether the bound on the cost assumes these upper bounds.
    prices
        Duals of the bands by side (0: upper, 1: lower), bin and resource: a verifiable
        bound on the cost.
    needs_roles
        Whether the places found without roles admitted no roles within the bands.
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


def improved_from(problem: Problem, at: Arrangement) -> Improved:
    """Return an answer before any improvement."""
    before = home_arrangement(problem)
    # An answer over the soft caps on collections may stay over them.
    spread_from = at if crowds(problem, before, at) else before
    return Improved(at=at, value=evaluate(problem, at), spread_from=spread_from)


def is_hardly_nearer(value: Value, known: Value) -> bool:
    """Return whether a value costs more than a known one for hardly any distance."""
    return value.deviation > NEARER * known.deviation and value.cost > known.cost


def better(problem: Problem, known: Improved, at: Arrangement | None) -> Improved:
    """Return the known answer, or the arrangement if it is feasible and better."""
    if at is None or misplaced_roles(problem, at).any() or not keeps_caps(problem, at):
        return known
    if crowds(problem, known.spread_from, at):
        return known
    worth = evaluate(problem, at)
    return replace(known, at=at, value=worth) if worth < known.value else known
