"""The parcels of a bucket meet in one task, and tasks get alike."""

from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from planner.spark.common.task_packing import pack
from planner.spark.io.fleet_files import KEY
from planner.spark.scoring.fleet_scores import brought_together
from planner.spark.scoring.shuffle.shuffle_rows import (
    MOST_BUCKETS,
    Buckets,
    buckets_for,
    packed,
    seeds,
    sent,
)

KEYS = [("eu", 1), (None, 2**52 + 1), ("us", -7)]
BUCKETS = buckets_for(10_000, 3_000_000)


def parcels():
    """Of large snapshots, whose first bucket has what is of no topic as well."""
    topics = pa.table({"topic": [f"t{n}" for n in range(40 * MOST_BUCKETS)]})
    for key in KEYS:
        yield from packed(key, "listed", topics, buckets=BUCKETS)
        yield from packed(key, "listed", topics, buckets=BUCKETS)
    yield from seeds(KEYS)


def share_of(bucket):
    """Of a large snapshot's work, what a bucket is."""
    of_topics = (1 - BUCKETS.rest) / BUCKETS.count
    return of_topics if bucket else BUCKETS.rest + of_topics


def test_the_first_bucket_has_what_is_of_no_topic():
    assert Buckets(MOST_BUCKETS, 0.25) == BUCKETS
    assert [*map(Buckets(4, 0.2).before, range(4))] == pytest.approx([0, 0.4, 0.6, 0.8])
    assert buckets_for(3, 0) == Buckets(1, 1.0)
    assert buckets_for(0, 0) == Buckets(1, 0.0)


def dealt(rows, tasks):
    """The tasks of each bucket of each cluster, and how many rows there are."""
    task = F.spark_partition_id().alias("task")
    found = brought_together(rows, tasks).select(*KEY, "bucket", task).collect()
    tasks_of = defaultdict(set)
    for row in found:
        tasks_of[row["cluster_id"], row["bucket"]].add(row["task"])
    return tasks_of, len(found)


@pytest.mark.spark
@pytest.mark.parametrize("tasks", [1, 2, 5, 64])
@pytest.mark.parametrize("is_hashed", [False, True])
def test_buckets_of_large_snapshots_are_dealt_evenly(
    spark, monkeypatch, tasks, is_hashed
):
    if is_hashed:
        # As Spark does before 4.1; then nothing is said of how much a task gets.
        for kind in (DataFrame, *DataFrame.__subclasses__()):
            monkeypatch.delattr(kind, "repartitionById", raising=False)
    rows = spark.createDataFrame(pa.Table.from_batches(sent(parcels())))

    tasks_of, count = dealt(rows, tasks)

    assert count == sum(1 for _ in parcels())
    assert len(tasks_of) == len(KEYS) * MOST_BUCKETS
    assert all(len(each) == 1 for each in tasks_of.values())
    for name in () if is_hashed else (name for name, _ in KEYS):
        shares = [0.0] * tasks
        for bucket in range(MOST_BUCKETS):
            shares[min(tasks_of[name, bucket])] += share_of(bucket)
        assert max(shares) <= max(1 / tasks, share_of(0)) + share_of(1)


@given(st.lists(st.integers(0, 30)), st.integers(1, 20))
def test_packed_work_is_all_there_and_none_too_small(sizes, least):
    tasks = pack(sizes, least=least)

    assert sorted(piece for task in tasks for piece in task) == list(range(len(sizes)))
    largest = [sizes[task[0]] for task in tasks]
    assert largest == sorted(largest, reverse=True)
    sums = [sum(sizes[piece] for piece in task) for task in tasks]
    assert all(3 * total >= 2 * least for total in sums[:-1])
    for most, total in zip(largest, sums, strict=True):
        assert total <= max(most, 1.5 * least)
