"""`score`: balance, violations and hot spots of clusters."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from planner.cli.common.common_options import FailOn, Quiet, Verbose
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.input_problems import refuse_option
from planner.cli.common.metrics_output import (
    FormatOrMetrics,
    MetricsFile,
    MetricsFormat,
    check_metrics,
    give_metrics,
)
from planner.cli.common.output import print_json, print_words
from planner.cli.common.plots import Plot, print_plot
from planner.cli.common.spark_options import Conf, Master, print_clusters, session_of
from planner.cli.plan.declared_options import Band, CapacityThreshold, Resources
from planner.cli.report.report_option import Report, check_report
from planner.io.gatherer import Gatherer

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
    report: Report = False,
    plot: Plot = False,
    metrics: MetricsFile = None,
    spark: Spark = False,
    master: Master = None,
    conf: Conf = None,
    output_format: FormatOrMetrics = MetricsFormat.TEXT,
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
    inputs.read(lambda: check_metrics(metrics, output))
    inputs.read(lambda: check_report(output, is_wanted=report))
    if report and spark:
        inputs.read(_refuse_report_on_spark)
    shown = _Shown(output_format, output, metrics, has_report=report)
    if spark:
        inputs.raise_problems()
        session = session_of(master, conf)
        documents = _on_spark(session, snapshots, request, conditions, shown)
    else:
        documents = _in_memory(inputs, snapshots, request, conditions, shown, plot=plot)
    if not quiet:
        for written in (output, metrics):
            if written is not None:
                print_words(f"wrote {written}")
    if output_format is MetricsFormat.JSON:
        print_json(documents if len(documents) > 1 else documents[0])
    elif output_format is MetricsFormat.TEXT and spark:
        print_clusters(documents, snapshots)
    held = any(answer["holds"] for d in documents for answer in d.get("fail_on", ()))
    raise typer.Exit(ExitCode.FINDINGS if held else ExitCode.OK)


class _Shown(NamedTuple):
    """Format of stdout, and where tables and metrics are written."""

    output_format: MetricsFormat
    output: str | None
    metrics: Path | None
    has_report: bool = False

    @property
    def has_metrics(self) -> bool:
        """Whether metrics are printed or written."""
        is_printed = self.output_format is MetricsFormat.OPENMETRICS
        return is_printed or self.metrics is not None


def _metrics_text(
    inputs: Gatherer, documents: list[dict[str, Any]], shown: _Shown
) -> str:
    """Return the metrics of the documents; empty where they are not asked for."""
    if not shown.has_metrics:
        return ""
    from planner.metrics.openmetrics_text import score_metrics

    return inputs.read(lambda: score_metrics(documents)) or ""


def _on_spark(
    session: "SparkSession",
    snapshots: list[Path],
    request: "ScoreRequest",
    conditions: dict[str, "Condition"],
    shown: _Shown,
) -> list[dict[str, Any]]:
    """Score on Spark, write the tables and the metrics; return the documents."""
    from planner.spark.command import score_snapshots
    from planner.spark.output.score_tables import write_scores

    tells_brokers = shown.output_format is MetricsFormat.JSON or shown.has_metrics
    scored = score_snapshots(session, snapshots, request, tells_brokers=tells_brokers)
    inputs = Gatherer()
    _judge(inputs, scored.documents, list(map(str, snapshots)), conditions)
    text = _metrics_text(inputs, scored.documents, shown)
    inputs.raise_problems()
    if shown.output is not None:
        write_scores(scored.found, shown.output)
    scored.found.release()
    give_metrics(text, shown.output_format, shown.metrics)
    return scored.documents


def _in_memory(
    inputs: Gatherer,
    snapshots: list[Path],
    request: "ScoreRequest",
    conditions: dict[str, "Condition"],
    shown: _Shown,
    *,
    plot: bool,
) -> list[dict[str, Any]]:
    """Score, write and print; return the documents if they are needed."""
    from planner.score.score_folder import check_output, write_tables

    output = None if shown.output is None else Path(shown.output)
    if output is not None:
        inputs.read(lambda: check_output(output))
    scored = _score_all(inputs, snapshots, request)
    inputs.raise_problems()
    documents = []
    is_text = shown.output_format is MetricsFormat.TEXT
    if not is_text or conditions or shown.has_metrics:
        documents = _documents(inputs, snapshots, scored, conditions)
    text = _metrics_text(inputs, documents, shown)
    inputs.raise_problems()
    if output is not None:
        write_tables(scored, output, report=_report(snapshots, scored, shown))
    if is_text:
        _print_screens(snapshots, scored, documents, plot=plot)
    give_metrics(text, shown.output_format, shown.metrics)
    return documents


def _refuse_report_on_spark() -> None:
    rule = "a report has the hot spots of one process, which Spark leaves out"
    remedy = "leave out --spark, or make one of the tables: kafka-planner report FOLDER"
    refuse_option("--report", "", rule, remedy)


def _report(
    snapshots: list[Path], scored: list["Scored"], shown: _Shown
) -> bytes | None:
    """Return the report; `None` where it is not asked for."""
    if not shown.has_report:
        return None
    from planner.report.html_page import html_of
    from planner.report.pages.score_page import score_page

    return html_of(score_page(list(zip(snapshots, scored, strict=True)))).encode()


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
        answers = documents[number].get("fail_on", ()) if documents else ()
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
