"""Check of a target placement against all rules in turn."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from placement.check.case.check_settings import CheckSettings, CustomRule
from placement.check.case.finding import Finding
from placement.check.case.plan_case import Case, look_up
from placement.check.case.target_placement import Target
from placement.check.goals.hard_goals import hard_goals
from placement.check.rules.capacity_rules import capacity, max_replicas
from placement.check.rules.fetch_sources import no_source
from placement.check.rules.log_dir_capacity import log_dir_capacity
from placement.check.rules.placement_rules import (
    dead_broker,
    excluded,
    log_dir,
    min_isr,
)
from placement.check.rules.rack_rule import rack
from placement.check.rules.shape_rules import (
    duplicate_broker,
    duplicate_partition,
    empty_replicas,
    replication_factor,
    stale,
    unknown_broker,
    unknown_partition,
    unknown_topic,
)
from placement.model.cluster import ClusterState

RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    unknown_broker,
    dead_broker,
    duplicate_broker,
    unknown_topic,
    unknown_partition,
    duplicate_partition,
    empty_replicas,
    replication_factor,
    rack,
    capacity,
    max_replicas,
    log_dir,
    log_dir_capacity,
    min_isr,
    no_source,
    excluded,
    stale,
)
RULE_NAMES = tuple(rule.__name__.replace("_", "-") for rule in RULES)


def check(
    before: ClusterState, target: Target, settings: CheckSettings | None = None
) -> tuple[Finding, ...]:
    """
    Check a target placement against every rule.

    Parameters
    ----------
    before
        Cluster before the plan.
    target
        Target placement of the plan.
    settings
        Limits and exclusions of the plan; `None`: the defaults.

    Returns
    -------
    Findings in the order of the rules, then of rows; those of custom rules last. A
    violation of any rule that existed before and is no worse with the plan is marked
    `existing`.

    Notes
    -----
    Takes time and memory in proportion to the replicas (and a sort of them).
    """
    case = look_up(before, target, settings or CheckSettings())
    skipped = case.settings.skipped
    found = [
        finding
        for rule, name in zip(RULES, RULE_NAMES, strict=True)
        if name not in skipped
        for finding in rule(case)
    ]
    if case.settings.hard_goals is not None:
        found.extend(hard_goals(case, case.settings.hard_goals))
    for custom in case.settings.custom:
        found.extend(_compared(custom, before, target))
    soft = case.settings.soft
    return tuple(
        replace(finding, soft=True) if _names(finding) & soft else finding
        for finding in found
    )


def _compared(
    custom: CustomRule, before: ClusterState, target: Target
) -> Iterator[Finding]:
    """Yield the findings of a rule, those also found without a plan as existing."""
    found = list(custom(before, target))
    if not any(finding.is_wrong for finding in found):
        yield from found
        return
    was = set(custom(before, Target.from_lists([], [], [])))
    for finding in found:
        is_as_before = replace(finding, existing=False) in was
        yield replace(finding, existing=finding.existing or is_as_before)


def _names(finding: Finding) -> set[str]:
    """Return the names of a finding's rule in `CheckSettings.soft`."""
    name = finding.rule.replace("host-capacity", "host")
    name = name.replace("log-dir-capacity", "capacity")
    return {name, f"{name}-{finding.where.resource}"}


def is_ok(findings: tuple[Finding, ...]) -> bool:
    """Return whether no finding is wrong, that is, caused or made worse by the plan."""
    return not any(finding.is_wrong for finding in findings)
