"""Skew of keys on Spark: the figures of `planner.keys.key_skew`, from sums of tasks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from assignment.errors import UserPartitionerError
from assignment.partitioners.key_column import KeyColumn
from placement.array_types import FloatArray
from planner.errors import BadInputError
from planner.io.problems import problem, refuse_all
from planner.keys.key_skew import (
    Compared,
    KeySkew,
    PlacedKey,
    SampleCounts,
)
from planner.keys.keys_request import SkewRequest, user_failure
from planner.keys.sample_options import SCHEMA_BYTES, SampleOptions
from planner.keys.skew_causes import DecidingKeys, SweepRow, sweep_row
from planner.keys.skew_notes import NO_SIZES, SPREAD_EVENLY, ignores_keys
from planner.spark.keys import distinct_sums as sums
from planner.spark.keys.distinct_sums import SumTask, sum_batches
from planner.spark.keys.read_keys import (
    check_rows,
    distinct_rows,
    read_rows,
    reading,
    serialized_batches,
)

Rows = Mapping[str, list[Any]]
_SQL_TYPES = {"string": "string", "int64": "bigint", "binary": "binary"}
SUM_COLUMNS = ", ".join(
    f"{column.name} {_SQL_TYPES[str(column.type)]}" for column in sums.SCHEMA
)


def skew_on_spark(
    spark: SparkSession, path: str, options: SampleOptions, request: SkewRequest
) -> KeySkew:
    """
    Return the skew of a sample that Spark reads.

    Parameters
    ----------
    spark
        The session.
    path
        Path, or ``table:NAME``.
    options
        Reading of the sample.
    request
        Partitions, partitioners and sweep.

    Returns
    -------
    KeySkew
        Exact figures, as without Spark. Records that keys do not place have no order
        here: they are spread evenly, as they are in the long run.

    Raises
    ------
    BadInputError
        If the sample or an option is wrong.
    """
    parsed = request.options()
    rows = read_rows(spark, path, options)
    with reading(path):
        check_rows(rows, path, options)
    task = SumTask(
        names=list(request.partitioners),
        num_partitions=parsed.num_partitions,
        sweep=parsed.sweep,
        num_hot=parsed.num_hot,
        batch_bytes=request.batch_bytes,
        schema_id=options.schema_id,
        record_bytes=options.record_bytes,
        has_sizes="bytes" in rows.columns,
    )
    with reading(path):
        found = sum_distinct(distinct_rows(rows, options), task, options)
    _raise_problems(found, path)
    kind = dict(rows.dtypes)["key"]
    key_type = options.key_type or ("bytes" if kind == "binary" else "string")
    return _skew(found, task, path, key_type)


def sum_distinct(distinct: DataFrame, task: SumTask, options: SampleOptions) -> Rows:
    """Return the rows of all tasks by their kind; not more with more keys."""
    work = partial(_serialize_and_sum, task=task, options=options)
    found: dict[str, list[Any]] = defaultdict(list)
    for row in distinct.mapInArrow(work, SUM_COLUMNS).collect():
        found[row["kind"]].append(row)
    return found


def _serialize_and_sum(
    batches: Iterable[pa.RecordBatch], task: SumTask, options: SampleOptions
) -> Iterator[pa.RecordBatch]:
    return sum_batches(serialized_batches(batches, options), task)


def _raise_problems(found: Rows, path: str) -> None:
    if failed := found[sums.FAILED]:
        # Every task fails by a key of its own: one of them is enough.
        raise user_failure(UserPartitionerError(min(row["name"] for row in failed)))
    wrong = found[sums.WRONG]
    if wrong:
        named = dict.fromkeys((_shown(row["key"]), row["name"]) for row in wrong)
        problems = [problem(path, "key", key, rule) for key, rule in named]
        msg = f"the sample {path} cannot be read"
        raise refuse_all(msg, problems)
    if not sum(row["records"] for row in found[sums.COUNTS]):
        msg = f"the sample {path} cannot be read: 1 problem"
        rule = "must have at least one record"
        raise BadInputError(msg, [problem(path, "", None, rule)])


def _shown(key: bytes | None) -> str | None:
    return None if key is None else bytes(key).decode(errors="backslashreplace")


def _skew(found: Rows, task: SumTask, path: str, key_type: str) -> KeySkew:
    first = task.names[0]
    records, sizes = _on_partitions(found, first, task.num_partitions)
    counts = _counts(found, path, task)
    return KeySkew(
        counts=counts,
        partitioner=first,
        key_type=key_type,
        prefix_bytes=0 if task.schema_id is None else SCHEMA_BYTES,
        records=records,
        sizes=sizes,
        bounds=None,
        row=_row(found, first, task.num_partitions),
        hot=_hot(found, task, counts.null_keys),
        sweep=[_row(found, first, count) for count in task.sweep],
        compared=[_compared(found, task, name) for name in task.names[1:]],
        placed_as=[],
        notes=_notes(found, task, counts),
    )


def _counts(found: Rows, path: str, task: SumTask) -> SampleCounts:
    rows = found[sums.COUNTS]
    return SampleCounts(
        source=path,
        records=sum(row["records"] for row in rows),
        keys=sum(row["keys"] for row in rows),
        size_bytes=sum(row["sizes"] for row in rows),
        null_keys=sum(row["records"] for row in found[sums.NULL]),
        has_sizes=task.has_sizes or task.record_bytes > 0,
    )


def _of(found: Rows, name: str, count: int) -> list[Any]:
    return [
        row
        for row in found[sums.PLACED]
        if (row["name"], row["number"]) == (name, count)
    ]


def _on_partitions(found: Rows, name: str, count: int) -> tuple[FloatArray, FloatArray]:
    """Return records and bytes on each partition, the keyless spread evenly."""
    rows = _of(found, name, count)
    records, sizes = np.zeros(count), np.zeros(count)
    for row in rows:
        records += np.frombuffer(row["by_partition"])
        sizes += np.frombuffer(row["sizes_by_partition"])
    keyless = found[sums.PLACED]
    own = [row for row in keyless if row["name"] == name and row["records"]]
    numbers = {row["number"] for row in own}
    once = [row for row in own if row["number"] == min(numbers)]
    records += sum(row["records"] for row in once) / count
    sizes += sum(row["sizes"] for row in once) / count
    return records, sizes


def _row(found: Rows, name: str, count: int) -> SweepRow:
    records, _ = _on_partitions(found, name, count)
    return sweep_row(records, _deciding(found))


def _deciding(found: Rows) -> DecidingKeys:
    """Return the figures of the keys that decide, of all tasks."""
    tasks = (
        DecidingKeys(
            count=row["keys"],
            records=row["records"],
            hottest=row["number"],
            squares=float(np.frombuffer(row["by_partition"])[0]),
        )
        for row in found[sums.DECIDING]
    )
    return reduce(DecidingKeys.merged, tasks)


def _placed(
    task: SumTask, rows: Sequence[tuple[int, bytes]], other: int | None = None
) -> list[PlacedKey]:
    """Return keys with their partitions."""
    partitioners = task.partitioners()
    keys = KeyColumn.of(key for _, key in rows)
    own = partitioners[0].partitions_for(keys)(task.num_partitions)
    theirs = own
    if other is not None:
        theirs = partitioners[other].partitions_for(keys)(task.num_partitions)
    return [
        PlacedKey(key=key, records=records, partition=int(p), other=int(q))
        for (records, key), p, q in zip(rows, own, theirs, strict=True)
    ]


def _most(rows: Sequence[Any], count: int) -> list[tuple[int, bytes]]:
    listed = [(row["records"], bytes(row["key"])) for row in rows]
    return sorted(listed, key=lambda each: (-each[0], each[1]))[:count]


def _hot(found: Rows, task: SumTask, null_records: int) -> list[PlacedKey]:
    hot = _placed(task, _most(found[sums.HOT], task.num_hot))
    if null_records:
        (null,) = _placed(task, [(null_records, b"")])
        by_null = _null_partition(task)
        hot.append(replace(null, key=None, partition=by_null))
    return sorted(hot, key=lambda each: -each.records)[: task.num_hot]


def _null_partition(task: SumTask) -> int:
    """Return the partition of all records without a key, if they have one."""
    place = task.partitioners()[0].partitions_for(KeyColumn.of([None]))
    return int(place(task.num_partitions)[0])


def _compared(found: Rows, task: SumTask, name: str) -> Compared:
    apart = [row for row in found[sums.APART] if row["name"] == name]
    keys = [row for row in found[sums.APART_KEY] if row["name"] == name]
    records, _ = _on_partitions(found, name, task.num_partitions)
    examples = _most(keys, task.num_hot)
    return Compared(
        partitioner=name,
        num_keys=sum(row["keys"] or 0 for row in apart),
        num_records=sum(row["records"] or 0 for row in apart),
        max_over_mean=float(records.max() / records.mean()),
        examples=_placed(task, examples, task.names.index(name)),
    )


def _notes(found: Rows, task: SumTask, counts: SampleCounts) -> list[str]:
    notes = []
    first = task.names[0]
    keyless = sum(row["records"] for row in _of(found, first, task.num_partitions))
    if keyless > counts.null_keys:
        notes.append(ignores_keys(first))
    if keyless:
        notes.append(SPREAD_EVENLY)
    if not task.has_sizes and not task.record_bytes:
        notes.append(NO_SIZES)
    return notes
