"""`report`: one self-contained HTML page of a plan, of snapshots, or of a document."""

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.common.common_options import Format, OutputFormat, Quiet, Verbose
from planner.cli.common.output import print_json, print_words
from planner.io.gatherer import Gatherer

Inputs = Annotated[
    list[Path],
    typer.Argument(
        metavar="PLAN|SNAP|TABLES...",
        help="A plan folder, snapshots, what --format json printed, or folders that "
        "commands of fleets wrote.",
    ),
]
Output = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="FILE.html", help="Page to write."),
]
SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot",
        metavar="SNAP",
        help="The cluster before the plan: every rule is checked for the report.",
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FOLDER", help="Folder for the charts as SVG and PNG."
    ),
]


def report(
    inputs: Inputs,
    *,
    output: Output,
    snapshot: SnapshotOption = None,
    save: Save = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Write a report as one HTML page that needs no network.

    A document is what score, failures, what-if, size, status, check, verify, 'keys
    skew', 'group assign' or 'group what-if' printed with --format json. Needs pip
    install 'kafka-planner[report]'.

    Example: kafka-planner report plan -o plan.html
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.extras import REPORT

    REPORT.require()
    from planner.report.report_files import check_page_output, write_charts, write_page
    from planner.report.report_inputs import page_of

    given = Gatherer()
    given.read(lambda: check_page_output(output))
    page = given.read(lambda: page_of(inputs, snapshot, read_snapshot))
    given.raise_problems()
    if page is None:  # pragma: no cover - raised just above
        return
    size = write_page(page, output)
    charts = [] if save is None else write_charts(page, save)
    if output_format is OutputFormat.JSON:
        folder = None if save is None else str(save)
        files = {"file": str(output), "bytes": size}
        print_json({**files, "folder": folder, "charts": charts})
    elif not quiet:
        print_words(f"wrote {output}{'' if save is None else f' and {save}'}")
