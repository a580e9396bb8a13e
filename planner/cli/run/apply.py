"""`apply`: preview of a plan on the cluster as it is now, and with --yes its run."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    PlanArgument,
    Quiet,
    SampleSeconds,
    SnapshotNow,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import notes_unless, print_json
from planner.cli.run.read_job import read_job
from planner.cli.run.run_options import (
    AllowDrift,
    Ignore,
    JournalOption,
    MaxAge,
    PlanId,
    RunOptions,
    SetControl,
    Yes,
    with_run_options,
)
from planner.errors import BadInputError, InputProblem, raise_problems
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from planner.execution.prepare import Prepared
    from planner.execution.run.run import Job
    from planner.snapshot import Snapshot


@with_cluster()
@with_run_options
def apply(
    plan: PlanArgument,
    *,
    snapshot: SnapshotNow = None,
    source: ClusterSource,
    yes: Yes = False,
    plan_id: PlanId = None,
    max_age: MaxAge = "1h",
    options: RunOptions,
    set_control: SetControl = None,
    allow_drift: AllowDrift = False,
    ignore: Ignore = None,
    journal: JournalOption = None,
    sample_seconds: SampleSeconds = 5.0,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Carry out a plan; without --yes, a preview of the same stages.

    Looks at the cluster anew, and begins only if nothing stops the plan. The same
    command again goes on with a run that was interrupted. Exits 0 if the plan is
    completed (a preview: if nothing stops it), 3 if work is left, 6 if unknown.

    \b
    Example: kafka-planner apply plan --bootstrap-server k1:9092 --yes
    """  # noqa: D301 - the first is Click's mark to leave these lines as they are
    if set_control:
        _set(plan, journal, set_control)
        return
    inputs = Gatherer()
    inputs.read(source.check)
    inputs.read(lambda: _refuse_snapshot(yes, snapshot))
    job = read_job(
        inputs,
        source,
        "apply",
        plan,
        options,
        ignore=ignore,
        journal=journal,
        allow_drift=allow_drift,
    )
    now = inputs.read(source.read_file)
    inputs.raise_problems()
    if job is None:  # pragma: no cover - raised just above
        return
    job = replace(job, plan_id=plan_id, sample_s=sample_seconds)
    if yes:
        _refuse_unseen(job, max_age)
        raise typer.Exit(_carry_out(job, source, output_format))
    found = _prepared(job, source, now)
    _print_preview(
        found, None if now is not None else f"{job.command} --yes", output_format
    )
    raise typer.Exit(ExitCode.OK if found.is_ready else ExitCode.FINDINGS)


def _prepared(job: "Job", source: ClusterSource, now: "Snapshot | None") -> "Prepared":
    """Return the plan as it would run, on a snapshot or on the running cluster."""
    from planner.execution.run.journal import read_journal
    from planner.execution.run.run import prepare_run, tried
    from planner.execution.run.run_throttles import OwnThrottles

    own = OwnThrottles.from_journal(read_journal(job.journal))
    if now is not None:
        return prepare_run(job, now, own)
    from planner.cli.run.carry_out import rights_lacking
    from planner.execution.cluster.live_cluster import LiveCluster

    with source.open() as client:
        note = notes_unless(source.quiet)
        cluster = LiveCluster(client, allow_partial=source.allow_partial, note=note)
        lacking = rights_lacking(client, job)
        found = prepare_run(job, cluster.snapshot(job.sample_s), own, lacking)
        return tried(found, cluster)


def _print_preview(
    found: "Prepared", command: str | None, output_format: OutputFormat
) -> None:
    from planner.execution.apply_records import ApplyPreviewRecord
    from planner.execution.apply_screen import preview_screen

    if output_format is OutputFormat.JSON:
        document = ApplyPreviewRecord.of(found, now=datetime.now(UTC))
        print_json(document.model_dump(mode="json"))
    else:
        typer.echo("\n".join(preview_screen(found, command)))


def _set(plan: Path, journal: Path | None, texts: list[str]) -> None:
    """Change the controls of a run that is under way."""
    from planner.execution.run.controls import ControlFile, control_path
    from planner.execution.run.journal import journal_path
    from planner.execution.run.run_lock import is_held

    path = journal or journal_path(plan)
    if not is_held(path):
        problem = InputProblem.of_option(
            "--set",
            ", ".join(texts),
            f"needs a run of the plan on this machine: none holds {path}",
            "start it with --yes",
        )
        msg = "no run is under way"
        raise BadInputError(msg, [problem])
    controls = ControlFile(control_path(path)).set(texts)
    words = "paused" if controls.is_paused else "not paused"
    if controls.throttle_bytes_per_s is not None:
        words += f", throttle {controls.throttle_bytes_per_s} bytes/s"
    typer.echo(f"set: {words}; the run takes it within some seconds")


def _refuse_snapshot(yes: bool, snapshot: Path | None) -> None:
    """
    Refuse to carry out a plan on a snapshot.

    Raises
    ------
    BadInputError
        If both are given.
    """
    if yes and snapshot is not None:
        problem = InputProblem.of_option(
            "--yes",
            "with --snapshot",
            "needs a running cluster",
            "give --bootstrap-server H:P, or leave --yes out",
        )
        msg = "a snapshot cannot be changed"
        raise BadInputError(msg, [problem])


def _refuse_unseen(job: "Job", max_age: str) -> None:
    """
    Refuse to run a plan that has not been seen, where no question can be asked.

    Raises
    ------
    BadInputError
        If there is no terminal, and no plan id, or an old snapshot.
    """
    from planner.execution.run.unattended import unattended_problems

    problems = unattended_problems(
        job, max_age, is_attended=sys.stdin.isatty(), now=datetime.now(UTC)
    )
    raise_problems("a run without a terminal needs a plan that was previewed", problems)


def _carry_out(
    job: "Job", source: ClusterSource, output_format: OutputFormat
) -> ExitCode:
    from planner.cli.run.carry_out import carry_out
    from planner.execution.run.run import run

    is_json = output_format is OutputFormat.JSON
    return carry_out(job, source, run, is_json=is_json)
