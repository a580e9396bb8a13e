"""When CP-SAT is asked: where a gap is left, and as far as the effort allows."""

from placement.core.arrangement import Arrangement
from placement.core.certify import NOTHING_SAID, Answer, Said, copied_cost
from placement.core.deadline import Deadline
from placement.core.effort import Effort
from placement.core.exact_fit import fits_bands
from placement.core.problem import Problem
from placement.core.sub_problems import fits_sub_problems

SMALL_CELLS = 600
"""Pairs of group and bin up to which CP-SAT needs no better answer to start from."""


def is_whole_asked(problem: Problem, effort: Effort) -> bool:
    """Tell whether CP-SAT is given all of a problem, whatever it starts from."""
    is_small = problem.num_groups * problem.num_bins <= SMALL_CELLS
    return is_small and fits_bands(problem, effort.exact_cells)


def ask(
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
    is_open = value.is_outside or copied > answer.cost
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
