"""`plan fix`: repair broken placements, and change nothing else."""

from typing import Annotated

import typer

from planner.cli.common.common_options import SnapshotArgument, WithLogDirs
from planner.cli.plan.plan_options import PlanOptions, RebalanceToo, with_plan_options

Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="WHAT",
        help="Only offline, racks, log-dirs or replication-factor. Repeatable.",
    ),
]

Lost = Annotated[
    str | None,
    typer.Option(
        "--lost",
        metavar="IDS",
        help="Brokers that are not live and will not come back.",
    ),
]


@with_plan_options
def fix(
    snapshot: SnapshotArgument,
    *,
    only: Only = None,
    lost: Lost = None,
    rebalance: RebalanceToo = False,
    with_log_dirs: WithLogDirs = None,
    options: PlanOptions,
) -> None:
    """
    Repair replicas, log dirs, racks and factors.

    Offline replicas, failed log dirs, crowded racks and wrong replication factors are
    repaired by the fewest copies. Exits 4 where a repair is impossible, and prints what
    is missing; 3 where replicas stay on fenced brokers, which may come back.

    Example: kafka-planner plan fix prod.json --only offline -o plan
    """
    from planner.cli.plan.plan_commands import run_plan

    own = {
        "only": tuple(only or ()),
        "lost": lost,
        "rebalance": rebalance,
        "with_log_dirs": with_log_dirs,
    }
    run_plan("fix", snapshot, options, own)


def add_to(plan_app: typer.Typer) -> None:
    """Add the command to those of `plan`."""
    plan_app.command("fix", rich_help_panel="Repair")(fix)
