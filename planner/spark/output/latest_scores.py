"""Written scores of the last snapshot of each cluster."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.snapshot_selection import day_text
from planner.spark.io.fleet_files import KEY
from planner.spark.output.destination import destination_at
from planner.spark.output.score_tables import (
    SCORES,
    Scored,
    cluster_documents,
    moment_text,
)


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
    table = destination_at(spark, output).read(SCORES)
    if table is None or not keys:
        return [_without_scores(key) for key in keys]
    days = {day_text(micros) for _, micros in keys}
    rows = table.where(F.col("date").isin(*days))
    documents = cluster_documents(rows, datetime.now(UTC))
    fullest = _fullest(rows)
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


def _fullest(rows: DataFrame) -> dict[Scored, int]:
    """Return by snapshot the broker with the highest use of its disk."""
    of_disk = (F.col("level") == "broker") & (F.col("resource") == "disk")
    used = rows.where(of_disk & F.col("use").isNotNull())
    # Ties go to the lowest id.
    first = F.min(F.struct(-F.col("use"), "broker")).alias("first")
    found = used.groupBy(*KEY).agg(first).withColumn("n", F.unix_micros("taken_at"))
    rows_found = found.select("cluster_id", "n", "first.broker").collect()
    return {(row["cluster_id"], row["n"]): row["broker"] for row in rows_found}
