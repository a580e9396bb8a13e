"""`fleet overview`: a row per cluster, and which to fix first."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json, print_words
from planner.cli.common.spark_options import (
    Cluster,
    Conf,
    Master,
    Since,
    Until,
    session_of,
)
from planner.cli.fleet.fleet_commands import Fleet
from planner.cli.fleet.fleet_costs import cost_lines, print_cluster_costs
from planner.cli.fleet.fleet_fail_on import judged, print_failing
from planner.cli.fleet.fleet_lines import ClusterFacts, print_lines, print_wrapped
from planner.cli.plan.declared_options import Band, CapacityThreshold
from planner.cli.score import FailOn
from planner.fleet.overview_costs import fleet_costs

MUCH_ESTIMATED = 0.5


def overview(
    fleet: Fleet,
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="PLACE",
            help="Where the overview goes: a folder, or table:CATALOG.SCHEMA.",
        ),
    ],
    trends: Annotated[
        str | None,
        typer.Option(
            "--trends", metavar="PLACE", help="What 'fleet trends' wrote: forecasts."
        ),
    ] = None,
    changes: Annotated[
        str | None,
        typer.Option(
            "--changes",
            metavar="PLACE",
            help="What 'fleet changes' wrote: bytes moved.",
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="Prices, TOML: what clusters cost, whose that is, and what fewer "
            "brokers would save.",
        ),
    ] = None,
    fail_on: FailOn = None,
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
    Say of every cluster what to fix first, what it allows, and what it costs.

    Of its last snapshot. Exits 3 where one could not be looked at, or a condition of
    --fail-on holds, or cannot be judged.

    Example: kafka-planner fleet overview fleet -o overview --trends trends
    """
    from planner.fleet.fleet_places import fleet_at, written_at
    from planner.fleet.fleet_prices import read_fleet_prices
    from planner.fleet.overview_conditions import figures_of, overview_conditions
    from planner.fleet.snapshot_selection import read_selection
    from planner.options.cluster_options import read_options
    from planner.options.plan_request import read_values
    from planner.snapshot import Snapshot

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
    selection = read_selection(since, until, cluster)
    priced = None if prices is None else read_fleet_prices(prices)
    session = session_of(
        master,
        conf,
        reads=[
            fleet_at(fleet),
            written_at(trends, "trends", "trends"),
            written_at(changes, "changes", "changes"),
        ],
        writes=output,
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
    if output_format is OutputFormat.JSON:
        costs = {} if priced is None else {"costs": fleet_costs(rows)}
        print_json({"clusters": rows, **costs})
    else:
        print_overview(rows)
        if priced is not None:
            _print_costs(rows, priced.unit)
        print_failing(failing)
        if not quiet:
            print_words(f"wrote {output}: {len(rows):,} clusters")
    is_odd = bool(failing) or any(row["status"] != "ok" for row in rows)
    raise typer.Exit(ExitCode.FINDINGS if is_odd else ExitCode.OK)


def print_overview(rows: list[dict[str, Any]]) -> None:
    """Print a line per cluster, what to fix first at the top."""
    print_lines([facts_of_row(row) for row in rows])
    for line in _about_data(rows):
        typer.echo(line)


def _about_data(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Say how old the data are, and how much of them was never measured."""
    from planner.text.format import duration_text

    aged = [row for row in rows if row["data_age_s"] is not None]
    if aged:
        oldest = max(aged, key=lambda row: row["data_age_s"])
        age = duration_text(oldest["data_age_s"])
        yield f"Oldest data: {age}, of {oldest['cluster_id']}"[:80]
    guessed = sum((row["estimated_fraction"] or 0) > MUCH_ESTIMATED for row in rows)
    if guessed:
        yield f"Over half of the bytes in are estimated: {guessed:,} clusters"


def _print_costs(rows: list[dict[str, Any]], unit: str) -> None:
    costs = fleet_costs(rows)
    if costs["cost_total"] is None:
        typer.echo("Costs: nothing that has a price is known")
        return
    print_cluster_costs(rows)
    for line in cost_lines(costs, unit):
        print_wrapped(line)


def facts_of_row(row: dict[str, Any]) -> ClusterFacts:
    """Return what a row of an overview says of a cluster."""
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
        rack=row["rack"],
        disk=row["max_disk_use"],
        broker=row["fullest_broker"],
        full=(days.get(""), days.get("_low"), days.get("_high")),
        over={"": row["brokers_over_threshold"]},
        out=row["brokers_out_of_band"],
        least_bytes=row["min_bytes_to_balance"],
        more=["no room for N-1"] if is_tight else [],
    )


def add_to(fleet_app: typer.Typer) -> None:
    """Add `overview` to the commands below `fleet`."""
    fleet_app.command("overview")(overview)
