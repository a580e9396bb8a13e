"""`score`: balance, violations and hot spots of clusters."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import Format, OutputFormat, Quiet, Verbose
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.input_problems import Gatherer
from planner.cli.common.output import print_json, print_words
from planner.cli.common.plots import Plot, print_plot
from planner.cli.common.score_options import FailOn
from planner.cli.common.spark_options import Conf, Master, print_clusters, session_of
from planner.cli.plan.declared_options import Band, CapacityThreshold, Resources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from planner.score import Scored, ScoreRequest
    from planner.score.fail_on import Condition

Snapshots = Annotated[
    list[Path],
    typer.Argument(
        metavar="SNAP...", help="Snapshots: .json, .json.gz or Parquet folders."
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FOLDER",
        help="Folder for the scores of every level as Parquet tables.",
    ),
]
Spark = Annotated[
    bool,
    typer.Option("--spark", help="Use Spark, for snapshots too large for one process."),
]


def score(
    snapshots: Snapshots,
    *,
    fail_on: FailOn = None,
    band: Band = None,
    capacity_threshold: CapacityThreshold = None,
    resources: Resources = None,
    output: Output = None,
    plot: Plot = False,
    spark: Spark = False,
    master: Master = None,
    conf: Conf = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Score clusters: balance, broken rules, hot spots, least to move.

    Needs no JVM without --spark. Exits 3 if a condition of --fail-on holds. The JSON of
    several snapshots is a list.

    Example: kafka-planner score prod.json --fail-on 'disk.max_use>0.85'
    """
    from planner.score import ScoreRequest
    from planner.score.fail_on import parse_conditions

    inputs = Gatherer()
    conditions = inputs.read(lambda: parse_conditions(fail_on or [])) or {}
    request = ScoreRequest(
        band=band or (),
        capacity_threshold=capacity_threshold or (),
        resources=resources,
    )
    is_json = output_format is OutputFormat.JSON
    if spark:
        inputs.raise_problems()
        session = session_of(master, conf)
        documents = _on_spark(
            session, snapshots, request, conditions, output, is_json=is_json
        )
    else:
        documents = _in_memory(
            inputs, snapshots, request, conditions, output, is_json, plot=plot
        )
    if output is not None and not quiet:
        print_words(f"wrote {output}")
    if is_json:
        print_json(documents if len(documents) > 1 else documents[0])
    elif spark:
        print_clusters(documents)
    held = any(answer["holds"] for d in documents for answer in d.get("fail_on", ()))
    raise typer.Exit(ExitCode.FINDINGS if held else ExitCode.OK)


def _on_spark(
    session: "SparkSession",
    snapshots: list[Path],
    request: "ScoreRequest",
    conditions: dict[str, "Condition"],
    output: str | None,
    *,
    is_json: bool,
) -> list[dict[str, Any]]:
    """Score on Spark and write the tables; return the documents."""
    from planner.spark.command import score_snapshots
    from planner.spark.output.score_tables import write_scores

    scored = score_snapshots(session, snapshots, request, tells_brokers=is_json)
    inputs = Gatherer()
    _judge(inputs, scored.documents, list(map(str, snapshots)), conditions)
    inputs.raise_problems()
    if output is not None:
        write_scores(scored.found, output)
    scored.found.release()
    return scored.documents


def _in_memory(
    inputs: Gatherer,
    snapshots: list[Path],
    request: "ScoreRequest",
    conditions: dict[str, "Condition"],
    output: str | None,
    is_json: bool,
    *,
    plot: bool,
) -> list[dict[str, Any]]:
    """Score, write and print; return the documents if they are needed."""
    from planner.score.score_tables import check_output, write_tables

    if output is not None:
        inputs.read(lambda: check_output(Path(output)))
    scored = _score_all(inputs, snapshots, request)
    inputs.raise_problems()
    documents = []
    if is_json or conditions:
        documents = _documents(inputs, snapshots, scored, conditions)
    inputs.raise_problems()
    if output is not None:
        write_tables(scored, Path(output))
    if not is_json:
        _print_screens(snapshots, scored, documents, plot=plot)
    return documents


def _score_all(
    inputs: Gatherer, snapshots: list[Path], request: "ScoreRequest"
) -> list["Scored"]:
    """Score the snapshots one by one."""
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.score import score_snapshot

    now = datetime.now(UTC)

    def read(path: Path) -> "Scored":
        return score_snapshot(read_snapshot(path), request, now=now)

    found = [inputs.read(partial(read, path)) for path in snapshots]
    return [scored for scored in found if scored is not None]


def _documents(
    inputs: Gatherer,
    snapshots: list[Path],
    scored: list["Scored"],
    conditions: dict[str, "Condition"],
) -> list[dict[str, Any]]:
    """Return the JSON documents, with answers to the conditions."""
    from planner.score import score_document

    documents = [score_document(each) for each in scored]
    _judge(inputs, documents, list(map(str, snapshots)), conditions)
    return documents


def _judge(
    inputs: Gatherer,
    documents: list[dict[str, Any]],
    names: list[str],
    conditions: dict[str, "Condition"],
) -> None:
    """Add the answers to conditions to the documents."""
    from planner.score.fail_on import evaluate

    for name, document in zip(names, documents, strict=True):
        if conditions:
            judged = partial(evaluate, conditions, document, file=name)
            document["fail_on"] = inputs.read(judged)


def _print_screens(
    snapshots: list[Path],
    scored: list["Scored"],
    documents: list[dict[str, Any]],
    *,
    plot: bool,
) -> None:
    from planner.score.score_screen import score_screen
    from planner.text.format import labelled

    for number, (path, each) in enumerate(zip(snapshots, scored, strict=True)):
        if number:
            typer.echo()
        for line in score_screen(each, path):
            typer.echo(line)
        answers = documents[number]["fail_on"] if documents else ()
        for answer in answers:
            verdict = "holds" if answer["holds"] else "does not hold"
            for line in labelled("Fail on", f"{answer['condition']}: {verdict}"):
                typer.echo(line)
        if plot:
            _print_plot(each)


def _print_plot(scored: "Scored") -> None:
    """Print the loads of the brokers as pictures."""
    from planner.report.pages.score_page import score_levels, score_limits
    from planner.score import score_document

    brokers, *_ = score_levels(score_document(scored))
    print_plot(brokers, score_limits(scored))
