"""`plan`: one command per operation."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from planner.cli.common.common_options import (
    OutputFormat,
    SnapshotArgument,
    WithLogDirs,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.input_problems import Gatherer
from planner.cli.common.output import print_json, print_words
from planner.cli.plan import plan_brokers, plan_factors, plan_fix, plan_new
from planner.cli.plan.plan_options import (
    BrokerList,
    NewBrokers,
    PlanOptions,
    RebalanceToo,
    with_plan_options,
)
from planner.cli.plan.request_options import plan_request

if TYPE_CHECKING:
    from placement.model.cluster import ClusterState
    from planner.options.plan_request import PlanRequest
    from planner.plan.run.make_plan import Planned
    from planner.plan.screen.trade_off import TradeOff
    from planner.snapshot import Snapshot

app = typer.Typer(
    name="plan",
    no_args_is_help=True,
    help="Plan where replicas go, by the fewest bytes, with a proof.",
)


@app.command("rebalance", rich_help_panel="Balance")
@with_plan_options
def rebalance(
    snapshot: SnapshotArgument,
    *,
    with_log_dirs: WithLogDirs = None,
    options: PlanOptions,
) -> None:
    """
    Balance all brokers by the fewest bytes.

    Every broker is brought into its band, and dead brokers are emptied. Exits 0 if all
    hard rules hold afterwards, 4 if not (the best plan is given).

    Example: kafka-planner plan rebalance prod.json --band 0.05 -o plan
    """
    own = {"with_log_dirs": with_log_dirs}
    run_plan("rebalance", snapshot, options, own)


@app.command("add-brokers", rich_help_panel="Change brokers")
@with_plan_options
def add_brokers(
    snapshot: SnapshotArgument,
    *,
    broker_list: BrokerList = None,
    new_broker: NewBrokers = None,
    rebalance: RebalanceToo = False,
    with_log_dirs: WithLogDirs = None,
    options: PlanOptions,
) -> None:
    """
    Move replicas to new brokers.

    New brokers are those of state `new`, or those of --broker-list. Replicas are copied
    to new brokers only; leadership may change anywhere. Brokers that do not exist yet:
    --new-broker id=7,rack=c,like=3.

    Example: kafka-planner plan add-brokers prod.json --broker-list 10-12 -o plan
    """
    own = {
        "broker_list": broker_list,
        "new_broker": tuple(new_broker or ()),
        "rebalance": rebalance,
        "with_log_dirs": with_log_dirs,
    }
    run_plan("add-brokers", snapshot, options, own)


@app.command("remove-brokers", rich_help_panel="Change brokers")
@with_plan_options
def remove_brokers(
    snapshot: SnapshotArgument,
    *,
    broker_list: BrokerList = None,
    rebalance: RebalanceToo = False,
    with_log_dirs: WithLogDirs = None,
    options: PlanOptions,
) -> None:
    """
    Empty brokers; only their replicas move.

    Exits 4 where a replica has no legal place, and prints what is missing.

    Example: kafka-planner plan remove-brokers prod.json --broker-list 4 -o plan
    """
    own = {
        "broker_list": broker_list,
        "rebalance": rebalance,
        "with_log_dirs": with_log_dirs,
    }
    run_plan("remove-brokers", snapshot, options, own)


OrderFollowers = Annotated[
    bool,
    typer.Option(
        "--order-followers/--no-order-followers",
        help="Also reorder lists whose leader stays, to keep leaders even after the "
        "loss of a broker or a rack.",
    ),
]


@app.command("leaders", rich_help_panel="Balance")
@with_plan_options
def leaders(
    snapshot: SnapshotArgument,
    *,
    order_followers: OrderFollowers = False,
    options: PlanOptions,
) -> None:
    """
    Balance leaders by reordering replica lists.

    Nothing is copied. Numbers of leaders are as even as possible by the fewest changes,
    which is proven; then bytes out are brought into their bands.

    Example: kafka-planner plan leaders prod.json --order-followers -o plan
    """
    own = {"order_followers": order_followers}
    run_plan("leaders", snapshot, options, own)


plan_brokers.add_to(app)
plan_factors.add_to(app)
plan_fix.add_to(app)
plan_new.add_to(app)

Empty = Annotated[
    list[str] | None,
    typer.Option(
        "--empty",
        metavar="BROKER:PATH",
        help="Log dir to empty: 3:/data/d1, or of several brokers "
        "1-4:/logs/kafka-log{broker}. Repeatable.",
    ),
]


@app.command("log-dirs", rich_help_panel="Balance")
@with_plan_options
def log_dirs(
    snapshot: SnapshotArgument, *, empty: Empty = None, options: PlanOptions
) -> None:
    """
    Balance log dirs inside their brokers.

    Log dirs of --empty are emptied. No replica changes its broker. Exits 4 where a log
    dir cannot be emptied.

    Example: kafka-planner plan log-dirs prod.json --empty 3:/data/d1 -o plan
    """
    run_plan("log-dirs", snapshot, options, {"empty": tuple(empty or ())})


def run_plan(
    goal: str,
    snapshot: Path,
    options: PlanOptions,
    own: Mapping[str, Any] = MappingProxyType({}),
) -> NoReturn:
    """
    Read, plan, check, write, print, exit.

    Parameters
    ----------
    goal
        Name of the operation.
    snapshot
        File or folder of the snapshot.
    options
        Values of the options that all plans share.
    own
        Values of the options of this operation, by the names of `PlanRequest`.
    """
    from planner.plan.documents.cluster_fingerprint import fingerprint_ahead
    from planner.plan.folder.plan_folder import write_plan
    from planner.plan.run.make_plan import make
    from planner.status.status_lines import head_of

    output = options.output
    request = plan_request(goal, {**options.given, **own})
    began = time.perf_counter()
    read, state = _read_inputs(snapshot, options, request)
    was_read = time.perf_counter()
    if output is not None or options.output_format is OutputFormat.JSON:
        fingerprint_ahead(state)
    with options.named_by_source():
        planned = make(
            state, request, taken_at=read.taken_at, resources=read.topic_resources()
        )
    was_planned = time.perf_counter()
    points = None
    if options.shows_trade_off:
        from planner.plan.screen.trade_off import trade_off

        points = trade_off(state, request, planned)
    began_to_write = time.perf_counter()
    files = [] if output is None else write_plan(planned.plan, output)
    ended = time.perf_counter()
    if options.output_format is OutputFormat.JSON:
        times = {
            "read": was_read - began,
            "plan": was_planned - was_read,
            "write": ended - began_to_write,
            "total": ended - began,
        }
        _print_document(planned, times, points)
    else:
        head = head_of(read, state, snapshot)
        _print_screen(planned, snapshot, output, files, points, head)
        if output is None and not options.quiet:
            print_words("nothing written: give -o PLAN to write the plan")
    raise typer.Exit(exit_code(planned))


def _read_inputs(
    snapshot: Path, options: PlanOptions, request: "PlanRequest"
) -> "tuple[Snapshot, ClusterState]":
    """Read the cluster; raise every problem of it and of the options."""
    from planner.cli.common.snapshot_reading import load_search_for, read_snapshot
    from planner.plan.folder.plan_folder import check_plan_output

    inputs = Gatherer()
    inputs.read(options.raise_problems)
    if (output := options.output) is not None:
        inputs.read(lambda: check_plan_output(output))
    load_search_for(snapshot)
    read = inputs.read(lambda: read_snapshot(snapshot))
    state = None if read is None else read.to_state()
    if inputs.has_problems:
        inputs.read(lambda: check_options(options, request, state))
    inputs.raise_problems()
    assert read is not None  # noqa: S101 - else there were problems
    assert state is not None  # noqa: S101 - as above
    return read, state


def check_options(
    options: PlanOptions, request: "PlanRequest", state: "ClusterState | None"
) -> None:
    """
    Refuse options that are wrong for this cluster or for every cluster.

    Raises
    ------
    BadInputError
        If options are wrong; names each by its source.
    """
    from planner.options.plan_request import check_request

    with options.named_by_source():
        check_request(request, state)


def exit_code(planned: "Planned") -> ExitCode:
    """Return 0 if all hard rules hold, 4 if not, 3 if the checker has findings."""
    if planned.plan.status in {"partial", "infeasible"}:
        return ExitCode.INFEASIBLE
    is_done = planned.is_ok and not planned.plan.leaves_offline
    return ExitCode.OK if is_done else ExitCode.FINDINGS


def _print_document(
    planned: "Planned", times: dict[str, float], points: "list[TradeOff] | None"
) -> None:
    from planner.plan.documents.plan_document import to_document
    from planner.plan.screen.trade_off import trade_off_document
    from planner.process import peak_memory_bytes

    measured = planned.plan.placed.seconds
    seconds = {
        "read": times["read"],
        "solve": measured["solve"],
        "bound": measured["bound"],
        "write": times["write"],
        "total": times["total"],
    }
    document = to_document(planned.plan)
    document["seconds"] = {name: round(value, 6) for name, value in seconds.items()}
    document["peak_memory_bytes"] = peak_memory_bytes()
    if points is not None:
        document["trade_off"] = trade_off_document(points)
    print_json(document)


def _print_screen(
    planned: "Planned",
    snapshot: Path,
    output: Path | None,
    files: list[str],
    points: "list[TradeOff] | None",
    head: Iterable[str],
) -> None:
    from planner.plan.screen.plan_screen import (
        files_lines,
        headline,
        next_lines,
        plan_screen,
    )
    from planner.plan.screen.trade_off import trade_off_lines
    from planner.text.format import wrapped

    plan = planned.plan
    name = plan.state.cluster_id or snapshot.name
    taken = f", taken {plan.taken_at}" if plan.taken_at else ""
    lines = wrapped(f'Snapshot "{name}"{taken}: {headline(plan)}.')
    lines += [*head, *plan_screen(planned)]
    if points is not None:
        lines += trade_off_lines(points)
    if output is not None:
        lines += files_lines(output, files)
        lines += next_lines(plan, output)
    typer.echo("\n".join(lines))
