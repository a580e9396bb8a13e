"""`snapshot`: show snapshots, and convert them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import (
    Format,
    OptionalSnapshotOutput,
    OutputFormat,
    PlanArgument,
    Quiet,
    SnapshotArgument,
    SnapshotOutput,
)
from planner.cli.common.help_panels import LOOK
from planner.cli.common.output import print_json, print_words

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

FleetOutput = Annotated[
    str | None,
    typer.Option(
        "--fleet",
        metavar="FOLDER",
        help="Fleet folder to append to instead: a path, or a URL of s3, gs or hdfs.",
    ),
]

LABEL_WIDTH = 13
MOST_MIXED = 5
"""Topics of mixed replication factors to list; the others are counted."""
app = typer.Typer(
    name="snapshot",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Take, show and convert snapshots of clusters.",
)


@app.command(rich_help_panel=LOOK)
def show(
    snapshot: SnapshotArgument,
    *,
    output_format: Format = OutputFormat.TEXT,
) -> None:
    """
    Show brokers, topics, sizes, rates and health of a snapshot.

    Example: kafka-planner snapshot show prod.json
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.snapshot.actions.snapshot_summary import summarize

    read = read_snapshot(snapshot)
    state = read.to_state()
    summary = summarize(read, state)
    if output_format is OutputFormat.JSON:
        print_json(summary)
    else:
        from planner.status.status_lines import head_of

        head = head_of(read, state, snapshot)
        typer.echo("\n".join([*head, *_screen(summary)]))


@app.command(rich_help_panel="Convert")
def convert(
    snapshot: SnapshotArgument,
    *,
    output: OptionalSnapshotOutput = None,
    fleet: FleetOutput = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Write a snapshot in another format, or to a fleet.

    The suffix of the output selects the format.

    Example: kafka-planner snapshot convert prod.json -o prod
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.snapshot import check_output

    if (output is None) == (fleet is None):
        msg = "give exactly one of --output and --fleet"
        raise typer.BadParameter(msg)
    if output is not None:
        check_output(output)
        _write(read_snapshot(snapshot), output, output_format, quiet=quiet)
    elif fleet is not None:
        _append(read_snapshot(snapshot), fleet, output_format, quiet=quiet)


def _append(
    snapshot: "Snapshot", fleet: str, output_format: OutputFormat, *, quiet: bool
) -> None:
    from planner.fleet.append import append
    from planner.fleet.fleet_store import Store

    is_new = append(snapshot, Store(fleet))
    name = {"cluster_id": snapshot.cluster_id, "taken_at": snapshot.taken_at}
    if output_format is OutputFormat.JSON:
        print_json({"fleet": fleet, **name, "is_new": is_new})
    elif not quiet:
        done = "appended" if is_new else "already there, unchanged"
        print_words(f"{fleet}: {snapshot.cluster_id} at {snapshot.taken_at}: {done}")


Started = Annotated[
    bool,
    typer.Option(
        "--started/--done", help="As while copies run: no new replica is in sync yet."
    ),
]


@app.command(rich_help_panel="Convert")
def apply(
    plan: PlanArgument,
    snapshot: SnapshotArgument,
    *,
    output: SnapshotOutput,
    started: Started = False,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Write the snapshot that a plan leads to; no cluster is changed.

    Example: kafka-planner snapshot apply plan prod.json -o after.json
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.kafka_files.reassignment_file import read_plan_file
    from planner.snapshot import check_output
    from planner.snapshot.actions.apply_plan import apply_plan
    from planner.snapshot.actions.started_plan import start_plan

    check_output(output)
    targets = read_plan_file(plan)
    then = start_plan if started else apply_plan
    after = then(read_snapshot(snapshot), targets, file=str(plan))
    _write(after, output, output_format, quiet=quiet)


@app.command(rich_help_panel="Convert")
def anonymize(
    snapshot: SnapshotArgument,
    *,
    output: SnapshotOutput,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Write a snapshot with hashes for names, to be shared.

    Example: kafka-planner snapshot anonymize prod.json -o to-share.json
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.snapshot import check_output
    from planner.snapshot.actions.anonymize import anonymize as without_names

    check_output(output)
    _write(without_names(read_snapshot(snapshot)), output, output_format, quiet=quiet)


def _write(
    snapshot: "Snapshot", output: Path, output_format: OutputFormat, *, quiet: bool
) -> None:
    from planner.snapshot import write_snapshot

    write_snapshot(snapshot, output)
    counts = {
        "brokers": len(snapshot.brokers),
        "topics": len(snapshot.topics),
        "partitions": len(snapshot.partitions),
    }
    if output_format is OutputFormat.JSON:
        print_json({"snapshot": str(output), **counts})
    elif not quiet:
        counted = ", ".join(f"{count} {what}" for what, count in counts.items())
        print_words(f"wrote {output}: {counted}")


def _screen(summary: dict[str, Any]) -> Iterator[str]:
    yield _row("Cluster", summary["cluster_id"] or "unknown")
    yield _row("Taken", summary["taken_at"] or "unknown")
    yield _row("Kafka", summary["kafka_version"] or "unknown")
    down = ", ".join(
        f"{one['broker']} {one['state']}" for one in summary["brokers_not_live"]
    )
    states = _mix(summary["broker_states"])
    yield _row("Brokers", f"{summary['brokers']}{states}{down and f': {down}'}")
    for rack in summary["racks"]:
        name = "without rack" if rack["rack"] is None else rack["rack"]
        yield _row(
            "", f"{name}: {rack['brokers']} brokers, {rack['replicas']} replicas"
        )
    yield _row("Log dirs", _words(summary["log_dirs"]) or "none listed")
    yield _row("Controllers", summary["controllers"] or "not listed")
    factors = {f"RF {k}": v for k, v in summary["replication_factors"].items()}
    yield _row("Topics", summary["topics"])
    yield _row("Partitions", f"{summary['partitions']}{_mix(factors)}")
    yield from _mixed_factors(summary["mixed_factors"])
    yield _row("Replicas", summary["replicas"])
    yield from _sizes(summary["sizes"])
    yield from _rates(summary["rates"])
    yield _row("Health", _words(summary["health"], join="_") or "all replicas in sync")
    for rank, topic in enumerate(summary["biggest_topics"]):
        size = _bytes(topic["replica_bytes"])
        label = "" if rank else "Biggest"
        yield _row(label, f"{topic['topic']}: {topic['partitions']} partitions, {size}")
    for note in summary["notes"]:
        yield _row("Note", note)


def _mixed_factors(topics: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the topics of mixed replication factors, the first few by name."""
    from planner.text.format import ids_text

    for rank, topic in enumerate(topics[:MOST_MIXED]):
        parts = [
            f"RF {factor}: {ids_text(numbers)}"
            for factor, numbers in topic["partitions"].items()
        ]
        label = "" if rank else "Mixed RF"
        yield _row(label, f"{topic['topic']} ({'; '.join(parts)})")
    if len(topics) > MOST_MIXED:
        yield _row("", f"and {len(topics) - MOST_MIXED} more topics")
    if topics:
        yield _row("", "plan fix --only replication-factor makes each topic one factor")


def _row(name: str, value: object) -> str:
    from planner.text.format import labelled

    return "\n".join(labelled(name, str(value), LABEL_WIDTH))


def _words(counts: dict[str, int], *, join: str = "-") -> str:
    return ", ".join(f"{n} {k.replace(join, ' ')}" for k, n in counts.items() if n)


def _mix(counts: dict[str, int]) -> str:
    return f" ({_words(counts)})" if counts else ""


def _sizes(sizes: dict[str, Any]) -> Iterator[str]:
    known = f"known for {100 * sizes['known_fraction']:.4g} % of the partitions"
    disk = sizes["disk_bytes"]
    of = "" if disk is None else f" of {_bytes(disk)}"
    yield _row("Disk", f"{_bytes(sizes['replica_bytes'])}{of}, {known}")


def _rates(rates: dict[str, Any]) -> Iterator[str]:
    source = rates["source"] or "unknown"
    for name, key in (("In", "in_bytes_per_s"), ("Out", "out_bytes_per_s")):
        rate = rates[key]
        if rate["total"] is None:
            yield _row(name, "unknown")
            continue
        known = f"known for {100 * rate['known_fraction']:.4g} % of the partitions"
        yield _row(name, f"{_bytes(rate['total'])}/s, {known}, source {source}")


def _bytes(count: float) -> str:
    """Return bytes in decimal units, three or four digits."""
    units = ["B", "kB", "MB", "GB", "TB", "PB"]
    for unit in units:
        if count < 1000 or unit == units[-1]:
            break
        count /= 1000
    return f"{count:.4g} {unit}"
