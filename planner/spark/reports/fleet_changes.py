"""Changes of a fleet between snapshots, and the progress of its plans."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import BadInputError, InputProblem
from planner.fleet.snapshot_changes import (
    COUNTS,
    DRIFT_SCHEMA,
    SCHEMA,
    change_table,
    drift_rows,
    unreadable_change,
)
from planner.fleet.snapshot_selection import ALL, SnapshotSelection
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.snapshot_headers import time_of
from planner.spark.io.corrupt_files import Broken, around_broken
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_opening import open_fleet
from planner.spark.io.fleet_tables import Fleet, conform
from planner.spark.io.snapshot_selection import narrowed
from planner.spark.output.destination import Destination, destination_at
from planner.spark.output.kept_rows import kept_beside
from planner.spark.per_snapshot.map_snapshots import Whole, on_each, row_schema
from planner.spark.per_snapshot.snapshot_jobs import Job, SnapshotSize, latest, sizes_of
from planner.spark.reports.fleet_plans import PLANS

CHANGES = "changes"
DRIFT = "drift"


def pairs_of(sizes: Sequence[SnapshotSize]) -> list[Job]:
    """Return a job for each pair of consecutive snapshots of a cluster."""
    return [
        Job(
            cluster_id=after.cluster_id,
            times=(before.micros, after.micros),
            name=CHANGES,
            replicas=before.replicas + after.replicas,
        )
        for _, of_cluster in groupby(sizes, key=lambda size: size.cluster_id)
        for before, after in pairwise(of_cluster)
    ]


def changes(spark: SparkSession, fleet: Fleet, pairs: Sequence[Job]) -> DataFrame:
    """
    Return the changes between snapshots.

    Parameters
    ----------
    spark
        The session.
    fleet
        Canonical tables.
    pairs
        Result of `pairs_of`.

    Returns
    -------
    DataFrame
        The columns of `planner.fleet.snapshot_changes`: a row per partition that
        changed, and one without a topic for the whole cluster.
    """

    def work(snapshots: Sequence[Whole], _: str) -> ArrowTable:
        before, after = snapshots
        moment, flaw = before.taken_at, before.flaw or after.flaw
        if flaw:
            return unreadable_change(moment, flaw)
        try:
            return change_table(before.tables, after.tables, taken_before=moment)
        except Exception as error:  # one cluster must not stop the others
            return unreadable_change(moment, f"{type(error).__name__}: {error}")

    return on_each(spark, fleet, pairs, work, SCHEMA)


def drift(spark: SparkSession, fleet: Fleet, plans: DataFrame) -> DataFrame:
    """
    Compare plans with the last snapshot of their cluster, if that is a later one.

    Returns
    -------
    DataFrame
        The columns of `DRIFT_SCHEMA`: for each plan the numbers of partitions by state,
        as `verify` reports them, and `loads`: JSON, predicted and measured by resource.
    """
    last = {size.cluster_id: size for size in latest(sizes_of(fleet))}
    micros = F.unix_micros("taken_at").alias("micros")
    planned = plans.where(F.col("plan").isNotNull())
    rows = planned.select("cluster_id", micros).distinct().collect()
    jobs = [
        Job(
            cluster_id=row["cluster_id"],
            times=(row["micros"], last[row["cluster_id"]].micros),
            name=str(row["micros"]),
            replicas=2 * last[row["cluster_id"]].replicas,
        )
        for row in rows
        if row["cluster_id"] in last and row["micros"] < last[row["cluster_id"]].micros
    ]
    schema = row_schema(DRIFT_SCHEMA)

    def work(snapshots: Sequence[Whole], name: str) -> ArrowTable:
        planned_on, now = snapshots
        rows = drift_rows(
            planned_on.tables["plans"],
            now.tables,
            now.header,
            planned_at=int(name),
            flaw=now.flaw,
        )
        return pa.Table.from_pylist(list(rows), schema=schema)

    kept = planned.select(
        "cluster_id",
        "taken_at",
        "request",
        "request_hash",
        "plan",
        "files",
        "fingerprint",
    )
    return on_each(spark, fleet, jobs, work, DRIFT_SCHEMA, extra={"plans": kept})


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetChanged:
    """
    Result of `fleet changes`.

    Parameters
    ----------
    changed
        A row per pair of snapshots that this run compared.
    drifted
        A row per plan.
    """

    changed: list[dict[str, Any]]
    drifted: list[dict[str, Any]]


def changes_folder(
    spark: SparkSession,
    folder: str,
    output: str,
    *,
    plans: str | None,
    again: bool,
    selection: SnapshotSelection = ALL,
) -> FleetChanged:
    """
    Write the changes of a fleet; pairs that were compared before are skipped.

    Parameters
    ----------
    spark
        The session.
    folder
        The fleet.
    output
        Destination of `changes` and `drift`: a path that Spark writes, or
        ``table:CATALOG.SCHEMA``.
    plans
        Results of `fleet plan`; `None`: no drift is computed.
    again
        Whether pairs that were compared before are compared again.
    selection
        Selection of snapshots. A pair is selected by the later of its snapshots. Plans
        are compared with the last snapshot that is selected.

    Raises
    ------
    BadInputError
        If the folder is no fleet, no cluster matches, there are no plans, or the output
        cannot be written.
    """
    target = destination_at(spark, output)
    made = None if plans is None else destination_at(spark, plans).read(PLANS)
    if plans is not None and made is None:
        raise _no_plans(plans)
    done = set() if again else {_key(row) for row in _totals(target)}

    def compare(broken: Broken) -> list[Job]:
        whole = open_fleet(spark, folder, broken=broken)
        # The snapshot before the first one selected is compared with it.
        fleet = narrowed(whole, selection.without_since)
        pairs = [
            job
            for job in pairs_of(sizes_of(fleet))
            if (job.cluster_id, *job.times) not in done
            and selection.selects_time(job.times[-1])
        ]
        if pairs:
            found = changes(spark, fleet, pairs)
            kept = kept_beside(fleet, selection, pairs) if again else None
            target.write(CHANGES, found, replaces=again, kept=kept)
        return pairs

    pairs = around_broken(compare)
    fresh = {(job.cluster_id, *job.times) for job in pairs}
    drifted = []
    if made is not None:
        _write_drift(spark, folder, made, target, selection)
        drifted = _drifted(target)
    return FleetChanged(
        changed=[_shown(r) for r in _totals(target) if _key(r) in fresh],
        drifted=drifted,
    )


def _write_drift(
    spark: SparkSession,
    folder: str,
    plans: DataFrame,
    target: Destination,
    selection: SnapshotSelection,
) -> None:
    def hold(broken: Broken) -> None:
        whole = open_fleet(spark, folder, broken=broken)
        fleet = narrowed(whole, selection.without_since)
        target.write(DRIFT, drift(spark, fleet, plans), replaces=True)

    around_broken(hold)


def _no_plans(folder: str) -> BadInputError:
    problem = InputProblem(
        file=folder,
        place=PLANS,
        value="",
        rule="must be a folder of plans",
        remedy="write it with 'kafka-planner fleet plan FLEET -o …'",
    )
    return BadInputError(f"{folder} has no plans", [problem])


def _key(row: dict[str, Any]) -> tuple[str, int, int]:
    return row["cluster_id"], row["before"], row["taken_at"]


def _timed(table: DataFrame, *names: str) -> DataFrame:
    micros = [F.unix_micros(name).alias(name) for name in names]
    return table.select(*(c for c in table.columns if c not in names), *micros)


def _totals(target: Destination) -> list[dict[str, Any]]:
    """Return the written rows of whole clusters, times in microseconds."""
    from pyspark.sql.pandas.types import from_arrow_schema

    table = target.read(CHANGES)
    if table is None:
        return []
    # Tables of older versions lack the column `reason`.
    shown = conform(table, from_arrow_schema(SCHEMA)).where(F.col("topic").isNull())
    rows = _timed(shown.select(*KEY, "before", *COUNTS, "reason"), *_TIMES)
    return [row.asDict() for row in rows.orderBy("cluster_id", "taken_at").collect()]


_TIMES = ("taken_at", "before")


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return row | {name: time_of(row[name]) for name in _TIMES}


def _drifted(target: Destination) -> list[dict[str, Any]]:
    table = target.read(DRIFT)
    if table is None:
        return []
    rows = _timed(table.drop("loads", "date"), "taken_at", "planned_at")
    order = ("cluster_id", "planned_at", "request")
    return [
        row.asDict() | {name: time_of(row[name]) for name in ("taken_at", "planned_at")}
        for row in rows.orderBy(*order).collect()
    ]
