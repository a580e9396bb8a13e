"""`cancel`: what a plan has under way is taken back, and its throttles come off."""

import shlex

import typer

from planner.cli.common.cluster_source import ClusterSource
from planner.cli.common.common_options import (
    BootstrapServer,
    CommandConfig,
    Format,
    OutputFormat,
    PlanArgument,
    Quiet,
    Verbose,
)
from planner.cli.common.input_problems import Gatherer
from planner.cli.run.run_options import JournalOption, Yes
from planner.cli.snapshot.snapshot_live import Resolve, Timeout


def cancel(
    plan: PlanArgument,
    *,
    bootstrap_server: BootstrapServer = None,
    command_config: CommandConfig = None,
    yes: Yes = False,
    journal: JournalOption = None,
    resolve: Resolve = None,
    timeout: Timeout = 30.0,
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
    from planner.cli.run.interruption import explained_interruption
    from planner.execution.cluster.live_cluster import LiveCluster
    from planner.execution.run.journal import journal_path
    from planner.execution.undo.cancel import cancel as cancel_plan
    from planner.execution.undo.cancel import under_way
    from planner.plan.input.plan_input import read_plan

    source = ClusterSource(
        snapshot=None,
        bootstrap_server=bootstrap_server,
        command_config=command_config,
        resolve=resolve,
        timeout_s=timeout,
        allow_partial=True,
        quiet=quiet,
    )
    inputs = Gatherer()
    given = inputs.read(lambda: read_plan(plan))
    client = inputs.read(source.open)
    inputs.raise_problems()
    if given is None or client is None:  # pragma: no cover - raised just above
        return
    output = EventOutput(is_json=output_format is OutputFormat.JSON, quiet=quiet)
    with client:
        cluster = LiveCluster(client, allow_partial=True)
        path = journal or journal_path(plan)
        if not yes:
            raise typer.Exit(output.print_all(under_way(given, path, cluster)))
        command = f"kafka-planner cancel {shlex.quote(str(plan))} {source.connection}"
        with explained_interruption(given, path, command, cluster):
            raise typer.Exit(output.print_all(cancel_plan(given, path, cluster)))
