"""Ingestion of raw dumps as a Spark job: a task reads several small or one large."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from planner.fleet.dumps.dump_finder import Dump
from planner.fleet.dumps.dump_intake import IngestedDump, Intake, dumps_in, ingest_dump
from planner.fleet.dumps.dump_receipts import Receipt
from planner.fleet.fleet_places import schema_of
from planner.fleet.fleet_store import Store
from planner.spark.common.task_packing import SLOT, dealt, pack, slots
from planner.spark.ingest.ingest_tables import TableIntake

ROUND_BYTES = 4 * 2**30
ROUND_DUMPS = 2_000
"""Size of a round; a round becomes visible as a whole, and a killed job loses one."""
TASK_BYTES = 4 * 2**20
"""Smallest size of a dump that has a task of its own, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """
    Result of an ingest job.

    Parameters
    ----------
    found
        Number of dumps in the folder.
    receipts
        Receipts of the dumps that this job read; earlier jobs read the others.
    """

    found: int
    receipts: tuple[Receipt, ...]

    @property
    def refused(self) -> int:
        """Number of dumps read that gave no snapshot."""
        return sum(receipt.content is None for receipt in self.receipts)

    @property
    def snapshots(self) -> int:
        """Number of dumps read that gave a snapshot."""
        return len(self.receipts) - self.refused

    @property
    def rejects(self) -> int:
        """Number of their rows in the table of rejects."""
        return sum(receipt.rejects for receipt in self.receipts)


def ingest_dumps(
    spark: SparkSession,
    folder: str,
    fleet: str,
    *,
    allow_partial: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Ingested:
    """
    Ingest the dumps of a folder into a fleet; known dumps are not read again.

    Parameters
    ----------
    spark
        The session, which may be one of Spark Connect.
    folder
        Folder of the dumps, ``CLUSTER/TIME/files``: a path that every executor can
        read, ``s3://…``, ``gs://…``, ``hdfs://…``.
    fleet
        Folder of the fleet, likewise; or ``table:CATALOG.SCHEMA``.
    allow_partial
        Whether to continue if the files of a dump do not show everything to each other.
    progress
        Called after every round with the number of dumps done and of all new dumps.

    Raises
    ------
    BadInputError
        If there are no dumps, or the fleet cannot be read or written.
    """
    settler = _settler(spark, folder, fleet, allow_partial=allow_partial)
    dumps = dumps_in(Store(folder))
    new = settler.new(dumps)
    settled: list[Receipt] = []
    for part in rounds(new):
        settled += settler.settle(_dealt(spark, part))
        if progress is not None:
            progress(len(settled), len(new))
    return Ingested(found=len(dumps), receipts=tuple(settled))


def rounds(dumps: Sequence[Dump]) -> Iterator[list[Dump]]:
    """Yield dumps in rounds of at most `ROUND_DUMPS` dumps and about `ROUND_BYTES`."""
    part: list[Dump] = []
    size = 0
    for dump in dumps:
        if part and (len(part) == ROUND_DUMPS or size + dump.size_bytes > ROUND_BYTES):
            yield part
            part, size = [], 0
        part.append(dump)
        size += dump.size_bytes
    if part:
        yield part


class _Settler(Protocol):
    """The single writer of a fleet."""

    def new(self, dumps: Iterable[Dump]) -> list[Dump]: ...

    def settle(self, dealt: DataFrame) -> list[Receipt]: ...


def _settler(
    spark: SparkSession, folder: str, fleet: str, *, allow_partial: bool
) -> _Settler:
    schema = schema_of(fleet)
    if schema is None:
        return _FolderSettler(folder, fleet, allow_partial=allow_partial)
    return TableIntake(spark, folder, schema, allow_partial=allow_partial)


class _FolderSettler:
    """Single writer of a fleet's folder: tasks write rows, the driver markers."""

    def __init__(self, folder: str, fleet: str, *, allow_partial: bool) -> None:
        self._intake = Intake(Store(fleet))
        self._work = _worker(folder, fleet, allow_partial=allow_partial)

    def new(self, dumps: Iterable[Dump]) -> list[Dump]:
        return self._intake.new(dumps)

    def settle(self, dealt: DataFrame) -> list[Receipt]:
        """Read dumps in the executors; the driver receives one row per dump."""
        found = dealt.mapInArrow(self._work, "taken string").collect()
        return self._intake.settle(
            IngestedDump.from_text(row["taken"]) for row in found
        )


def _dealt(spark: SparkSession, dumps: Sequence[Dump]) -> DataFrame:
    """Return dumps as rows that are assigned to tasks."""
    tasks = pack([dump.size_bytes for dump in dumps], least=TASK_BYTES)
    slot = slots(spark, len(tasks))
    rows = [
        (slot[task], place, dumps[piece].to_text())
        for task, pieces in enumerate(tasks)
        for place, piece in enumerate(pieces)
    ]
    table = spark.createDataFrame(rows, f"{SLOT} int, place int, dump string")
    return dealt(table, len(tasks))


def _worker(
    folder: str, fleet: str, *, allow_partial: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        source, target = Store(folder), Store(fleet)
        for batch in batches:
            for text in batch.column("dump").to_pylist():
                done = ingest_dump(
                    Dump.from_text(text), source, target, allow_partial=allow_partial
                )
                yield pa.RecordBatch.from_pydict({"taken": [done.to_text()]})

    return work


def ingested_document(done: Ingested, folder: str, fleet: str) -> dict[str, object]:
    """Return the JSON document of an ingest job's result."""
    return {
        "folder": folder,
        "fleet": fleet,
        "dumps": done.found,
        "read": len(done.receipts),
        "snapshots": done.snapshots,
        "refused": done.refused,
        "rejects": done.rejects,
    }
