"""Polishing of an answer: ruin and recreate, exact models, and the better of two."""

from dataclasses import dataclass

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.exact.answer import Answer
from placement.core.exact.milp.large_neighbourhood import (
    fits_sub_problems,
    improve_by_parts,
)
from placement.core.exact.milp.solved_models import ExactModels
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import Arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import Value, evaluate, keeps_caps, misplaced_roles
from placement.core.model.problem import Problem
from placement.core.model.search_budget import Effort
from placement.core.search.local_search import Searcher

MOVES_PER_ROUND = 200
"""Largest number of moves per ruin round for which ruin is worth its time."""


@dataclass(frozen=True, slots=True)
class How:
    """Settings of one solve."""

    effort: Effort
    seed: int
    deadline: Deadline
    models: ExactModels
    work: ExactWork
    start: Arrangement | None = None


def polish(problem: Problem, answer: Answer, how: How) -> tuple[Arrangement, Value]:
    """Improve an answer by ruin and recreate, and a small one by exact models."""
    effort, at, value = how.effort, answer.at, answer.value
    # With very many moves, rounds that ruin a few moves change next to nothing.
    if 0 < value.moves <= effort.rounds * MOVES_PER_ROUND:
        at, value = _recreate(problem, answer, how)
    if how.deadline.is_over():
        return at, value
    if how.models.is_fitting and (value.key[0] or not effort.exact_work):
        return _exact(problem, at, value, how.models)
    if effort.parts and fits_sub_problems(problem):
        return improve_by_parts(
            problem,
            (at, value),
            most=effort.parts,
            max_nodes=effort.part_nodes,
            is_over=how.deadline.is_over,
        )
    return at, value


def _recreate(problem: Problem, answer: Answer, how: How) -> tuple[Arrangement, Value]:
    """Improve an answer by rounds of ruin and recreate."""
    # A bound on the copied cost does not include the price of the moves.
    is_bound = not problem.price_per_move and answer.value.is_in_band
    enough = int(answer.cost * (1 + how.effort.gap)) if is_bound else 0

    searcher = Searcher(problem, how.effort, how.seed, how.deadline)
    return searcher.recreate(answer.at, answer.value, enough)


def _exact(
    problem: Problem, at: Arrangement, value: Value, models: ExactModels
) -> tuple[Arrangement, Value]:
    """Improve the answer to a small problem by exact models."""
    if value.is_outside or value.key[0]:
        at, value = better(problem, at, value, models.nearest().at)
    return better(problem, at, value, models.cheapest(reached_bands(problem, at)).at)


def better(
    problem: Problem, at: Arrangement, value: Value, other: Arrangement | None
) -> tuple[Arrangement, Value]:
    """Return the better of two arrangements; a worse or absent other is dropped."""
    if other is None or misplaced_roles(problem, other).any():
        return at, value
    worth = evaluate(problem, other)
    # HiGHS may violate rows, caps included, by a millionth.
    is_better = worth < value and keeps_caps(problem, other)
    return (other, worth) if is_better else (at, value)
