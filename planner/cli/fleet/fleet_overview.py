"""`fleet overview`: a row per cluster, the first to fix at the top."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli.common.common_options import FailOn, Quiet
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.metrics_output import (
    FormatOrMetrics,
    MetricsFile,
    MetricsFormat,
    check_metrics,
    give_metrics,
)
from planner.cli.common.output import print_json, print_words
from planner.cli.fleet.fleet_commands import Fleet
from planner.cli.fleet.fleet_costs import cost_lines, print_cluster_costs
from planner.cli.fleet.fleet_fail_on import judged, print_failing
from planner.cli.fleet.fleet_lines import ClusterFacts, print_lines, print_wrapped
from planner.cli.fleet.fleet_scope import FleetScope, with_scope
from planner.cli.plan.declared_options import Band, CapacityThreshold
from planner.cli.report.report_option import (
    Report,
    check_fleet_report,
    write_fleet_report,
)
from planner.fleet.overview_costs import fleet_costs

MUCH_ESTIMATED = 0.5


@with_scope
def overview(
    fleet: Fleet,
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="PLACE",
            help="Destination of the overview: a folder, or table:CATALOG.SCHEMA.",
        ),
    ],
    report: Report = False,
    trends: Annotated[
        str | None,
        typer.Option(
            "--trends", metavar="PLACE", help="Output of 'fleet trends', for forecasts."
        ),
    ] = None,
    changes: Annotated[
        str | None,
        typer.Option(
            "--changes",
            metavar="PLACE",
            help="Output of 'fleet changes', for moved bytes.",
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="Prices, TOML: costs of clusters by owner, and savings of fewer "
            "brokers.",
        ),
    ] = None,
    metrics: MetricsFile = None,
    fail_on: FailOn = None,
    band: Band = None,
    capacity_threshold: CapacityThreshold = None,
    scope: FleetScope,
    output_format: FormatOrMetrics = MetricsFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    List for every cluster what to fix first, and what it costs.

    The last snapshot of each cluster counts. Exits 3 if one cannot be read, or if a
    condition of --fail-on holds or is unknown.

    Example: kafka-planner fleet overview fleet -o overview --trends trends
    """
    from planner.fleet.fleet_places import fleet_check, results_check
    from planner.fleet.fleet_prices import read_fleet_prices
    from planner.fleet.overview_conditions import figures_of, overview_conditions
    from planner.options.cluster_options import read_options
    from planner.options.plan_request import read_values
    from planner.snapshot import Snapshot

    check_metrics(metrics, output)
    conditions = overview_conditions(
        fail_on or [],
        has_trends=trends is not None,
        has_changes=changes is not None,
        has_prices=prices is not None,
    )
    given = {"band": band, "capacity_threshold": capacity_threshold}
    options, problems = read_values(given)
    state = Snapshot().to_state()
    settings = read_options(options, state, problems=problems).settings
    selection = scope.selection()
    page_folder = check_fleet_report(output, is_wanted=report)
    priced = None if prices is None else read_fleet_prices(prices)
    session = scope.session(
        output,
        fleet_check(fleet),
        results_check(trends, "trends", "trends"),
        results_check(changes, "changes", "changes"),
    )
    from planner.spark.reports.fleet_overview import overview_folder

    rows = overview_folder(
        session,
        fleet,
        output,
        settings,
        trends=trends,
        changes=changes,
        selection=selection,
        prices=priced,
    )
    failing = judged(rows, conditions, figures_of)
    if metrics is not None or output_format is MetricsFormat.OPENMETRICS:
        from planner.metrics.openmetrics_text import overview_metrics

        give_metrics(overview_metrics(rows), output_format, metrics)
    if output_format is MetricsFormat.JSON:
        costs = {} if priced is None else {"costs": fleet_costs(rows)}
        print_json({"clusters": rows, **costs})
    elif output_format is MetricsFormat.TEXT:
        print_overview(rows)
        if priced is not None:
            _print_costs(rows, priced.unit)
        print_failing(failing)
    if output_format is not MetricsFormat.JSON and not quiet:
        print_words(f"wrote {output}: {len(rows):,} clusters")
    write_fleet_report(page_folder, is_quiet=quiet)
    is_odd = bool(failing) or any(row["status"] != "ok" for row in rows)
    raise typer.Exit(ExitCode.FINDINGS if is_odd else ExitCode.OK)


def print_overview(rows: list[dict[str, Any]]) -> None:
    """Print a line per cluster, the first to fix at the top."""
    print_lines([facts_of_row(row) for row in rows])
    for line in _about_data(rows):
        typer.echo(line)


def _about_data(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the age of the oldest data, and the number of estimated clusters."""
    from planner.text.format import duration_text

    aged = [row for row in rows if row["data_age_s"] is not None]
    if aged:
        oldest = max(aged, key=lambda row: row["data_age_s"])
        age = duration_text(oldest["data_age_s"])
        yield f"Oldest data: {age}, of {oldest['cluster_id']}"[:80]
    estimated = sum((row["estimated_fraction"] or 0) > MUCH_ESTIMATED for row in rows)
    if estimated:
        yield f"Over half of the bytes in are estimated: {estimated:,} clusters"


def _print_costs(rows: list[dict[str, Any]], unit: str) -> None:
    costs = fleet_costs(rows)
    if costs["cost_total"] is None:
        typer.echo("Costs: unknown; no price applies to a known quantity")
        return
    print_cluster_costs(rows)
    for line in cost_lines(costs, unit):
        print_wrapped(line)


def facts_of_row(row: dict[str, Any]) -> ClusterFacts:
    """Return the facts of a row of the overview."""
    name = str(row["cluster_id"])
    if row["status"] != "ok":
        reason = f"{row['status']}: {row['reason'] or 'no reason given'}"
        return ClusterFacts(cluster_id=name, over={}, more=[reason])
    spare = row["headroom_n1_broker"]
    days = {end: row.get(f"days_until_full{end}") for end in ("", "_low", "_high")}
    is_tight = spare is not None and spare < 0
    return ClusterFacts(
        cluster_id=name,
        offline=row["offline_partitions"],
        under_min_isr=row["under_min_isr"],
        offline_replicas=row["offline_replicas"],
        under_replicated=row["under_replicated"],
        rack=row["rack"],
        disk=row["max_disk_use"],
        broker=row["fullest_broker"],
        full=(days.get(""), days.get("_low"), days.get("_high")),
        over={"": row["brokers_over_threshold"]},
        full_dirs=row["log_dirs_over_threshold"],
        brokers=row["brokers"],
        out=row["brokers_out_of_band"],
        least_bytes=row["min_bytes_to_balance"],
        more=["no room for N-1"] if is_tight else [],
    )
