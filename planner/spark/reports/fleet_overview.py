"""Overview of a fleet: a row per cluster, ranked by urgency."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from placement.draft.draft import Settings
from planner.fleet.cluster_overview import (
    FAILED,
    FORECAST,
    MOVED,
    SCHEMA,
    UNTIL_FULL,
    overview_row,
)
from planner.fleet.fleet_prices import FleetPrices
from planner.fleet.snapshot_selection import ALL, SnapshotSelection
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.snapshot_headers import time_of
from planner.spark.io.corrupt_files import Broken, around_broken
from planner.spark.io.fleet_opening import open_fleet
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.snapshot_selection import narrowed
from planner.spark.output.destination import destination_at
from planner.spark.per_snapshot.map_snapshots import Whole, on_each, row_schema
from planner.spark.per_snapshot.snapshot_jobs import latest, sizes_of
from planner.spark.reports.fleet_changes import CHANGES
from planner.spark.reports.fleet_trends import TRENDS
from planner.text.data_age import age_s

OVERVIEW = "overview"
JOB_NAME = "overview"


def overview(
    spark: SparkSession,
    fleet: Fleet,
    settings: Settings | None = None,
    *,
    prices: FleetPrices | None = None,
    now: datetime | None = None,
) -> DataFrame:
    """
    Return a row for the last snapshot of each cluster: `cluster_overview.SCHEMA`.

    Parameters
    ----------
    spark
        The session.
    fleet
        Canonical tables.
    settings
        Bands and thresholds; `None`: the defaults.
    prices
        Result of `planner.fleet.fleet_prices.read_fleet_prices`; `None`: columns of
        costs are null.
    now
        Time with a zone, at which the age of data is computed; `None`: time of the
        call.
    """
    chosen, today = settings or Settings(), now or datetime.now(UTC)
    jobs = [size.job(JOB_NAME) for size in latest(sizes_of(fleet))]
    schema = row_schema(SCHEMA)

    def work(snapshots: Sequence[Whole], _: str) -> ArrowTable:
        (snapshot,) = snapshots
        row: dict[str, Any] = {"status": FAILED, "reason": snapshot.flaw}
        if not snapshot.flaw:
            row = overview_row(snapshot.tables, snapshot.header, chosen, prices)
        row["data_age_s"] = age_s(time_of(snapshot.taken_at), today)
        return pa.Table.from_pylist([row], schema=schema)

    return on_each(spark, fleet, jobs, work, SCHEMA)


def forecasts(trends: DataFrame) -> DataFrame:
    """Return the growth of each cluster's disks, and when the first one is full."""
    disk = trends.where(F.col("resource") == "disk")
    # A log dir may be full long before its broker.
    is_disk = F.col("level").isin("broker", "log_dir")
    places = disk.where(is_disk & F.col("days_until_full").isNotNull())
    first = places.groupBy("cluster_id").agg(
        F.min(F.struct(*(F.col(name) for name in UNTIL_FULL))).alias("first")
    )
    growth = disk.where(F.col("level") == "cluster").select(
        "cluster_id", F.col("growth_per_day").alias(FORECAST[0])
    )
    return growth.join(first, on="cluster_id", how="left").select(
        "cluster_id", FORECAST[0], *(F.col(f"first.{name}") for name in UNTIL_FULL)
    )


def moved(changes: DataFrame) -> DataFrame:
    """Return the bytes that each cluster moved between its last two snapshots."""
    whole = changes.where(F.col("topic").isNull())
    last = F.max_by(F.struct("bytes", "before"), "taken_at").alias("last")
    return (
        whole.groupBy("cluster_id")
        .agg(last)
        .select(
            "cluster_id",
            F.col("last.bytes").alias(MOVED[0]),
            F.col("last.before").alias(MOVED[1]),
        )
    )


def overview_folder(
    spark: SparkSession,
    folder: str,
    output: str,
    settings: Settings,
    *,
    trends: str | None,
    changes: str | None,
    selection: SnapshotSelection = ALL,
    prices: FleetPrices | None = None,
) -> list[dict[str, Any]]:
    """
    Write the overview of a fleet, replacing the earlier one; return it ranked.

    Parameters
    ----------
    spark
        The session.
    folder
        The fleet.
    output
        Destination of `overview`: a path that Spark writes, or
        ``table:CATALOG.SCHEMA``.
    settings
        Bands and thresholds.
    trends, changes
        Results of `fleet trends` and `fleet changes`; `None`: their columns are null.
    selection
        Selection of snapshots; the overview shows the last selected one of each
        cluster.
    prices
        Prices of the fleet; `None`: columns of costs are null.

    Raises
    ------
    BadInputError
        If the folder is no fleet, no cluster matches, or the output cannot be written.
    """
    target = destination_at(spark, output)

    def run(broken: Broken) -> None:
        fleet = narrowed(open_fleet(spark, folder, broken=broken), selection)
        rows = overview(spark, fleet, settings, prices=prices)
        for where, name, figures, columns in (
            (trends, TRENDS, forecasts, FORECAST),
            (changes, CHANGES, moved, MOVED),
        ):
            table = None if where is None else destination_at(spark, where).read(name)
            if table is None:
                rows = rows.withColumns({column: F.lit(None) for column in columns})
            else:
                rows = rows.join(figures(table), on="cluster_id", how="left")
        target.write(OVERVIEW, rows, replaces=True)

    around_broken(run)
    found = target.read(OVERVIEW)
    if found is None:
        return []
    micros = [F.unix_micros(name).alias(name) for name in ("taken_at", MOVED[1])]
    kept = [c for c in found.columns if c not in {"taken_at", MOVED[1]}]
    rows_found = [row.asDict() for row in found.select(*kept, *micros).collect()]
    return ranked([_timed(row) for row in rows_found])


def _timed(row: dict[str, Any]) -> dict[str, Any]:
    since = row[MOVED[1]]
    return row | {
        "taken_at": time_of(row["taken_at"]),
        MOVED[1]: None if since is None else time_of(since),
    }


def ranked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Return clusters sorted by urgency.

    First come clusters whose snapshot cannot be read, then those with offline
    partitions, partitions under their min ISR, offline replicas, or brokers or log dirs
    over a threshold; then clusters by the days until a disk is full, by brokers out of
    band and by bytes to move.
    """
    return sorted(rows, key=_rank)


def _rank(row: dict[str, Any]) -> tuple[Any, ...]:
    days = row["days_until_full"]
    worst_first = (
        "offline_partitions",
        "under_min_isr",
        "offline_replicas",
        "brokers_over_threshold",
        "log_dirs_over_threshold",
    )
    return (
        row["status"] == "ok",
        *(-(row[name] or 0) for name in worst_first),
        float("inf") if days is None else days,
        -(row["brokers_out_of_band"] or 0),
        -(row["min_bytes_to_balance"] or 0),
        row["cluster_id"],
    )
