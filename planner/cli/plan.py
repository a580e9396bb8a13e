"""`plan`: rebalance, add brokers, remove brokers."""

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.exit_codes import ExitCode
from planner.cli.options import (
    CapacityThreshold,
    Format,
    OutputFormat,
    Quiet,
    SnapshotArgument,
    Verbose,
)
from planner.cli.output import print_json, print_words

if TYPE_CHECKING:
    from planner.plan.make import Planned
    from planner.plan.request import PlanRequest

app = typer.Typer(
    name="plan",
    no_args_is_help=True,
    help="Plan where replicas go: the fewest bytes for balanced brokers, with a proof.",
)


class Prefer(StrEnum):
    """What counts when a plan is made."""

    BYTES = "bytes"
    MOVES = "moves"


class Effort(StrEnum):
    """How much work the search may do."""

    QUICK = "quick"
    NORMAL = "normal"
    THOROUGH = "thorough"


class CopyOrder(StrEnum):
    """Which copies go first."""

    SHORTEST = "shortest"
    UNDER_REPLICATED = "under-replicated"
    SMALL = "small"
    LARGE = "large"
    TOPIC = "topic"


Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="PLAN", help="Plan folder to write."),
]
BrokerList = Annotated[
    str | None,
    typer.Option("--broker-list", metavar="IDS", help="Broker ids: 1,2,5-9."),
]
Band = Annotated[
    list[str] | None,
    typer.Option(
        "--band",
        metavar="[RESOURCE=]FRACTION",
        help="How far from its share a broker may be: 0.10, disk=0.05. Repeatable.",
    ),
]
Resources = Annotated[
    str | None,
    typer.Option(
        "--resources",
        metavar="NAMES",
        help="Which to balance: disk,in,out,cpu,replicas,leaders. Default: all known.",
    ),
]
Topic = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="NAME", help="Only this topic. Repeatable."),
]
Topics = Annotated[
    str | None,
    typer.Option("--topics", metavar="REGEX", help="Only topics whose name matches."),
]
ExcludeTopics = Annotated[
    str | None,
    typer.Option("--exclude-topics", metavar="REGEX", help="Topics left as they are."),
]
Destinations = Annotated[
    str | None,
    typer.Option(
        "--destination-broker-list", metavar="IDS", help="Only these get replicas."
    ),
]
NoReplicas = Annotated[
    str | None,
    typer.Option(
        "--exclude-brokers-for-replicas", metavar="IDS", help="These get no replicas."
    ),
]
NoLeaders = Annotated[
    str | None,
    typer.Option(
        "--exclude-brokers-for-leaders", metavar="IDS", help="These get no leaders."
    ),
]
RebalanceToo = Annotated[
    bool,
    typer.Option("--rebalance", help="Also move what the operation need not."),
]
MaxMoves = Annotated[
    int | None,
    typer.Option("--max-moves", metavar="N", help="Copy at most so many replicas."),
]
MaxBytes = Annotated[
    str | None,
    typer.Option("--max-bytes", metavar="SIZE", help="Copy at most so much: 2TB."),
]
PreferOption = Annotated[
    Prefer,
    typer.Option("--prefer", help="Fewest bytes, or few moves as well."),
]
MoveCost = Annotated[
    str | None,
    typer.Option(
        "--move-cost-bytes",
        metavar="SIZE",
        help="Price of a move, on top of its bytes.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Of the search's random numbers.")]
Waves = Annotated[
    bool,
    typer.Option("--waves", help="Also cut the plan into waves that are safe each."),
]
MaxMovesIn = Annotated[
    int | None,
    typer.Option("--max-moves-in", min=1, help="Copies a broker gets in a wave: 5."),
]
MaxMovesOut = Annotated[
    int | None,
    typer.Option("--max-moves-out", min=1, help="Copies a broker sends in a wave: 5."),
]
MaxMovesPerBroker = Annotated[
    int | None,
    typer.Option(
        "--max-moves-per-broker", min=1, help="Copies in and out of a broker together."
    ),
]
Bandwidth = Annotated[
    str | None,
    typer.Option(
        "--bandwidth",
        metavar="RATE",
        help="What a broker may copy: 50MB/s, by default.",
    ),
]
WaveOrder = Annotated[
    CopyOrder | None,
    typer.Option("--order", help="Which copies go first, where caps allow a choice."),
]
EffortOption = Annotated[
    Effort, typer.Option("--effort", help="How much work the search may do.")
]


@app.command("rebalance")
def rebalance(
    snapshot: SnapshotArgument,
    *,
    output: Output = None,
    band: Band = None,
    resources: Resources = None,
    capacity_threshold: CapacityThreshold = None,
    topic: Topic = None,
    topics: Topics = None,
    exclude_topics: ExcludeTopics = None,
    destination_broker_list: Destinations = None,
    exclude_brokers_for_replicas: NoReplicas = None,
    exclude_brokers_for_leaders: NoLeaders = None,
    max_moves: MaxMoves = None,
    max_bytes: MaxBytes = None,
    prefer: PreferOption = Prefer.BYTES,
    move_cost_bytes: MoveCost = None,
    effort: EffortOption = Effort.NORMAL,
    seed: Seed = 1,
    waves: Waves = False,
    max_moves_in: MaxMovesIn = None,
    max_moves_out: MaxMovesOut = None,
    max_moves_per_broker: MaxMovesPerBroker = None,
    bandwidth: Bandwidth = None,
    order: WaveOrder = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Bring every broker into its band with the fewest bytes; empty dead brokers.

    Exits 0 if all hard rules hold afterwards, 4 if not (the best plan is given).

    Example: kafka-planner plan rebalance prod.json --band 0.05 -o plan
    """
    _run("rebalance", snapshot, output, output_format, locals())


@app.command("add-brokers")
def add_brokers(
    snapshot: SnapshotArgument,
    *,
    broker_list: BrokerList = None,
    rebalance: RebalanceToo = False,
    output: Output = None,
    band: Band = None,
    resources: Resources = None,
    capacity_threshold: CapacityThreshold = None,
    topic: Topic = None,
    topics: Topics = None,
    exclude_topics: ExcludeTopics = None,
    destination_broker_list: Destinations = None,
    exclude_brokers_for_replicas: NoReplicas = None,
    exclude_brokers_for_leaders: NoLeaders = None,
    max_moves: MaxMoves = None,
    max_bytes: MaxBytes = None,
    prefer: PreferOption = Prefer.BYTES,
    move_cost_bytes: MoveCost = None,
    effort: EffortOption = Effort.NORMAL,
    seed: Seed = 1,
    waves: Waves = False,
    max_moves_in: MaxMovesIn = None,
    max_moves_out: MaxMovesOut = None,
    max_moves_per_broker: MaxMovesPerBroker = None,
    bandwidth: Bandwidth = None,
    order: WaveOrder = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Fill new brokers: those of state `new`, or those of --broker-list.

    Copies go only onto the new brokers; leadership may change anywhere.

    Example: kafka-planner plan add-brokers prod.json --broker-list 10-12 -o plan
    """
    _run("add-brokers", snapshot, output, output_format, locals())


@app.command("remove-brokers")
def remove_brokers(
    snapshot: SnapshotArgument,
    *,
    broker_list: BrokerList = None,
    rebalance: RebalanceToo = False,
    output: Output = None,
    band: Band = None,
    resources: Resources = None,
    capacity_threshold: CapacityThreshold = None,
    topic: Topic = None,
    topics: Topics = None,
    exclude_topics: ExcludeTopics = None,
    destination_broker_list: Destinations = None,
    exclude_brokers_for_replicas: NoReplicas = None,
    exclude_brokers_for_leaders: NoLeaders = None,
    max_moves: MaxMoves = None,
    max_bytes: MaxBytes = None,
    prefer: PreferOption = Prefer.BYTES,
    move_cost_bytes: MoveCost = None,
    effort: EffortOption = Effort.NORMAL,
    seed: Seed = 1,
    waves: Waves = False,
    max_moves_in: MaxMovesIn = None,
    max_moves_out: MaxMovesOut = None,
    max_moves_per_broker: MaxMovesPerBroker = None,
    bandwidth: Bandwidth = None,
    order: WaveOrder = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Empty brokers: only their replicas move, to where the bands want them.

    Exits 4 where no legal place is left for some replica, and says what is missing.

    Example: kafka-planner plan remove-brokers prod.json --broker-list 4 -o plan
    """
    _run("remove-brokers", snapshot, output, output_format, locals())


def _run(
    goal: str,
    snapshot: Path,
    output: Path | None,
    output_format: OutputFormat,
    given: dict[str, Any],
) -> None:
    """Read, plan, check, write, print, exit."""
    from planner.plan.folder import check_plan_output, write_plan
    from planner.plan.make import make
    from planner.snapshot import read_snapshot

    began = time.perf_counter()
    if output is not None:
        check_plan_output(output)
    read = read_snapshot(snapshot)
    state = read.to_state()
    was_read = time.perf_counter()
    planned = make(state, _request(goal, given), taken_at=read.taken_at)
    was_planned = time.perf_counter()
    files = [] if output is None else write_plan(planned.plan, output)
    ended = time.perf_counter()
    if output_format is OutputFormat.JSON:
        times = {
            "read": was_read - began,
            "plan": was_planned - was_read,
            "write": ended - was_planned,
            "total": ended - began,
        }
        _print_document(planned, times)
    else:
        _print_screen(planned, snapshot, output, files)
        if output is None and not given["quiet"]:
            print_words("nothing written: give -o PLAN to write the plan")
    raise typer.Exit(exit_code(planned))


def _request(goal: str, given: dict[str, Any]) -> "PlanRequest":
    from dataclasses import fields

    from planner.plan.request import PlanRequest

    names = {field.name for field in fields(PlanRequest)} - {"goal"}
    options = {name: value for name, value in given.items() if name in names}
    for name in ("band", "capacity_threshold", "topic"):
        options[name] = tuple(options[name] or ())
    options["effort"] = str(options["effort"])
    options["order"] = None if options["order"] is None else str(options["order"])
    options["prefer"] = str(options["prefer"])
    return PlanRequest(goal=goal, **options)


def exit_code(planned: "Planned") -> ExitCode:
    """Return 0 where all hard rules hold, 4 where not, 3 where the checker objects."""
    if planned.plan.status in {"partial", "infeasible"}:
        return ExitCode.INFEASIBLE
    return ExitCode.OK if planned.is_ok else ExitCode.FINDINGS


def _print_document(planned: "Planned", times: dict[str, float]) -> None:
    from planner.plan.document import to_document
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
    print_json(document)


def _print_screen(
    planned: "Planned", snapshot: Path, output: Path | None, files: list[str]
) -> None:
    from planner.plan.screen import files_lines, headline, plan_screen
    from planner.plan.words import command_lines, wrapped

    plan = planned.plan
    name = plan.state.cluster_id or snapshot.name
    taken = f", taken {plan.taken_at}" if plan.taken_at else ""
    lines = wrapped(f'Snapshot "{name}"{taken}: {headline(plan)}.')
    lines += plan_screen(planned)
    if output is not None:
        lines += files_lines(output, files)
        words = ["kafka-planner", "check", str(output), "--snapshot", str(snapshot)]
        lines += command_lines("Next", words)
    typer.echo("\n".join(lines))
