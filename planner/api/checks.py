"""Plans checked before they run, applied to snapshots, and verified afterwards."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from placement.check import CustomRule, Finding, is_ok
from placement.operations.descriptor import describe
from planner.api.errors import named_as_arguments, required
from planner.api.result import PlanResult
from planner.execution.choices import read_choices
from planner.execution.preflight import Ignorable
from planner.execution.prepare import Prepared, prepare
from planner.plan.documents.plan_document import to_document
from planner.plan.folder.plan_folder import rollback_lists, target_lists
from planner.plan.input.plan_input import (
    PlanInput,
    PlanSettings,
    read_plan,
)
from planner.plan.run.check_given_plan import check_given
from planner.plan.waves.wave_files import wave_lists
from planner.snapshot import Snapshot
from planner.snapshot.actions.apply_plan import apply_plan as apply
from planner.status.throttles_in_force import throttles_in
from planner.verify import Verification, verify
from planner.verify.whole_plan import verify_read

AnyPlan = PlanResult | str | PathLike[str]
"""A result of a planning function, a plan folder, or a reassignment JSON file."""
MAX_SHOWN = 10


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult:
    """
    Findings of the independent checker on a plan.

    Parameters
    ----------
    findings
        Every finding; `existing` ones precede the plan and are not caused by it.
    """

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether changed partitions have no finding, and the plan causes none."""
        return is_ok(self.findings)

    def __repr__(self) -> str:
        caused = [finding for finding in self.findings if finding.is_wrong]
        lines = [f"{one.rule}: {one.message}" for one in caused[:MAX_SHOWN]]
        if len(caused) > MAX_SHOWN:
            lines.append(f"… and {len(caused) - MAX_SHOWN} more")
        return "\n".join(lines) or "ok"


def check_plan(
    plan: AnyPlan,
    snapshot: Snapshot,
    *,
    capacity_threshold: Mapping[str, float] | None = None,
    allow_replication_factor_change: bool = False,
    rules: Sequence[CustomRule] = (),
) -> CheckResult:
    """
    Check a plan against every rule, by code independent of the solver.

    Parameters
    ----------
    plan
        A result of a planning function, a plan folder, or a reassignment JSON file.
    snapshot
        The cluster before the plan.
    capacity_threshold
        Fractions by resource that replace those of the plan.
    allow_replication_factor_change
        Whether lists may become longer or shorter.
    rules
        Custom rules: functions of the cluster and the target that yield findings.

    Raises
    ------
    BadInputError
        If the plan cannot be read; has every problem.
    """
    findings = check_given(
        _plan_input(plan),
        None,
        required(snapshot).to_state(),
        capacity_thresholds=capacity_threshold or {},
        allow_replication_factor_change=allow_replication_factor_change,
        custom=rules,
    )
    return CheckResult(findings)


def preview_plan(
    plan: str | PathLike[str],
    snapshot: Snapshot,
    *,
    throttle: str | int | None = None,
    allow_drift: bool = False,
    ignore: Collection[Ignorable] = (),
) -> Prepared:
    """
    Preview a plan on a cluster as it is now: stages, time, and what stops it.

    Parameters
    ----------
    plan
        A plan folder, or a reassignment JSON file.
    snapshot
        The cluster now; see `planner.take_snapshot`.
    throttle
        Rate in bytes/s at which a broker copies, or a text such as ``80MB/s``;
        `None`: that of the plan's waves, else 50 MB/s.
    allow_drift
        Whether partitions that are no longer as planned are left out.
    ignore
        Names of reasons that do not stop it.

    Raises
    ------
    BadInputError
        If the plan cannot be read, is of another cluster, or an argument is wrong; has
        every problem.
    """
    with named_as_arguments():
        choices = read_choices(throttle, ignore, allow_drift=allow_drift)
    return prepare(read_plan(Path(plan)), required(snapshot), choices)


def verify_plan(plan: AnyPlan, snapshot: Snapshot) -> Verification:
    """
    Compare a cluster with a plan that was started.

    Parameters
    ----------
    plan
        A result of a planning function, a plan folder, or a reassignment JSON file.
    snapshot
        The cluster now; see `planner.take_snapshot`.

    Raises
    ------
    BadInputError
        If the plan cannot be read; has every problem.
    """
    given = _plan_input(plan)
    if not isinstance(plan, PlanResult):
        return verify_read(given, required(snapshot))
    waves = plan.planned.plan.waves
    return verify(
        required(snapshot).to_state(),
        given.reassignment,
        rollback=given.before,
        throttles=throttles_in(snapshot),
        waves=() if waves is None else [wave_lists(waves, w) for w in waves.steps],
        creates=describe(given.goal).creates_partitions,
    )


def apply_plan(plan: AnyPlan, snapshot: Snapshot) -> Snapshot:
    """
    Return the snapshot after a plan has run and leaders have been elected.

    Parameters
    ----------
    plan
        A result of a planning function, a plan folder, or a reassignment JSON file.
    snapshot
        The cluster before the plan.

    Raises
    ------
    BadInputError
        If the plan cannot be read, or does not fit the snapshot.
    """
    return apply(required(snapshot), _plan_input(plan).reassignment)


def _plan_input(plan: AnyPlan) -> PlanInput:
    """Return a plan in the form in which it is read from its folder."""
    if not isinstance(plan, PlanResult):
        return read_plan(Path(plan))
    made = plan.planned.plan
    changed = np.nonzero(made.placed.reassignment.is_changed)[0]
    document = to_document(made)
    return PlanInput(
        path=Path(),
        reassignment=target_lists(made).to_file(),
        rollback=rollback_lists(made.state, changed).to_file(),
        goal=made.goal,
        settings=PlanSettings.model_validate(document["settings"]),
        document=document,
    )
