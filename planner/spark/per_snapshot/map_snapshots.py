"""
Work on whole snapshots: one task for each, the largest first.

The tables of a snapshot are collected as Arrow in the task that works on it; the driver
never receives data of that size.
"""

import pickle
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import UnreadableFileError
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.python_workers import settle
from planner.spark.common.snapshot_headers import header_of
from planner.spark.common.task_packing import SLOT, dealt, pack, shuffled_tasks, slots
from planner.spark.io.fleet_files import KEY, FleetFiles
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.whole_snapshots import SnapshotReader
from planner.spark.per_snapshot.snapshot_jobs import Job
from planner.spark.scoring.shuffle.row_batches import gathered
from planner.spark.scoring.shuffle.stacked_tables import part_of, tagged, union_of

JOB = "job"
LAST = "last"
_TIME = pa.timestamp("us", tz="UTC")
TASK_REPLICAS = 150_000
"""
Smallest cost of a task, in replicas: half a second. Smaller jobs share a task, which
itself costs a tenth of that.
"""

SENT_BYTES, SENT_TABLES = 2**20, 10_000
"""Size in bytes, or number of tables, at which collected rows are sent."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Whole:
    """
    A whole snapshot.

    Parameters
    ----------
    taken_at
        Time of the snapshot, in microseconds since 1970.
    header
        Values of the snapshot that are in none of its tables.
    tables
        Tables of the snapshot by name, and the extra tables.
    flaw
        Reason why the snapshot cannot be read; its own tables are then missing. Empty:
        it was read.
    """

    taken_at: int
    header: Mapping[str, Any]
    tables: Mapping[str, ArrowTable]
    flaw: str = ""


Work = Callable[[Sequence[Whole], str], ArrowTable]
"""Function from snapshots, by time, and the name of the job to rows."""


def on_each(
    spark: SparkSession,
    fleet: Fleet,
    jobs: Sequence[Job],
    work: Work,
    schema: Any,  # noqa: ANN401 - an Arrow schema
    *,
    extra: Mapping[str, DataFrame] = MappingProxyType({}),
) -> DataFrame:
    """
    Apply a function to snapshots, each as a whole.

    Parameters
    ----------
    spark
        The session.
    fleet
        Canonical tables.
    jobs
        The jobs. A snapshot may be in several jobs, which run independently. Jobs of
        one cluster and name must differ in their last time.
    work
        The function, which runs in the executors. It must not raise, and must check
        `Whole.flaw`.
    schema
        Schema of the resulting rows, `KEY` first; `work` returns the other columns.
    extra
        More tables with the columns `KEY`, by name.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    costs = [job.cost for job in jobs]
    tasks = pack(costs, least=TASK_REPLICAS, parts=shuffled_tasks(spark))
    if fleet.files is not None and not extra:
        return _from_files(spark, fleet.files, jobs, tasks, work, schema)
    slot = slots(spark, len(tasks)) if tasks else []
    rows = [
        (job.cluster_id, micros, job.name, job.times[-1], slot[task])
        for task, pieces in enumerate(tasks)
        for job in (jobs[piece] for piece in pieces)
        for micros in job.times
    ]
    names = f"cluster_id string, micros long, {JOB} string, {LAST} long, {SLOT} int"
    dealing = spark.createDataFrame(rows, names).select(
        "cluster_id", F.timestamp_micros("micros").alias("taken_at"), JOB, LAST, SLOT
    )
    own = fleet.tables() if fleet.files is None else {}
    parts = union_of([tagged(t, name) for name, t in {**own, **extra}.items()])
    jobbed = parts.join(F.broadcast(dealing), on=list(KEY))
    if fleet.files is not None or fleet.flaws:
        # Every snapshot gets a row, even if no table has one.
        jobbed = jobbed.unionByName(dealing, allowMissingColumns=True)
    put = _Read(fleet.files) if fleet.files is not None else _Put(fleet.flaws)
    return (
        dealt(jobbed, max(len(tasks), 1))
        .groupBy(SLOT, JOB, LAST, "cluster_id")
        .applyInArrow(_worker(put, work, schema), from_arrow_schema(schema))
    )


def _from_files(
    spark: SparkSession,
    files: FleetFiles,
    jobs: Sequence[Job],
    tasks: Sequence[Sequence[int]],
    work: Work,
    schema: Any,  # noqa: ANN401 - an Arrow schema
) -> DataFrame:
    """Read snapshots in the tasks that work on them: no data passes through Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    dealt = _dealt_files(files, [[jobs[piece] for piece in task] for task in tasks])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                own, own_files = pickle.loads(dealt[task])  # noqa: S301 - our own
                yield from sent(_worked(own, own_files, work, schema))
        settle("each")

    numbers = spark.range(0, len(dealt), 1, len(dealt))
    return numbers.mapInArrow(run, from_arrow_schema(schema))


def _worked(
    jobs: Sequence[Job],
    files: FleetFiles,
    work: Work,
    schema: Any,  # noqa: ANN401 - an Arrow schema
) -> Iterator[ArrowTable]:
    """Yield the rows of each job in turn."""
    reader = SnapshotReader(files)
    for job in jobs:
        read = [read_whole(reader, job.cluster_id, micros) for micros in job.times]
        found = work(read, job.name)
        yield _with_key(found, job.cluster_id, job.times[-1], schema)


def sent(tables: Iterable[ArrowTable]) -> Iterator[pa.RecordBatch]:
    """
    Yield rows in batches that are large enough to be sent.

    Parameters
    ----------
    tables
        Tables of one schema.
    """
    for together in gathered(
        tables, attrgetter("nbytes"), enough=SENT_BYTES, most=SENT_TABLES
    ):
        yield from pa.concat_tables(together).combine_chunks().to_batches()


def _dealt_files(files: FleetFiles, tasks: Sequence[Sequence[Job]]) -> list[bytes]:
    """
    Return the jobs of each task and their files; at least one task.

    Each is pickled, since every task receives all of them and unpickles only its own.
    """
    own = files.by_snapshot()
    dealt = []
    for jobs in tasks or [[]]:
        keys = [(job.cluster_id, micros) for job in jobs for micros in job.times]
        dealt.append(pickle.dumps((jobs, own(keys))))
    return dealt


def read_whole(reader: SnapshotReader, cluster_id: str, micros: int) -> Whole:
    """
    Read one snapshot from the files of its fleet.

    Parameters
    ----------
    reader
        Reader of the fleet.
    cluster_id, micros
        Key of the snapshot; time in microseconds since 1970.
    """
    try:
        tables = reader.tables((cluster_id, micros))
    except UnreadableFileError as error:
        header = header_of({}, cluster_id, micros)
        return Whole(taken_at=micros, header=header, tables={}, flaw=str(error))
    said = tables.pop("clusters").to_pylist()
    header = header_of(said[0] if said else {}, cluster_id, micros)
    return Whole(taken_at=micros, header=header, tables=tables)


Put = Callable[[ArrowTable, int], Whole]
"""Function from the rows of a snapshot and its time to the whole snapshot."""


@dataclass(frozen=True)
class _Read:
    """Read a snapshot from its files; the rows have the extra tables."""

    files: FleetFiles

    @cached_property
    def _reader(self) -> SnapshotReader:
        # Created in the task.
        return SnapshotReader(self.files)

    def __call__(self, rows: ArrowTable, micros: int) -> Whole:
        cluster_id = rows.column("cluster_id")[0].as_py()
        whole = read_whole(self._reader, cluster_id, micros)
        return replace(whole, tables={**whole.tables, **_parts(rows)})


def _worker(
    put: Put,
    work: Work,
    schema: Any,  # noqa: ANN401 - an Arrow schema
) -> Callable[[ArrowTable], ArrowTable]:
    def run(rows: pa.Table) -> pa.Table:
        times = rows.column("taken_at").cast(_TIME).cast(pa.int64())
        snapshots = [
            put(rows.filter(pc.equal(times, micros)), micros)
            for micros in sorted(pc.unique(times).to_pylist())
        ]
        found = work(snapshots, rows.column(JOB)[0].as_py())
        settle("each")
        return _keyed(found, rows, schema)

    return run


@dataclass(frozen=True)
class _Put:
    """Assemble a snapshot from rows, and add the problems of its files."""

    flaws: Mapping[tuple[str | None, int], Sequence[Mapping[str, str]]]

    def __call__(self, rows: ArrowTable, micros: int) -> Whole:
        whole = _whole(rows, micros)
        key = (rows.column("cluster_id")[0].as_py(), micros)
        flaws = [flaw["rule"] for flaw in self.flaws.get(key, ())]
        return replace(whole, flaw="; ".join(flaws))


def _whole(rows: ArrowTable, micros: int) -> Whole:
    """Assemble one snapshot from rows."""
    tables = _parts(rows)
    said = tables.pop("clusters").to_pylist()
    cluster_id = rows.column("cluster_id")[0].as_py()
    header = header_of(said[0] if said else {}, cluster_id, micros)
    return Whole(taken_at=micros, header=header, tables=tables)


def _parts(rows: ArrowTable) -> dict[str, ArrowTable]:
    own = {*KEY, JOB, LAST, SLOT}
    return {name: part_of(rows, name) for name in rows.column_names if name not in own}


def _keyed(found: ArrowTable, rows: ArrowTable, schema: Any) -> ArrowTable:  # noqa: ANN401
    """Add the cluster and the last time of a job to its rows."""
    cluster_id = rows.column("cluster_id")[0].as_py()
    return _with_key(found, cluster_id, rows.column(LAST)[0].as_py(), schema)


def _with_key(
    found: ArrowTable,
    cluster_id: str,
    micros: int,
    schema: Any,  # noqa: ANN401 - an Arrow schema
) -> ArrowTable:
    last = pa.scalar(micros, pa.int64()).cast(_TIME)
    keys = {"cluster_id": pa.scalar(cluster_id, pa.string()), "taken_at": last}
    arrays = [
        pa.repeat(keys[field.name], len(found)).cast(field.type)
        if field.name in keys
        else found.column(field.name)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def row_schema(schema: Any, without: Collection[str] = KEY) -> Any:  # noqa: ANN401 - Arrow schemas
    """Return a schema without its keys: the columns that `work` returns."""
    return pa.schema([field for field in schema if field.name not in without])
