"""
Partitions of a fleet added up where they are read.

Each task adds up what it reads and gives parcels as large as brokers, log dirs and
topics. Tables in a folder of this machine's file system are read by the tasks
themselves, column by column; others come from Spark as Arrow.
"""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from planner.snapshot.columns import TOPICS
from planner.spark.adding import CHUNK_ROWS, Adding, listed
from planner.spark.dealing import cores_of
from planner.spark.files import KEY
from planner.spark.fleet import Fleet
from planner.spark.grounds import Grounds
from planner.spark.handing import handed, received
from planner.spark.parcels import SCHEMA, Batches, Parcels, seeds, sent
from planner.spark.reading import Judge, read_tasks, reader
from planner.spark.said import Said
from planner.spark.workers import settle


def partial_sums(
    spark: SparkSession, fleet: Fleet, grounds: Grounds, judge: Judge
) -> DataFrame:
    """
    Add partitions up, task by task.

    Parameters
    ----------
    spark
        The session.
    fleet
        Canonical tables.
    grounds
        What is known of their brokers.
    judge
        Judges snapshots of which one task has all.

    Returns
    -------
    DataFrame
        Parcels: the columns of `planner.spark.parcels.SCHEMA`.
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
