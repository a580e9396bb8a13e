"""`plan`: one command per operation."""

import typer

from placement.operations.descriptor import OPERATIONS
from planner.cli.common.common_options import SnapshotArgument
from planner.cli.plan.plan_new import add_new_command
from planner.cli.plan.plan_options import CommandOptions, with_plan_options
from planner.cli.plan.run_plan import run_plan

app = typer.Typer(
    name="plan",
    no_args_is_help=True,
    help="Plan where replicas go, by the fewest bytes, with a proof.",
)


def _add_command(name: str) -> None:
    """Add the command of an operation, with its options and help."""
    described = OPERATIONS[name]

    def command(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
        run_plan(name, snapshot, options)

    decorated = app.command(name, rich_help_panel=described.panel, help=described.help)
    decorated(with_plan_options(name)(command))


for each in OPERATIONS.values():
    if each.creates_partitions:
        add_new_command(app, each)
    else:
        _add_command(each.name)
