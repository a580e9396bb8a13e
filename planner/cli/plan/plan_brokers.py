"""`plan replace-broker` and `plan demote`: single brokers and log dirs."""

from typing import Annotated

import typer

from planner.cli.common.common_options import SnapshotArgument, WithLogDirs
from planner.cli.plan.plan_options import (
    BrokerList,
    NewBrokers,
    PlanOptions,
    RebalanceToo,
    with_plan_options,
)

OldBroker = Annotated[
    list[str] | None,
    typer.Option("--broker", metavar="ID", help="Broker to replace. Repeatable."),
]
Successor = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="ID", help="Broker that replaces it."),
]
LogDirs = Annotated[
    list[str] | None,
    typer.Option(
        "--log-dirs",
        metavar="IDS:PATH",
        help="Single log dirs: 4:/data/d1. {broker} stands for the id. Repeatable.",
    ),
]


@with_plan_options
def replace_broker(
    snapshot: SnapshotArgument,
    *,
    broker: OldBroker = None,
    with_broker: Successor = None,
    new_broker: NewBrokers = None,
    rebalance: RebalanceToo = False,
    with_log_dirs: WithLogDirs = None,
    options: PlanOptions,
) -> None:
    """
    Replace a broker by another.

    The other broker gets the same replicas, in the same positions. A replica that
    cannot go there is listed, and stays: exit code 4.

    Example: kafka-planner plan replace-broker prod.json --broker 3 --with 9 -o plan
    """
    from planner.cli.plan.plan_commands import run_plan

    own = {
        "broker": tuple(broker or ()),
        "with_broker": tuple(with_broker or ()),
        "new_broker": tuple(new_broker or ()),
        "rebalance": rebalance,
        "with_log_dirs": with_log_dirs,
    }
    run_plan("replace-broker", snapshot, options, own)


@with_plan_options
def demote(
    snapshot: SnapshotArgument,
    *,
    broker_list: BrokerList = None,
    log_dirs: LogDirs = None,
    options: PlanOptions,
) -> None:
    """
    Take leadership off brokers or log dirs.

    Their replicas become the last in the lists; nothing is copied. Partitions that no
    other live in-sync replica can lead are listed: exit code 4.

    Example: kafka-planner plan demote prod.json --broker-list 4 -o plan
    """
    from planner.cli.plan.plan_commands import run_plan

    own = {"broker_list": broker_list, "log_dirs": tuple(log_dirs or ())}
    run_plan("demote", snapshot, options, own)


def add_to(plan_app: typer.Typer) -> None:
    """Add the commands to those of `plan`."""
    plan_app.command("replace-broker", rich_help_panel="Change brokers")(replace_broker)
    plan_app.command("demote", rich_help_panel="Change brokers")(demote)
