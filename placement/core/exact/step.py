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
from placement.core.exact.inside import nodes_apart
from placement.core.exact_fit import fits_bands
from placement.core.exact_work import ExactWork
from placement.core.problem import Problem
from placement.core.sub_problems import fits_sub_problems
from placement.core.value import evaluate

SMALL_CELLS = 600
"""Pairs of group and bin up to which CP-SAT needs no better answer to start from."""

TIMES_LARGER = 1.5
"""Times the work of a small problem that a larger one may take at most."""
MOST_CELLS = 1_000_000
"""Pairs of group and bin above which no separable level is looked for."""
MOST_GROUPS_LED = 3_000
"""Groups up to which fewer role changes are looked for by an integer program."""


def is_whole_asked(problem: Problem, effort: Effort) -> bool:
    """Tell whether CP-SAT is given all of a problem, whatever it starts from."""
    nodes = _num_apart(problem)
    is_small = problem.num_groups * problem.num_bins <= SMALL_CELLS * nodes
    return is_small and fits_bands(problem, effort.exact_cells * nodes)


def _num_apart(problem: Problem) -> int:
    """Return the number of separable nodes, at least 1."""
    if problem.num_groups * problem.num_bins > MOST_CELLS:
        return 1
    return max(len(nodes_apart(problem)), 1)


def _ask(
    problem: Problem,
    answer: Answer,
    effort: Effort,
    seed: int,
    deadline: Deadline,
    left: ExactWork,
) -> tuple[Arrangement, Said] | None:
    """
    Better an answer by CP-SAT: all of a small problem, parts of a larger one.

    Returns
    -------
    An arrangement that is no worse, and what CP-SAT says of bounds; `None` where it is
    not asked.
    """
    value = answer.value
    is_open = value.is_outside or not is_proven(problem, answer)
    if not effort.exact_work or value.key[0] or not is_open or deadline.is_over():
        return None
    if value.is_outside and not effort.near_cells:
        # How near anything comes is asked once the bands are settled.
        return None
    is_small = is_whole_asked(problem, effort)
    if not is_small and not _is_far(problem, answer, effort):
        return None
    num_apart = _num_apart(problem)
    is_whole = fits_bands(problem, effort.exact_cells * num_apart)
    is_parted = not is_small and _is_parted(problem, effort)
    if not is_whole and not is_parted:
        return None
    at, said = answer.at, NOTHING_SAID
    # Exact solutions of separable nodes come before neighbourhoods.
    if is_parted and not (is_whole and num_apart > 1):
        at = _by_neighbourhoods(problem, answer, effort, (seed, deadline))
    if is_whole and left.bands > 0 and not deadline.is_over():
        at, said = _whole(problem, (at, answer.cost), effort, deadline, left)
        is_left = is_parted and num_apart > 1 and value.is_in_band
        least = (said.cost or 0) * (1 + effort.gap)
        if is_left and evaluate(problem, at).cost > least:
            answer = answer._replace(at=at)
            at = _by_neighbourhoods(problem, answer, effort, (seed, deadline))
    return at, said


def _is_far(problem: Problem, answer: Answer, effort: Effort) -> bool:
    """Return whether the gap of an answer exceeds the gap of the effort."""
    copied = copied_cost(problem, answer.value)
    return answer.value.is_outside or copied > answer.cost * (1 + effort.gap)


def _is_parted(problem: Problem, effort: Effort) -> bool:
    """Tell whether parts of a problem can be solved one by one."""
    return problem.num_items <= effort.part_items and fits_sub_problems(problem)


def _whole(
    problem: Problem,
    known: tuple[Arrangement, int],
    effort: Effort,
    deadline: Deadline,
    left: ExactWork,
) -> tuple[Arrangement, Said]:
    """Give CP-SAT all of a problem; `known`: an answer, and the least cost known."""
    from placement.core.exact.improve import improve, solver_name

    cells = problem.num_groups * problem.num_bins
    size = min(max(cells / SMALL_CELLS / 3, 1.0), TIMES_LARGER)
    work = min(effort.exact_work * size, left.bands)
    at, least = known
    found = improve(problem, at, known=least, work=work, left=deadline.left)
    left.bands -= found.spent
    # A question that ran out of time is cut.
    deadline.is_over()
    # Of the cost it says nothing where a price of moves is part of it.
    cost = None if problem.price_per_move else found.cost_bound
    said = Said(cost, found.deviation_bound, solver_name(), found.is_spread)
    return found.at, said


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
    problem: Problem,
    answer: Answer,
    effort: Effort,
    seed: int,
    deadline: Deadline,
    left: ExactWork,
) -> Answer:
    """
    Return the answer after CP-SAT has looked at it, if it is asked.

    What it takes is taken off `left`.
    """
    exact = _ask(problem, answer, effort, seed, deadline, left)
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
