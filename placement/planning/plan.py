"""
From a cluster and an operation to a reassignment with its certificate.

The operation and the rules fill a draft. The draft is encoded as the core's problem,
and the core's answer is decoded to lists of replicas
(`placement.planning.band_fixpoint`).
"""

import time
from dataclasses import replace

import numpy as np

from placement.core.model.arrangement import Arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.search_budget import EFFORTS
from placement.core.model.solution import Bounded, Certificate, Solution, Status
from placement.draft.draft import Draft, Settings, start_draft
from placement.draft.leading_replicas import leading_replicas
from placement.draft.rule import Rule
from placement.log_dirs.dir_plan import plan_dirs
from placement.log_dirs.joint_problem import DirParts
from placement.log_dirs.overfull_dirs import overfull_dirs
from placement.model.cluster import ClusterState
from placement.model.load import (
    RESOURCES,
    loads_of,
)
from placement.model.reassignment import Reassignment
from placement.model.targets import Members, Shares, find_targets, share_out
from placement.operations.operation import Operation
from placement.planning.band_fixpoint import settle
from placement.planning.elastic.hard_goals import all_missed, harden
from placement.planning.elastic.soft_goals import soften
from placement.planning.named_log_dirs import with_dirs_named, without_homeless
from placement.planning.outcome.plan_notes import failed_dir_notes
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.fetch_sources import NeedSource
from placement.rules.frozen_partitions import (
    ExcludeTopics,
    LeaveUnsettled,
    SayUnknownRacks,
    UsableLogDirs,
)
from placement.rules.rack_rules import RacksAsBefore

RULES = (
    NeedSource(),
    LeaveUnsettled(),
    ExcludeTopics(),
    UsableLogDirs(),
    SayUnknownRacks(),
)
"""Rules of every operation, besides the levels of the problem."""

_REMEDY = {
    True: "--with-log-dirs names the log dirs instead",
    False: "give the sizes of all its log dirs, and the plan names them",
}
"""Remedy for overfull log dirs, by whether the settings refuse to name log dirs."""
SHORTEST_S = 1e-3
"""Seconds granted after a deadline is over."""


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
        One of `placement.operations`.
    settings
        Options of the plan; the defaults if `None`.

    Returns
    -------
    The best plan found. There is always one, possibly without any change.
    """
    given, began = settings or Settings(), time.monotonic()

    def once(settings: Settings) -> PlannedPlacement:
        if settings.deadline_s is not None:
            left = settings.deadline_s - (time.monotonic() - began)
            settings = replace(settings, deadline_s=max(left, SHORTEST_S))
        return _plan_once(state, operation, settings)

    def softened(settings: Settings) -> PlannedPlacement:
        found = once(settings)
        # Soft rules of log dirs are relaxed by the planner of log dirs itself.
        is_inside = found.draft.is_emptied_dir is not None
        if settings.soft and not found.has_met_rules and not is_inside:
            return soften(once, settings, found)
        return found

    found = softened(given)
    if not given.hard or not found.has_met_rules:
        return found
    hardened = harden(softened, given, found)
    if hardened.has_met_rules or not given.soft or found.log_dirs is not None:
        return hardened
    whole = once(given) if found.draft.settings.eased is not None else found
    given_way = soften(once, given, whole, for_goals=True)
    is_met = given_way.has_met_rules and not all_missed(given_way, given)
    return given_way if is_met else hardened


def _plan_once(
    state: ClusterState, operation: Operation, settings: Settings
) -> PlannedPlacement:
    """Plan with every rule as hard as in the settings."""
    draft = make_draft(state, operation, settings)
    balanced = draft.balanced_resources()
    deadline = Deadline(draft.settings.deadline_s)
    if draft.is_emptied_dir is not None:
        return _inside_brokers(draft, deadline)
    found = settle(draft, draft_shares(draft), balanced, deadline)
    if draft.settings.names_log_dirs:
        return _with_log_dirs(found, deadline)
    return _with_log_dirs_where_needed(found, deadline)


def _with_log_dirs_where_needed(
    found: PlannedPlacement, deadline: Deadline
) -> PlannedPlacement:
    """Name log dirs, or warn, if a broker's own choice would overfill one."""
    overfull = overfull_dirs(found.draft, found.reassignment)
    if not len(overfull):
        return found
    is_asked_not_to = found.draft.settings.names_log_dirs is False
    if is_asked_not_to or not overfull.can_be_named.any():
        notes = overfull.notes("log-dir-overfull", _REMEDY[is_asked_not_to])
        return replace(found, notes=(*found.notes, *notes))
    named = _with_log_dirs(found, deadline)
    notes = overfull.notes("log-dirs-named", "so the plan names the log dirs")
    return replace(named, notes=(*named.notes, *notes))


def _with_log_dirs(found: PlannedPlacement, deadline: Deadline) -> PlannedPlacement:
    """
    Choose log dirs with enough room for copies, and balance the log dirs.

    Brokers are chosen first. If the log dirs of a broker have no room for its new
    replicas, brokers and log dirs are chosen together, and the plan that places more
    replicas is kept. Replicas that still have no room stay where they are.
    """
    return without_homeless(_with_room(found, deadline), deadline)


def _with_room(found: PlannedPlacement, deadline: Deadline) -> PlannedPlacement:
    """Choose log dirs for copies, and other brokers where log dirs have no room."""
    first = with_dirs_named(found, deadline)
    draft, dirs = found.draft, first.log_dirs
    # A bundle is arranged as one group, and would have to share one log dir.
    is_choosable = found.has_met_rules and not draft.bundles
    is_short = dirs is not None and (dirs.is_homeless.any() or dirs.notes)
    if not is_choosable or not is_short or deadline.is_over():
        return first
    log_dirs = DirParts.of(draft, found.reassignment)
    again = settle(draft, found.shares, found.balanced, deadline, log_dirs)
    second = with_dirs_named(again, deadline)
    spent = {name: first.seconds[name] + second.seconds[name] for name in first.seconds}
    best = min(first, second, key=_left_out)
    if again.solution.status is Status.INFEASIBLE and not best.has_met_rules:
        # No plan keeps the rules, whichever of the two is returned.
        best = replace(best, solution=replace(best.solution, status=Status.INFEASIBLE))
    return replace(best, seconds=spent)


def _left_out(found: PlannedPlacement) -> tuple[bool, int, int]:
    """Return whether rules are broken, replicas concerned, and soft rules relaxed."""
    given_way = 0 if found.log_dirs is None else len(found.log_dirs.notes)
    # One replica may have several shortfalls, and some shortfalls have no replica.
    shortfalls = enumerate(found.solution.shortfalls, 1)
    left_out = {short.item if short.item >= 0 else -row for row, short in shortfalls}
    return not found.has_met_rules, len(left_out), given_way


def _inside_brokers(draft: Draft, deadline: Deadline) -> PlannedPlacement:
    """Plan log dirs alone; brokers and replica lists stay."""
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
        notes=(*draft.notes, *found.notes, *failed_dir_notes(reassignment)),
        seconds=found.seconds,
        log_dirs=found,
    )


def make_draft(state: ClusterState, operation: Operation, settings: Settings) -> Draft:
    """Return the draft of an operation, filled by the operation and by all rules."""
    draft = start_draft(state, settings)
    operation.fill(draft)
    rules: tuple[Rule[Draft], ...] = (*RULES, *settings.rules, RacksAsBefore())
    for rule in rules:
        rule.fill(draft)
    return draft


def draft_shares(draft: Draft) -> Shares:
    """Return the fair shares of the brokers that stay, from which targets follow."""
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
