"""Certificate of an answer: lower bounds, each verified from its witness."""

from typing import NamedTuple

from placement.core.bounds.cover_bounds import Bands, moves_bound, reached_bands
from placement.core.bounds.set_bounds import deviation_bound
from placement.core.bounds.shortfalls import find_shortfalls
from placement.core.exact.answer import Answer, copied_cost
from placement.core.exact.milp.solved_models import ExactModels
from placement.core.exact.model_scaling import fits_prices
from placement.core.flow.transport import flow_bound
from placement.core.model.arrangement import Arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.problem import Problem
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Bounded, Certificate, Proof, Solution, Status
from placement.core.verify.cover_and_cut import verify_cover, verify_cut
from placement.core.verify.load_prices import verify_distance, verify_prices
from placement.core.verify.search_tree import verify_distance_tree, verify_tree

MANY_CELLS = 100_000
"""Largest number of (group, bin) pairs, fixed ones included, for branch and bound."""
CLOSE = 1e-9
"""Tolerance for equal distances, which are sums of floats, in targets."""


class ProofContradictionError(Exception):
    """An answer is below its own lower bound: one of the two is wrong."""


def conclude(
    problem: Problem,
    answer: Answer,
    effort: Effort,
    models: ExactModels,
    deadline: Deadline | None = None,
) -> Solution:
    """
    Return an answer with its certificate and shortfalls.

    Parameters
    ----------
    problem, answer
        Whole problem, and an answer for all of its items.
    effort
        Budget of the proofs.
    models
        Exact models of the reduced problem.
    deadline
        Time after which trees of proofs grow no further; `None`: no limit.

    Raises
    ------
    ProofContradictionError
        If a proven bound is above the value found.
    """
    at, value = answer.at, answer.value
    work = _ProofWork(effort, models, deadline or Deadline())
    certificate = _certify(problem, answer, work)
    shortfalls = find_shortfalls(problem, at)
    is_met = value.key[0] == 0
    status = Status.FEASIBLE
    if not is_met:
        is_proven = any(shortfall.is_proven for shortfall in shortfalls)
        status = Status.INFEASIBLE if is_proven else Status.PARTIAL
    elif certificate.cost.is_least:
        status = Status.OPTIMAL
    return Solution(
        status=status, best=at, certificate=certificate, shortfalls=shortfalls
    )


class _ProofWork(NamedTuple):
    """Budget of the proofs, exact models of the reduced problem, and time limit."""

    effort: Effort
    models: ExactModels
    deadline: Deadline


def _certify(problem: Problem, answer: Answer, work: _ProofWork) -> Certificate:
    at, value, cost, proof, _, said, is_relaxed = answer
    effort, models, _ = work
    bands = reached_bands(problem, at)
    copied = copied_cost(problem, value)
    is_met = value.key[0] == 0
    # Prices of load take long: skip them where they can prove little more.
    is_priced = is_relaxed or copied <= cost * (1 + effort.gap)
    if is_met and cost < copied and (models.is_fitting or not is_priced):
        more = _more_cost(problem, (at, bands), copied, work)
        cost, proof = max((cost, proof), more, key=_first)
    moves, moves_proof = moves_bound(problem, bands, value.moves)
    if is_met and moves < value.moves:
        known = (moves, moves_proof)
        moves, moves_proof = flow_bound(
            problem, bands, effort, known, counts_moves=True
        )
    checked = _checked(problem, bands, copied, cost, proof, (False, is_met))
    return Certificate(
        cost=checked.with_solver(
            said.cost if is_met else None, said.cost_solver, is_spread=said.is_spread
        ),
        moves=_checked(problem, bands, value.moves, moves, moves_proof, (True, is_met)),
        deviation=_deviation(problem, answer, work),
    )


def _more_cost(
    problem: Problem,
    reached: tuple[Arrangement, Bands],
    copied: int,
    work: _ProofWork,
) -> tuple[int, Proof | None]:
    """Prove more by branch and bound for small problems, else by prices of load."""
    effort, models, deadline = work
    is_branched = models.is_fitting or (effort.leaves > 0 and models.fits_tree)
    if not is_branched:
        return _priced(problem, *reached, copied, work)
    if not (effort.leaves and fits_prices(problem, MANY_CELLS)):
        return 0, None
    from placement.core.exact.linear.branch_and_bound import branched_cost

    enough = int(copied / (1 + effort.closed))
    leaves = effort.leaves if models.is_fitting else effort.tree_leaves
    is_over = deadline.is_over_for_proofs
    return branched_cost(problem, reached[1], enough, leaves, is_over)


def _first(bound: tuple[float, Proof | None]) -> float:
    return bound[0]


def _priced(
    problem: Problem, at: Arrangement, bands: Bands, copied: int, work: _ProofWork
) -> tuple[int, Proof | None]:
    """Prove more by prices of load, where budget and size allow."""
    if not fits_prices(problem, work.effort.priced_cells):
        return 0, None
    from placement.core.exact.linear.lagrangian import priced_bound

    return priced_bound(problem, at, bands, copied, work.deadline.is_over_for_proofs)


def _deviation(problem: Problem, answer: Answer, work: _ProofWork) -> Bounded:
    """Bound the distance outside the bands, if it is positive and hard rules hold."""
    effort, models, deadline = work
    reached = answer.value.deviation
    if not answer.value.is_outside or answer.value.key[0]:
        return Bounded(value=reached, lower_bound=0.0)
    bound, proof = _proven_distance(problem, answer)
    is_small = models.is_fitting and fits_prices(problem, MANY_CELLS)
    if bound < reached and is_small and effort.leaves:
        from placement.core.exact.linear.branch_and_bound import branched_distance

        is_over = deadline.is_over_for_proofs
        _, tree = branched_distance(problem, reached, effort.leaves, is_over)
        proven = _by_tree(problem, tree)
        bound, proof = max((bound, proof), (proven, tree), key=_first)
    if reached < bound - CLOSE:
        msg = f"a distance of {reached} is below its proven bound {bound} ({proof})"
        raise ProofContradictionError(msg)
    bound = min(bound, reached)
    least = Bounded(
        value=reached, lower_bound=bound, proof=proof if bound > 0 else None
    )
    return least.with_solver(answer.said.deviation, answer.said.solver)


def _proven_distance(problem: Problem, answer: Answer) -> tuple[float, Proof | None]:
    """Return the larger of the verified bounds by a set of bins and by prices."""
    _, cut = deviation_bound(problem, answer.at)
    prices = answer.distance_proof
    by_cut = 0.0 if cut is None else verify_cut(problem, cut.witness)
    by_prices = 0.0 if prices is None else verify_distance(problem, prices.witness)
    return (by_prices, prices) if by_prices > by_cut else (by_cut, cut)


def _by_tree(problem: Problem, proof: Proof | None) -> float:
    """Return the distance proven by a branch-and-bound tree, or by prices alone."""
    if proof is None:
        return 0.0
    if "nodes" in proof.witness:
        return verify_distance_tree(problem, proof.witness)
    return verify_distance(problem, proof.witness)


def _checked(
    problem: Problem,
    bands: Bands,
    value: int,
    bound: int,
    proof: Proof | None,
    kind: tuple[bool, bool],
) -> Bounded:
    """Verify a bound from its witness, and that the answer is not below it."""
    counts_moves, is_met = kind
    if proof is not None and "side" in proof.witness:
        bound = verify_cover(
            problem, bands.lower, bands.upper, proof.witness, counts_moves=counts_moves
        )
    if proof is not None and "nodes" in proof.witness:
        bound = verify_tree(problem, bands.lower, bands.upper, proof.witness)
    if proof is not None and "denominator" in proof.witness:
        lower, upper, witness = bands.lower, bands.upper, proof.witness
        bound = verify_prices(problem, lower, upper, witness, counts_moves=counts_moves)
    if is_met and value < bound:
        msg = f"an answer of {value} is below its proven bound {bound} ({proof})"
        raise ProofContradictionError(msg)
    return Bounded(value=value, lower_bound=min(bound, value), proof=proof)
