"""
Partial sums of a fleet's partitions, computed in the tasks that read them.

Each task returns sums whose size grows with brokers, log dirs and topics. Tasks read
tables on this machine's file system themselves, column by column; other tables come
from Spark as Arrow.
"""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from planner.snapshot.tables.snapshot_columns import TOPICS
from planner.spark.common.python_workers import settle
from planner.spark.common.task_packing import cores_of
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_tables import Fleet
from planner.spark.scoring.broadcast.broadcast_tables import Grounds
from planner.spark.scoring.broadcast.topic_settings import Said
from planner.spark.scoring.map_side.file_tasks import Judge, read_tasks, reader
from planner.spark.scoring.map_side.partition_batches import handed, received
from planner.spark.scoring.map_side.row_sums import CHUNK_ROWS, Adding, listed
from planner.spark.scoring.shuffle.shuffle_rows import (
    SCHEMA,
    Batches,
    Parcels,
    seeds,
    sent,
)


def partial_sums(
    spark: SparkSession, fleet: Fleet, grounds: Grounds, judge: Judge
) -> DataFrame:
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

    Returns
    -------
    DataFrame
        Partial sums: the columns of
        `planner.spark.scoring.shuffle.shuffle_rows.SCHEMA`.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(SCHEMA)
    if fleet.files is None:
        partitions, said = handed(fleet, grounds.num_saying)
        rows = partitions.mapInArrow(_adder(grounds, said), schema)
        topics = fleet.topics.select(*KEY, *TOPICS.schema.names)
        named = topics.mapInArrow(_lister(grounds), schema)
        nothing = spark.range(0, 1, 1, 1)
        return rows.union(named).union(nothing.mapInArrow(_seeder(grounds), schema))
    tasks = read_tasks(fleet.files, cores_of(spark))
    # A row for each task, and nothing to shuffle.
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    return numbers.mapInArrow(reader(grounds, tasks, judge), schema)


def _seeder(grounds: Grounds) -> Callable[[Batches], Batches]:
    def seed(batches: Batches) -> Batches:
        for _ in batches:
            yield from sent(seeds(grounds.keys))

    return seed


def _lister(grounds: Grounds) -> Callable[[Batches], Batches]:
    def list_topics(batches: Batches) -> Batches:
        for batch in batches:
            yield from sent(listed(pa.table(batch), grounds))

    return list_topics


def _adder(grounds: Grounds, said: Said) -> Callable[[Batches], Batches]:
    def add(batches: Batches) -> Batches:
        yield from sent(_added(batches, Adding(grounds, said)))
        settle("add")

    return add


def _added(batches: Batches, adding: Adding) -> Parcels:
    for key, rows in received(batches, CHUNK_ROWS // 2):
        yield from adding.take(key, rows)
    yield from adding.end()
