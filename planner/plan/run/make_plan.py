"""Plan of one operation on one cluster, checked by separate code."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from placement.check import CheckSettings, Finding, check, is_ok
from placement.core.model.gap_report import listening
from placement.core.model.search_budget import EFFORTS
from placement.core.search.compilation import needs_compiling
from placement.draft.draft import Settings
from placement.failures.controller_majority import Voter
from placement.model.cluster import ClusterState
from placement.operations.descriptor import describe
from placement.operations.operation import Operation
from placement.planning.infeasibility.infeasible_rules import explain_impossible
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan as plan_placement
from planner.options.cluster_options import ResolvedOptions, read_request
from planner.options.new_brokers import arrival_notes
from planner.options.operations import make_operation
from planner.options.overrides import seen_as
from planner.options.plan_request import PlanRequest
from planner.plan.documents.infeasibility import with_remedies
from planner.plan.documents.scored_plan import Plan, make_plan
from planner.plan.documents.topic_patches import (
    partition_patch_notes,
    partition_patches,
)
from planner.plan.folder.plan_folder import target_lists
from planner.plan.input.check_settings import with_chosen_rules
from planner.plan.run.outcome_notes import with_outcome_notes
from planner.plan.run.unmatched_patterns import unmatched_pattern_notes
from planner.plan.waves.wave_files import check_planned, plan_waves
from planner.progress import stage
from planner.text.format import bytes_text, percent_text
from planner.topic_resources import NO_RESOURCES, TopicResource

if TYPE_CHECKING:
    from planner.plan.run.new_partitions_request import Asked

CHECKED_AT_ONCE = 100_000
"""Number of replicas up to which a plan is checked without a thread."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Planned:
    """
    A plan and the findings of the independent checker.

    Parameters
    ----------
    plan
        The plan.
    checked
        Returns the findings once the check is done: a large plan is written meanwhile.
    """

    plan: Plan
    checked: Callable[[], tuple[Finding, ...]]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """
        Findings of the checker.

        Includes findings that existed before the plan.
        """
        return self.checked()

    @property
    def is_ok(self) -> bool:
        """Whether the plan causes no finding."""
        return is_ok(self.findings)


def make(
    state: ClusterState,
    request: PlanRequest,
    *,
    cluster_configs: Mapping[str, str] = MappingProxyType({}),
    taken_at: str | None = None,
    resources: Mapping[str, TopicResource] = NO_RESOURCES,
    voters: Sequence[Voter] = (),
) -> Planned:
    """
    Plan an operation.

    Parameters
    ----------
    state
        The cluster.
    request
        The operation and its options.
    cluster_configs
        Configs of the whole cluster, from the snapshot, for new partitions.
    taken_at
        Time of the snapshot, as the snapshot gives it.
    resources
        KafkaTopic resources by topic, where the snapshot has them.
    voters
        Voters of the controllers' quorum, where the snapshot names them.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster, in Kafka's words if Kafka
        would reject new partitions.
    """
    identity = state
    given = request.options
    state = seen_as(state, given.rack_map, given.cpu_weight)
    if describe(request.goal).creates_partitions:
        # Other operations do without these modules, which take long to import.
        from planner.plan.run.new_partitions_request import read_new_request

        asked, resolved = read_new_request(state, request, cluster_configs)
        made = _with_new_partitions(asked, resolved, taken_at, resources)
        return replace(made, plan=replace(made.plan, identity=identity))
    resolved = read_request(request, state)
    operation = make_operation(
        request.goal, resolved.state, resolved.options, resolved.settings
    )
    has_rounds = EFFORTS[resolved.settings.effort].more_rounds > 0
    is_first = needs_compiling(len(resolved.state.replicas), has_rounds=has_rounds)
    once = ", the search compiled once for all" if is_first else ""
    placed = _placed(resolved, operation, f"planning {request.goal}{once}")
    to_come = arrival_notes(resolved.state, resolved.arrivals)
    unmatched = unmatched_pattern_notes(resolved.state.topics.names, resolved.options)
    placed = replace(placed, notes=(*placed.notes, *to_come, *unmatched))
    infeasible_set = explain_impossible(operation, resolved.settings, placed)
    plan = make_plan(
        request.goal,
        with_remedies(placed, infeasible_set),
        taken_at=taken_at,
        settings=resolved.document,
        identity=identity,
        infeasible_set=infeasible_set,
    )
    plan = with_outcome_notes(replace(plan, resources=resources, voters=voters))
    stage("checking the plan")
    checked = _checking(plan, resolved)
    if resolved.waves is not None:
        stage("cutting the plan into waves")
        waves = plan_waves(placed.reassignment, placed.weights_before, resolved.waves)
        plan = replace(plan, waves=waves)
        findings = (*checked(), *check_planned(waves))
        return Planned(plan=plan, checked=lambda: findings)
    return Planned(plan=plan, checked=checked)


def _with_new_partitions(
    asked: "Asked",
    resolved: ResolvedOptions,
    taken_at: str | None,
    resources: Mapping[str, TopicResource],
) -> Planned:
    """Plan the placement of new partitions, or check a given one."""
    from placement.planning.new_partitions.plan_new_partitions import (
        explain_new,
        place_by_hand,
        place_new,
    )
    from planner.plan.run.check_new_partitions import check_new

    state, grown, settings = asked.state, asked.grown, resolved.settings
    stage("placing new partitions")
    infeasible_set = None
    if asked.lists is None:
        placed = place_new(grown, settings)
        infeasible_set = explain_new(grown, settings, placed)
        placed = with_remedies(placed, infeasible_set)
    else:
        placed = place_by_hand(grown, asked.lists, settings)
    after = placed.reassignment.after()
    creation = asked.creation(after)
    notes = (
        *asked.key_notes(),
        *partition_patch_notes(partition_patches(creation, resources)),
    )
    plan = make_plan(
        asked.goal,
        replace(placed, notes=(*placed.notes, *notes)),
        taken_at=taken_at,
        settings=resolved.document,
        infeasible_set=infeasible_set,
    )
    plan = replace(plan, creation=creation, existing=state, resources=resources)
    found = check_new(state, after, grown.is_new, rules_of(plan, resolved))
    return Planned(plan=plan, checked=lambda: found)


def _placed(
    resolved: ResolvedOptions, operation: Operation, words: str
) -> PlannedPlacement:
    """Plan a placement; show the gap between copied bytes and their bound meanwhile."""
    stage(words)
    if _is_priced(resolved.settings):
        # With priced moves, the cost is no sum of bytes.
        return plan_placement(resolved.state, operation, resolved.settings)
    with listening(_gap_stages(words)):
        return plan_placement(resolved.state, operation, resolved.settings)


def _gap_stages(words: str) -> Callable[[int, int], None]:
    """Return a function that reports each gap as a stage, equal ones once."""
    last = ""

    def report(cost: int, bound: int) -> None:
        nonlocal last
        text = f"{words}: {_gap_text(cost, bound)}"
        if text != last:
            last = text
            stage(text)

    return report


def _gap_text(cost: int, bound: int) -> str:
    gap = f" (gap {percent_text(cost / bound - 1)})" if 0 < bound <= cost else ""
    return f"{bytes_text(cost, 4)}, not under {bytes_text(bound, 4)}{gap}"


def _checking(
    plan: Plan, resolved: ResolvedOptions
) -> Callable[[], tuple[Finding, ...]]:
    """Check a plan; a large one in a thread."""
    if len(plan.state.replicas) <= CHECKED_AT_ONCE:
        findings = check_plan(plan, resolved)
        return lambda: findings
    with_one = ThreadPoolExecutor(1, thread_name_prefix="check")
    checking = with_one.submit(check_plan, plan, resolved)
    with_one.shutdown(wait=False)
    return checking.result


def _is_priced(settings: Settings) -> bool:
    """Return whether moves have a price of their own."""
    return settings.prefers_moves or settings.price_per_move_bytes > 0


def check_plan(plan: Plan, resolved: ResolvedOptions) -> tuple[Finding, ...]:
    """Check a plan as `check PLAN` would, before it is written."""
    target = target_lists(plan).to_target()
    return check(plan.state, target, rules_of(plan, resolved))


def rules_of(plan: Plan, resolved: ResolvedOptions) -> CheckSettings:
    """Return the rules for checking a plan: the limits under which it was made."""
    state, settings = plan.state, resolved.settings
    destination = settings.destination_brokers
    excluded = settings.excluded_for_replicas
    if destination is not None:
        excluded |= set(state.brokers.ids.tolist()) - destination
    leaving = state.brokers.ids[plan.placed.draft.leaves].tolist()
    rules = CheckSettings(
        capacity_thresholds={
            str(r): value for r, value in settings.capacity_thresholds.items()
        },
        excluded_for_replicas=frozenset(excluded),
        excluded_for_leaders=settings.excluded_for_leaders,
        excluded_topics=_excluded_names(state, resolved),
        leaving_brokers=frozenset(leaving),
        allow_replication_factor_change=describe(plan.goal).changes_factors,
    )
    return with_chosen_rules(rules, resolved.document, state, plan.goal)


def _excluded_names(state: ClusterState, resolved: ResolvedOptions) -> frozenset[str]:
    excluded = resolved.settings.excluded_topics
    if excluded is None:
        return frozenset()
    return frozenset(state.topics.names[t] for t in np.nonzero(excluded)[0])
