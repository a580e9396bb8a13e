"""Independent check of a plan that was read from files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from placement.check import CheckSettings, CustomRule, Finding, check
from placement.model.cluster import ClusterState
from placement.operations.descriptor import describe
from planner.options.overrides import seen_as
from planner.plan.input.plan_input import PlanInput, check_settings
from planner.plan.input.wave_input import WavesInput
from planner.plan.run.check_new_partitions import check_new_plan


def check_given(
    given: PlanInput,
    waves: WavesInput | None,
    before: ClusterState,
    *,
    capacity_thresholds: Mapping[str, float],
    allow_replication_factor_change: bool = False,
    custom: Sequence[CustomRule] = (),
) -> tuple[Finding, ...]:
    """
    Check a plan, and its waves, on the cluster before it.

    Parameters
    ----------
    given
        The plan.
    waves
        Its waves, if it has any.
    before
        The cluster before the plan.
    capacity_thresholds
        Thresholds by resource in place of those of the plan.
    allow_replication_factor_change
        Whether lists may be longer or shorter than the replication factor.
    custom
        Rules of the caller, besides those of the plan.

    Returns
    -------
    Findings, those that existed before the plan included.
    """
    before = seen_as(before, given.settings.rack_map, given.settings.cpu_weights)

    def rules(state: ClusterState) -> CheckSettings:
        settings = check_settings(
            given,
            state,
            capacity_thresholds=capacity_thresholds,
            allow_replication_factor_change=allow_replication_factor_change,
        )
        return replace(settings, custom=(*settings.custom, *custom))

    findings: tuple[Finding, ...]
    if describe(given.goal).creates_partitions and len(given.reassignment):
        findings = tuple(check_new_plan(given, before, rules))
    else:
        findings = tuple(check(before, given.target, rules(before)))
    if waves is not None:
        findings = (*findings, *waves.check(before, given.reassignment))
    return findings
