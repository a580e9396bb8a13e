"""`plan`: one command per operation."""

from collections.abc import Callable

import typer

from planner.cli.common.common_options import SnapshotArgument
from planner.cli.plan import plan_new
from planner.cli.plan.plan_options import CommandOptions, with_plan_options
from planner.cli.plan.run_plan import run_plan

app = typer.Typer(
    name="plan",
    no_args_is_help=True,
    help="Plan where replicas go, by the fewest bytes, with a proof.",
)


def _operation(
    name: str, panel: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the decorator of the command of an operation, with its options."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        return app.command(name, rich_help_panel=panel)(
            with_plan_options(name)(command)
        )

    return decorated


@_operation("rebalance", "Balance")
def rebalance(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Balance all brokers by the fewest bytes.

    Every broker is brought into its band, and dead brokers are emptied. Exits 0 if all
    hard rules hold afterwards, 4 if not (the best plan is given).

    Example: kafka-planner plan rebalance prod.json --band 0.05 -o plan
    """
    run_plan("rebalance", snapshot, options)


@_operation("add-brokers", "Change brokers")
def add_brokers(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Move replicas to new brokers.

    New brokers are those of state `new`, or those of --broker-list. Replicas are copied
    to new brokers only; leadership may change anywhere. Brokers that do not exist yet:
    --new-broker id=7,rack=c,like=3.

    Example: kafka-planner plan add-brokers prod.json --broker-list 10-12 -o plan
    """
    run_plan("add-brokers", snapshot, options)


@_operation("remove-brokers", "Change brokers")
def remove_brokers(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Empty brokers; only their replicas move.

    Exits 4 where a replica has no legal place, and prints what is missing.

    Example: kafka-planner plan remove-brokers prod.json --broker-list 4 -o plan
    """
    run_plan("remove-brokers", snapshot, options)


@_operation("leaders", "Balance")
def leaders(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Balance leaders by reordering replica lists.

    Nothing is copied. Numbers of leaders are as even as possible by the fewest changes,
    which is proven; then bytes out are brought into their bands.

    Example: kafka-planner plan leaders prod.json --order-followers -o plan
    """
    run_plan("leaders", snapshot, options)


@_operation("replace-broker", "Change brokers")
def replace_broker(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Replace a broker by another.

    The other broker gets the same replicas, in the same positions. A replica that
    cannot go there is listed, and stays: exit code 4.

    Example: kafka-planner plan replace-broker prod.json --broker 3 --with 9 -o plan
    """
    run_plan("replace-broker", snapshot, options)


@_operation("demote", "Change brokers")
def demote(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Take leadership off brokers or log dirs.

    Their replicas become the last in the lists; nothing is copied. Partitions that no
    other live in-sync replica can lead are listed: exit code 4.

    Example: kafka-planner plan demote prod.json --broker-list 4 -o plan
    """
    run_plan("demote", snapshot, options)


@_operation("set-replication-factor", "Change topics")
def set_replication_factor(
    snapshot: SnapshotArgument, *, options: CommandOptions
) -> None:
    """
    Add or remove replicas; those kept stay in place.

    Added replicas follow bands and racks. The last in-sync replica of a partition is
    never removed.

    Example: kafka-planner plan set-replication-factor prod.json --topics
    "orders[.].*" --replication-factor 3 -o plan
    """
    run_plan("set-replication-factor", snapshot, options)


@_operation("fix", "Repair")
def fix(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Repair replicas, log dirs, racks and factors.

    Offline replicas, failed log dirs, crowded racks and wrong replication factors are
    repaired by the fewest copies. Exits 4 where a repair is impossible, and prints what
    is missing; 3 where replicas stay on fenced brokers, which may come back.

    Example: kafka-planner plan fix prod.json --only offline -o plan
    """
    run_plan("fix", snapshot, options)


plan_new.add_to(app)


@_operation("log-dirs", "Balance")
def log_dirs(snapshot: SnapshotArgument, *, options: CommandOptions) -> None:
    """
    Balance log dirs inside their brokers.

    Log dirs of --empty are emptied. No replica changes its broker. Exits 4 where a log
    dir cannot be emptied.

    Example: kafka-planner plan log-dirs prod.json --empty 3:/data/d1 -o plan
    """
    run_plan("log-dirs", snapshot, options)
