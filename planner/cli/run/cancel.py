"""`cancel`: what a plan has under way is taken back, and its throttles come off."""

import shlex
from pathlib import Path
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
from planner.cli.run.run_options import JournalOption, Yes
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from planner.cli.common.exit_codes import ExitCode
    from planner.cli.run.event_output import EventOutput
    from planner.execution.cluster.live_cluster import LiveCluster
    from planner.plan.input.plan_input import PlanInput


@with_cluster(has_partial=False)
def cancel(
    plan: PlanArgument,
    *,
    source: ClusterSource,
    yes: Yes = False,
    journal: JournalOption = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Take back what a plan has under way; without --yes, a preview.

    A run of the plan stops first, then its reassignments are cancelled, brokers that
    are down included, and the throttles of its runs come off. What has been moved
    stays; kafka-planner rollback brings it back. Exits 0 if all was taken back, else 3.

    Example: kafka-planner cancel plan --bootstrap-server k1:9092 --yes
    """
    from planner.cli.run.event_output import EventOutput
    from planner.cli.run.interruption import ended_by_signals, with_journal
    from planner.execution.cluster.live_cluster import LiveCluster
    from planner.execution.run.journal import journal_path
    from planner.execution.undo.cancel import under_way
    from planner.plan.input.plan_input import read_plan

    inputs = Gatherer()
    given = inputs.read(lambda: read_plan(plan))
    with ended_by_signals():
        client = inputs.read(source.open)
        inputs.raise_problems()
        if given is None or client is None:  # pragma: no cover - raised just above
            return
        output = EventOutput(is_json=output_format is OutputFormat.JSON, quiet=quiet)
        path = journal or journal_path(plan)
        with client:
            cluster = LiveCluster(client, allow_partial=True)
            if not yes:
                raise typer.Exit(output.print_all(under_way(given, path, cluster)))
            words = f"kafka-planner cancel {shlex.quote(str(plan))} {source.connection}"
            command = with_journal(words, journal)
            raise typer.Exit(_carry_out(given, path, cluster, output, command))


def _carry_out(
    plan: "PlanInput",
    journal: Path,
    cluster: "LiveCluster",
    output: "EventOutput",
    command: str,
) -> "ExitCode":
    from planner.cli.run.interruption import explained_interruption
    from planner.execution.undo.cancel import cancel as cancel_plan

    with explained_interruption(plan, journal, command, cluster):
        return output.print_all(cancel_plan(plan, journal, cluster))
