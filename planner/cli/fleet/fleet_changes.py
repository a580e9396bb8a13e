"""`fleet changes`: moves between snapshots, and the progress of plans."""

from typing import Annotated, Any

import typer

from planner.cli.common.common_options import Format, OutputFormat, Quiet
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json, print_words
from planner.cli.common.spark_options import print_columns
from planner.cli.fleet.fleet_commands import Fleet
from planner.cli.fleet.fleet_scope import FleetScope, with_scope
from planner.cli.report.report_option import (
    Report,
    check_fleet_report,
    write_fleet_report,
)

MOST_ROWS = 50
RANKED = (
    "bytes",
    "copies",
    "log_dir_moves",
    "gone_partitions",
    "new_partitions",
    "gone_brokers",
    "new_brokers",
    "leader_changes",
)
"""Numbers of changes, the gravest first, by which pairs are sorted."""


@with_scope
def changes(
    fleet: Fleet,
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="PLACE",
            help="Destination of changes and drift: a folder, or table:CATALOG.SCHEMA.",
        ),
    ],
    report: Report = False,
    plans: Annotated[
        str | None,
        typer.Option(
            "--plans",
            metavar="PLACE",
            help="Output of 'fleet plan', to report the progress of these plans.",
        ),
    ] = None,
    compare_all: Annotated[
        bool, typer.Option("--all", help="Compare again what was compared already.")
    ] = False,
    scope: FleetScope,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Compare each snapshot of a cluster with the one before.

    Lists moved replicas and bytes. Exits 3 if a snapshot cannot be read (the column
    reason has the cause) or, with --plans, if the last snapshot differs from a plan.

    Example: kafka-planner fleet changes fleet -o changes --plans plans
    """
    from planner.fleet.fleet_places import fleet_check, results_check

    selection = scope.selection()
    page_folder = check_fleet_report(output, is_wanted=report)
    planned = results_check(plans, "plans", "plan")
    session = scope.session(output, fleet_check(fleet), planned)
    from planner.spark.reports.fleet_changes import changes_folder

    done = changes_folder(
        session, fleet, output, plans=plans, again=compare_all, selection=selection
    )
    if output_format is OutputFormat.JSON:
        print_json({"changes": done.changed, "drift": done.drifted})
    else:
        print_changes(done.changed)
        print_drift(done.drifted)
        if not quiet:
            print_words(_end(output, len(done.changed)))
    write_fleet_report(page_folder, is_quiet=quiet)
    is_odd = any(row["status"] in {"differs", "unknown"} for row in done.drifted)
    is_odd |= any(row["reason"] is not None for row in done.changed)
    raise typer.Exit(ExitCode.FINDINGS if is_odd else ExitCode.OK)


def _end(output: str, compared: int) -> str:
    if not compared:
        return f"nothing new: {output} contains every pair of snapshots"
    return f"wrote {output}: {compared:,} pairs compared"


def print_changes(rows: list[dict[str, Any]]) -> None:
    """Print a line per pair of snapshots, those with most changes first."""
    if not rows:
        return
    ranked = sorted(rows, key=_rank)[:MOST_ROWS]
    head = ("Cluster", "from", "to", "copies", "bytes", "leaders", "partitions")
    print_columns(head, [_line(row) for row in ranked], [*map(_note, ranked)])
    if len(rows) > len(ranked):
        typer.echo(f"… and {len(rows) - len(ranked)} more; --format json has all")


def _rank(row: dict[str, Any]) -> tuple[bool | int, ...]:
    """Return the sort key: pairs that nothing changed in are the last."""
    return row["reason"] is None, *(-(row.get(name) or 0) for name in RANKED)


def _note(row: dict[str, Any]) -> str:
    """Return why a pair was not compared, or changes that have no column."""
    from planner.text.format import bytes_text, plural

    if row["reason"] is not None:
        return str(row["reason"])
    texts = []
    if row.get("new_brokers") or row.get("gone_brokers"):
        texts.append(f"brokers +{row['new_brokers']:,} -{row['gone_brokers']:,}")
    if moves := row.get("log_dir_moves"):
        moved = f"{plural(moves, 'move')} between log dirs"
        texts.append(f"{moved}, {bytes_text(row['log_dir_bytes'])}")
    return "; ".join(texts)


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    from planner.text.format import bytes_text

    times = ((row[name] or "unknown")[:13] for name in ("before", "taken_at"))
    named = (str(row["cluster_id"])[:18], *times)
    if row["reason"] is not None:
        return (*named, "-", "-", "-", "-")
    return (
        *named,
        f"{row['copies']:,}",
        bytes_text(row["bytes"]),
        f"{row['leader_changes']:,}",
        f"+{row['new_partitions']:,} -{row['gone_partitions']:,}",
    )


def print_drift(rows: list[dict[str, Any]]) -> None:
    """Print the progress of each plan in a line."""
    if not rows:
        return
    head = ("Cluster", "planned", "request", "now", "completed", "differ", "findings")
    lines = [
        (
            str(row["cluster_id"])[:18],
            (row["planned_at"] or "unknown")[:13],
            row["request"][:12],
            row["status"],
            str(row["completed"]),
            str(row["differs"]),
            str(row["num_findings"]),
        )
        for row in rows[:MOST_ROWS]
    ]
    print_columns(head, lines)
