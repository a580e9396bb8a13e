"""`size`: the number of brokers that a cluster needs."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    SnapshotArgument,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json
from planner.cli.common.replay_options import replay_options
from planner.cli.plan.declared_options import CapacityThreshold
from planner.cli.report.report_option import Report, check_report, write_report
from planner.cli.what_if import (
    Bandwidth,
    EffortOption,
    GrowthOption,
    Seed,
    TrendsOption,
    growth_of,
    read_effort,
)

if TYPE_CHECKING:
    from planner.sizing.size_cluster import SizeAnswer

Types = Annotated[
    Path | None,
    typer.Option("--types", metavar="FILE", help="Kinds of brokers with prices, TOML."),
]
Like = Annotated[
    int | None,
    typer.Option("--like", metavar="ID", help="Add or remove brokers like this one."),
]
Survive = Annotated[
    str,
    typer.Option(
        "--survive",
        metavar="WHAT",
        help="Loss to survive: broker, rack, both or nothing.",
    ),
]
Months = Annotated[
    float,
    typer.Option(
        "--months",
        min=0,
        help="Months ahead to size for, by --growth.",
    ),
]
Racks = Annotated[
    int | None,
    typer.Option(
        "--racks",
        min=1,
        help="Number of racks for --types; by default today's.",
    ),
]
Scenarios = Annotated[
    Path | None,
    typer.Option(
        "--scenarios",
        metavar="FILE",
        help="File with growth and scenarios, TOML.",
    ),
]
ScenarioOption = Annotated[
    str | None,
    typer.Option("--scenario", metavar="NAME", help="Size the cluster of a scenario."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="SNAP",
        help="Snapshot of the placement that proves it.",
    ),
]


def size(
    context: typer.Context,
    snapshot: SnapshotArgument,
    *,
    output: Output = None,
    report: Report = False,
    types: Types = None,
    like: Like = None,
    survive: Survive = "broker,rack",
    growth: GrowthOption = None,
    trends: TrendsOption = None,
    months: Months = 0.0,
    racks: Racks = None,
    scenarios: Scenarios = None,
    scenario: ScenarioOption = None,
    capacity_threshold: CapacityThreshold = None,
    bandwidth: Bandwidth = "50MB/s",
    effort: EffortOption = "quick",
    seed: Seed = 1,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Find how many brokers a cluster needs, how long, with a proof.

    Exits 0 with an answer, 4 if no number of brokers was found that carries the load.

    Example: kafka-planner size prod.json --growth 5%/month --months 12
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.sizing.broker_types import read_types
    from planner.sizing.size_cluster import SizeRequest
    from planner.sizing.size_cluster import size as answer_to

    check_report(output, is_wanted=report, metavar="SNAP")
    read = read_snapshot(snapshot)
    request = SizeRequest(
        capacity_threshold=tuple(capacity_threshold or ()),
        survives=survive,
        like=like,
        months=months,
        racks=racks,
        scenario=scenario,
        effort=read_effort(effort),
        seed=seed,
        bandwidth=bandwidth,
    )
    rates = growth_of(growth, trends, read)
    answer = answer_to(
        read,
        request,
        kinds=() if types is None else read_types(types),
        scenarios=scenarios,
        growth=rates,
    )
    if output is not None:
        _write(answer, output)
    given = [str(snapshot), *replay_options(context)]
    document = _print(answer, given, output, output_format)
    if report and output is not None:
        from planner.report.pages.document_page import document_page

        write_report(document_page("size", document), output.parent, is_quiet=quiet)
    is_found = answer.sizing.shown is not None
    raise typer.Exit(ExitCode.OK if is_found else ExitCode.INFEASIBLE)


def _write(answer: "SizeAnswer", output: Path) -> None:
    """Write the placement that proves the answer, as a snapshot."""
    from planner.sizing.size_cluster import shown_snapshot
    from planner.snapshot import write_snapshot

    shown = answer.sizing.shown
    if shown is not None:
        write_snapshot(shown_snapshot(answer, shown), output)


def _print(
    answer: "SizeAnswer",
    given: list[str],
    output: Path | None,
    output_format: OutputFormat,
) -> dict[str, Any]:
    """Print the answer as screen or as document; return the document."""
    from planner.sizing.sizing_document import to_document

    now = datetime.now(UTC)
    document = to_document(answer, now=now)
    if output_format is OutputFormat.JSON:
        print_json(document)
        return document
    from planner.sizing.sizing_screen import size_screen

    typer.echo("\n".join(size_screen(answer, given, output, now=now)))
    return document
