"""Plan of one operation on one cluster, checked by separate code."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from placement.check import CheckSettings, Finding, check, is_ok
from placement.core.model.gap_report import listening
from placement.core.model.search_budget import EFFORTS
from placement.core.search.compilation import needs_compiling
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, BrokerState, ClusterState
from placement.model.load import Resource
from placement.operations import (
    AddBrokers,
    Defect,
    Demote,
    Fix,
    Leaders,
    LogDirs,
    Operation,
    Rebalance,
    RemoveBrokers,
    ReplaceBroker,
    SetReplicationFactor,
)
from placement.operations.leaders import LED
from placement.planning.infeasibility.infeasible_rules import explain_impossible
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan as plan_placement
from planner.errors import BadInputError, InputProblem
from planner.options.cluster_options import ResolvedOptions, read_request
from planner.options.declared.replication_factors import topic_factors
from planner.options.new_brokers import arrival_notes
from planner.options.overrides import seen_as
from planner.options.plan_request import PlanRequest
from planner.plan.documents.infeasibility import with_remedies
from planner.plan.documents.log_dir_document import read_dirs
from planner.plan.documents.plan_document import Plan, make_plan
from planner.plan.folder.plan_folder import target_lists
from planner.plan.input.check_settings import with_chosen_rules
from planner.plan.input.plan_input import CHANGES_FACTORS
from planner.plan.run.outcome_notes import with_outcome_notes
from planner.plan.waves.wave_files import check_planned, plan_waves
from planner.progress import stage
from planner.text.format import bytes_text, percent_text
from planner.topic_resources import NO_RESOURCES, TopicResource

_NOTHING = "nothing"
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
    taken_at: str | None = None,
    resources: Mapping[str, TopicResource] = NO_RESOURCES,
) -> Planned:
    """
    Plan an operation.

    Parameters
    ----------
    state
        The cluster.
    request
        The operation and its options.
    taken_at
        Time of the snapshot, as the snapshot gives it.
    resources
        KafkaTopic resources by topic, where the snapshot has them.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster.
    """
    identity = state
    given = request.options
    state = seen_as(state, given.rack_map, given.cpu_weight)
    resolved = read_request(request, state)
    operation = OPERATIONS[request.goal](resolved.state, resolved)
    has_rounds = EFFORTS[resolved.settings.effort].more_rounds > 0
    is_first = needs_compiling(len(resolved.state.replicas), has_rounds=has_rounds)
    once = ", the search compiled once for all" if is_first else ""
    placed = _placed(resolved, operation, f"planning {request.goal}{once}")
    to_come = arrival_notes(resolved.state, resolved.arrivals)
    placed = replace(placed, notes=(*placed.notes, *to_come))
    infeasible_set = explain_impossible(operation, resolved.settings, placed)
    plan = make_plan(
        request.goal,
        with_remedies(placed, infeasible_set),
        taken_at=taken_at,
        settings=resolved.document,
        identity=identity,
        infeasible_set=infeasible_set,
    )
    plan = with_outcome_notes(replace(plan, resources=resources))
    stage("checking the plan")
    checked = _checking(plan, resolved)
    if resolved.waves is not None:
        stage("cutting the plan into waves")
        waves = plan_waves(placed.reassignment, placed.weights_before, resolved.waves)
        plan = replace(plan, waves=waves)
        findings = (*checked(), *check_planned(waves))
        return Planned(plan=plan, checked=lambda: findings)
    return Planned(plan=plan, checked=checked)


def _placed(
    resolved: ResolvedOptions, operation: Operation, words: str
) -> PlannedPlacement:
    """Plan a placement; show the gap between copied bytes and their bound meanwhile."""
    stage(words)
    if _is_priced(resolved.settings):
        # With priced moves, the cost is no sum of bytes.
        return plan_placement(resolved.state, operation, resolved.settings)
    with listening(lambda cost, bound: stage(f"{words}: {_gap_text(cost, bound)}")):
        return plan_placement(resolved.state, operation, resolved.settings)


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
        allow_replication_factor_change=plan.goal in CHANGES_FACTORS,
    )
    return with_chosen_rules(rules, resolved.document, state, plan.goal)


def _excluded_names(state: ClusterState, resolved: ResolvedOptions) -> frozenset[str]:
    excluded = resolved.settings.excluded_topics
    if excluded is None:
        return frozenset()
    return frozenset(state.topics.names[t] for t in np.nonzero(excluded)[0])


def _rebalance(state: ClusterState, resolved: ResolvedOptions) -> Operation:
    return Rebalance()


def _add_brokers(state: ClusterState, resolved: ResolvedOptions) -> Operation:
    is_new = np.equal(state.brokers.state, BrokerState.NEW)
    if resolved.options.broker_list is None:
        if not is_new.any():
            rule = "one broker of the snapshot must be new, or be named"
            raise _broker_list_error(_NOTHING, rule, _brokers_to_fill(state))
        return AddBrokers()
    rows = state.brokers.rows_of(resolved.options.broker_list)
    off = [
        broker_id
        for broker_id, row in zip(resolved.options.broker_list, rows, strict=True)
        if row == ABSENT or not state.brokers.is_live[row]
    ]
    if off:
        value = ",".join(map(str, off))
        rule = "brokers to be filled must be live"
        raise _broker_list_error(value, rule, "start them, or leave them out")
    to_come = (arrival.broker_id for arrival in resolved.arrivals)
    return AddBrokers(tuple(dict.fromkeys((*resolved.options.broker_list, *to_come))))


def _brokers_to_fill(state: ClusterState) -> str:
    """Return the remedy: the empty brokers of the snapshot, or a new one."""
    brokers = state.brokers
    held = np.bincount(state.replicas.broker_idx, minlength=len(brokers))
    empty = brokers.ids[brokers.is_live & (held == 0)].tolist()
    if empty:
        return f"name the empty ones: --broker-list {','.join(map(str, empty))}"
    coming = int(brokers.ids.max(initial=0)) + 1
    return f"no broker is empty; describe one to come: --new-broker id={coming}"


def _remove_brokers(state: ClusterState, resolved: ResolvedOptions) -> Operation:
    if not resolved.options.broker_list:
        rule = "brokers to be removed must be named"
        raise _broker_list_error(_NOTHING, rule, "name them: 4,5")
    return RemoveBrokers(resolved.options.broker_list)


def _leaders(state: ClusterState, resolved: ResolvedOptions) -> Operation:
    others = sorted(set(resolved.settings.resources or ()) - set(LED))
    if others:
        problem = InputProblem(
            file="command line",
            place="--resources",
            value=",".join(others),
            rule=f"the order of replicas decides {', '.join(LED)} alone",
            remedy="leave the others out, or plan rebalance",
        )
        msg = "bad options"
        raise BadInputError(msg, [problem])
    return Leaders(orders_followers=resolved.options.order_followers)


def _replace_broker(state: ClusterState, resolved: ResolvedOptions) -> Operation:
    options = resolved.options
    return ReplaceBroker(tuple(zip(options.broker, options.with_broker, strict=True)))


def _demote(state: ClusterState, resolved: ResolvedOptions) -> Operation:
    if not resolved.options.broker_list and not resolved.options.log_dirs:
        rule = "brokers or log dirs to be demoted must be named"
        raise _broker_list_error(_NOTHING, rule, "name them: 4, or --log-dirs 4:/d1")
    return Demote(resolved.options.broker_list or (), resolved.options.log_dirs)


def _set_replication_factor(
    state: ClusterState, resolved: ResolvedOptions
) -> Operation:
    factors, notes = topic_factors(
        state,
        resolved.options.replication_factors or (),
        resolved.options.replication_factor,
        is_excluded=resolved.settings.excluded_topics,
        named=resolved.options.topic,
    )
    return SetReplicationFactor(factors, notes)


def _log_dirs(state: ClusterState, resolved: ResolvedOptions) -> Operation:
    others = sorted(set(resolved.settings.resources or ()) - {Resource.DISK})
    refused = [("--resources", ",".join(others), "log dirs share out disk alone")] * (
        len(others) > 0
    )
    problems = [
        InputProblem(
            file="command line",
            place=place,
            value=value,
            rule=rule,
            remedy="leave it out",
        )
        for place, value, rule in refused
    ]
    rows: tuple[int, ...] = ()
    try:
        rows = read_dirs("--empty", resolved.options.empty, state)
    except BadInputError as error:
        problems += error.problems
    if problems:
        msg = "bad options"
        raise BadInputError(msg, problems)
    return LogDirs(rows)


def _fix(state: ClusterState, resolved: ResolvedOptions) -> Operation:
    only, lost = resolved.options.only, resolved.options.lost
    return Fix(frozenset(map(Defect, only)) or frozenset(Defect), frozenset(lost or ()))


def _broker_list_error(value: str, rule: str, remedy: str) -> BadInputError:
    problem = InputProblem(
        file="command line",
        place="--broker-list",
        value=value,
        rule=rule,
        remedy=remedy,
    )
    return BadInputError("bad options", [problem])


OPERATIONS: Mapping[str, Callable[[ClusterState, ResolvedOptions], Operation]] = {
    "rebalance": _rebalance,
    "add-brokers": _add_brokers,
    "remove-brokers": _remove_brokers,
    "leaders": _leaders,
    "replace-broker": _replace_broker,
    "demote": _demote,
    "fix": _fix,
    "set-replication-factor": _set_replication_factor,
    "log-dirs": _log_dirs,
}
