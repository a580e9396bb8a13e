"""`plan set-replication-factor`: how many copies each topic has."""

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.common.common_options import SnapshotArgument, WithLogDirs
from planner.cli.plan.plan_options import PlanOptions, RebalanceToo, with_plan_options

Factor = Annotated[
    int | None,
    typer.Option(
        "--replication-factor", metavar="N", help="Copies that each partition gets."
    ),
]
Factors = Annotated[
    Path | None,
    typer.Option(
        "--replication-factors",
        metavar="FILE",
        help="Factors and the topics that get them, as TOML or JSON.",
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
    Add copies, or drop some; no copy that exists moves.

    New ones go where bands and racks want them; the last copy in sync is never dropped.

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
    """Add the command to those below `plan`."""
    plan_app.command("set-replication-factor")(set_replication_factor)
