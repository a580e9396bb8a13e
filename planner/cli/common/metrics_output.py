"""Figures as metrics: the options that ask for them, and where they are given."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planner.cli.common.input_problems import refuse_option


class MetricsFormat(StrEnum):
    """Format in which figures are printed."""

    TEXT = "text"
    JSON = "json"
    OPENMETRICS = "openmetrics"


FormatOrMetrics = Annotated[
    MetricsFormat,
    typer.Option(
        "--format",
        help="text, json: one document on stdout, or openmetrics: for Prometheus.",
    ),
]
MetricsFile = Annotated[
    Path | None,
    typer.Option(
        "--metrics",
        metavar="FILE",
        help="File of metrics for Prometheus, replaced in one step: kafka.prom.",
    ),
]


def check_metrics(metrics: Path | None, output: str | None) -> None:
    """
    Check where metrics and tables are to be written, before any work is done.

    Parameters
    ----------
    metrics, output
        Values of `--metrics` and of `--output`.

    Raises
    ------
    BadInputError
        If the file cannot be one of metrics, or tables would have the name of one.
    """
    from planner.metrics.metrics_file import SUFFIX, check_metrics_file

    if output is not None and output.endswith(SUFFIX):
        rule = f"a place of tables does not end in {SUFFIX}"
        refuse_option("-o", output, rule, f"write metrics with --metrics {output}")
    if metrics is not None:
        check_metrics_file(metrics)


def give_metrics(text: str, output_format: MetricsFormat, metrics: Path | None) -> None:
    """
    Write metrics to their file and print them, each where it is asked for.

    Raises
    ------
    BadInputError
        If the file may not be replaced, or cannot be written.
    """
    if metrics is not None:
        from planner.metrics.metrics_file import write_metrics

        write_metrics(text, metrics)
    if output_format is MetricsFormat.OPENMETRICS:
        typer.echo(text, nl=False)
