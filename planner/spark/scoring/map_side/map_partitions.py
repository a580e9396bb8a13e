"""
Partial sums of a fleet's partitions, computed in the tasks that read them.

Each task returns sums whose size grows with brokers, log dirs and topics. Tasks read
files of this machine themselves, column by column, also those of a table that is a
plain scan of Parquet. Of other plain scans Spark hands over whole files, else rows as
Arrow.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.python_workers import settle
from planner.spark.common.task_packing import cores_of
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.snapshot_keys import Key
from planner.spark.scoring.broadcast.broadcast_tables import Grounds
from planner.spark.scoring.broadcast.topic_settings import (
    CollectedSettings,
    Said,
)
from planner.spark.scoring.map_side.file_contents import (
    FileContents,
    file_contents,
)
from planner.spark.scoring.map_side.file_tasks import Judge, read_tasks, reader
from planner.spark.scoring.map_side.partition_batches import (
    columns_read,
    handed,
    received,
)
from planner.spark.scoring.map_side.row_sums import CHUNK_ROWS, Adding, listed
from planner.spark.scoring.shuffle.shuffle_rows import (
    SCHEMA,
    Batches,
    Parcels,
    seeds,
    sent,
)


@dataclass(frozen=True, kw_only=True)
class PartialSums:
    """
    Partial sums of a fleet.

    Parameters
    ----------
    rows
        The columns of `planner.spark.scoring.shuffle.shuffle_rows.SCHEMA`.
    are_judged
        Whether tasks have scored all snapshots, so that nothing needs to be shuffled.
    """

    rows: DataFrame
    are_judged: bool


def partial_sums(
    spark: SparkSession,
    fleet: Fleet,
    grounds: Grounds,
    judge: Judge,
    contents: FileContents | None = None,
) -> PartialSums:
    """
    Sum partitions, task by task.

    Parameters
    ----------
    spark
        The session.
    fleet
        Canonical tables.
    grounds
        Brokers and log dirs of the snapshots.
    judge
        Scores the snapshots that are entirely in one task.
    contents
        Result of `contents_of`.

    """
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(SCHEMA)
    if fleet.files is None:
        read, add = _reading(fleet, grounds, contents)
        rows = read.mapInArrow(add, schema)
        nothing = spark.range(0, 1, 1, 1)
        rows = rows.union(nothing.mapInArrow(_seeder(grounds), schema))
        if grounds.topics is None:
            # Canonical tables have the columns of topics, and the key.
            rows = rows.union(fleet.topics.mapInArrow(_lister(grounds), schema))
        return PartialSums(rows=rows, are_judged=False)
    tasks = read_tasks(fleet.files, cores_of(spark))
    # A row for each task, and nothing to shuffle.
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    whole = frozenset(chain.from_iterable(task.whole for task in tasks))
    return PartialSums(
        rows=numbers.mapInArrow(reader(grounds, tasks, judge), schema),
        are_judged=whole.issuperset(grounds.keys),
    )


def contents_of(fleet: Fleet, grounds: Grounds) -> FileContents | None:
    """Return the files of canonical tables, if tasks can decode them themselves."""
    if fleet.files is not None or grounds.settings is None:
        return None
    return file_contents(columns_read(fleet))


def _reading(
    fleet: Fleet, grounds: Grounds, contents: FileContents | None
) -> tuple[DataFrame, Callable[[Batches], Batches]]:
    """Return what Spark reads of the partitions, and the function that sums it."""
    if contents is None or grounds.settings is None:
        rows, said = handed(columns_read(fleet), fleet.topics, grounds)
        return rows, _adder(grounds, said, partial(received, enough=CHUNK_ROWS // 2))
    said = CollectedSettings(grounds.settings)
    return contents.handed, _adder(grounds, said, contents.decode)


def _seeder(grounds: Grounds) -> Callable[[Batches], Batches]:
    """Return the function that starts every snapshot, and lists the given topics."""
    topics = grounds.topics or ()

    def seed(batches: Batches) -> Batches:
        for _ in batches:
            yield from sent(seeds(grounds.keys))
            for part in topics:
                yield from sent(listed(part, grounds))

    return seed


def _lister(grounds: Grounds) -> Callable[[Batches], Batches]:
    def list_topics(batches: Batches) -> Batches:
        for batch in batches:
            yield from sent(listed(pa.table(batch), grounds))

    return list_topics


def _adder(
    grounds: Grounds,
    said: Said,
    rows_in: Callable[[Batches], Iterator[tuple[Key, ArrowTable]]],
) -> Callable[[Batches], Batches]:
    def added(batches: Batches) -> Parcels:
        adding = Adding(grounds, said)
        for key, rows in rows_in(batches):
            yield from adding.take(key, rows)
        yield from adding.end()

    def add(batches: Batches) -> Batches:
        yield from sent(added(batches))
        settle("add")

    return add
