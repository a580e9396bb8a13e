"""
From a cluster and an operation to a reassignment with its certificate.

The operation and the rules fill a draft; the draft becomes the core's problem; the
core's answer becomes lists of replicas. Bands depend on the heaviest replica of each
broker, so the answer's own bands are computed and, where a heavy replica has moved,
the problem is solved again with these.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from placement.change import Reassignment
from placement.cluster import ClusterState
from placement.core.arrangement import Arrangement
from placement.core.bundles import bundle_groups
from placement.core.deadline import Deadline
from placement.core.effort import NORMAL, QUICK, THOROUGH, Effort
from placement.core.problem import Problem
from placement.core.solution import Bounded, Certificate, Solution, Status
from placement.core.solve import solve
from placement.core.solve_order import solve_order
from placement.draft_problem import (
    build_problem,
    evacuated_load,
    leading_replicas,
    unplaced_load,
)
from placement.hardening import harden
from placement.leaders import spread_heirs
from placement.listing import (
    as_bundled,
    as_listed,
    by_bands,
    has_choice,
    to_reassignment,
    without_choice,
    without_order,
)
from placement.load import (
    RESOURCES,
    Resource,
    WeightArray,
    Weights,
    loads_led,
    loads_of,
    weigh,
)
from placement.log_dirs import PlannedDirs, plan_dirs, plan_dirs_after
from placement.operations import Operation
from placement.plan_notes import plan_notes
from placement.positions import with_even_positions
from placement.rules.draft import Draft, Note, Settings, start_draft
from placement.rules.left_alone import (
    ExcludeTopics,
    LeaveUnsettled,
    SayUnknownRacks,
    UsableLogDirs,
)
from placement.rules.rule import Rule
from placement.softening import soften
from placement.targets import Members, Shares, Targets, find_targets, share_out

RULES = (LeaveUnsettled(), ExcludeTopics(), UsableLogDirs(), SayUnknownRacks())
"""What every operation keeps to, besides the levels of the problem."""

Solver = Callable[[Problem], Solution]

EFFORTS = {"quick": QUICK, "normal": NORMAL, "thorough": THOROUGH}
SHORTEST_S = 1e-3
"""What is left of a deadline that is over."""
MAX_BAND_ROUNDS = 4
"""How often bands are computed anew after heavy replicas have moved."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlannedPlacement:
    """
    The outcome of planning one operation.

    Parameters
    ----------
    draft
        What was allowed, with its notes.
    reassignment
        What changes.
    solution
        The core's answer with its certificate and shortfalls.
    balanced
        Resources that were balanced.
    shares
        What targets are computed from, for the brokers that stay.
    targets
        Targets and bands in the state after.
    columns
        Resources that the core saw, in the order of its columns.
    notes
        What a reader should know.
    seconds
        Time spent on ``solve`` and ``bound``, for people; no part of the plan.
    log_dirs
        Where replicas lie inside their brokers, where that was planned.
    """

    draft: Draft
    reassignment: Reassignment
    solution: Solution
    balanced: tuple[Resource, ...]
    shares: Shares
    targets: Targets
    columns: tuple[str, ...]
    notes: tuple[Note, ...]
    seconds: Mapping[str, float]
    log_dirs: PlannedDirs | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether no partition's list changes."""
        return not self.reassignment.is_changed.any()

    @property
    def weights_before(self) -> Weights:
        """What the replicas of the cluster before weigh, row by row."""
        draft = self.draft
        # What an operation has decided has rows, and factors, of its own.
        is_as_before = draft.decided is None
        return draft.weights if is_as_before else weigh(self.reassignment.before)

    @property
    def has_met_rules(self) -> bool:
        """Whether all hard rules hold that this operation could see to."""
        return self.solution.status in {Status.OPTIMAL, Status.FEASIBLE}


def plan(
    state: ClusterState, operation: Operation, settings: Settings | None = None
) -> PlannedPlacement:
    """
    Plan one operation on a cluster.

    Parameters
    ----------
    state
        The cluster.
    operation
        What is to be done; see `placement.operations`.
    settings
        Wishes; the defaults of interface.md where `None`.

    Returns
    -------
    The best plan found; always one, if only one that changes nothing.
    """
    wishes, began = settings or Settings(), time.monotonic()

    def once(settings: Settings) -> PlannedPlacement:
        if settings.deadline_s is not None:
            left = settings.deadline_s - (time.monotonic() - began)
            settings = replace(settings, deadline_s=max(left, SHORTEST_S))
        return _plan_once(state, operation, settings)

    def softened(settings: Settings) -> PlannedPlacement:
        found = once(settings)
        # What is soft of log dirs has given way where these were planned.
        is_inside = found.draft.is_emptied_dir is not None
        if settings.soft and not found.has_met_rules and not is_inside:
            return soften(once, settings, found)
        return found

    found = softened(wishes)
    if wishes.hard and found.has_met_rules:
        return harden(softened, wishes, found)
    return found


def _plan_once(
    state: ClusterState, operation: Operation, settings: Settings
) -> PlannedPlacement:
    """Plan with every rule as hard as the settings have it."""
    draft = make_draft(state, operation, settings)
    balanced = draft.balanced_resources()
    deadline = Deadline(draft.settings.deadline_s)
    if draft.is_emptied_dir is not None:
        return _inside_brokers(draft, deadline)
    found = _settle(draft, draft_shares(draft), balanced, deadline)
    if draft.settings.names_log_dirs:
        return _with_log_dirs(found, deadline)
    return found


def _with_log_dirs(found: PlannedPlacement, deadline: Deadline) -> PlannedPlacement:
    """Give copies their log dirs, and balance those where copies may come."""
    draft, solution = found.draft, found.solution
    effort = EFFORTS[draft.settings.effort]
    dirs = plan_dirs_after(draft, found.reassignment, effort, deadline)
    status = solution.status
    if found.has_met_rules and dirs.status in {Status.PARTIAL, Status.INFEASIBLE}:
        # That other brokers would have room in their log dirs is not ruled out.
        status = Status.PARTIAL
    return replace(
        found,
        reassignment=replace(found.reassignment, log_dir_idx=dirs.log_dir_idx),
        solution=replace(
            solution,
            status=status,
            shortfalls=(*solution.shortfalls, *dirs.shortfalls),
        ),
        seconds={
            name: found.seconds[name] + dirs.seconds.get(name, 0.0)
            for name in found.seconds
        },
        log_dirs=dirs,
        notes=(*found.notes, *dirs.notes),
    )


def _inside_brokers(draft: Draft, deadline: Deadline) -> PlannedPlacement:
    """Plan log dirs alone; brokers and lists stay."""
    state = draft.state
    found = plan_dirs(draft, EFFORTS[draft.settings.effort], deadline)
    reassignment = Reassignment(
        before=state,
        broker_idx=state.replicas.broker_idx,
        origin=np.arange(len(state.replicas), dtype=np.int64),
        log_dir_idx=found.log_dir_idx,
    )
    nothing = Bounded(value=0, lower_bound=0)
    shares = draft_shares(draft)
    load, heaviest = loads_of(reassignment.after())
    return PlannedPlacement(
        draft=draft,
        reassignment=reassignment,
        solution=Solution(
            status=found.status,
            best=Arrangement(state.replicas.broker_idx, leading_replicas(draft)),
            certificate=Certificate(
                cost=nothing, moves=nothing, deviation=found.deviation
            ),
            shortfalls=found.shortfalls,
            is_cut=deadline.has_cut,
        ),
        balanced=(),
        shares=shares,
        targets=find_targets(shares, load, heaviest),
        columns=(),
        notes=(*draft.notes, *found.notes),
        seconds=found.seconds,
        log_dirs=found,
    )


def make_draft(state: ClusterState, operation: Operation, settings: Settings) -> Draft:
    """Return what an operation and the rules let move."""
    draft = start_draft(state, settings)
    operation.fill(draft)
    rules: tuple[Rule, ...] = (*RULES, *settings.rules)
    for rule in rules:
        rule.fill(draft)
    return draft


def draft_shares(draft: Draft) -> Shares:
    """Return what targets are computed from, for the brokers that stay."""
    bands = {resource: draft.settings.band(resource) for resource in RESOURCES}
    members = Members(holds=draft.holds, leads=draft.leads)
    pools = None
    if draft.pool_of_broker is not None and draft.pool_of_partition is not None:
        pools = draft.pool_of_broker, draft.pool_of_partition
    return share_out(
        draft.state,
        draft.weights,
        members,
        bands,
        pools,
        spreads_racks="rack" not in draft.settings.lifted,
        has_plain_counts=draft.has_plain_counts,
    )


def _settle(
    draft: Draft,
    shares: Shares,
    balanced: tuple[Resource, ...],
    deadline: Deadline,
) -> PlannedPlacement:
    """Solve until the bands that were aimed at are those of the answer."""
    state, weights = draft.state, draft.weights
    leader = state.replicas.broker_idx_at(leading_replicas(draft))
    load, heaviest = loads_led(state, weights, leader)
    load = load - unplaced_load(draft)
    incoming = evacuated_load(draft, leader)
    best: PlannedPlacement | None = None
    is_settled = False
    spent = {"solve": 0.0, "bound": 0.0}
    effort = EFFORTS[draft.settings.effort]
    # How near to its bands a cluster can come is asked once these are settled.
    hasty = effort if draft.is_order_only else replace(effort, near_cells=0)
    for _ in range(MAX_BAND_ROUNDS):
        targets = find_targets(shares, load, heaviest, incoming)
        solver = _solver(draft, hasty, deadline)
        found = _solve(draft, shares, targets, balanced, solver)
        is_same = _same_bands(targets, found.targets)
        is_out = found.solution.certificate.deviation.value > 0
        if is_same and is_out and hasty != effort and not deadline.is_over():
            spent = _added(spent, found)
            hasty = effort
            solver = _solver(draft, effort, deadline, found.solution.best)
            found = _solve(draft, shares, targets, balanced, solver)
            is_same = _same_bands(targets, found.targets)
        spent = _added(spent, found)
        if best is None or _outside(found) < _outside(best):
            best, is_settled = found, is_same
        if is_same or deadline.is_over():
            break
        # Bands go by the heaviest replica where it ends, not where it was.
        load, heaviest = _loads_after(found)
        incoming = np.zeros_like(incoming)
    assert best is not None  # noqa: S101 - there is at least one round
    if not is_settled:
        reached = build_problem(draft, best.targets, balanced)
        best = replace(best, solution=by_bands(reached, best.solution))
    notes = plan_notes(best, is_cut=deadline.has_cut)
    return replace(best, notes=notes, seconds=spent)


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
    """Solve where anything is left to choose; return the lists, and what they cost."""
    if has_choice(problem):
        solution = _solved(draft, problem, solver)
    else:
        solution = without_choice(problem)
    reassignment = as_bundled(to_reassignment(draft, solution.best), draft.bundles)
    ordered = without_order(draft)
    if draft.evens_positions:
        reassignment, solution = with_even_positions(
            ordered, problem, reassignment, solution
        )
    elif draft.is_order_only:
        reassignment = spread_heirs(ordered, reassignment, targets)
    return reassignment, as_listed(draft, solution, reassignment)


def _solver(
    draft: Draft, effort: Effort, deadline: Deadline, known: Arrangement | None = None
) -> Solver:
    """Return what solves problems of a draft; `known`: from where it got to before."""
    # What goes together is arranged as one group.
    start = None if draft.bundles else known
    to_solve = solve_order if draft.is_order_only else partial(solve, known=start)
    seed = draft.settings.seed
    return partial(to_solve, effort=effort, seed=seed, deadline=deadline)


def _solved(draft: Draft, problem: Problem, solver: Solver) -> Solution:
    """Solve, what goes together being one group."""
    if not draft.bundles:
        return solver(problem)
    bundled = bundle_groups(problem, draft.bundles)
    return bundled.unbundled(solver(bundled.problem))


def _loads_after(found: PlannedPlacement) -> tuple[WeightArray, WeightArray]:
    return loads_of(found.reassignment.after())


def _outside(found: PlannedPlacement) -> tuple[int, float, float]:
    load, _ = _loads_after(found)
    rows = [RESOURCES.index(resource) for resource in found.balanced]
    outside = found.targets.outside(load)[:, rows]
    return (
        0 if found.has_met_rules else 1,
        round(float(outside.max(initial=0.0)), 9),
        float(found.solution.certificate.cost.value),
    )


def _same_bands(aimed: Targets, reached: Targets) -> bool:
    counts = (aimed.target > 0) | (reached.target > 0)
    return bool(
        np.allclose(aimed.lower[counts], reached.lower[counts], rtol=1e-9)
        and np.allclose(aimed.upper[counts], reached.upper[counts], rtol=1e-9)
    )
