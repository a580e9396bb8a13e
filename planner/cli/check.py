"""`check`: every rule checked before a plan runs, by separate code."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    PlanArgument,
    Quiet,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json
from planner.io.gatherer import Gatherer
from planner.text.table import Column, table_lines

if TYPE_CHECKING:
    from placement.check import Finding
    from placement.model.cluster import ClusterState
    from planner.plan.input.plan_input import PlanInput

UNMET = {"partial", "infeasible"}
"""Statuses of plans that do not meet every hard rule."""
MAX_FINDINGS_SHOWN = 50

SnapshotOption = Annotated[
    Path,
    typer.Option(
        "--snapshot",
        metavar="SNAP",
        help="The cluster before the plan: .json, .json.gz or a Parquet folder.",
    ),
]
AllowFactorChange = Annotated[
    bool,
    typer.Option(
        "--allow-replication-factor-change",
        help="Accept lists longer or shorter than the replication factor.",
    ),
]
CapacityThreshold = Annotated[
    list[str] | None,
    typer.Option(
        "--capacity-threshold",
        metavar="RESOURCE=FRACTION",
        help="Fraction of a capacity (disk, in, out, cpu) that no broker may exceed; "
        "by default the plan's own, else 0.8, cpu 0.7. Repeatable.",
    ),
]


def check(
    plan: PlanArgument,
    *,
    snapshot: SnapshotOption,
    allow_replication_factor_change: AllowFactorChange = False,
    capacity_threshold: CapacityThreshold = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Check a plan before it runs, by code independent of the solver.

    Exits 0 if the plan breaks no rule, 3 if it does. Problems that the plan does not
    cause are listed too, and do not count.

    Example: kafka-planner check plan --snapshot prod.json
    """
    from placement.check import is_ok
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.options.declared.value_readers import read_capacity_thresholds
    from planner.options.overrides import seen_as
    from planner.plan.input.plan_input import read_plan
    from planner.plan.input.wave_input import read_waves
    from planner.plan.run.check_given_plan import check_given

    inputs = Gatherer()
    thresholds = inputs.read(lambda: read_capacity_thresholds(capacity_threshold or ()))
    given = inputs.read(lambda: read_plan(plan))
    waves = inputs.read(lambda: read_waves(plan))
    before = inputs.read(lambda: read_snapshot(snapshot).to_state())
    inputs.raise_problems()
    if given is None or before is None:  # pragma: no cover - raised just above
        return
    findings = check_given(
        given,
        waves,
        before,
        capacity_thresholds=thresholds or {},
        allow_replication_factor_change=allow_replication_factor_change,
    )
    before = seen_as(before, given.settings.rack_map, given.settings.cpu_weights)
    if output_format is OutputFormat.JSON:
        remedies = _remedies(findings, given, before)
        listed = [
            {**finding.to_dict(), "remedy": remedy}
            for finding, remedy in zip(findings, remedies, strict=True)
        ]
        print_json({"ok": is_ok(findings), "findings": listed})
    else:
        typer.echo(_text(findings, given, before))
    raise typer.Exit(ExitCode.OK if is_ok(findings) else ExitCode.FINDINGS)


def _remedies(
    findings: Sequence["Finding"], given: "PlanInput", before: "ClusterState"
) -> list[str | None]:
    """Return a command that repairs each finding, but none that the plan tried."""
    from planner.plan.run.prior_violations import remedy_of, tried_remedies

    tried = tried_remedies(
        given.goal,
        given.document.get("settings") or {},
        before,
        has_met_rules=given.document.get("status") not in UNMET,
    )
    found = (remedy_of(finding, before) for finding in findings)
    return [None if remedy in tried else remedy for remedy in found]


def _text(
    findings: Sequence["Finding"], given: "PlanInput", before: "ClusterState"
) -> str:
    from placement.check.checker import RULE_NAMES

    num_entries = len(given.reassignment)
    caused = [finding for finding in findings if finding.is_wrong]
    soft = [finding for finding in findings if finding.soft]
    existing = [one for one in findings if one.existing and not one.soft]
    if caused:
        verdict = (
            f"not ok: {len(caused)} findings in a plan of {num_entries} partitions"
        )
    elif existing:
        verdict = f"ok: {num_entries} partitions make nothing worse"
    else:
        verdict = f"ok: {num_entries} partitions keep {len(RULE_NAMES)} rules"
    lines = [verdict, *_listed(caused)]
    if soft:
        lines += [f"goals that are not met in full: {len(soft)}", *_listed(soft)]
    if existing:
        lines += [f"wrong before, and no worse with this plan: {len(existing)}"]
        lines += _listed(existing)
        remedies = dict.fromkeys(_remedies(existing, given, before))
        lines += [f"  repaired by: {text}" for text in remedies if text]
    return "\n".join(lines)


def _listed(findings: Sequence["Finding"]) -> list[str]:
    shown = findings[:MAX_FINDINGS_SHOWN]
    rows = [("", finding.rule, finding.message) for finding in shown]
    columns = [Column(), Column(least=19, gap=1), Column()]
    lines = table_lines(columns, rows)
    if len(findings) > len(shown):
        rest = len(findings) - len(shown)
        lines.append(f"  … and {rest} more; --format json lists all")
    return lines
