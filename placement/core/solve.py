"""
`solve`: the one entry point of the core.

It looks at the structure, picks and combines methods, proves bounds for what it found,
and solves its own answer again until nothing moves, so that planning twice in a row
finds nothing.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from placement.core.arrangement import Arrangement, home_arrangement, settled
from placement.core.bounds import Bands, cost_bound, moves_bound, reached_bands
from placement.core.cuts import deviation_bound
from placement.core.deadline import Deadline
from placement.core.effort import NORMAL, Effort
from placement.core.exact_fit import fits_model, fits_prices, scale_of
from placement.core.flow import fits_flow, solve_counts, solve_roles
from placement.core.moving import Moving
from placement.core.problem import (
    NO_LIMIT,
    Movability,
    Problem,
)
from placement.core.search import Searcher
from placement.core.shortfalls import find_shortfalls
from placement.core.solution import Bounded, Certificate, Proof, Solution, Status
from placement.core.sub_problems import fits_sub_problems, improve_by_parts
from placement.core.value import Value, evaluate, misplaced_roles, refills
from placement.core.verify import verify_cover, verify_cut
from placement.core.verify_prices import verify_prices

CLOSE = 1e-9
"""Distances that differ by less are the same: they are sums of floats."""
SEED_STEP = 1_000_003
"""Between the seeds of searches that run at once: far from those people choose."""
MOVES_PER_ROUND = 200
"""Moves up to which one round of ruin, of a few of them, is worth its time."""
MANY_ITEMS = 1500
"""From so many items on, ruin may bring into a band what no single step does."""
MAX_ROUNDS = 8
"""How often an answer is solved again at most; two or three are usual."""


class ProofContradictionError(Exception):
    """An answer lies below its own bound: one of the two is wrong."""


Proven = tuple[int, Proof | None]
"""A lower bound and why it holds."""


@dataclass(frozen=True, slots=True)
class _How:
    """How a problem is to be solved."""

    effort: Effort
    seed: int
    deadline: Deadline


class _Clock:
    """Seconds spent by part; nothing depends on them."""

    def __init__(self) -> None:
        self.spent = {"solve": 0.0, "bound": 0.0}
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """Count the time since the last call for a part."""
        now = time.perf_counter()
        self.spent[part] += now - self._last
        self._last = now


def solve(
    problem: Problem,
    *,
    effort: Effort = NORMAL,
    seed: int = 1,
    deadline: Deadline | None = None,
) -> Solution:
    """
    Find the best arrangement of the items, and prove how good it is.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    effort
        How much work to do, in steps.
    seed
        Of the random numbers; the same seed gives the same answer anywhere.
    deadline
        When the search must end with what it has; `None`: when it is done. Proving
        takes its time after that.

    Returns
    -------
    The answer with its certificate; always one, if only the arrangement given.

    Raises
    ------
    ProofContradictionError
        If a proven bound is above the value found: a mistake in this package.

    Notes
    -----
    In lexicographic order: hard rules, distance outside the bands, cost of moving,
    moves, role changes.
    """
    clock = _Clock()
    how = _How(effort, seed, deadline or Deadline())
    moving = Moving.of(problem)
    at, value, proven, steps = _search(moving.problem, how, clock)
    if not moving.is_all:
        at = moving.arranged(at)
        value = evaluate(problem, at)
        clock.lap("solve")
    solution = _conclude(problem, at, value, proven, effort)
    clock.lap("bound")
    is_cut = how.deadline.has_cut
    return replace(solution, steps=steps, seconds=clock.spent, is_cut=is_cut)


def _search(
    problem: Problem, how: _How, clock: _Clock
) -> tuple[Arrangement, Value, Proven, int]:
    """Return the best arrangement, its value, a bound on its cost, and the steps."""
    effort = how.effort
    at, value, steps = _improve(problem, home_arrangement(problem), how)
    for _ in range(MAX_ROUNDS):
        # From a new start the caps on all moves would be those on the next ones alone.
        if value.is_in_band or problem.has_caps or how.deadline.is_over():
            break
        # What is still out of band or broken may be better off from here.
        again, _, spent = _improve(_rebased(problem, at), at, how)
        again = settled(problem, again)
        steps += spent
        worth = evaluate(problem, again)
        # What has moved may move on, but not to where one of its group had to leave.
        if worth.key[:3] >= value.key[:3] or refills(problem, again).any():
            break
        at, value = again, worth
    clock.lap("solve")
    proven = cost_bound(problem, reached_bands(problem, at), _copied(problem, value))
    clock.lap("bound")
    is_close = _copied(problem, value) <= proven[0] * (1 + effort.gap)
    # A bound on what is copied says nothing about the price of the moves; what no step
    # brings into its band an exact model may.
    may_gain = problem.price_per_move or not is_close
    may_gain = may_gain or (
        value.deviation > 0
        and (problem.num_items > MANY_ITEMS or fits_model(problem, effort.milp_cells))
    )
    if may_gain and not how.deadline.is_over():
        better, worth = _polish(problem, at, value, how)
        clock.lap("solve")
        if worth < value:
            at, value = better, worth
            bands = reached_bands(problem, at)
            proven = cost_bound(problem, bands, _copied(problem, value))
            clock.lap("bound")
    return at, value, proven, steps


def _copied(problem: Problem, value: Value) -> int:
    """Return the cost of an answer without the price of a move."""
    return value.cost - problem.price_per_move * value.moves


def _improve(
    problem: Problem, start: Arrangement, how: _How
) -> tuple[Arrangement, Value, int]:
    """Search once; the start stays where hard rules and bands get no better."""
    before = evaluate(problem, start)
    if before.is_in_band:
        return start, before, 0
    searcher = Searcher(problem, how.effort, how.seed, how.deadline)
    at, value = searcher.improve(start, before)
    if fits_flow(problem) and not problem.has_caps:
        counted = solve_counts(problem)
        if counted is not None:
            at, value = _better(problem, at, value, solve_roles(problem, counted))
    if value.key[:3] >= before.key[:3]:
        return start, before, searcher.steps
    return at, value, searcher.steps


def _polish(
    problem: Problem, at: Arrangement, value: Value, how: _How
) -> tuple[Arrangement, Value]:
    """Make an answer cheaper by ruin and recreate; a small one by exact models."""
    effort = how.effort
    # Among very many moves, rounds that ruin a few change next to nothing.
    if 0 < value.moves <= effort.rounds * MOVES_PER_ROUND:
        at, value = _recreate(problem, at, value, how)
    if how.deadline.is_over():
        return at, value
    if fits_model(problem, effort.milp_cells) and not problem.has_caps:
        return _exact(problem, at, value, effort)
    if effort.parts and fits_sub_problems(problem):
        return improve_by_parts(
            problem,
            (at, value),
            most=effort.parts,
            max_nodes=effort.part_nodes,
            is_over=how.deadline.is_over,
        )
    return at, value


def _recreate(
    problem: Problem, at: Arrangement, value: Value, how: _How
) -> tuple[Arrangement, Value]:
    """Ruin and recreate with several seeds at once; the best, and first, is kept."""

    def search(number: int) -> tuple[Arrangement, Value]:
        seed = how.seed + number * SEED_STEP
        return Searcher(problem, how.effort, seed, how.deadline).recreate(at, value)

    searches = how.effort.searches
    if searches == 1:
        return search(0)
    # Compiled kernels do without Python's lock. How many run at once decides nothing.
    with ThreadPoolExecutor(min(searches, os.cpu_count() or 1)) as pool:
        found = list(pool.map(search, range(searches)))
    return min(found, key=lambda answer: answer[1].key)


def _exact(
    problem: Problem, at: Arrangement, value: Value, effort: Effort
) -> tuple[Arrangement, Value]:
    """Improve the answer to a small problem by exact models."""
    from placement.core.milp import solve_model

    bins = problem.bins
    if value.deviation > 0 or value.key[0]:
        bands = Bands(bins.lower, np.where(bins.target > 0, bins.upper, NO_LIMIT))
        exact = solve_model(problem, bands, "deviation", effort.milp_nodes)
        at, value = _better(problem, at, value, exact.at)
    exact = solve_model(problem, reached_bands(problem, at), "cost", effort.milp_nodes)
    return _better(problem, at, value, exact.at)


def _better(
    problem: Problem, at: Arrangement, value: Value, other: Arrangement | None
) -> tuple[Arrangement, Value]:
    if other is None or misplaced_roles(problem, other).any():
        return at, value
    worth = evaluate(problem, other)
    return (other, worth) if worth < value else (at, value)


def _rebased(problem: Problem, at: Arrangement) -> Problem:
    """Return the problem as it is once everything has moved as found so far."""
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


def _conclude(
    problem: Problem,
    at: Arrangement,
    value: Value,
    proven: Proven,
    effort: Effort,
) -> Solution:
    certificate = _certify(problem, at, value, proven, effort)
    shortfalls = find_shortfalls(problem, at)
    is_met = value.key[0] == 0
    status = Status.FEASIBLE
    if not is_met:
        is_proven = any(shortfall.is_proven for shortfall in shortfalls)
        status = Status.INFEASIBLE if is_proven else Status.PARTIAL
    elif certificate.cost.value <= certificate.cost.lower_bound:
        status = Status.OPTIMAL
    return Solution(
        status=status, best=at, certificate=certificate, shortfalls=shortfalls
    )


def _certify(
    problem: Problem,
    at: Arrangement,
    value: Value,
    proven: Proven,
    effort: Effort,
) -> Certificate:
    bands = reached_bands(problem, at)
    copied = _copied(problem, value)
    cost, proof = proven
    is_open = value.key[0] == 0 and cost < copied
    if is_open and not fits_model(problem, effort.milp_cells):
        priced, prices = _priced(problem, at, bands, (copied, effort))
        if priced > cost:
            cost, proof = priced, prices
    elif is_open:
        # The bound is on the copies alone, without the price of a move.
        copies = replace(problem, price_per_move=0)
        from placement.core.milp import solve_model

        exact = solve_model(copies, bands, "cost", effort.milp_nodes)
        dual = 0 if exact.is_infeasible else _dual_cost(copies, exact.dual_bound)
        if dual > cost:
            witness = {"bound": dual, "max_nodes": effort.milp_nodes}
            cost, proof = dual, Proof(kind="milp-dual", witness=witness)
    moves, moves_proof = moves_bound(problem, bands, value.moves)
    is_met = value.key[0] == 0
    return Certificate(
        cost=_checked(problem, bands, copied, cost, proof, (False, is_met)),
        moves=_checked(problem, bands, value.moves, moves, moves_proof, (True, is_met)),
        deviation=_deviation(problem, at, value, effort),
    )


def _priced(
    problem: Problem, at: Arrangement, bands: Bands, known: tuple[int, Effort]
) -> tuple[int, Proof | None]:
    """Prove more by prices of load, where effort and size allow."""
    copied, effort = known
    if not fits_prices(problem, effort.priced_cells):
        return 0, None
    from placement.core.prices import priced_bound

    return priced_bound(problem, at, bands, copied)


def _deviation(
    problem: Problem, at: Arrangement, value: Value, effort: Effort
) -> Bounded:
    """Bound the distance outside the bands, where there is one and the rules hold."""
    reached = value.deviation
    if reached <= 0 or value.key[0]:
        return Bounded(value=reached, lower_bound=0.0)
    bound, proof = deviation_bound(problem, at)
    if proof is not None:
        bound = verify_cut(problem, proof.witness)
    if bound < reached and fits_model(problem, effort.milp_cells):
        from placement.core.milp import solve_model

        bins = problem.bins
        exact = solve_model(
            problem, Bands(bins.lower, bins.upper), "deviation", effort.milp_nodes
        )
        # HiGHS keeps to rows by 1e-6.
        dual = 0.0 if exact.is_infeasible else exact.dual_bound - 1e-5
        if dual > bound:
            witness = {"bound": dual, "max_nodes": effort.milp_nodes}
            bound, proof = dual, Proof(kind="milp-dual", witness=witness)
    if reached < bound - CLOSE:
        msg = f"a distance of {reached} is below its proven bound {bound} ({proof})"
        raise ProofContradictionError(msg)
    bound = min(bound, reached)
    return Bounded(value=reached, lower_bound=bound, proof=proof if bound > 0 else None)


def _dual_cost(problem: Problem, dual_bound: float) -> int:
    """Turn a model's dual bound into a bound on cost: ties and tolerance taken off."""
    scale = scale_of(problem)
    bound = (dual_bound - scale.slack) * scale.cost
    return int(np.ceil(bound - 1e-6 * max(1.0, abs(bound)))) if bound > 0 else 0


def _checked(
    problem: Problem,
    bands: Bands,
    value: int,
    bound: int,
    proof: Proof | None,
    kind: tuple[bool, bool],
) -> Bounded:
    """Re-check a bound from its witness, and that no answer lies below it."""
    counts_moves, is_met = kind
    if proof is not None and "side" in proof.witness:
        bound = verify_cover(
            problem, bands.lower, bands.upper, proof.witness, counts_moves=counts_moves
        )
    if proof is not None and proof.kind == "lambda":
        bound = verify_prices(problem, bands.lower, bands.upper, proof.witness)
    if is_met and value < bound:
        msg = f"an answer of {value} is below its proven bound {bound} ({proof})"
        raise ProofContradictionError(msg)
    return Bounded(value=value, lower_bound=min(bound, value), proof=proof)
