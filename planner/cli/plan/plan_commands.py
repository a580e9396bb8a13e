"""`plan`: one command for each operation."""

from collections.abc import Callable

import typer

from planner.cli.common.common_options import SnapshotArgument
from planner.cli.plan import plan_new
from planner.cli.plan.plan_options import CommandOptions, with_plan_options
from planner.cli.plan.run_plan import run_plan

app = typer.Typer(
    name="plan",
    no_args_is_help=True,
    help="Plan where replicas go: the fewest bytes for balanced brokers, with a proof.",
)


def _operation(
    name: str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the decorator of the command of an operation, with its options."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        return app.command(name)(with_plan_options(name)(command))

    return decorated


@_operation("rebalance")
def rebalance(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Bring every broker into its band with the fewest bytes; empty dead brokers.

    Exits 0 if all hard rules hold afterwards, 4 if not (the best plan is given).

    Example: kafka-planner plan rebalance prod.json --band 0.05 -o plan
    """
    run_plan("rebalance", snapshot, options)


@_operation("add-brokers")
def add_brokers(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Fill new brokers: those of state `new`, or those of --broker-list.

    Copies go only onto the new brokers; leadership may change anywhere. Brokers that
    do not exist yet: --new-broker id=7,rack=c,like=3.

    Example: kafka-planner plan add-brokers prod.json --broker-list 10-12 -o plan
    """
    run_plan("add-brokers", snapshot, options)


@_operation("remove-brokers")
def remove_brokers(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Empty brokers: only their replicas move, to where the bands want them.

    Exits 4 where no legal place is left for some replica, and says what is missing.

    Example: kafka-planner plan remove-brokers prod.json --broker-list 4 -o plan
    """
    run_plan("remove-brokers", snapshot, options)


@_operation("leaders")
def leaders(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Share leadership out by the order of replicas alone; nothing is copied.

    Counts as even as can be by the fewest changes, proven; then bytes out, in band.

    Example: kafka-planner plan leaders prod.json --order-followers -o plan
    """
    run_plan("leaders", snapshot, options)


@_operation("replace-broker")
def replace_broker(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Put a broker in the place of another: the same replicas, in the same positions.

    What cannot go there is said, and stays: exit code 4.

    Example: kafka-planner plan replace-broker prod.json --broker 3 --with 9 -o plan
    """
    run_plan("replace-broker", snapshot, options)


@_operation("demote")
def demote(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Take leadership off brokers or log dirs, and put them last; nothing is copied.

    Partitions that no other live in-sync replica could lead are named: exit code 4.

    Example: kafka-planner plan demote prod.json --broker-list 4 -o plan
    """
    run_plan("demote", snapshot, options)


@_operation("set-replication-factor")
def set_replication_factor(
    snapshot: SnapshotArgument, *, options: CommandOptions
) -> None:
    """
    Add copies, or drop some; no copy that exists moves.

    New ones go where bands and racks want them; the last copy in sync is never dropped.

    Example: kafka-planner plan set-replication-factor prod.json --topics
    "orders[.].*" --replication-factor 3 -o plan
    """
    run_plan("set-replication-factor", snapshot, options)


@_operation("fix")
def fix(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Mend offline replicas, dead log dirs, crowded racks and factors, by fewest copies.

    Exits 4 where something cannot be mended, and says what is missing; 3 where
    replicas on fenced brokers are left alone, because these may come back.

    Example: kafka-planner plan fix prod.json --only offline -o plan
    """
    run_plan("fix", snapshot, options)


plan_new.add_to(app)


@_operation("log-dirs")
def log_dirs(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Balance log dirs inside their brokers, and empty those that are to be removed.

    No replica changes its broker. Exits 4 where a log dir cannot be emptied.

    Example: kafka-planner plan log-dirs prod.json --empty 3:/data/d1 -o plan
    """
    run_plan("log-dirs", snapshot, options)
