"""`fleet overview`: a row per cluster, and which to fix first."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from planner.cli.exit_codes import ExitCode
from planner.cli.fleet import Fleet
from planner.cli.options import CapacityThreshold, Format, OutputFormat, Quiet
from planner.cli.output import print_json, print_words
from planner.cli.request_options import Band
from planner.cli.spark_options import (
    Cluster,
    Conf,
    Master,
    Since,
    Until,
    print_columns,
    session_of,
)

MOST_ROWS = 50
MUCH_ESTIMATED = 0.5


def overview(
    fleet: Fleet,
    *,
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FOLDER", help="Where overview/ goes."),
    ],
    trends: Annotated[
        str | None,
        typer.Option(
            "--trends", metavar="FOLDER", help="What 'fleet trends' wrote: forecasts."
        ),
    ] = None,
    changes: Annotated[
        str | None,
        typer.Option(
            "--changes",
            metavar="FOLDER",
            help="What 'fleet changes' wrote: bytes moved.",
        ),
    ] = None,
    band: Band = None,
    capacity_threshold: CapacityThreshold = None,
    since: Since = None,
    until: Until = None,
    cluster: Cluster = None,
    master: Master = None,
    conf: Conf = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Say of every cluster what to fix first, what it allows, and what it costs.

    Of its last snapshot. Exits 3 where one could not be looked at.

    Example: kafka-planner fleet overview fleet -o overview --trends trends
    """
    from planner.fleet.places import fleet_at, written_at
    from planner.fleet.selection import read_selection
    from planner.plan.request import PlanRequest, read_request
    from planner.snapshot import Snapshot

    wishes = PlanRequest(
        goal="overview",
        band=tuple(band or ()),
        capacity_threshold=tuple(capacity_threshold or ()),
    )
    settings = read_request(wishes, Snapshot().to_state()).settings
    selection = read_selection(since, until, cluster)
    session = session_of(
        master,
        conf,
        reads=[
            fleet_at(fleet),
            written_at(trends, "trends", "trends"),
            written_at(changes, "changes", "changes"),
        ],
    )
    from planner.spark.overview import overview_folder

    rows = overview_folder(
        session,
        fleet,
        output,
        settings,
        trends=trends,
        changes=changes,
        selection=selection,
    )
    if output_format is OutputFormat.JSON:
        print_json({"clusters": rows})
    else:
        print_overview(rows)
        if not quiet:
            print_words(f"wrote {output}: {len(rows):,} clusters")
    is_odd = any(row["status"] != "ok" for row in rows)
    raise typer.Exit(ExitCode.FINDINGS if is_odd else ExitCode.OK)


def print_overview(rows: list[dict[str, Any]]) -> None:
    """Print a line per cluster, what to fix first at the top."""
    head = (
        "Fix first",
        "wrong",
        "over",
        "out",
        "worst",
        "disk",
        "full in",
        "least",
        "N-1",
    )
    print_columns(head, [_line(row) for row in rows[:MOST_ROWS]])
    if len(rows) > MOST_ROWS:
        typer.echo(f"… and {len(rows) - MOST_ROWS} more; --format json has all")
    for line in _about_data(rows):
        typer.echo(line)


def _about_data(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Say how old the data are, and how much of them was never measured."""
    from planner.plan.words import duration_text

    aged = [row for row in rows if row["data_age_s"] is not None]
    if aged:
        oldest = max(aged, key=lambda row: row["data_age_s"])
        age = duration_text(oldest["data_age_s"])
        yield f"Oldest data: {age}, of {oldest['cluster_id']}"[:80]
    guessed = sum((row["estimated_fraction"] or 0) > MUCH_ESTIMATED for row in rows)
    if guessed:
        yield f"Over half of the bytes in are estimated: {guessed:,} clusters"


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    from planner.plan.words import bytes_text, percent_text

    name = str(row["cluster_id"])[:20]
    if row["status"] != "ok":
        return (name, row["status"], "", "", "", "", "", "", (row["reason"] or "")[:40])
    days, spare = row["days_until_full"], row["headroom_n1_broker"]
    fullest = row["max_disk_use"]
    return (
        name,
        str(row["offline_partitions"] + row["under_min_isr"]),
        str(row["brokers_over_threshold"]),
        str(row["brokers_out_of_band"]),
        f"{row['worst_broker']} {row['worst_resource']}",
        "-" if fullest is None or fullest > 10 else f"{fullest:.0%}",
        "-" if days is None else f"{days:.0f} d",
        bytes_text(row["min_bytes_to_balance"]),
        "-" if spare is None else percent_text(spare),
    )


def add_to(fleet_app: typer.Typer) -> None:
    """Add `overview` to the commands below `fleet`."""
    fleet_app.command("overview")(overview)
