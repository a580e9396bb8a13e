"""Plans of a fleet: the planner's own core on every cluster, inside Spark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.plans import (
    FAILED,
    REFUSED,
    SCHEMA,
    NamedRequest,
    lost_row,
    plan_row,
)
from planner.plan.request import PlanRequest
from planner.snapshot.columns import ArrowTable
from planner.spark.each import (
    Job,
    Whole,
    latest,
    on_each,
    row_schema,
    sizes_of,
    time_of,
)
from planner.spark.fleet import Fleet, conform, open_fleet
from planner.spark.output import read_rows, write_rows

PLANS = "plans"
SHOWN = tuple(
    name for name in SCHEMA.names if name not in {"certificate", "plan", "files"}
)


def plan_fleet(
    spark: SparkSession,
    fleet: str | Fleet,
    requests: Mapping[str, PlanRequest],
    *,
    history: bool = False,
) -> DataFrame:
    """
    Plan every cluster of a fleet for every request.

    Parameters
    ----------
    spark
        The session; of Spark Connect too.
    fleet
        A path that Spark reads, ``table:SCHEMA``, or the tables themselves.
    requests
        What is asked of each cluster, by names of yours: a sweep is several.
    history
        Whether every snapshot is planned, not only the last of each cluster.

    Returns
    -------
    DataFrame
        A row per snapshot and request, in the columns of `planner.fleet.plans`: status,
        certificate, plan.json and the other files; a `reason` where there is no plan.
    """
    tables = open_fleet(spark, fleet) if isinstance(fleet, str) else fleet.canonical()
    named = [NamedRequest(name=name, request=each) for name, each in requests.items()]
    sizes = sizes_of(tables)
    wanted = sizes if history else latest(sizes)
    jobs = [size.job(each.name) for size in wanted for each in named]
    return _planned(spark, tables, jobs, named)


def _planned(
    spark: SparkSession,
    fleet: Fleet,
    jobs: Sequence[Job],
    requests: Sequence[NamedRequest],
) -> DataFrame:
    by_name = {named.name: named for named in requests}
    rows = row_schema(SCHEMA)

    def work(snapshots: Sequence[Whole], name: str) -> ArrowTable:
        (snapshot,) = snapshots
        if snapshot.flaw:
            row = lost_row(by_name[name], snapshot.flaw)
        else:
            row = plan_row(snapshot.tables, snapshot.header, by_name[name])
        return pa.Table.from_pylist([row], schema=rows)

    return on_each(spark, fleet, jobs, work, SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlanned:
    """
    What `fleet plan` did.

    Parameters
    ----------
    rows
        Of the plans made now, without their files.
    skipped
        How many had been made before.
    """

    rows: list[dict[str, Any]]
    skipped: int

    @property
    def broken(self) -> int:
        """Clusters for which there is no plan."""
        return sum(row["status"] in {REFUSED, FAILED} for row in self.rows)


def plan_folder(
    spark: SparkSession,
    folder: str,
    requests: Sequence[NamedRequest],
    output: str,
    *,
    history: bool,
    again: bool,
) -> FleetPlanned:
    """
    Plan a fleet into a folder; plans that are there already are not made again.

    Raises
    ------
    BadInputError
        If the folder is no fleet, or nothing can be written.
    """
    fleet = open_fleet(spark, folder)
    sizes = sizes_of(fleet)
    path = f"{output.rstrip('/')}/{PLANS}"
    done = set() if again else _done(spark, path)
    wanted = [
        (size, named)
        for size in (sizes if history else latest(sizes))
        for named in requests
    ]
    jobs = [
        size.job(named.name)
        for size, named in wanted
        if (size.cluster_id, size.micros, named.name, named.hash) not in done
    ]
    if not jobs:
        return FleetPlanned(rows=[], skipped=len(wanted))
    made = _planned(spark, fleet, jobs, requests)
    write_rows(made, path, replaces=again)
    fresh = {(job.cluster_id, *job.times, job.name) for job in jobs}
    rows = [
        row
        for row in _written(spark, path)
        if (row["cluster_id"], row["micros"], row["request"]) in fresh
        and row["request_hash"] in {named.hash for named in requests}
    ]
    return FleetPlanned(rows=rows, skipped=len(wanted) - len(jobs))


def _done(spark: SparkSession, path: str) -> set[tuple[Any, ...]]:
    """Return which plans are there: cluster, time, request."""
    names = ("cluster_id", "micros", "request", "request_hash")
    return {tuple(row[name] for name in names) for row in _written(spark, path)}


def _written(spark: SparkSession, path: str) -> list[dict[str, Any]]:
    """Return the plans that are there, without their files."""
    from pyspark.sql.pandas.types import from_arrow_schema

    table = read_rows(spark, path)
    if table is None:
        return []
    # Plans of older versions say less.
    shown = conform(table, from_arrow_schema(pa.schema(map(SCHEMA.field, SHOWN))))
    timed = shown.withColumn("micros", F.unix_micros("taken_at"))
    rows = timed.drop("taken_at").orderBy("cluster_id", "micros", "request").collect()
    return [row.asDict() | {"taken_at": time_of(row["micros"])} for row in rows]
