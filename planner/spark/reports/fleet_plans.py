"""Plans of a fleet: the planner's core applied to every cluster inside Spark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.cluster_plans import (
    FAILED,
    REFUSED,
    SCHEMA,
    FleetRequest,
    NamedRequest,
    plan_row,
    unreadable_row,
)
from planner.fleet.cluster_scenarios import SCHEMA as SCENARIO_SCHEMA
from planner.fleet.cluster_scenarios import FleetScenario
from planner.fleet.snapshot_selection import ALL, SnapshotSelection
from planner.options.plan_request import PlanRequest
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.snapshot_headers import time_of
from planner.spark.io.corrupt_files import Broken, around_broken
from planner.spark.io.fleet_opening import open_fleet
from planner.spark.io.fleet_tables import Fleet, conform
from planner.spark.io.snapshot_selection import narrowed
from planner.spark.output.destination import Destination, destination_at
from planner.spark.output.kept_rows import kept_beside
from planner.spark.per_snapshot.map_snapshots import Whole, on_each, row_schema
from planner.spark.per_snapshot.snapshot_jobs import Job, latest, sizes_of

PLANS = "plans"
SCENARIOS = "scenarios"
SCHEMAS = {PLANS: SCHEMA, SCENARIOS: SCENARIO_SCHEMA}
"""Result tables and their columns."""
LARGE = frozenset({"certificate", "plan", "files", "answer"})
"""Large columns, which are not read back."""


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
        The session, which may be one of Spark Connect.
    fleet
        A path that Spark reads, ``table:SCHEMA``, or the tables themselves.
    requests
        Requests by a name that the caller chooses; a sweep has several requests.
    history
        Whether every snapshot is planned, not only the last of each cluster.

    Returns
    -------
    DataFrame
        A row per snapshot and request, in the columns of `planner.fleet.cluster_plans`:
        status, certificate, plan.json and the other files; a `reason` if there is no
        plan.
    """
    named = [NamedRequest(name=name, request=each) for name, each in requests.items()]
    return _of_fleet(spark, fleet, named, PLANS, history=history)


def play_fleet(
    spark: SparkSession,
    fleet: str | Fleet,
    scenarios: Sequence[FleetScenario],
    *,
    history: bool = False,
) -> DataFrame:
    """
    Plan every scenario on every cluster of a fleet.

    Parameters
    ----------
    spark, fleet, history
        As for `plan_fleet`.
    scenarios
        Result of `planner.fleet.cluster_scenarios.read_fleet_scenarios`.

    Returns
    -------
    DataFrame
        A row per snapshot and scenario, in the columns of
        `planner.fleet.cluster_scenarios`: the answer of `what-if`, and the plan; a
        `reason` if the scenario is infeasible, or does not fit the cluster.
    """
    return _of_fleet(spark, fleet, scenarios, SCENARIOS, history=history)


def _of_fleet(
    spark: SparkSession,
    fleet: str | Fleet,
    asked: Sequence[FleetRequest],
    table: str,
    *,
    history: bool,
) -> DataFrame:
    tables = open_fleet(spark, fleet) if isinstance(fleet, str) else fleet
    if tables.files is None:
        tables = tables.canonical()
    sizes = sizes_of(tables)
    wanted = sizes if history else latest(sizes)
    jobs = [size.job(each.name) for size in wanted for each in asked]
    return _answered(spark, tables, jobs, asked, SCHEMAS[table])


def _answered(
    spark: SparkSession,
    fleet: Fleet,
    jobs: Sequence[Job],
    asked: Sequence[FleetRequest],
    schema: Any,  # noqa: ANN401 - an Arrow schema
) -> DataFrame:
    by_name = {each.name: each for each in asked}
    rows = row_schema(schema)

    def work(snapshots: Sequence[Whole], name: str) -> ArrowTable:
        (snapshot,) = snapshots
        if snapshot.flaw:
            row = unreadable_row(by_name[name], snapshot.flaw)
        else:
            row = plan_row(snapshot.tables, snapshot.header, by_name[name])
        return pa.Table.from_pylist([row], schema=rows)

    return on_each(spark, fleet, jobs, work, schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlanned:
    """
    Result of `fleet plan`.

    Parameters
    ----------
    rows
        Plans made by this run, without their files.
    skipped
        Number of plans made by earlier runs.
    """

    rows: list[dict[str, Any]]
    skipped: int

    @property
    def broken(self) -> int:
        """Number of clusters without a plan."""
        return sum(row["status"] in {REFUSED, FAILED} for row in self.rows)


def plan_folder(
    spark: SparkSession,
    folder: str,
    asked: Sequence[FleetRequest],
    output: str,
    *,
    table: str = PLANS,
    history: bool,
    again: bool,
    selection: SnapshotSelection = ALL,
) -> FleetPlanned:
    """
    Plan a fleet, or its scenarios; results of earlier runs are not computed again.

    Parameters
    ----------
    spark
        The session.
    folder
        The fleet.
    asked
        Requests, or scenarios.
    output, table
        Destination, a path that Spark writes or ``table:CATALOG.SCHEMA``, and the
        table: a key of `SCHEMAS`.
    history
        Whether every snapshot is planned, not only the last of each cluster.
    again
        Whether everything is planned again, replacing earlier results.
    selection
        Selection of snapshots; the last snapshot of a cluster is the last selected one.

    Raises
    ------
    BadInputError
        If the folder is no fleet, no cluster matches, or the output cannot be written.
    """

    def run(broken: Broken) -> FleetPlanned:
        fleet = narrowed(open_fleet(spark, folder, broken=broken), selection)
        sizes = sizes_of(fleet)
        target = destination_at(spark, output)
        done = set() if again else _done(target, table)
        hashes = {each.name: each.hash for each in asked}
        wanted = [
            (size, name)
            for size in (sizes if history else latest(sizes))
            for name in hashes
        ]
        jobs = [
            size.job(name)
            for size, name in wanted
            if (size.cluster_id, size.micros, name, hashes[name]) not in done
        ]
        if not jobs:
            return FleetPlanned(rows=[], skipped=len(wanted))
        made = _answered(spark, fleet, jobs, asked, SCHEMAS[table])
        kept = kept_beside(fleet, selection, jobs) if again else None
        target.write(table, made, replaces=again, kept=kept)
        fresh = {(job.cluster_id, *job.times, job.name) for job in jobs}
        rows = [
            row
            for row in _written(target, table)
            if (row["cluster_id"], row["micros"], row["request"]) in fresh
            and row["request_hash"] == hashes[row["request"]]
        ]
        return FleetPlanned(rows=rows, skipped=len(wanted) - len(jobs))

    return around_broken(run)


def _done(target: Destination, table: str) -> set[tuple[Any, ...]]:
    """Return the keys of written results: cluster, time, request and hash."""
    names = ("cluster_id", "micros", "request", "request_hash")
    return {tuple(row[n] for n in names) for row in _written(target, table)}


def _written(target: Destination, name: str) -> list[dict[str, Any]]:
    """Return the written results without large columns."""
    from pyspark.sql.pandas.types import from_arrow_schema

    table = target.read(name)
    if table is None:
        return []
    # Tables of older versions have fewer columns.
    shown = conform(table, from_arrow_schema(row_schema(SCHEMAS[name], LARGE)))
    timed = shown.withColumn("micros", F.unix_micros("taken_at"))
    rows = timed.drop("taken_at").orderBy("cluster_id", "micros", "request").collect()
    return [row.asDict() | {"taken_at": time_of(row["micros"])} for row in rows]
