"""Scores written by Spark, and the few rows of them that people look at."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import BadInputError, InputProblem
from planner.fleet.tables import EPOCH
from planner.score.tables import SCHEMA
from planner.spark.balance import output_schema
from planner.spark.fleet import KEY, conform
from planner.spark.layout import micros_of, read_visible
from planner.spark.scoring import FleetScores

SCORES = "scores"
PROBLEMS = "problems"
MOST_PROBLEMS = 1000
MICROS_PER_DAY = 86_400_000_000


def write_scores(found: FleetScores, folder: str) -> None:
    """
    Write scores and problems as Parquet, a folder per day; days are replaced whole.

    Parameters
    ----------
    found
        Scores, and what is wrong.
    folder
        A path that Spark writes; `scores/` and `problems/` are made in it.

    Raises
    ------
    BadInputError
        If nothing can be written there.
    """
    with writing(folder):
        for name, table in ((SCORES, found.scores), (PROBLEMS, found.problems)):
            _write_days(table, f"{folder.rstrip('/')}/{name}")


@contextmanager
def writing(folder: str) -> Iterator[None]:
    """
    Say what hinders Spark from writing to a folder.

    Raises
    ------
    BadInputError
        If something does.
    """
    try:
        yield
    except AnalysisException as error:
        rule = f"Spark cannot write there: {str(error).splitlines()[0]}"
        problem = InputProblem(
            file=folder, place="", value="", rule=rule, remedy="name another place"
        )
        msg = f"will not write {folder}"
        raise BadInputError(msg, [problem]) from error


def write_rows(table: DataFrame, path: str, *, replaces: bool) -> None:
    """
    Write rows as Parquet, a folder per day of `taken_at`.

    Parameters
    ----------
    table
        The rows; each of their tasks writes what it has.
    path
        A path that Spark writes.
    replaces
        Whether they take the place of all that is there, or are added to it.

    Raises
    ------
    BadInputError
        If nothing can be written there.
    """
    dated = table.withColumn("date", day_of("taken_at"))
    with writing(path):
        mode = "overwrite" if replaces else "append"
        dated.write.mode(mode).partitionBy("date").parquet(path)


def read_rows(spark: SparkSession, path: str) -> DataFrame | None:
    """Return a table that was written before; `None` where there is none."""
    try:
        return spark.read.parquet(path)
    except AnalysisException:
        return None


def _write_days(table: DataFrame, path: str) -> None:
    (
        table.withColumn("date", day_of("taken_at"))
        .repartition("date")
        .sortWithinPartitions(*KEY)
        .write.mode("overwrite")
        .option("partitionOverwriteMode", "dynamic")
        .partitionBy("date")
        .parquet(path)
    )


def day_of(moment: str) -> Column:
    """Return the day of a time in UTC, whatever the session's zone."""
    days = F.floor(F.unix_micros(moment) / MICROS_PER_DAY).cast("int")
    return F.date_add(F.lit("1970-01-01").cast("date"), days).cast("string")


def new_days(spark: SparkSession, folder: str, output: str) -> set[str]:
    """
    Return the days of a fleet folder that have a snapshot without scores.

    A day is scored again as a whole, so that writing it again replaces it: what was
    killed halfway is mended, and what is there already is not computed again.

    Raises
    ------
    BadInputError
        If it is no fleet folder.
    """
    snapshots = read_visible(spark, folder.rstrip("/")).snapshots
    done = _scored(spark, output)
    known = set()
    if done is not None:
        micros = F.unix_micros("taken_at").alias("micros")
        rows = done.select("cluster_id", micros).collect()
        known = {(row["cluster_id"], row["micros"]) for row in rows}
    return {
        taken_at[:10]
        for cluster_id, taken_at in snapshots
        if (cluster_id, micros_of(taken_at)) not in known
    }


def _scored(spark: SparkSession, folder: str) -> DataFrame | None:
    """Return the snapshots that have scores or problems there; `None`: no folder."""
    found = []
    for name in (SCORES, PROBLEMS):
        table = read_rows(spark, f"{folder.rstrip('/')}/{name}")
        if table is not None:
            found.append(table.select(*KEY))
    if not found:
        return None
    together = found[0]
    for more in found[1:]:
        together = together.unionByName(more)
    return together.distinct()


def problem_rows(found: FleetScores) -> list[InputProblem]:
    """Return what is wrong, the first thousand of it."""
    shown = found.problems.orderBy(*KEY, "table", "place").limit(MOST_PROBLEMS)
    rows = shown.withColumn("micros", F.unix_micros("taken_at")).collect()
    return [
        InputProblem(
            file=f"{row['cluster_id']} at {moment_text(row['micros'])}",
            place=f"{row['table']}: {row['place']}",
            value=row["value"],
            rule=row["rule"],
            remedy="take the snapshot again, or leave it out",
        )
        for row in rows
    ]


def cluster_documents(
    scores: DataFrame, now: datetime
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the figures of each cluster, by its id and time in microseconds."""
    columns = SCHEMA.names[SCHEMA.names.index("total") : -1]
    table = conform(scores.where(F.col("level") == "cluster"), output_schema())
    timed = table.withColumn("micros", F.unix_micros("taken_at"))
    documents: dict[tuple[str, int], dict[str, Any]] = {}
    for row in timed.orderBy(*KEY, "resource").collect():
        head = _head(row.asDict(recursive=True), now)
        document = documents.setdefault((row["cluster_id"], row["micros"]), head)
        document["resources"][row["resource"]] = {name: row[name] for name in columns}
    return documents


def moment_text(micros: int) -> str:
    """Return a time as snapshots write it; rows of Spark have the driver's zone."""
    return f"{EPOCH + timedelta(microseconds=micros):%Y-%m-%dT%H:%M:%SZ}"


def _head(row: dict[str, Any], now: datetime) -> dict[str, Any]:
    micros = row["micros"]
    age = (now - EPOCH - timedelta(microseconds=micros)).total_seconds()
    return {
        "cluster_id": row["cluster_id"],
        "taken_at": moment_text(micros) if micros else None,
        "data_age_s": max(age, 0.0) if micros else None,
        "brokers": row["brokers"],
        "partitions": row["partitions"],
        "replicas": row["replicas"],
        "resources": {},
        "violations": row["violations"],
        "min_bytes_to_balance": None,
        "num_hot_spots": None,
    }
