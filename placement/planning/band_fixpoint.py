"""
Solve again until the bands aimed at are the bands of the answer.

The band of a broker depends on the broker's heaviest replica. The bands of each answer
are therefore computed, and where a heavy replica has moved, the problem is solved again
with the new bands.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from placement.core.certificate import MANY_CELLS
from placement.core.exact.milp.solved_models import ExactModels
from placement.core.exact.work_limit import ExactWork
from placement.core.feasibility.move_caps import solve_keeping_rules
from placement.core.model.arrangement import Arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.problem import Problem
from placement.core.model.search_budget import EFFORTS, Effort
from placement.core.model.solution import Solution, Status
from placement.core.presolve.aggregation import bundle_groups
from placement.core.presolve.fix_immovable import Moving
from placement.core.solve import prove, solve
from placement.core.solve_parts import solve_in_parts
from placement.core.solve_roles import solve_order
from placement.draft.draft import Draft
from placement.draft.evacuated_load import evacuated_load
from placement.draft.leading_replicas import leading_replicas
from placement.leadership.follower_order import spread_successors
from placement.leadership.list_positions import with_even_positions
from placement.log_dirs.joint_problem import DirParts
from placement.model.load import RESOURCES, Resource, WeightArray, loads_led, loads_of
from placement.model.reassignment import Reassignment
from placement.model.targets import Shares, Targets, find_targets
from placement.planning.decode import (
    as_bundled,
    as_listed,
    by_bands,
    by_lists,
    has_choice,
    to_reassignment,
    without_choice,
    without_order,
)
from placement.planning.encode import (
    build_problem,
    unplaced_load,
)
from placement.planning.outcome.column_shortfalls import with_rules_named
from placement.planning.outcome.plan_notes import plan_notes
from placement.planning.outcome.prior_violations import without_existing
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.hard_levels import hard_capacities

Solver = Callable[[Problem], Solution]

NEAR = 1e-9
"""Distances up to this value count as zero."""
MAX_BAND_ROUNDS = 4
"""Maximum number of rounds in which bands are recomputed after heavy replicas moved."""


def settle(
    draft: Draft,
    shares: Shares,
    balanced: tuple[Resource, ...],
    deadline: Deadline,
    log_dirs: DirParts | None = None,
) -> PlannedPlacement:
    """
    Solve until the bands that were aimed at are those of the answer.

    With `log_dirs`, each incoming replica fits into a log dir of its new broker.
    """
    load, heaviest, incoming = loads_before(draft)
    best: PlannedPlacement | None = None
    is_settled = is_proven = False
    spent = {"solve": 0.0, "bound": 0.0}
    effort = EFFORTS[draft.settings.effort]
    hasty = _hasty(draft, effort, log_dirs)
    # All rounds share the work limit that exact models have for one plan.
    work = ExactWork.of(effort)
    for _ in range(MAX_BAND_ROUNDS):
        targets = find_targets(shares, load, heaviest, incoming)
        solver = _solver(draft, hasty, deadline, work, log_dirs=log_dirs)
        found = _solve(draft, shares, targets, balanced, solver)
        is_same = have_same_bands(targets, found.targets)
        is_out = found.solution.certificate.deviation.value > NEAR
        is_asked = is_same and is_out and hasty != effort and not _is_impossible(found)
        if is_asked and not deadline.is_over():
            spent = _added(spent, found)
            hasty = effort
            solver = _solver(draft, effort, deadline, work, found.solution.best)
            found = _solve(draft, shares, targets, balanced, solver)
            is_same = have_same_bands(targets, found.targets)
        spent = _added(spent, found)
        # Of equal answers, one that has the bands it was aimed at has a proof.
        rank = (*_outside(found), not is_same)
        if best is None or rank < (*_outside(best), not is_settled):
            best, is_settled, is_proven = found, is_same, hasty.leaves == effort.leaves
        # Other bands do not give a log dir more room.
        is_short = log_dirs is not None and not found.has_met_rules
        if is_same or is_short or _is_impossible(found) or deadline.is_over():
            break
        # Bands depend on the heaviest replica of a broker after the plan, not before
        # it.
        load, heaviest = _loads_after(found)
        incoming = np.zeros_like(incoming)
    assert best is not None  # noqa: S101 - there is at least one round
    if not is_settled:
        solver = _solver(draft, effort, deadline, work, best.solution.best)
        is_asked = effort != hasty and not deadline.is_over()
        best = _by_bands_reached(best, solver if is_asked else None)
        spent = _added(spent, best)
    if not is_proven:
        best, more = _proven_by_cases(best, effort, deadline)
        spent["bound"] += more
    best = _by_its_lists(best)
    notes = plan_notes(best, is_cut=deadline.has_cut)
    return replace(best, notes=notes, seconds=spent)


def _by_its_lists(found: PlannedPlacement) -> PlannedPlacement:
    """
    Return an answer with the distance of its lists from the bands.

    Lists that still name a dead broker are unchanged, whatever the solution does with
    the other replicas of such a partition.
    """
    if found.has_met_rules:
        return found
    problem = build_problem(found.draft, found.targets, found.balanced)
    solution = by_lists(found.draft, problem, found.solution, found.reassignment)
    return replace(found, solution=solution)


def loads_before(draft: Draft) -> tuple[WeightArray, WeightArray, WeightArray]:
    """Return ``(B, R)`` loads and heaviest replicas, and ``(R,)`` evacuated load."""
    leader = draft.state.replicas.broker_idx_at(leading_replicas(draft))
    load, heaviest = loads_led(draft.state, draft.weights, leader)
    return load - unplaced_load(draft), heaviest, evacuated_load(draft, leader)


def _hasty(draft: Draft, effort: Effort, log_dirs: DirParts | None) -> Effort:
    """Return the effort of the early rounds; the last round runs with full effort."""
    if draft.is_order_only or log_dirs is not None:
        return effort
    # The minimal distance from the bands is computed once the bands are settled. Small
    # problems are proven by cases once the final answer is known.
    leaves = effort.leaves if draft.bundles else 0
    return replace(effort, near_cells=0, leaves=leaves)


def _by_bands_reached(
    best: PlannedPlacement, solver: Solver | None
) -> PlannedPlacement:
    """
    Return an answer with its distance from its own bands, which were not aimed at.

    If `solver` is given, it computes a lower bound on this distance. `seconds` of the
    result is the time spent here.
    """
    problem = build_problem(best.draft, best.targets, best.balanced)
    solution = by_bands(problem, best.solution)
    if _is_impossible(best):
        solver = None
    reached = solution.certificate.deviation.value
    none = dict.fromkeys(best.seconds, 0.0)
    if solver is None or not reached:
        return replace(best, solution=solution, seconds=none)
    found = _solve(best.draft, best.shares, best.targets, best.balanced, solver)
    if have_same_bands(best.targets, found.targets) and _outside(found) < _outside(
        best
    ):
        return found
    proven = found.solution.certificate.deviation
    least = min(proven.lower_bound, reached)
    deviation = replace(proven, value=reached, lower_bound=least)
    deviation = deviation.with_solver(proven.solver_bound, proven.solver)
    certificate = replace(solution.certificate, deviation=deviation)
    return replace(
        best,
        solution=replace(solution, certificate=certificate),
        seconds=found.seconds,
    )


def _proven_by_cases(
    best: PlannedPlacement, effort: Effort, deadline: Deadline
) -> tuple[PlannedPlacement, float]:
    """Return an answer with a bound on its cost by cases, and the seconds spent."""
    state, known = best.draft.state, best.solution.best
    is_small = state.num_partitions * state.num_brokers <= MANY_CELLS
    # A bound claimed by a solver alone is worth a proof that can be verified.
    cost = best.solution.certificate.cost
    gap = cost.gap
    if cost.is_least:
        leaves = effort.tree_leaves // 2
        effort = replace(effort, closed=effort.stated_gap, tree_leaves=leaves)
    is_closed = gap is not None and gap <= effort.closed
    if is_closed or not (is_small and best.has_met_rules):
        return best, 0.0
    problem = build_problem(best.draft, best.targets, best.balanced)
    models = ExactModels(Moving.of(problem).problem, effort)
    is_far = gap is None or gap > effort.gap
    is_fitting = models.is_fitting or (is_far and models.fits_tree)
    if not (has_choice(problem) and is_fitting):
        return best, 0.0

    def prover(problem: Problem) -> Solution:
        return prove(problem, known, effort=effort, deadline=deadline)

    found = _solve(best.draft, best.shares, best.targets, best.balanced, prover)
    old, new = (one.solution.certificate.cost for one in (best, found))
    seconds = found.seconds["bound"]
    if new.value != old.value or new.lower_bound <= old.lower_bound:
        return best, seconds
    new = new.with_solver(old.solver_bound, old.solver, is_spread=old.is_spread)
    certificate = replace(best.solution.certificate, cost=new)
    is_least = best.solution.status is Status.FEASIBLE and new.is_least
    status = Status.OPTIMAL if is_least else best.solution.status
    solution = replace(best.solution, certificate=certificate, status=status)
    return replace(best, solution=solution), seconds


def _added(spent: dict[str, float], found: PlannedPlacement) -> dict[str, float]:
    return {name: spent[name] + found.seconds[name] for name in spent}


def _solve(
    draft: Draft,
    shares: Shares,
    targets: Targets,
    balanced: tuple[Resource, ...],
    solver: Solver,
) -> PlannedPlacement:
    problem = build_problem(draft, targets, balanced)
    reassignment, solution = _answer(draft, problem, targets, solver)
    after = reassignment.after()
    load, heaviest = loads_of(after)
    return PlannedPlacement(
        draft=draft,
        reassignment=reassignment,
        solution=solution,
        balanced=balanced,
        shares=shares,
        targets=find_targets(shares, load, heaviest),
        columns=problem.resources,
        seconds=solution.seconds,
        notes=(),
    )


def _answer(
    draft: Draft,
    problem: Problem,
    targets: Targets,
    solver: Solver,
) -> tuple[Reassignment, Solution]:
    """Solve the problem if it has a choice; return the lists and their solution."""
    if has_choice(problem):
        solution = _solved(draft, problem, solver)
    else:
        solution = without_choice(problem)
    reassignment = as_bundled(to_reassignment(draft, solution.best), draft.bundles)
    ordered, began = without_order(draft), time.perf_counter()
    if draft.evens_positions:
        reassignment, solution = with_even_positions(
            ordered, problem, reassignment, solution
        )
    elif draft.is_order_only:
        reassignment = spread_successors(ordered, reassignment, targets)
    spent = solution.seconds["solve"] + time.perf_counter() - began
    solution = replace(solution, seconds={**solution.seconds, "solve": spent})
    listed = as_listed(draft, solution, reassignment)
    left = without_existing(draft, problem, listed, reassignment)
    return reassignment, with_rules_named(draft, left)


def _solver(
    draft: Draft,
    effort: Effort,
    deadline: Deadline,
    work: ExactWork,
    known: Arrangement | None = None,
    log_dirs: DirParts | None = None,
) -> Solver:
    """Return the solver for problems of a draft, with `known` as its start."""
    seed = draft.settings.seed
    if log_dirs is not None:
        return partial(
            _solved_in_dirs, log_dirs, effort=effort, seed=seed, deadline=deadline
        )
    # Partitions that belong together are arranged as one group.
    start = None if draft.bundles else known
    searched = partial(solve_keeping_rules, known=start, work=work)
    to_solve = solve_order if draft.is_order_only else searched
    return partial(to_solve, effort=effort, seed=seed, deadline=deadline)


def _solved_in_dirs(
    log_dirs: DirParts,
    problem: Problem,
    *,
    effort: Effort,
    seed: int,
    deadline: Deadline,
) -> Solution:
    """Solve within the room of log dirs, where their contents are limited."""
    parts = log_dirs.parts(problem)
    if parts is None:
        return solve(problem, effort=effort, seed=seed, deadline=deadline)
    return solve_in_parts(problem, parts, effort=effort, seed=seed, deadline=deadline)


def _solved(draft: Draft, problem: Problem, solver: Solver) -> Solution:
    """Solve with each bundle of partitions as one group."""
    if not draft.bundles:
        return solver(problem)
    bundled = bundle_groups(problem, draft.bundles)
    return bundled.unbundled(solver(bundled.problem))


def _loads_after(found: PlannedPlacement) -> tuple[WeightArray, WeightArray]:
    return loads_of(found.reassignment.after())


def _outside(found: PlannedPlacement) -> tuple[float, ...]:
    load, _ = _loads_after(found)
    rows = [RESOURCES.index(resource) for resource in found.balanced]
    outside = found.targets.outside(load)[:, rows]
    return (
        0 if found.has_met_rules else 1,
        *_excess(found),
        round(float(outside.max(initial=0.0)), 9),
        round(float(outside.sum()), 7),
        float(found.solution.certificate.cost.value),
    )


def _is_impossible(found: PlannedPlacement) -> bool:
    return found.solution.status is Status.INFEASIBLE


def _excess(found: PlannedPlacement) -> tuple[float, float]:
    """Return the largest relative excess over a capacity, and the sum of all."""
    if found.has_met_rules:
        return 0.0, 0.0
    load, _ = _loads_after(found)
    capacity = hard_capacities(found.draft)
    over = np.maximum(load - capacity, 0) / np.maximum(capacity, 1)
    return round(float(over.max(initial=0.0)), 12), round(float(over.sum()), 10)


def have_same_bands(aimed: Targets, reached: Targets) -> bool:
    """Return whether two sets of bands are equal, targets as well as both ends."""
    counts = (aimed.target > 0) | (reached.target > 0)
    return all(
        np.allclose(one[counts], other[counts], rtol=1e-9)
        for one, other in (
            (aimed.target, reached.target),
            (aimed.lower, reached.lower),
            (aimed.upper, reached.upper),
        )
    )
