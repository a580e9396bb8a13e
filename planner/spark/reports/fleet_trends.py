"""Trends of a fleet's loads and changes of its balance, computed from its scores."""

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import BadInputError, InputProblem
from planner.fleet.cluster_trends import DAYS, NEEDED, SCHEMA, trend_table
from planner.fleet.contracts.result_schemas import FIGURES
from planner.fleet.snapshot_selection import ALL, SnapshotSelection
from planner.spark.common.snapshot_headers import time_of
from planner.spark.io.snapshot_selection import rows_selected
from planner.spark.output.destination import destination_at
from planner.spark.output.score_tables import SCORES

TRENDS = "trends"
BALANCE = "balance"
ROUNDING = 1e-6


def trends(scores: DataFrame) -> DataFrame:
    """
    Return the growth of every load, and the time at which its capacity is reached.

    Parameters
    ----------
    scores
        A table of scores: several times of several clusters.

    Returns
    -------
    DataFrame
        The columns of `planner.fleet.cluster_trends`, computed by the same code: for
        each cluster, level and resource.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    def of_group(rows: pa.Table) -> pa.Table:
        return trend_table(rows)

    grouped = scores.select(*NEEDED).groupBy("cluster_id", "level", "resource")
    return grouped.applyInArrow(of_group, from_arrow_schema(SCHEMA))


def balance_changes(scores: DataFrame) -> DataFrame:
    """
    Return the changes of the clusters' balance from one snapshot to the next.

    Returns
    -------
    DataFrame
        A row per cluster, resource and snapshot after the first: `before`, the time of
        the previous snapshot; for each of `FIGURES` its value, its previous value
        `…_before` and their difference, `…_change`.
    """
    rows = scores.where(F.col("level") == "cluster")
    order = Window.partitionBy("cluster_id", "resource").orderBy("taken_at")
    lagged = rows.select(
        "cluster_id",
        "taken_at",
        "resource",
        F.lag("taken_at").over(order).alias("before"),
        *FIGURES,
        *(F.lag(name).over(order).alias(f"{name}_before") for name in FIGURES),
    )
    changes = [
        (F.col(name) - F.col(f"{name}_before")).alias(f"{name}_change")
        for name in FIGURES
    ]
    return lagged.where(F.col("before").isNotNull()).select("*", *changes)


def trends_folder(
    spark: SparkSession,
    folder: str,
    output: str,
    *,
    selection: SnapshotSelection = ALL,
) -> list[dict[str, Any]]:
    """
    Write the trends of scores, replacing earlier ones.

    Parameters
    ----------
    spark
        The session.
    folder
        Results of `fleet score`: a folder, or ``table:CATALOG.SCHEMA``.
    output
        Destination of `trends` and `balance`, likewise.
    selection
        Selection of snapshots.

    Returns
    -------
    Brokers and log dirs that are full first, the first hundred.

    Raises
    ------
    BadInputError
        If there are no scores, no cluster matches, or the output cannot be written.
    """
    every = destination_at(spark, folder).read(SCORES)
    if every is None:
        raise _no_scores(folder)
    scores = rows_selected(every, selection)
    target = destination_at(spark, output)
    target.write(TRENDS, trends(scores), replaces=True)
    target.write(BALANCE, balance_changes(scores), replaces=True)
    found = target.read(TRENDS)
    return [] if found is None else soonest(found)


def _no_scores(folder: str) -> BadInputError:
    problem = InputProblem(
        file=folder,
        place=SCORES,
        value="",
        rule="must be a folder of scores",
        remedy="write it with 'kafka-planner fleet score FLEET -o …'",
    )
    return BadInputError(f"{folder} has no scores", [problem])


def soonest(found: DataFrame, most: int = 100) -> list[dict[str, Any]]:
    """Return the brokers, and log dirs before them, that reach a threshold first."""
    places = found.where(F.col("days_until_threshold").isNotNull())
    order = (*DAYS, "cluster_id", "broker", "resource", "log_dir")
    micros = F.unix_micros("taken_at").alias("micros")
    ranked = _limiting(places).select("*", micros).drop("since").orderBy(*order)
    first = ranked.limit(most)
    return [
        {
            name: time_of(row["micros"]) if name == "taken_at" else row[name]
            for name in SCHEMA.names
            if name != "since"
        }
        for row in first.collect()
    ]


def _limiting(places: DataFrame) -> DataFrame:
    """Keep brokers, and the log dirs that reach a limit before their broker."""
    key = ("cluster_id", "broker", "resource")
    of_broker = Window.partitionBy(*key)
    is_broker = F.col("level") == "broker"
    sooner = F.lit(False)
    for name in DAYS:
        whole = F.max(F.when(is_broker, F.col(name))).over(of_broker)
        # Sums of one log dir and of its broker differ by rounding at most.
        earlier = F.col(name) < whole * (1 - ROUNDING) - ROUNDING
        unreached = whole.isNull() & F.col(name).isNotNull()
        sooner = sooner | F.coalesce(earlier | unreached, F.lit(False))
    marked = places.where(is_broker | (F.col("level") == "log_dir"))
    return (
        marked.withColumn("sooner", is_broker | sooner).where("sooner").drop("sooner")
    )
