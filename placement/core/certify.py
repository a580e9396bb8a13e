"""What is proven of an answer; each bound is worked out again from its witness."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from placement.core.arrangement import Arrangement
from placement.core.bounds import Bands, moves_bound, reached_bands
from placement.core.cuts import deviation_bound
from placement.core.effort import Effort
from placement.core.exact_fit import fits_model, fits_prices, scale_of
from placement.core.problem import Problem
from placement.core.shortfalls import find_shortfalls
from placement.core.solution import Bounded, Certificate, Proof, Solution, Status
from placement.core.value import Value
from placement.core.verify import verify_cover, verify_cut
from placement.core.verify_prices import verify_distance, verify_prices

CLOSE = 1e-9
"""Distances that differ by less are the same: they are sums of floats."""


class ProofContradictionError(Exception):
    """An answer lies below its own bound: one of the two is wrong."""


class Answer(NamedTuple):
    """
    What a search found, and what was proven on the way.

    Parameters
    ----------
    at, value
        The arrangement and what it is worth.
    cost, cost_proof
        A bound on what is copied, for the bands reached, and why it holds.
    distance_proof
        Prices that prove a distance outside the bands, if any were found.
    """

    at: Arrangement
    value: Value
    cost: int
    cost_proof: Proof | None
    distance_proof: Proof | None


def copied_cost(problem: Problem, value: Value) -> int:
    """Return the cost of an answer without the price of a move."""
    return value.cost - problem.price_per_move * value.moves


def conclude(problem: Problem, answer: Answer, effort: Effort) -> Solution:
    """
    Return an answer with its certificate, and what is missing.

    Raises
    ------
    ProofContradictionError
        If a proven bound is above the value found.
    """
    at, value = answer.at, answer.value
    certificate = _certify(problem, answer, effort)
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


def _certify(problem: Problem, answer: Answer, effort: Effort) -> Certificate:
    at, value, cost, proof, _ = answer
    bands = reached_bands(problem, at)
    copied = copied_cost(problem, value)
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
        deviation=_deviation(problem, answer, effort),
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


def _deviation(problem: Problem, answer: Answer, effort: Effort) -> Bounded:
    """Bound the distance outside the bands, where there is one and the rules hold."""
    reached = answer.value.deviation
    if reached <= 0 or answer.value.key[0]:
        return Bounded(value=reached, lower_bound=0.0)
    bound, proof = _proven_distance(problem, answer)
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


def _proven_distance(problem: Problem, answer: Answer) -> tuple[float, Proof | None]:
    """Return the better of what a set of bins and what prices prove."""
    _, cut = deviation_bound(problem, answer.at)
    prices = answer.distance_proof
    by_cut = 0.0 if cut is None else verify_cut(problem, cut.witness)
    by_prices = 0.0 if prices is None else verify_distance(problem, prices.witness)
    return (by_prices, prices) if by_prices > by_cut else (by_cut, cut)


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
