"""`apply`: preview of a plan on the cluster as it is now."""

from datetime import UTC, datetime
from typing import Annotated

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
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.input_problems import Gatherer
from planner.cli.common.output import print_json
from planner.cli.snapshot.snapshot_live import AllowPartial, Resolve, Timeout
from planner.cli.verify import SnapshotOption

ThrottleOption = Annotated[
    str | None,
    typer.Option(
        "--throttle",
        metavar="RATE",
        help="Rate at which a broker copies: 80MB/s. Default: that of the waves, or "
        "50MB/s.",
    ),
]
AllowDrift = Annotated[
    bool,
    typer.Option(
        "--allow-drift", help="Leave out partitions that are no longer as planned."
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="RULE",
        help="Go on in spite of: reassigning, under-min-isr, leaderless, throttled, "
        "no-record. Repeatable.",
    ),
]


def apply(
    plan: PlanArgument,
    *,
    snapshot: SnapshotOption = None,
    bootstrap_server: BootstrapServer = None,
    command_config: CommandConfig = None,
    throttle: ThrottleOption = None,
    allow_drift: AllowDrift = False,
    ignore: Ignore = None,
    resolve: Resolve = None,
    timeout: Timeout = 30.0,
    allow_partial: AllowPartial = False,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Preview a plan: its stages, their time, and what stops it.

    Looks at the cluster anew and changes nothing: the commands in RUNBOOK.md run the
    plan. Exits 0 if nothing stops the plan, 3 if something does.

    Example: kafka-planner apply plan --bootstrap-server k1:9092
    """
    from planner.execution.apply_records import ApplyPreviewRecord
    from planner.execution.apply_screen import preview_screen
    from planner.execution.choices import read_choices
    from planner.execution.prepare import prepare
    from planner.plan.input.plan_input import read_plan

    source = ClusterSource(
        snapshot=snapshot,
        bootstrap_server=bootstrap_server,
        command_config=command_config,
        resolve=resolve,
        timeout_s=timeout,
        allow_partial=allow_partial,
        quiet=quiet,
    )
    inputs = Gatherer()
    inputs.read(source.check)
    choices = inputs.read(
        lambda: read_choices(throttle, ignore or (), allow_drift=allow_drift)
    )
    given = inputs.read(lambda: read_plan(plan))
    now = inputs.read(source.read_file)
    inputs.raise_problems()
    if given is None or choices is None:  # pragma: no cover - raised just above
        return
    missing: tuple[str, ...] = ()
    if now is None:
        from planner.kafka.read.run_rights import missing_rights

        with source.open() as client:
            now, missing = source.read_from(client), missing_rights(client)
    found = prepare(given, now, choices, missing)
    if output_format is OutputFormat.JSON:
        document = ApplyPreviewRecord.of(found, now=datetime.now(UTC))
        print_json(document.model_dump(mode="json"))
    else:
        typer.echo("\n".join(preview_screen(found)))
    raise typer.Exit(ExitCode.OK if found.is_ready else ExitCode.FINDINGS)
