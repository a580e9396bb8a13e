"""`fleet`: snapshots of many clusters, as tables for Spark."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import FailOn, Format, OutputFormat, Quiet
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.help_panels import STORE
from planner.cli.common.output import MAX_PROBLEMS_SHOWN, print_json, print_words
from planner.cli.common.spark_options import print_incomplete
from planner.cli.fleet.fleet_fail_on import NOT_ON_SPARK, judged, print_failing
from planner.cli.fleet.fleet_lines import facts_of_score, print_lines
from planner.cli.fleet.fleet_scope import FleetScope, with_scope
from planner.cli.plan.declared_options import Band, CapacityThreshold
from planner.cli.report.report_option import (
    Report,
    check_fleet_report,
    write_fleet_report,
)

if TYPE_CHECKING:
    from planner.spark.command import FleetScored

app = typer.Typer(
    name="fleet",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Ingest, score and plan the snapshots of many clusters on Spark.",
)

Fleet = Annotated[
    str,
    typer.Argument(
        metavar="FLEET",
        help="Fleet: a folder that Spark reads, or table:CATALOG.SCHEMA.",
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="PLACE",
        help="Destination of scores and problems: a folder, or table:CATALOG.SCHEMA.",
    ),
]
All = Annotated[
    bool, typer.Option("--all", help="Score again what has scores already.")
]


@app.command(rich_help_panel="Score and plan")
@with_scope
def score(
    fleet: Fleet,
    *,
    output: Output,
    report: Report = False,
    score_all: All = False,
    fail_on: FailOn = None,
    band: Band = None,
    capacity_threshold: CapacityThreshold = None,
    scope: FleetScope,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Score every snapshot of a fleet that has no scores yet.

    Scores of every level are written as tables. Exits 3 if a snapshot cannot be scored
    (problems/ has the cause), or if a condition of --fail-on holds or is unknown for
    the last snapshot of a cluster. An incomplete snapshot is scored, with a warning in
    problems/.

    Example: kafka-planner fleet score fleet -o scores
    """
    from planner.fleet.fleet_places import fleet_check, folder_here
    from planner.score import ScoreRequest
    from planner.score.fail_on import parse_conditions

    conditions = parse_conditions(fail_on or [], absent=NOT_ON_SPARK)
    request = ScoreRequest(band=band or (), capacity_threshold=capacity_threshold or ())
    selection = scope.selection()
    page_folder = check_fleet_report(output, is_wanted=report)
    is_here = folder_here(fleet) is not None and folder_here(output) is not None
    session = scope.session(output, fleet_check(fleet), in_python=is_here)
    from planner.spark.command import score_folder
    from planner.spark.output.latest_scores import latest_scores

    found = score_folder(
        session, fleet, request, output, again=score_all, selection=selection
    )
    is_json = output_format is OutputFormat.JSON
    is_new = bool(found.documents or found.problems)
    asks = bool(conditions) or (is_new and not is_json)
    latest = latest_scores(session, output, found.latest) if asks else []
    failing = judged(latest, conditions)
    if is_json:
        more = {"latest": latest} if conditions else {}
        print_json(_document(found) | more)
    else:
        if is_new:
            _print_screen(found, latest)
        print_failing(failing)
        if not quiet:
            _print_end(found, output)
    write_fleet_report(page_folder, is_quiet=quiet)
    is_odd = bool(found.problems or failing)
    raise typer.Exit(ExitCode.FINDINGS if is_odd else ExitCode.OK)


def _document(found: "FleetScored") -> dict[str, Any]:
    return {
        "snapshots": found.documents,
        "problems": [problem.to_dict() for problem in found.problems],
        "warnings": [problem.to_dict() for problem in found.warnings],
    }


def _print_screen(found: "FleetScored", latest: list[dict[str, Any]]) -> None:
    """Print the last snapshot of each cluster, the worst first, and problems."""
    facts = sorted(map(facts_of_score, latest), key=lambda each: each.rank())
    print_lines(facts)
    print_incomplete(found.documents)
    for problem in found.problems[:MAX_PROBLEMS_SHOWN]:
        print_words(f"  - {problem}")


def _print_end(found: "FleetScored", output: str) -> None:
    if found.documents or found.problems:
        print_words(f"wrote {output}: {len(found.documents):,} snapshots scored")
    else:
        clusters = len(found.latest)
        print_words(f"nothing new: {output} has the scores of {clusters:,} clusters")


@app.command(rich_help_panel=STORE)
def compact(
    fleet: Annotated[str, typer.Argument(metavar="FLEET", help="Fleet folder.")],
    *,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Join the rows of each day in one file per table.

    Left-over files are removed. Concurrent readers see every row once; do not append
    at the same time. Needs no JVM.

    Example: kafka-planner fleet compact fleet
    """
    from planner.fleet.append import compact as compact_store
    from planner.fleet.fleet_store import Store

    done = compact_store(Store(fleet))
    counts: dict[str, Any] = {
        "files_before": done.before,
        "files_after": done.after,
        "files_removed": done.removed,
    }
    if output_format is OutputFormat.JSON:
        print_json({"fleet": fleet, **counts})
    elif not quiet:
        print_words(f"{fleet}: {done.before} files before, {done.after} now")
