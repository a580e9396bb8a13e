"""Answer of a search, with the lower bounds that are proven or stated so far."""

from typing import Any, NamedTuple

from placement.core.bounds.cover_bounds import cost_bound, reached_bands
from placement.core.flow.transport import flow_bound
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import Value
from placement.core.model.problem import Problem
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Proof


class Said(NamedTuple):
    """
    Lower bounds stated by a solver and not verified.

    Parameters
    ----------
    cost
        Lower bound on the copied cost for the bands reached; `None`: none.
    deviation
        Lower bound on the largest distance outside the bands, in targets; `None`: none.
    solver
        Name and version of the solver that states the distance.
    is_spread
        Whether the bound on the cost holds only for answers that keep the soft caps
        on collections.
    cost_solver
        Name and version of the solver that states the bound on the cost.
    """

    cost: int | None = None
    deviation: float | None = None
    solver: str | None = None
    is_spread: bool = False
    cost_solver: str | None = None

    def at_best(self, other: "Said", *, is_in_band: bool) -> "Said":
        """
        Return the larger bounds of the two.

        The other's bound on the cost counts only if its answer was in band. Otherwise
        that bound refers to bands that may be narrower.
        """
        more = other if is_in_band and (other.cost or 0) > (self.cost or 0) else self
        return Said(
            more.cost,
            _more(self.deviation, other.deviation),
            self.solver or other.solver,
            more.is_spread,
            more.cost_solver,
        )


def _more(one: Any, other: Any) -> Any:  # noqa: ANN401 - a number, or none
    known = [bound for bound in (one, other) if bound is not None]
    return max(known) if known else None


NOTHING_SAID = Said()


class Answer(NamedTuple):
    """
    Arrangement found by a search, with the bounds proven so far.

    Parameters
    ----------
    at, value
        Arrangement and its objective value.
    cost, cost_proof
        Lower bound on the copied cost for the bands reached, and its proof.
    distance_proof
        Prices that prove a distance outside the bands, if any were found.
    said
        Bounds of a solver on cost and distance, if a solver was run.
    is_relaxed
        Whether `cost` is at least the optimum of a linear relaxation in which no role
        constraint was needed, so that prices of load prove hardly more.
    """

    at: Arrangement
    value: Value
    cost: int
    cost_proof: Proof | None
    distance_proof: Proof | None
    said: Said = NOTHING_SAID
    is_relaxed: bool = False


def copied_cost(problem: Problem, value: Value) -> int:
    """Return the cost of an answer without the price of a move."""
    return value.cost - problem.price_per_move * value.moves


def proven_answer(
    problem: Problem,
    at: Arrangement,
    value: Value,
    known: tuple[Proof | None, Effort],
) -> Answer:
    """
    Return an answer with a lower bound on its cost for the bands it reached.

    `known`: proof of a distance outside the bands, and the search budget.
    """
    distance_proof, effort = known
    bands, copied = reached_bands(problem, at), copied_cost(problem, value)
    cost, proof = cost_bound(problem, bands, copied)
    if cost < copied and not value.key[0]:
        cost, proof = flow_bound(problem, bands, effort, (cost, proof))
    return Answer(at, value, cost, proof, distance_proof)
