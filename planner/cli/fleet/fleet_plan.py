"""`fleet plan`: plans of every cluster of a fleet, computed on Spark."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import Format, OutputFormat, Quiet
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.input_problems import refuse_option
from planner.cli.common.output import print_json, print_words
from planner.cli.common.spark_options import print_columns
from planner.cli.fleet.fleet_commands import Fleet
from planner.cli.fleet.fleet_scenarios import print_scenarios, read_scenarios
from planner.cli.fleet.fleet_scope import FleetScope, with_scope
from planner.cli.plan.plan_options import RequestOptions, with_request_options
from planner.cli.report.report_option import (
    Report,
    check_fleet_report,
    write_fleet_report,
)

if TYPE_CHECKING:
    from planner.fleet.cluster_plans import FleetRequest, NamedRequest
    from planner.spark.reports.fleet_plans import FleetPlanned

MOST_ROWS = 50


@with_request_options
@with_scope
def plan(
    fleet: Fleet,
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="PLACE",
            help="Destination of plans: a folder, or table:CATALOG.SCHEMA.",
        ),
    ],
    report: Report = False,
    goal: Annotated[
        str, typer.Option("--goal", metavar="GOAL", help="Operation to plan.")
    ] = "rebalance",
    sweep: Annotated[
        Path | None,
        typer.Option(
            "--sweep",
            metavar="FILE",
            help="JSON list of requests, each planned for every cluster, instead of "
            "these options.",
        ),
    ] = None,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            "--scenarios",
            metavar="FILE",
            help="Scenarios of 'what-if', TOML; each is planned for every cluster "
            "instead.",
        ),
    ] = None,
    growth: Annotated[
        str | None,
        typer.Option(
            "--growth",
            metavar="RATE",
            help="Growth of topics, with --scenarios: 5%/month, 0.3/year.",
        ),
    ] = None,
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="Plan every snapshot, not only the last of each cluster.",
        ),
    ] = False,
    plan_all: Annotated[
        bool, typer.Option("--all", help="Plan again what is planned already.")
    ] = False,
    scope: FleetScope,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    asked: RequestOptions,
) -> None:
    """
    Plan every cluster of a fleet that is not planned yet.

    Exits 4 if the hard rules of a cluster cannot all be met, 3 if a cluster cannot be
    planned, a plan has findings or a scenario does not hold; the column reason has the
    cause.

    Example: kafka-planner fleet plan fleet -o plans --band 0.05
    """
    from planner.fleet.fleet_places import fleet_check

    options = asked.given
    wanted: Sequence[FleetRequest]
    if scenarios is None:
        if asked.sources.get("growth") == "COMMANDLINE" and growth is not None:
            refuse_option("--growth", growth, "must be given with --scenarios alone")
        wanted = _requests(goal, options, sweep)
    else:
        wanted = read_scenarios(scenarios, growth, options, asked.sources)
    selection = scope.selection()
    page_folder = check_fleet_report(output, is_wanted=report)
    session = scope.session(output, fleet_check(fleet), in_python=True)
    from planner.spark.reports.fleet_plans import PLANS, SCENARIOS, plan_folder

    done = plan_folder(
        session,
        fleet,
        wanted,
        output,
        table=PLANS if scenarios is None else SCENARIOS,
        history=history,
        again=plan_all,
        selection=selection,
    )
    if output_format is OutputFormat.JSON:
        name = "plans" if scenarios is None else "scenarios"
        print_json({name: done.rows, "skipped": done.skipped})
    else:
        _print_screen(done, output, is_played=scenarios is not None, quiet=quiet)
    write_fleet_report(page_folder, is_quiet=quiet)
    raise typer.Exit(_exit_code(done.rows))


def _print_screen(
    done: "FleetPlanned", output: str, *, is_played: bool, quiet: bool
) -> None:
    if is_played and done.rows:
        print_scenarios(done.rows, MOST_ROWS)
    elif done.rows:
        print_rows(done.rows)
    if len(done.rows) > MOST_ROWS:
        typer.echo(f"… and {len(done.rows) - MOST_ROWS} more; --format json has all")
    if not quiet:
        what = "scenarios" if is_played else "plans"
        made, there = f"{len(done.rows):,} {what}", f"{done.skipped:,} already there"
        words = f"wrote {output}: {made}, {there}"
        if not done.rows:
            words = f"nothing new: {output} contains the {done.skipped:,} {what}"
        print_words(words)


def _requests(
    goal: str, options: Mapping[str, Any], sweep: Path | None
) -> list["NamedRequest"]:
    """Return the requests for every cluster; options are read before Spark starts."""
    from planner.fleet.cluster_plans import (
        NamedRequest,
        check_requests,
        read_requests,
    )
    from planner.options.plan_request import PlanRequest
    from planner.snapshot.importers.inputs.foreign_files import read_bytes

    requests = [NamedRequest(name=goal, request=PlanRequest(goal, **options))]
    if sweep is not None:
        text = read_bytes(sweep).decode("utf-8", errors="replace")
        requests = read_requests(text, file=str(sweep))
    check_requests(requests)
    return requests


def _exit_code(rows: list[dict[str, Any]]) -> ExitCode:
    found = {row["status"] for row in rows}
    if found & {"partial", "infeasible"}:
        return ExitCode.INFEASIBLE
    is_odd = found & {"refused", "failed"} or any(
        row["num_findings"] or row.get("holds") is False for row in rows
    )
    return ExitCode.FINDINGS if is_odd else ExitCode.OK


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print a line per cluster: those without a plan first, then by bytes."""
    ranked = sorted(rows, key=_rank)
    head = ("Cluster", "request", "status", "copies", "bytes", "least")
    shown = ranked[:MOST_ROWS]
    reasons = [row["reason"] or "" for row in shown]
    print_columns(head, [_line(row) for row in shown], reasons)


def _rank(row: dict[str, Any]) -> tuple[bool, float]:
    moved = row.get("moved_bytes")
    return moved is not None, -(moved or 0)


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    from planner.text.format import bytes_text

    has_plan = row.get("moved_bytes") is not None
    return (
        str(row["cluster_id"])[:18],
        row["request"][:14],
        row["status"],
        f"{row['moved_replicas']:,}" if has_plan else "-",
        bytes_text(row["moved_bytes"]) if has_plan else "-",
        bytes_text(row["bytes_lower_bound"]) if has_plan else "-",
    )
