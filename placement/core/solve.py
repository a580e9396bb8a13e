"""
Entry point of the core: `solve` finds an arrangement and proves bounds for it.

`solve` combines methods by the structure of the problem, proves bounds for the answer,
and solves again from its own answer until nothing moves, so that a second plan in a row
finds no move.
"""

from dataclasses import replace

import numpy as np

from placement.core.bounds.cover_bounds import Bands, aimed_bands, reached_bands
from placement.core.certificate import conclude
from placement.core.exact.answer import NOTHING_SAID, Answer, copied_cost, proven_answer
from placement.core.exact.improvement.exact_step import REACHED, ExactStep, is_proven
from placement.core.exact.milp.solved_models import ExactModels
from placement.core.exact.model_scaling import fits_prices
from placement.core.exact.work_limit import ExactWork
from placement.core.flow.transport import is_counts_alone, solve_counts
from placement.core.model.arrangement import Arrangement, home_arrangement, settled
from placement.core.model.deadline import Deadline
from placement.core.model.gap_report import closing
from placement.core.model.objective import (
    Value,
    evaluate,
    refills,
)
from placement.core.model.problem import Movability, Problem
from placement.core.model.search_budget import NORMAL, Effort
from placement.core.model.solution import Proof, Solution
from placement.core.model.stopwatch import Stopwatch
from placement.core.presolve.fix_immovable import Moving
from placement.core.roles.role_flow import solve_roles
from placement.core.search.local_search import MUCH_NEARER, Searcher
from placement.core.search.minimax import Narrower
from placement.core.solve_polish import How, better, polish

MANY_ITEMS = 1500
"""Number of items above which ruin may reach bands that single steps do not."""
FAR = 0.05
"""
Distance outside the bands, in targets, from which ruin is left out of small problems.

Exact models alone come as near there, at a fraction of the time.
"""
MAX_ROUNDS = 8
"""Largest number of solves of one answer; two or three are usual."""


def solve(
    problem: Problem,
    *,
    effort: Effort = NORMAL,
    seed: int = 1,
    deadline: Deadline | None = None,
    known: Arrangement | None = None,
    work: ExactWork | None = None,
    start: Arrangement | None = None,
) -> Solution:
    """
    Find the best arrangement of the items, and prove how good it is.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    effort
        Search budget, in steps.
    seed
        Seed of the random numbers; equal seeds give equal answers on any machine.
    deadline
        Time at which the search must end with its incumbent; `None`: no limit. Proofs
        may take a tenth more.
    known
        Result of an earlier, more restricted search of the same problem. That search is
        not repeated; this one brings the loads nearer to their bands.
    work
        Remaining work limit of exact models, shared by several problems of a plan and
        reduced by this solve. `None`: the limit of `effort`.
    start
        Arrangement to start from; `None`: the home arrangement.

    Returns
    -------
    Best answer with its certificate; at worst the initial arrangement.

    Raises
    ------
    ProofContradictionError
        If a proven bound is above the value found: a mistake in this package.

    Notes
    -----
    The objective is lexicographic: hard rules, distance outside the bands, cost of
    moving, moves, role changes.
    """
    clock = Stopwatch()
    moving = Moving.of(problem)
    work = work or ExactWork.of(effort)
    models = ExactModels(moving.problem, effort, work)
    begin = None if start is None else moving.part_of(start)
    how = How(effort, seed, deadline or Deadline(), models, work, begin)
    reached = None if known is None else moving.part_of(known)
    answer, steps = _search(moving.problem, how, clock, reached)
    if not moving.is_all:
        at = moving.arranged(answer.at)
        answer = answer._replace(at=at, value=evaluate(problem, at))
        clock.lap("solve")
    solution = conclude(problem, answer, effort, models, deadline)
    clock.lap("bound")
    is_cut = how.deadline.has_cut
    return replace(solution, steps=steps, seconds=clock.spent, is_cut=is_cut)


def prove(
    problem: Problem,
    at: Arrangement,
    *,
    effort: Effort = NORMAL,
    deadline: Deadline | None = None,
) -> Solution:
    """
    Return an arrangement found elsewhere with its certificate.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    at
        Arrangement to certify.
    effort
        Budget of the proofs.
    deadline
        Time after which proofs take a tenth more at most; `None`: no limit.

    Returns
    -------
    Arrangement with its certificate and shortfalls.

    Raises
    ------
    ProofContradictionError
        If a proven bound is above the value found: a mistake in this package.
    """
    clock = Stopwatch()
    models = ExactModels(Moving.of(problem).problem, effort)
    answer = proven_answer(problem, at, evaluate(problem, at), (None, effort))
    solution = conclude(problem, answer, effort, models, deadline)
    clock.lap("bound")
    return replace(solution, seconds=clock.spent)


def _search(
    problem: Problem, how: How, clock: Stopwatch, known: Arrangement | None
) -> tuple[Answer, int]:
    """Return the best answer with the bounds proven so far, and the steps."""
    (found, value, distance_proof), steps = _found(problem, how, known)
    clock.lap("solve")
    answer = proven_answer(problem, found, value, (distance_proof, how.effort))
    clock.lap("bound")
    if value.is_in_band:
        closing(copied_cost(problem, value), answer.cost)
    said_of = None
    exact = ExactStep(problem, how.effort, how.seed, how.deadline, how.work)
    enough = 0.0
    if exact.starts_from(answer):
        # Most small problems are proven at once, without compiling any kernel.
        enough = how.effort.closed if exact.is_whole else REACHED
        answer = exact.asked(answer)
        said_of = answer.at
        clock.lap("solve")
    at, value = answer.at, answer.value
    is_open = not is_proven(problem, answer, enough) and not how.deadline.is_over()
    is_done = _is_done(exact, value, has_begun=said_of is not None)
    is_open = is_open and not is_done and _may_gain(problem, answer, how)
    if is_open:
        polished, worth = polish(problem, answer, how)
        clock.lap("solve")
        if worth < value:
            of, is_in_band = (distance_proof, how.effort), value.is_in_band
            said = NOTHING_SAID.at_best(answer.said, is_in_band=is_in_band)
            answer = proven_answer(problem, polished, worth, of)._replace(said=said)
            clock.lap("bound")
    # Do not search again from the answer of ruin: that takes long for large problems.
    known_at = answer.at if at is found else found
    if said_of is not answer.at:
        answer = exact.asked(answer)
    if not exact.is_whole:
        # A search from an answer of CP-SAT to the whole problem comes no nearer.
        answer = _asked_in_rounds(exact, answer, known_at, how)
    answer = exact.in_every_level(answer)
    clock.lap("solve")
    return answer, steps


def _is_done(exact: ExactStep, value: Value, *, has_begun: bool) -> bool:
    """Return whether ruin is left out: exact models come as near in less time."""
    is_far = exact.is_whole and value.deviation > FAR
    is_searched = has_begun and exact.has_kernel and not exact.effort.parts
    return not value.key[0] and (is_far or (is_searched and value.is_in_band))


def _asked_in_rounds(
    exact: ExactStep, answer: Answer, known_at: Arrangement, how: How
) -> Answer:
    """Alternate search and CP-SAT from an answer that is still out of band."""
    problem = exact.problem
    for _ in range(MAX_ROUNDS):
        is_open = answer.value.is_outside and not answer.value.key[0]
        if answer.at is known_at or not is_open or how.deadline.is_over():
            break
        again = _from_there(problem, answer.at, answer.value, how)
        if again is None:
            break
        before = answer.value.deviation
        proof, said, known_at = answer.distance_proof, NOTHING_SAID, again[0]
        said = said.at_best(answer.said, is_in_band=False)
        answer = proven_answer(problem, *again, (proof, how.effort))
        answer = exact.asked(answer._replace(said=said))
        if answer.value.deviation > MUCH_NEARER * before:
            break
    return answer


def _from_there(
    problem: Problem, at: Arrangement, value: Value, how: How
) -> tuple[Arrangement, Value] | None:
    """Return a nearer answer found from the given one as the new home, if any."""
    if problem.has_caps:
        return None
    rebased = _rebased(problem, at)
    again = settled(problem, _improve(rebased, at, _searcher(rebased, how))[0])
    worth = evaluate(problem, again)
    is_nearer = worth.key[:3] < value.key[:3] and not refills(problem, again).any()
    return (again, worth) if is_nearer else None


def _found(
    problem: Problem, how: How, known: Arrangement | None
) -> tuple[tuple[Arrangement, Value, Proof | None], int]:
    """
    Return the answer of the search before any proof of its cost, and the steps.

    The tables of the search are released on return: the proofs need their memory.
    """
    searcher = _searcher(problem, how)
    if known is None:
        at, value, steps = _in_rounds(problem, how, searcher)
    else:
        at, value, steps = known, evaluate(problem, known), 0
    if value.is_outside and not value.key[0]:
        at, value = searcher.narrow(at, value)
    return _nearest(problem, at, value, how, searcher), steps


def _in_rounds(
    problem: Problem, how: How, searcher: Searcher
) -> tuple[Arrangement, Value, int]:
    """Search repeatedly from the last answer while it comes much nearer to bands."""
    start = how.start or home_arrangement(problem)
    at, value = _improve(problem, start, searcher)
    steps = searcher.steps
    for _ in range(MAX_ROUNDS):
        # From a new start, caps on all moves would count the later moves alone.
        if value.is_in_band or problem.has_caps or how.deadline.is_over():
            break
        if how.effort.starts == 1 and not value.key[0]:
            # A quick budget searches once; narrowing comes nearer in less time.
            break
        # A search from here may improve loads out of band or broken rules.
        rebased = _rebased(problem, at)
        anew = _searcher(rebased, how)
        if searcher.is_hopeless:
            # Bands that no arrangement keeps are not kept from another start either.
            anew.is_hopeless = True
        again = settled(problem, _improve(rebased, at, anew)[0])
        steps += anew.steps
        worth = evaluate(problem, again)
        # A moved item may move on, but not to a bin that one of its group had to leave.
        if worth.key[:3] >= value.key[:3] or refills(problem, again).any():
            break
        has_stalled = worth.deviation > MUCH_NEARER * value.deviation
        is_last = has_stalled and worth.key[0] == value.key[0]
        at, value = again, worth
        if is_last:
            # Narrowing comes nearer in less time.
            break
    return at, value, steps


def _may_gain(problem: Problem, answer: Answer, how: How) -> bool:
    """Return whether more work may make an answer better."""
    copied = copied_cost(problem, answer.value)
    # A bound on the copied cost does not include the price of the moves.
    if problem.price_per_move or copied > answer.cost * (1 + how.effort.gap):
        return True
    if answer.value.key[0] and how.models.is_fitting:
        # An exact model may find a place for an item that the search did not place.
        return True
    # Ruin or an exact model may reach a band that no single step reaches.
    fits = problem.num_items > MANY_ITEMS or how.models.is_fitting
    return answer.value.is_outside and fits


def _nearest(
    problem: Problem, at: Arrangement, value: Value, how: How, searcher: Narrower
) -> tuple[Arrangement, Value, Proof | None]:
    """Reduce the distance by rounding the relaxation of the exact model, if it fits."""
    effort = how.effort
    is_wanted = value.is_outside and not value.key[0] and not how.deadline.is_over()
    if not is_wanted or how.models.is_fitting:
        return at, value, None
    if not fits_prices(problem, effort.near_cells):
        return at, value, None
    from placement.core.exact.linear.lp_rounding import nearest

    def repaired(rounded: Arrangement) -> tuple[Arrangement, float]:
        near, worth = searcher.narrow(rounded, evaluate(problem, rounded))
        return near, np.inf if worth.key[0] else worth.deviation

    # The model ignores caps on all moves; its bound is valid with them, too.
    repair = None if problem.has_caps else repaired
    found = nearest(
        problem,
        at,
        reached=value.deviation,
        repaired=repair,
        max_nodes=effort.near_nodes,
    )
    at, value = better(problem, at, value, found.at)
    return at, value, found.proof


def _searcher(problem: Problem, how: How) -> Narrower:
    return Narrower(problem, how.effort, how.seed, how.deadline)


def _improve(
    problem: Problem, start: Arrangement, searcher: Searcher
) -> tuple[Arrangement, Value]:
    """Search once; return the start if neither hard rules nor bands improve."""
    before = evaluate(problem, start)
    if before.is_in_band:
        return start, before
    is_flow = is_counts_alone(problem) and not problem.has_caps
    flown = _flown(problem, aimed_bands(problem), searcher) if is_flow else None
    if flown is not None and flown[1].is_in_band:
        return flown
    at, value = searcher.improve(start, before)
    if is_flow and flown is None:
        flown = _flown(problem, reached_bands(problem, at), searcher)
    if flown is not None:
        at, value = better(problem, at, value, searcher.improve(*flown)[0])
    return (start, before) if value.key[:3] >= before.key[:3] else (at, value)


def _flown(
    problem: Problem, bands: Bands, searcher: Searcher
) -> tuple[Arrangement, Value] | None:
    """Place counts by a least-cost flow, then roles at these places by another flow."""
    flown = solve_counts(problem, bands, searcher.effort.flow_cells)
    if flown is None:
        return None
    placed = solve_roles(problem, flown)
    return placed, evaluate(problem, placed)


def _rebased(problem: Problem, at: Arrangement) -> Problem:
    """Return the problem with an arrangement as the new home."""
    moved = np.not_equal(at.bin_of, problem.home)
    movability = problem.movability.copy()
    movability[moved] = Movability.MAY
    extra = problem.extra.copy()
    if len(extra):
        extra[moved] = 0
    return replace(
        problem,
        home=at.bin_of,
        role_home=at.role_of,
        movability=movability,
        extra=extra,
    )
