"""`fleet …`: the snapshots of many clusters, as tables that Spark reads."""

from typing import Annotated, Any

import typer

from planner.cli.exit_codes import ExitCode
from planner.cli.options import Format, OutputFormat, Quiet
from planner.cli.output import MAX_PROBLEMS_SHOWN, print_json, print_words
from planner.cli.score import Band, CapacityThreshold
from planner.cli.spark_options import (
    Cluster,
    Conf,
    Master,
    Since,
    Until,
    print_clusters,
    session_of,
)

app = typer.Typer(
    name="fleet",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The snapshots of many clusters: taken in, scored, planned, on Spark.",
)

Fleet = Annotated[
    str,
    typer.Argument(
        metavar="FLEET",
        help="Fleet folder: a path that Spark reads, or table:SCHEMA of a catalog.",
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "-o", "--output", metavar="FOLDER", help="Where scores/ and problems/ go."
    ),
]
All = Annotated[
    bool, typer.Option("--all", help="Score anew what has scores there already.")
]


@app.command()
def score(
    fleet: Fleet,
    *,
    output: Output,
    score_all: All = False,
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
    Score every snapshot of a fleet that has no scores yet; every level, as Parquet.

    Exits 3 where a snapshot could not be scored; problems/ says why. One that may be
    loaded in part is scored, and a warning in problems/.

    Example: kafka-planner fleet score fleet -o scores
    """
    from planner.fleet.places import fleet_at
    from planner.fleet.selection import read_selection
    from planner.score import ScoreRequest

    request = ScoreRequest(band=band or (), capacity_threshold=capacity_threshold or ())
    selection = read_selection(since, until, cluster)
    session = session_of(master, conf, reads=[fleet_at(fleet)])
    from planner.spark.command import score_folder

    found = score_folder(
        session, fleet, request, output, again=score_all, selection=selection
    )
    if output_format is OutputFormat.JSON:
        shown = [problem.to_dict() for problem in found.problems]
        warned = [problem.to_dict() for problem in found.warnings]
        document = {"snapshots": found.documents, "problems": shown}
        print_json({**document, "warnings": warned})
    else:
        print_clusters(found.documents)
        for problem in found.problems[:MAX_PROBLEMS_SHOWN]:
            print_words(f"  - {problem}")
        if not quiet:
            count = len(found.documents)
            print_words(f"wrote {output}: {count} snapshots scored")
    raise typer.Exit(ExitCode.FINDINGS if found.problems else ExitCode.OK)


@app.command()
def compact(
    fleet: Annotated[str, typer.Argument(metavar="FLEET", help="Fleet folder.")],
    *,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Put the rows of each day into one file per table, and remove what is left over.

    Those who read meanwhile see every row once. Nobody may append meanwhile. No JVM.

    Example: kafka-planner fleet compact fleet
    """
    from planner.fleet.append import compact as put_together
    from planner.fleet.store import Store

    done = put_together(Store(fleet))
    said: dict[str, Any] = {
        "files_before": done.before,
        "files_after": done.after,
        "files_removed": done.removed,
    }
    if output_format is OutputFormat.JSON:
        print_json({"fleet": fleet, **said})
    elif not quiet:
        print_words(f"{fleet}: {done.before} files before, {done.after} now")
