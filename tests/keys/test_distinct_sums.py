"""Sums of a task on Spark, without Spark: what a task returns does not grow."""

import pyarrow as pa
import pytest

from planner.spark.keys import distinct_sums as sums
from planner.spark.keys.distinct_sums import SumTask, sum_batches

TASK = SumTask(names=["default", "fnv1a"], num_partitions=6, has_sizes=False)
RULE = "must be an integer of 32 bits"


def batch_of(keys: list[bytes], wrong: list[str | None]) -> pa.RecordBatch:
    size = len(keys)
    return pa.RecordBatch.from_pydict(
        {
            "key": pa.array(keys, pa.binary()),
            "records": pa.array([1] * size, pa.int64()),
            "sizes": pa.array([None] * size, pa.int64()),
            "sized": pa.array([0] * size, pa.int64()),
            "wrong": pa.array(wrong, pa.string()),
        }
    )


def rows_of(batches: list[pa.RecordBatch]) -> list[dict]:
    return [row for each in sum_batches(batches, TASK) for row in each.to_pylist()]


@pytest.mark.parametrize("num_batches", [1, 100])
def test_wrong_keys_of_a_task_are_named_up_to_a_limit(num_batches):
    """A wrong --key-type makes every key of a sample wrong."""
    keys = [f"{n}".encode() for n in range(20)]

    rows = rows_of([batch_of(keys, [RULE] * 20)] * num_batches)

    assert [row["kind"] for row in rows] == [sums.WRONG] * sums.MOST_WRONG
    assert {row["name"] for row in rows} == {RULE}
    assert [row["key"] for row in rows] == keys[: sums.MOST_WRONG]


def test_a_long_wrong_key_is_returned_up_to_what_a_message_repeats():
    key = b"\xf0\x9f\x98\x80" * 250_000

    (row,) = rows_of([batch_of([key], [RULE])])

    assert row["key"] == key[: sums.SHOWN_BYTES]
    assert len(row["key"].decode()) == 100


def test_batches_after_a_wrong_key_are_not_summed():
    right = batch_of([b"a"], [None])

    rows = rows_of([right, batch_of([b"b"], [RULE]), right])

    assert [(row["kind"], row["key"]) for row in rows] == [(sums.WRONG, b"b")]


@pytest.mark.parametrize("num_keys", [100, 10_000])
def test_a_task_returns_as_many_rows_whatever_the_number_of_keys(num_keys):
    keys = [f"k{n}".encode() for n in range(num_keys)]
    batches = [
        batch_of(keys[at : at + 100], [None] * 100) for at in range(0, num_keys, 100)
    ]

    rows = rows_of(batches)

    # Two partitioners, the counts, keys that decide, null keys, ten hottest keys, and
    # those of the other partitioner with their count.
    assert len(rows) == 2 + 3 + 10 + 1 + 10
    (counts,) = (row for row in rows if row["kind"] == sums.COUNTS)
    assert counts["keys"] == num_keys
