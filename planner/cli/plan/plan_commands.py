"""`plan`: one command per operation."""

from typing import Annotated

import typer

from placement.operations.descriptor import OPERATIONS, OperationDescriptor
from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import SnapshotArgument
from planner.cli.plan.live_request import LiveRequest
from planner.cli.plan.plan_options import CommandOptions, with_plan_options
from planner.cli.plan.run_plan import run_plan

app = typer.Typer(
    name="plan",
    no_args_is_help=True,
    help="Plan where replicas go, by the fewest bytes, with a proof.",
)

ValidateOnly = Annotated[
    bool,
    typer.Option(
        "--validate-only",
        help="Validate the request on the cluster; change nothing.",
    ),
]
Apply = Annotated[
    bool, typer.Option("--apply", help="Create it on the cluster; needs --yes too.")
]
Yes = Annotated[
    bool,
    typer.Option("--yes", help="With --apply: create it; without --yes, a preview."),
]


def _add_command(described: OperationDescriptor) -> None:
    """Add the command of an operation, with its options and help."""
    name = described.name

    def command(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
        run_plan(name, snapshot, options)

    def creating_command(
        snapshot: SnapshotArgument,
        *,
        source: ClusterSource,
        validate_only: ValidateOnly = False,
        apply: Apply = False,
        yes: Yes = False,
        options: CommandOptions,
    ) -> None:
        live = LiveRequest(
            source=source, validate_only=validate_only, apply=apply, yes=yes
        )
        run_plan(name, snapshot, options, live)

    add = app.command(name, rich_help_panel=described.panel, help=described.help)
    with_options = with_plan_options(name)
    if described.creates_partitions:
        add(with_cluster(has_partial=False)(with_options(creating_command)))
    else:
        add(with_options(command))


for each in OPERATIONS.values():
    _add_command(each)
