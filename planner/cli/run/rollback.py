"""`rollback`: what a plan has changed comes back, and with --yes it is done."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    PlanArgument,
    Quiet,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import notes_unless, print_json
from planner.cli.run.read_job import read_job
from planner.cli.run.run_options import (
    Ignore,
    JournalOption,
    RunOptions,
    Yes,
    with_run_options,
)
from planner.io.gatherer import Gatherer
from planner.text.format import plural

if TYPE_CHECKING:
    from planner.execution.run.run import Job


@with_cluster()
@with_run_options
def rollback(
    plan: PlanArgument,
    *,
    source: ClusterSource,
    yes: Yes = False,
    options: RunOptions,
    ignore: Ignore = None,
    journal: JournalOption = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Bring back what a plan has changed; without --yes, a preview.

    Reassignments under way are cancelled first. The way back is a plan in waves,
    checked, and written into the folder of the plan. Lists, order, log dirs and leaders
    end as they were. Exits 0 if all is back, 3 if not.

    Example: kafka-planner rollback plan --bootstrap-server k1:9092 --yes
    """
    inputs = Gatherer()
    job = read_job(
        inputs,
        source,
        "rollback",
        plan,
        options,
        ignore=ignore,
        journal=journal,
    )
    inputs.raise_problems()
    if job is None:  # pragma: no cover - raised just above
        return
    is_json = output_format is OutputFormat.JSON
    raise typer.Exit(
        _carry_out(job, source, is_json) if yes else _preview(job, source, is_json)
    )


def _carry_out(job: "Job", source: ClusterSource, is_json: bool) -> ExitCode:
    from planner.cli.run.carry_out import carry_out
    from planner.execution.undo.rollback import roll_back

    note = notes_unless(source.quiet)
    return carry_out(
        job, source, lambda job, cluster: roll_back(job, cluster, note), is_json=is_json
    )


def _preview(job: "Job", source: ClusterSource, is_json: bool) -> ExitCode:
    """Print the way back, without changing anything."""
    from planner.cli.run.event_output import EventOutput
    from planner.execution.apply_records import ApplyPreviewRecord
    from planner.execution.apply_screen import preview_screen
    from planner.execution.cluster.live_cluster import LiveCluster
    from planner.execution.undo.rollback import preview_rollback, roll_back

    note = notes_unless(source.quiet)
    with source.open() as client:
        cluster = LiveCluster(client, allow_partial=source.allow_partial, note=note)
        if job.creates_partitions:
            output = EventOutput(is_json=is_json, quiet=source.quiet)
            return output.print_all(roll_back(job, cluster, note))
        found = preview_rollback(job, cluster.snapshot())
    for text in found.left_out:
        note(text)
    if found.num_moving:
        note(f"{plural(found.num_moving, 'partition')} that move are cancelled first")
    if is_json:
        document = ApplyPreviewRecord.of(found.prepared, now=datetime.now(UTC))
        print_json(document.model_dump(mode="json"))
    else:
        lines = preview_screen(found.prepared, f"{job.command} --yes")
        typer.echo("\n".join(lines))
    return ExitCode.OK if found.prepared.is_ready else ExitCode.FINDINGS
