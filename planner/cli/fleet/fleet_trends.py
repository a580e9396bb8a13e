"""`fleet trends`: growth and days until full, from the scores of a fleet."""

from typing import Annotated, Any

import typer

from planner.cli.common.common_options import Format, OutputFormat, Quiet
from planner.cli.common.output import print_json, print_words
from planner.cli.common.spark_options import print_columns
from planner.cli.fleet.fleet_lines import days_text as interval_text
from planner.cli.fleet.fleet_scope import FleetScope, with_scope
from planner.cli.report.report_option import (
    Report,
    check_fleet_report,
    write_fleet_report,
)

MOST_ROWS = 30
PATH_WIDTH = 12


@with_scope
def trends(
    scores: Annotated[
        str,
        typer.Argument(metavar="SCORES", help="Output of 'fleet score'."),
    ],
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="PLACE",
            help="Destination of trends and balance: a folder, or "
            "table:CATALOG.SCHEMA.",
        ),
    ],
    report: Report = False,
    scope: FleetScope,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Compute growth, days until brokers are full, and balance.

    Covers every cluster, rack, broker, log dir and topic, from all scored times.

    Example: kafka-planner fleet trends scores -o trends
    """
    from planner.fleet.fleet_places import results_check

    selection = scope.selection()
    page_folder = check_fleet_report(output, is_wanted=report)
    session = scope.session(output, results_check(scores, "scores", "score"))
    from planner.spark.reports.fleet_trends import trends_folder

    rows = trends_folder(session, scores, output, selection=selection)
    if output_format is OutputFormat.JSON:
        print_json({"soonest": rows})
    else:
        print_soonest(rows[:MOST_ROWS])
        if not quiet:
            print_words(f"wrote {output}")
    write_fleet_report(page_folder, is_quiet=quiet)


def print_soonest(rows: list[dict[str, Any]]) -> None:
    """Print the brokers, and log dirs, that reach a threshold soonest."""
    if not rows:
        typer.echo("No broker reaches a threshold, as far as is known.")
        return
    head = ("Cluster", "broker", "what", "a day", "threshold in", "full in", "points")
    print_columns(head, [_line(row) for row in rows])


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    from planner.text.format import bytes_text

    growth = row["growth_per_day"]
    is_bytes = row["resource"] != "cpu"
    shown = "-"
    if growth is not None:
        shown = bytes_text(growth) if is_bytes else f"{growth:.3g}"
    return (
        str(row["cluster_id"])[:18],
        _place(row),
        row["resource"],
        shown,
        days_text(row, "days_until_threshold"),
        days_text(row, "days_until_full"),
        str(row["points"]),
    )


def _place(row: dict[str, Any]) -> str:
    """Return the broker of a row, and its log dir where that is the row's place."""
    from planner.text.printable import shorten

    log_dir = row.get("log_dir")
    if log_dir is None:
        return str(row["broker"])
    return f"{row['broker']}:{shorten(log_dir, PATH_WIDTH, 'middle')}"


def days_text(row: dict[str, Any], name: str) -> str:
    """Return days of a row with their interval: ``12 d (9-20)``."""
    return interval_text(*(row[f"{name}{end}"] for end in ("", "_low", "_high")))
