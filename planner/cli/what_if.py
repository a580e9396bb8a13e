"""`what-if`: scenarios of a cluster, compared with today."""

import os
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
from planner.cli.common.growth_option import read_growth_option
from planner.cli.common.input_problems import refuse_option
from planner.cli.common.output import print_json
from planner.cli.common.replay_options import replay_options
from planner.cli.plan.declared_options import Band, CapacityThreshold, Resources
from planner.cli.report.report_option import Report, check_report, write_report

if TYPE_CHECKING:
    from planner.snapshot import Snapshot
    from planner.what_if.play_scenarios import WhatIf
    from planner.what_if.topic_growth import Rates

ScenariosArgument = Annotated[
    Path, typer.Argument(metavar="SCENARIOS", help="Scenarios, TOML.")
]
Only = Annotated[
    list[str] | None,
    typer.Option("--scenario", metavar="NAME", help="Only this scenario. Repeatable."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FOLDER",
        help="Folder for the plan of each scenario, and its cluster.",
    ),
]
Bandwidth = Annotated[
    str,
    typer.Option(
        "--bandwidth",
        metavar="RATE",
        help="Rate at which a broker may copy.",
    ),
]
GrowthOption = Annotated[
    str | None,
    typer.Option(
        "--growth", metavar="RATE", help="Growth of topics: 5%/month, 0.3/year."
    ),
]
TrendsOption = Annotated[
    Path | None,
    typer.Option(
        "--trends", metavar="FOLDER", help="Growth by topic, from 'fleet trends'."
    ),
]
EffortOption = Annotated[
    str,
    typer.Option(
        "--effort",
        help="Work of the search: quick, normal, thorough or exact.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", help="Seed of the search's random numbers.")
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        min=0,
        help="Processes; 0: one per core. The answer is the same.",
    ),
]


def what_if(
    context: typer.Context,
    snapshot: SnapshotArgument,
    scenarios: ScenariosArgument,
    *,
    scenario: Only = None,
    output: Output = None,
    report: Report = False,
    band: Band = None,
    resources: Resources = None,
    capacity_threshold: CapacityThreshold = None,
    bandwidth: Bandwidth = "50MB/s",
    growth: GrowthOption = None,
    trends: TrendsOption = None,
    effort: EffortOption = "normal",
    seed: Seed = 1,
    jobs: Jobs = 0,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Plan scenarios of a cluster, and compare them with today.

    Exits 0 if every scenario holds, 3 if one does not, 4 if a plan cannot meet the hard
    rules.

    Example: kafka-planner what-if prod.json scenarios.toml --growth 5%/month
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.what_if.play_scenarios import WhatIfRequest, read_options
    from planner.what_if.play_scenarios import what_if as play
    from planner.what_if.scenario_folders import check_output
    from planner.what_if.scenarios_file import read_scenarios, select_scenarios

    check_report(output, is_wanted=report)
    read = read_snapshot(snapshot)
    state = read.to_state()
    request = WhatIfRequest(
        band=tuple(band or ()),
        capacity_threshold=tuple(capacity_threshold or ()),
        resources=resources,
        bandwidth=bandwidth,
        effort=read_effort(effort),
        seed=seed,
    )
    resolved = read_options(request, state)
    file = read_scenarios(
        scenarios, read, state, growth=growth_of(growth, trends, read)
    )
    file = select_scenarios(file, scenario or ())
    if output is not None:
        check_output(output, file.scenarios)
    found = play(
        read,
        file,
        resolved,
        jobs=jobs or len(os.sched_getaffinity(0)),
        output=output,
    )
    if output_format is OutputFormat.JSON:
        print_json(_document(found))
    else:
        words = [str(snapshot), str(scenarios), *replay_options(context)]
        _print_screen(found, words)
    if report and output is not None:
        from planner.report.pages.document_page import document_page

        write_report(document_page("what-if", _document(found)), output, is_quiet=quiet)
    raise typer.Exit(exit_code(found))


def _document(found: "WhatIf") -> dict[str, Any]:
    from planner.what_if.what_if_answer import to_document

    return to_document(found, now=datetime.now(UTC))


def _print_screen(found: "WhatIf", words: list[str]) -> None:
    from planner.what_if.what_if_screen import what_if_screen

    now = datetime.now(UTC)
    typer.echo("\n".join(what_if_screen(found, words, now=now)))


def exit_code(found: "WhatIf") -> ExitCode:
    """Return 0 if every scenario holds, 4 if a plan breaks a hard rule, else 3."""
    if any(row["status"] in {"partial", "infeasible"} for row in found.scenarios):
        return ExitCode.INFEASIBLE
    is_fine = all(row["holds"] for row in found.scenarios)
    return ExitCode.OK if is_fine else ExitCode.FINDINGS


def read_effort(text: str) -> str:
    """
    Return the effort of the search.

    Raises
    ------
    BadInputError
        If there is no such effort.
    """
    from placement.core.model.search_budget import EFFORTS

    if text not in EFFORTS:
        refuse_option("--effort", text, f"must be one of {', '.join(EFFORTS)}")
    return text


def growth_of(
    growth: str | None, trends: Path | None, snapshot: "Snapshot"
) -> "Rates | dict[str, Rates] | None":
    """
    Return the growth of all topics, or of each topic.

    Raises
    ------
    BadInputError
        If the option or the trends cannot be read, or both are given.
    """
    from planner.what_if.growth_trends import read_trends

    if trends is None:
        return read_growth_option(growth)
    if growth is not None:
        refuse_option("--growth", growth, "must not be given together with --trends")
    return read_trends(trends, snapshot.cluster_id)
