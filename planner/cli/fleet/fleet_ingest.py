"""`fleet ingest`: raw dumps of many clusters into the tables of a fleet, on Spark."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.common_options import Format, OutputFormat, Quiet
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json
from planner.cli.common.spark_options import Conf, Master, session_of
from planner.cli.fleet.fleet_lines import print_wrapped
from planner.progress import stage
from planner.text.format import counted

if TYPE_CHECKING:
    from planner.spark.ingest.dump_ingest import Ingested

MOST_REASONS = 3
"""Number of refused dumps whose reason is shown."""

AllowPartial = Annotated[
    bool,
    typer.Option(
        "--allow-partial",
        help="Accept files of a dump that lack entries of each other.",
    ),
]


def ingest(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="Dumps as CLUSTER/TIME/files: snapshots, outputs of Kafka's tools, "
            "rates in CSV or Parquet.",
        ),
    ],
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FLEET",
            help="Fleet folder: a path, or a URL of s3, gs or hdfs; or "
            "table:CATALOG.SCHEMA.",
        ),
    ],
    allow_partial: AllowPartial = False,
    master: Master = None,
    conf: Conf = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Read raw dumps into a fleet, each dump once.

    Refused rows are written to the table rejects/ of the fleet, with their reasons.
    Exits 3 if a row is refused.

    Example: kafka-planner fleet ingest dumps -o fleet
    """
    from planner.fleet.fleet_places import dumps_check, schema_of

    session = session_of(master, conf, reads=[dumps_check(folder)], writes=output)
    from planner.spark.ingest.dump_ingest import ingest_dumps, ingested_document

    done = ingest_dumps(
        session,
        folder,
        output,
        allow_partial=allow_partial,
        progress=partial(stage, "reading dumps"),
    )
    if output_format is OutputFormat.JSON:
        print_json(ingested_document(done, folder, output))
    else:
        typer.echo(
            f"{counted(done.found, 'dump')}, {len(done.receipts):,} new: "
            f"{counted(done.snapshots, 'snapshot')} read, {done.refused:,} refused"
        )
        if done.rejects:
            _print_rejects(done, output, is_table=schema_of(output) is not None)
    raise typer.Exit(ExitCode.FINDINGS if done.rejects else ExitCode.OK)


def _print_rejects(done: "Ingested", output: str, *, is_table: bool) -> None:
    """Print the place of the rejects, and the first ones of a folder."""
    place = f"{output}{'.' if is_table else '/'}rejects"
    if is_table:
        typer.echo(f"{done.rejects:,} rows in {place} have the reasons")
        return
    from planner.fleet.dumps.dump_intake import first_rejects
    from planner.fleet.fleet_store import Store

    first = first_rejects(Store(output), done.receipts, MOST_REASONS)
    for problem in first:
        print_wrapped(f"  - {problem}")
    rest = done.rejects - len(first)
    more = f"and {rest:,} more; " if rest else ""
    typer.echo(f"{more}all reasons: {place}")
