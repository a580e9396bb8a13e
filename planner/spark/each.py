"""
Work on whole snapshots: one task for each, the largest first.

What a snapshot consists of is brought together in the task that works on it, as Arrow;
nothing of its size ever comes to the driver.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.tables import EPOCH
from planner.snapshot.columns import TABLES, ArrowTable
from planner.spark.dealing import SLOT, dealt, pack, slots
from planner.spark.fleet import KEY, Fleet
from planner.spark.ground import part_of, union_of

JOB = "job"
TASK_REPLICAS = 20_000
"""Snapshots as large as this have a task for themselves; smaller ones share one."""

Work = Callable[[Mapping[str, ArrowTable], Mapping[str, Any], str], ArrowTable]
"""Tables of a snapshot by name, what it says once, name of the job; rows come out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSize:
    """
    A snapshot of a fleet, and how large it is.

    Parameters
    ----------
    cluster_id, micros
        Its key; the time in microseconds since 1970.
    replicas
        How many there are.
    """

    cluster_id: str
    micros: int
    replicas: int


def sizes_of(fleet: Fleet) -> list[SnapshotSize]:
    """Return every snapshot of a fleet and its size, by cluster and time."""
    micros = F.unix_micros("taken_at").alias("micros")
    counted = fleet.partitions.groupBy("cluster_id", micros).agg(
        F.sum(F.coalesce(F.array_size("replicas"), F.lit(0))).alias("replicas")
    )
    named = fleet.clusters.select("cluster_id", micros).distinct()
    rows = named.join(counted, on=["cluster_id", "micros"], how="left").collect()
    sizes = [
        SnapshotSize(
            cluster_id=row["cluster_id"],
            micros=row["micros"],
            replicas=int(row["replicas"] or 0),
        )
        for row in rows
    ]
    return sorted(sizes, key=lambda size: (size.cluster_id, size.micros))


def latest(sizes: Sequence[SnapshotSize]) -> list[SnapshotSize]:
    """Return the last snapshot of every cluster."""
    last = {size.cluster_id: size for size in sizes}
    return list(last.values())


def on_each(
    spark: SparkSession,
    fleet: Fleet,
    jobs: Sequence[tuple[SnapshotSize, str]],
    work: Work,
    schema: Any,  # noqa: ANN401 - an Arrow schema
) -> DataFrame:
    """
    Work on snapshots, each as a whole.

    Parameters
    ----------
    spark
        The session.
    fleet
        Canonical tables.
    jobs
        Snapshots, and names of what is to be done with each. One may stand there under
        several names: the work is done on each apart, side by side.
    work
        What is done; runs in the executors. It must not raise.
    schema
        Of the rows that come out, `KEY` first and left out of what `work` returns.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    tasks = pack([size.replicas for size, _ in jobs], least=TASK_REPLICAS)
    slot = slots(spark, len(tasks)) if tasks else []
    rows = [
        (jobs[piece][0].cluster_id, jobs[piece][0].micros, jobs[piece][1], slot[task])
        for task, pieces in enumerate(tasks)
        for piece in pieces
    ]
    names = f"cluster_id string, micros long, {JOB} string, {SLOT} int"
    dealing = spark.createDataFrame(rows, names).select(
        "cluster_id", F.timestamp_micros("micros").alias("taken_at"), JOB, SLOT
    )
    parts = union_of([_tagged(table, name) for name, table in fleet.tables().items()])
    jobbed = parts.join(F.broadcast(dealing), on=list(KEY))
    return (
        dealt(jobbed, max(len(tasks), 1))
        .groupBy(SLOT, JOB, *KEY)
        .applyInArrow(_worker(work, schema), from_arrow_schema(schema))
    )


def _tagged(table: DataFrame, tag: str) -> DataFrame:
    own = [column for column in table.columns if column not in KEY]
    return table.select(*KEY, F.struct(*(F.col(f"`{c}`") for c in own)).alias(tag))


def _worker(work: Work, schema: Any) -> Callable[[ArrowTable], ArrowTable]:  # noqa: ANN401
    def run(rows: pa.Table) -> pa.Table:
        return _keyed(rows, schema, work)

    return run


def _keyed(rows: ArrowTable, schema: Any, work: Work) -> ArrowTable:  # noqa: ANN401
    """Put one snapshot together, work on it, and name the rows for it."""
    tables = {columns.name: part_of(rows, columns.name) for columns in TABLES}
    key = {name: rows.column(name)[0] for name in KEY}
    said = part_of(rows, "clusters").to_pylist()
    header = header_of(said[0] if said else {}, key["cluster_id"], key["taken_at"])
    found = work(tables, header, rows.column(JOB)[0].as_py())
    keys = {
        name: pa.repeat(value, len(found)).cast(schema.field(name).type)
        for name, value in key.items()
    }
    arrays = [
        keys[field.name] if field.name in keys else found.column(field.name)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def header_of(row: Mapping[str, Any], cluster_id: Any, taken_at: Any) -> dict[str, Any]:  # noqa: ANN401 - Arrow scalars
    """Return what a snapshot says once, of its row in `clusters`."""
    micros = taken_at.cast(pa.timestamp("us", tz="UTC")).value
    header = {
        "cluster_id": cluster_id.as_py(),
        "taken_at": time_of(micros),
        "kafka_version": row.get("kafka_version"),
        "configs": dict(row.get("configs") or ()),
        "features": dict(row.get("features") or ()),
        "rates": row.get("rates"),
        "controllers": row.get("controllers"),
    }
    return {name: value for name, value in header.items() if value}


def time_of(micros: int) -> str | None:
    """Return a time as snapshots write it; `None` for that of one without."""
    if not micros:
        return None
    moment = EPOCH + timedelta(microseconds=micros)
    text = f"{moment:%Y-%m-%dT%H:%M:%S}"
    part = micros % 1_000_000
    return f"{text}.{part:06}Z" if part else f"{text}Z"


def row_schema(schema: Any, without: Collection[str] = KEY) -> Any:  # noqa: ANN401 - Arrow schemas
    """Return a schema without its keys: of what `work` returns."""
    return pa.schema([field for field in schema if field.name not in without])
