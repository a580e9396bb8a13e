"""Written scores of the last snapshot of each cluster."""

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import dataset
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.fleet_places import schema_of
from planner.fleet.snapshot_selection import day_text
from planner.score.score_tables import SCHEMA
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
    A document for each: `status` ``ok``, the figures of its cluster and
    `fullest_broker`, the broker with the highest use of its disk; or `status`
    ``no-scores``.
    """
    days = {day_text(micros) for _, micros in keys}
    local = None if schema_of(output) else plain_path(f"{output.rstrip('/')}/{SCORES}")
    if local is not None:
        clusters, brokers = _of_folder(Path(local), days)
    else:
        table = destination_at(spark, output).read(SCORES)
        if table is None or not keys:
            return [_without_scores(key) for key in keys]
        clusters, brokers = _of_table(table.where(F.col("date").isin(*days)))
    documents = cluster_documents(clusters, datetime.now(UTC))
    fullest = _fullest(brokers)
    return [
        {"status": "ok", **documents[key], "fullest_broker": fullest.get(key)}
        if key in documents
        else _without_scores(key)
        for key in keys
    ]


def _without_scores(key: Scored) -> dict[str, Any]:
    cluster_id, micros = key
    taken_at = moment_text(micros)
    return {"status": "no-scores", "cluster_id": cluster_id, "taken_at": taken_at}


def _of_folder(folder: Path, days: Collection[str]) -> tuple[ArrowTable, ArrowTable]:
    """Read the rows of clusters, and of brokers for `_fullest`, without Spark."""
    level, disk = dataset.field("level"), dataset.field("resource") == "disk"
    clusters = read_days(folder, SCHEMA, days, level == "cluster")
    is_asked = (level == "broker") & disk & dataset.field("use").is_valid()
    used = [SCHEMA.field(name) for name in (*KEY, "level", "resource", "broker", "use")]
    return clusters, read_days(folder, pa.schema(used), days, is_asked)


def _of_table(rows: DataFrame) -> tuple[ArrowTable, ArrowTable]:
    """Collect the rows of clusters, and of each snapshot's fullest broker."""
    clusters = conform(rows.where(F.col("level") == "cluster"), output_schema())
    of_disk = (F.col("level") == "broker") & (F.col("resource") == "disk")
    used = rows.where(of_disk & F.col("use").isNotNull())
    # Ties go to the lowest id.
    first = F.min(F.struct(-F.col("use"), "broker")).alias("first")
    found = used.groupBy(*KEY).agg(first)
    brokers = found.select(
        *KEY, F.col("first.broker"), (-F.col("first.col1")).alias("use")
    )
    return clusters.toArrow(), brokers.toArrow()


def _fullest(brokers: ArrowTable) -> dict[Scored, int]:
    """Return by snapshot the broker with the highest use of its disk."""
    ordered = brokers.sort_by([("use", "ascending"), ("broker", "descending")])
    keys = zip(
        ordered.column(KEY[0]).to_pylist(), micros_of(ordered).tolist(), strict=True
    )
    # The last one of a snapshot; ties go to the lowest id.
    return dict(zip(keys, ordered.column("broker").to_pylist(), strict=True))
