"""`plan set-replication-factor`: the number of replicas of each topic."""

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.common.common_options import SnapshotArgument, WithLogDirs
from planner.cli.plan.plan_options import PlanOptions, RebalanceToo, with_plan_options

Factor = Annotated[
    int | None,
    typer.Option(
        "--replication-factor", metavar="N", help="Replicas of each partition."
    ),
]
Factors = Annotated[
    Path | None,
    typer.Option(
        "--replication-factors",
        metavar="FILE",
        help="Factors and their topics, as TOML or JSON.",
    ),
]


@with_plan_options
def set_replication_factor(
    snapshot: SnapshotArgument,
    *,
    replication_factor: Factor = None,
    replication_factors: Factors = None,
    rebalance: RebalanceToo = False,
    with_log_dirs: WithLogDirs = None,
    options: PlanOptions,
) -> None:
    """
    Add or remove replicas; those kept stay in place.

    Added replicas follow bands and racks. The last in-sync replica of a partition is
    never removed.

    Example: kafka-planner plan set-replication-factor prod.json --topics
    "orders[.].*" --replication-factor 3 -o plan
    """
    from planner.cli.plan.plan_commands import run_plan

    own = {
        "replication_factor": replication_factor,
        "replication_factors": replication_factors,
    }
    whole = {**own, "rebalance": rebalance, "with_log_dirs": with_log_dirs}
    run_plan("set-replication-factor", snapshot, options, whole)


def add_to(plan_app: typer.Typer) -> None:
    """Add the command to those of `plan`."""
    name, panel = "set-replication-factor", "Change topics"
    plan_app.command(name, rich_help_panel=panel)(set_replication_factor)
