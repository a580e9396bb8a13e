"""Written scores of the last snapshot of each cluster."""

from collections import Counter
from collections.abc import Collection, Hashable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import dataset
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.fleet_places import schema_of
from planner.fleet.snapshot_selection import day_text
from planner.score.score_tables import SCHEMA, count_full_log_dirs
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_layout import plain_path
from planner.spark.io.fleet_tables import conform
from planner.spark.io.snapshot_keys import micros_of
from planner.spark.output.destination import destination_at
from planner.spark.output.local_tables import read_days
from planner.spark.output.score_tables import (
    SCORES,
    Scored,
    cluster_documents,
    moment_text,
)
from planner.spark.scoring.fleet_scores import output_schema

OVER = (*KEY, "level", "broker")
"""Columns of a place that is over a threshold."""


def latest_keys(snapshots: Collection[Scored]) -> list[Scored]:
    """Return the last snapshot of each cluster."""
    return [*dict(sorted(snapshots)).items()]


def latest_scores(
    spark: SparkSession, output: str, keys: Collection[Scored]
) -> list[dict[str, Any]]:
    """
    Return the scores of snapshots, from any run.

    Parameters
    ----------
    spark
        The session.
    output
        Results of `fleet score`: a folder, or ``table:CATALOG.SCHEMA``.
    keys
        Keys of the snapshots.

    Returns
    -------
    A document for each: `status` ``ok``, the figures of its cluster, `fullest_broker`,
    the broker with the highest use of its disk, and `log_dirs_over_threshold`, the
    number of log dirs over the disk threshold on brokers that are not; or `status`
    ``no-scores``.
    """
    days = {day_text(micros) for _, micros in keys}
    local = None if schema_of(output) else plain_path(f"{output.rstrip('/')}/{SCORES}")
    if local is not None:
        clusters, brokers, over = _of_folder(Path(local), days)
    else:
        table = destination_at(spark, output).read(SCORES)
        if table is None or not keys:
            return [_without_scores(key) for key in keys]
        read = _of_table(table.where(F.col("date").isin(*days)))
        clusters, brokers, over = read
    documents = cluster_documents(clusters, datetime.now(UTC))
    fullest, full_dirs = _fullest(brokers), _full_log_dirs(over)
    return [
        {
            "status": "ok",
            **documents[key],
            "fullest_broker": fullest.get(key),
            "log_dirs_over_threshold": full_dirs[key],
        }
        if key in documents
        else _without_scores(key)
        for key in keys
    ]


def _without_scores(key: Scored) -> dict[str, Any]:
    cluster_id, micros = key
    taken_at = moment_text(micros)
    return {"status": "no-scores", "cluster_id": cluster_id, "taken_at": taken_at}


def _of_folder(
    folder: Path, days: Collection[str]
) -> tuple[ArrowTable, ArrowTable, ArrowTable]:
    """Read rows of clusters, brokers and what is over its threshold, without Spark."""
    level, disk = dataset.field("level"), dataset.field("resource") == "disk"
    clusters = read_days(folder, SCHEMA, days, level == "cluster")
    is_asked = (level == "broker") & disk & dataset.field("use").is_valid()
    used = [SCHEMA.field(name) for name in (*KEY, "level", "resource", "broker", "use")]
    brokers = read_days(folder, pa.schema(used), days, is_asked)
    places = [SCHEMA.field(name) for name in (*OVER, "resource", "is_over_threshold")]
    is_over = dataset.field("is_over_threshold") & (dataset.field("resource") == "disk")
    return clusters, brokers, read_days(folder, pa.schema(places), days, is_over)


def _of_table(rows: DataFrame) -> tuple[ArrowTable, ArrowTable, ArrowTable]:
    """Collect rows of clusters, of fullest brokers, and of what is over a threshold."""
    clusters = conform(rows.where(F.col("level") == "cluster"), output_schema())
    of_disk = (F.col("level") == "broker") & (F.col("resource") == "disk")
    used = rows.where(of_disk & F.col("use").isNotNull())
    # Ties go to the lowest id.
    first = F.min(F.struct(-F.col("use"), "broker")).alias("first")
    found = used.groupBy(*KEY).agg(first)
    brokers = found.select(
        *KEY, F.col("first.broker"), (-F.col("first.col1")).alias("use")
    )
    over = rows.where(F.col("is_over_threshold") & (F.col("resource") == "disk"))
    return clusters.toArrow(), brokers.toArrow(), over.select(*OVER).toArrow()


def _full_log_dirs(over: ArrowTable) -> Counter[Hashable]:
    """Count by snapshot the log dirs over the threshold on brokers that are not."""
    keys = zip(over.column(KEY[0]).to_pylist(), micros_of(over).tolist(), strict=True)
    columns = (over.column(name).to_pylist() for name in ("level", "broker"))
    return count_full_log_dirs(zip(keys, *columns, strict=True))


def _fullest(brokers: ArrowTable) -> dict[Scored, int]:
    """Return by snapshot the broker with the highest use of its disk."""
    ordered = brokers.sort_by([("use", "ascending"), ("broker", "descending")])
    keys = zip(
        ordered.column(KEY[0]).to_pylist(), micros_of(ordered).tolist(), strict=True
    )
    # The last one of a snapshot; ties go to the lowest id.
    return dict(zip(keys, ordered.column("broker").to_pylist(), strict=True))
