"""
Choice of the role holder of each group by `solve_order`, without copying items.

Counts come first and are exact: as even relative to the bins' shares as possible, by
the fewest changes, proven by dual prices. The loads of the roles come next, as far as
bands require it and counts stay as even: the better of exchanges of roles and the
search of `solve`. Sets of bins give a lower bound on the distance.
"""

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from placement.array_types import IntArray
from placement.core.bounds.shortfalls import find_shortfalls
from placement.core.exact.model_scaling import fits_bands
from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import Value, evaluate
from placement.core.model.problem import NO_LIMIT, Limits, Problem
from placement.core.model.search_budget import NORMAL, Effort
from placement.core.model.solution import Bounded, Certificate, Proof, Solution, Status
from placement.core.roles.role_bounds import distance_bound
from placement.core.roles.role_counts import RoleTables, even_roles
from placement.core.roles.role_loads import FEW_EXCHANGES, PLAIN_ITEMS, RoleBalancer
from placement.core.search.local_search import Searcher
from placement.core.verify.role_claims import may_take_role, proves_even_roles

if TYPE_CHECKING:
    from placement.core.exact.improvement.objective_levels import Levels

SMALL_LOOKS = (FEW_EXCHANGES, 100, 200, 400, 700, 3_000)
"""
Numbers of exchanges per bin that a small problem examines together, tried in turn.

No number is best for all problems; one trial takes some hundredths of a second.
"""
LARGE_LOOKS = (4_000,)
"""Numbers of exchanges for a large problem, whose exchanges are compiled."""


def solve_order(
    problem: Problem,
    *,
    effort: Effort = NORMAL,
    seed: int = 1,
    deadline: Deadline | None = None,
) -> Solution:
    """
    Choose the role holders.

    Parameters
    ----------
    problem
        Problem whose items all stay; roles may change hands.
    effort
        Budget of the search, which runs if even counts leave loads out of band.
    seed
        Seed of the random numbers.
    deadline
        Time at which to end with the incumbent; counts are evened out in any case.

    Returns
    -------
    Answer with its certificate. `Certificate.roles` counts role changes, and
    `Certificate.share` is the fullest bin's count above its share, as a fraction. Dual
    prices prove both where counts are balanced.
    """
    began = time.perf_counter()
    problem = _of_roles(problem)
    column = count_column(problem)
    prices = None
    least = home_arrangement(problem)
    if column >= 0:
        even = even_roles(_tables(problem, column))
        least, prices = Arrangement(problem.home, even.role_of), even.prices
    clock = deadline or Deadline()
    searcher = Searcher(problem, effort, seed, clock)
    at, value = _with_loads(problem, least, column, searcher, clock)
    levels = _by_levels(problem, (at, value), least, column, effort, clock)
    if levels is not None:
        at, value = levels.at, evaluate(problem, levels.at)
    solved = time.perf_counter()
    solution = _conclude(problem, at, value, least, column, prices)
    if levels is not None:
        solution = _with_solver(solution, levels)
    spent = {"solve": solved - began, "bound": time.perf_counter() - solved}
    return replace(solution, seconds=spent, is_cut=clock.has_cut)


def _of_roles(problem: Problem) -> Problem:
    """Remove limits of resources without role weight, because all items stay."""
    has_part = problem.role_weight.any(axis=0)

    def of_roles(limits: Limits | None) -> Limits | None:
        if limits is None:
            return None
        return replace(
            limits,
            capacity=np.where(has_part, limits.capacity, NO_LIMIT),
            upper=np.where(has_part, limits.upper, NO_LIMIT),
            lower=np.where(has_part, limits.lower, 0),
            target=np.where(has_part, limits.target, 0.0),
        )

    levels = [replace(one, limits=of_roles(one.limits)) for one in problem.levels]
    return replace(problem, levels=tuple(levels))


def count_column(problem: Problem) -> int:
    """Return the resource that counts roles and has a band, or -1."""
    for r in range(problem.num_resources):
        role = problem.role_weight[:, r]
        is_count = not problem.weight[:, r].any() and bool((role == 1).all())
        if is_count and (problem.bins.target[:, r] > 0).any():
            return r
    return -1


def _tables(problem: Problem, column: int) -> RoleTables:
    target = problem.bins.target[:, column]
    share = np.where(problem.may_hold_role, target, 0.0)
    return RoleTables(
        group_start=problem.group_start,
        bin_of=problem.home,
        holder=problem.role_home,
        # A bin without a share of the roles takes none.
        may_hold=may_take_role(problem) & (share > 0)[problem.home],
        share=share,
    )


def _with_loads(
    problem: Problem,
    least: Arrangement,
    column: int,
    searcher: Searcher,
    deadline: Deadline,
) -> tuple[Arrangement, Value]:
    """Return the best of: even counts, exchanges from there, and a search."""
    answers = [(least, evaluate(problem, least))]
    if not answers[0][1].is_in_band:
        answers.append(_exchanged(problem, least, column, deadline))
        is_done = answers[-1][1].is_in_band
        if not is_done and not deadline.is_over():
            searched = _searched(problem, least, column, searcher)
            answers.append(_exchanged(problem, searched, column, deadline))
    best = min(answers, key=lambda answer: answer[1].key)
    if best[1].key[0] == 0:
        return best
    # Do not break more hard rules than before.
    before = home_arrangement(problem)
    value = evaluate(problem, before)
    return best if best[1].key[0] <= value.key[0] else (before, value)


def _by_levels(
    problem: Problem,
    known: tuple[Arrangement, Value],
    least: Arrangement,
    column: int,
    effort: Effort,
    deadline: Deadline,
) -> "Levels | None":
    """Run CP-SAT on a small problem, unless all is in band by the fewest changes."""
    at, value = known
    is_least = value.is_in_band and value.role_changes <= _changes(problem, least)
    is_open = not is_least and not value.key[0] and not deadline.is_over()
    if not (is_open and effort.exact_work and fits_bands(problem, effort.exact_cells)):
        return None
    from placement.core.exact.improvement.role_levels import best_order

    even = None
    if column >= 0:
        counts = _counts(problem, least)
        # Exchanges keep counts; the search may have changed them.
        if not np.array_equal(np.sort(counts), np.sort(_counts(problem, at))):
            return None
        even = counts, _tables(problem, column).share
    return best_order(problem, at, even, effort.exact_work, deadline.left)


def _counts(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(N,)`` number of roles of each bin."""
    held = at.role_of[at.role_of >= 0]
    return np.bincount(problem.home[held], minlength=problem.num_bins)


def _with_solver(solution: Solution, levels: "Levels") -> Solution:
    """Return a solution with the bounds of CP-SAT on distances and role changes."""
    from placement.core.exact.solver_names import cp_sat

    proven, name = solution.certificate, cp_sat()
    roles = proven.roles
    if roles is not None:
        roles = roles.with_solver(levels.roles, name)
    deviation = proven.deviation.with_solver(levels.deviation, name)
    return replace(
        solution, certificate=replace(proven, roles=roles, deviation=deviation)
    )


def _exchanged(
    problem: Problem, at: Arrangement, column: int, deadline: Deadline
) -> tuple[Arrangement, Value]:
    """Exchange roles, several times for a small problem; return the best answer."""
    is_small = problem.num_items <= PLAIN_ITEMS
    found = []
    for few in SMALL_LOOKS if is_small else LARGE_LOOKS:
        balancer = RoleBalancer(problem, at.role_of, column, deadline)
        balancer.improve(few)
        balancer.hand_back()
        one = Arrangement(problem.home, balancer.role_of())
        found.append((one, evaluate(problem, one)))
    return min(found, key=lambda answer: answer[1].key)


def _searched(
    problem: Problem, start: Arrangement, column: int, searcher: Searcher
) -> Arrangement:
    """Search from a start, then even out counts by the fewest changes."""
    value: Value = evaluate(problem, start)
    at, _ = searcher.improve(start, value)
    if column < 0:
        return at
    tables = replace(_tables(problem, column), holder=at.role_of)
    return Arrangement(problem.home, even_roles(tables).role_of)


def _conclude(
    problem: Problem,
    at: Arrangement,
    value: Value,
    least: Arrangement,
    column: int,
    prices: IntArray | None,
) -> Solution:
    shortfalls = find_shortfalls(problem, at)
    certificate = Certificate(
        cost=Bounded(value=0, lower_bound=0),
        moves=Bounded(value=0, lower_bound=0),
        deviation=distance_bound(problem, value.deviation),
        **_count_bounds(problem, at, least, column, prices),
    )
    is_met = value.key[0] == 0
    status = Status.OPTIMAL if is_met else Status.PARTIAL
    if not is_met and any(shortfall.is_proven for shortfall in shortfalls):
        status = Status.INFEASIBLE
    return Solution(
        status=status, best=at, certificate=certificate, shortfalls=shortfalls
    )


def _count_bounds(
    problem: Problem,
    at: Arrangement,
    least: Arrangement,
    column: int,
    prices: IntArray | None,
) -> dict[str, Bounded]:
    """Return bounds on role changes and on the fullest bin's excess over its share."""
    changes = _changes(problem, at)
    if prices is None:
        return {"roles": Bounded(value=changes, lower_bound=0)}
    share, least_share = (_over_share(problem, one, column) for one in (at, least))
    if not proves_even_roles(problem, column, least.role_of, prices):
        return {
            "roles": Bounded(value=changes, lower_bound=0),
            "share": Bounded(value=share, lower_bound=0.0),
        }
    sharing = np.nonzero(problem.bins.target[:, column] > 0)[0]
    listed = [[int(b), int(prices[b])] for b in sharing]
    proof = Proof(kind="flow-dual", witness={"prices": listed})
    bound = _changes(problem, least)
    return {
        "roles": Bounded(value=changes, lower_bound=min(changes, bound), proof=proof),
        "share": Bounded(value=share, lower_bound=least_share, proof=proof),
    }


def _changes(problem: Problem, at: Arrangement) -> int:
    return int(np.not_equal(at.role_of, problem.role_home).sum())


def _over_share(problem: Problem, at: Arrangement, column: int) -> float:
    """Return the excess of the fullest bin over its share, as a fraction."""
    target = np.where(problem.may_hold_role, problem.bins.target[:, column], 0.0)
    counts = _counts(problem, at)
    has_share = target > 0
    ratio = counts[has_share] / target[has_share]
    return float(ratio.max(initial=1.0)) - 1.0
