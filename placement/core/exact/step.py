"""When CP-SAT is asked: where a gap is left, and as far as the effort allows."""

from placement.core.arrangement import Arrangement
from placement.core.certify import (
    NOTHING_SAID,
    Answer,
    Said,
    copied_cost,
    proven_answer,
)
from placement.core.deadline import Deadline
from placement.core.effort import Effort
from placement.core.exact_fit import fits_bands
from placement.core.problem import Problem
from placement.core.sub_problems import fits_sub_problems
from placement.core.value import evaluate

SMALL_CELLS = 600
"""Pairs of group and bin up to which CP-SAT needs no better answer to start from."""

MOST_GROUPS_LED = 3_000
"""Groups up to which fewer role changes are looked for by an integer program."""


def is_whole_asked(problem: Problem, effort: Effort) -> bool:
    """Tell whether CP-SAT is given all of a problem, whatever it starts from."""
    is_small = problem.num_groups * problem.num_bins <= SMALL_CELLS
    return is_small and fits_bands(problem, effort.exact_cells)


def _ask(
    problem: Problem, answer: Answer, effort: Effort, seed: int, deadline: Deadline
) -> tuple[Arrangement, Said] | None:
    """
    Better an answer by CP-SAT: all of a small problem, parts of a larger one.

    Returns
    -------
    An arrangement that is no worse, and what CP-SAT says of bounds; `None` where it is
    not asked.
    """
    value = answer.value
    copied = copied_cost(problem, value)
    is_open = value.is_outside or not is_proven(problem, answer)
    if not effort.exact_work or value.key[0] or not is_open or deadline.is_over():
        return None
    is_whole = fits_bands(problem, effort.exact_cells)
    is_small = is_whole_asked(problem, effort)
    is_far = value.is_outside or copied > answer.cost * (1 + effort.gap)
    is_parted = problem.num_items <= effort.part_items and fits_sub_problems(problem)
    at = answer.at
    if is_parted and is_far and not is_small:
        at = _by_neighbourhoods(problem, answer, effort, (seed, deadline))
    elif not is_whole:
        return None
    if not is_whole or deadline.is_over():
        return at, NOTHING_SAID
    from placement.core.exact.improve import improve, solver_name

    found = improve(
        problem, at, known=answer.cost, work=effort.exact_work, left=deadline.left
    )
    # A question that ran out of time is cut.
    deadline.is_over()
    # Of the cost it says nothing where a price of moves is part of it.
    cost = None if problem.price_per_move else found.cost_bound
    return found.at, Said(cost, found.deviation_bound, solver_name())


def _by_neighbourhoods(
    problem: Problem, answer: Answer, effort: Effort, how: tuple[int, Deadline]
) -> Arrangement:
    from placement.core.exact.neighbourhoods import improve_by_neighbourhoods

    at, _ = improve_by_neighbourhoods(
        problem,
        answer.at,
        enough=answer.cost,
        work=effort.part_work,
        seed=how[0],
        is_over=how[1].is_over,
    )
    return at


def asked(
    problem: Problem, answer: Answer, effort: Effort, seed: int, deadline: Deadline
) -> Answer:
    """Return the answer after CP-SAT has looked at it, if it is asked."""
    exact = _ask(problem, answer, effort, seed, deadline)
    is_small = problem.num_groups * problem.num_bins <= effort.exact_cells
    if exact is not None:
        answer = _taken(problem, answer, exact, effort)
    elif not is_small:
        return answer
    return _with_roles_back(problem, answer, effort, deadline)


def is_proven(problem: Problem, answer: Answer) -> bool:
    """Tell whether nothing is cheaper, by a bound or by what CP-SAT says."""
    if problem.price_per_move:
        # Bounds are on what is copied alone.
        return False
    said = answer.said.cost or 0
    is_least = copied_cost(problem, answer.value) <= max(answer.cost, said)
    return is_least and answer.value.is_in_band


def _taken(
    problem: Problem, answer: Answer, exact: tuple[Arrangement, Said], effort: Effort
) -> Answer:
    """Return the better of two answers, with what is said of it."""
    at, said = exact
    said = said.at_best(answer.said, is_in_band=answer.value.is_in_band)
    value, proof = evaluate(problem, at), answer.distance_proof
    if value < answer.value:
        answer = proven_answer(problem, at, value, (proof, effort))
    return answer._replace(said=said)


def _with_roles_back(
    problem: Problem, answer: Answer, effort: Effort, deadline: Deadline
) -> Answer:
    """Change fewer roles at the places of an answer."""
    is_wanted = answer.value.role_changes and not answer.value.key[0]
    if not is_wanted or not effort.role_work or deadline.is_over():
        return answer
    if problem.num_groups > MOST_GROUPS_LED:
        return answer
    from placement.core.exact.roles_model import fewer_role_changes

    at = fewer_role_changes(problem, answer.at, effort.role_work)
    return answer._replace(at=at, value=evaluate(problem, at))
