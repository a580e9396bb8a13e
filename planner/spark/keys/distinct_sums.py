"""
Sums over distinct keys with their counts, batch by batch: the work of one task.

A task returns one row per partitioner and number of partitions, and its hottest keys,
so that the driver receives nothing that grows with the number of keys. Needs no Spark.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assignment.errors import UserPartitionerError
from assignment.partitioners import Partitioner
from assignment.partitioners.key_column import KeyColumn, schema_prefix, with_prefix
from assignment.partitioners.partitioner import KEYLESS
from placement.array_types import CountArray, FloatArray, IndexArray
from planner.errors import BadInputError
from planner.io.problems import MOST_SHOWN
from planner.keys.key_types import key_column
from planner.keys.partitioner_names import named_partitioner
from planner.keys.skew_causes import DecidingKeys

SCHEMA = pa.schema(
    {
        "kind": pa.string(),
        "name": pa.string(),
        "number": pa.int64(),
        "keys": pa.int64(),
        "records": pa.int64(),
        "sizes": pa.int64(),
        "key": pa.binary(),
        "by_partition": pa.binary(),
        "sizes_by_partition": pa.binary(),
    }
)
"""
Rows of a task, by `kind`: ``placed`` (a partitioner at a number of partitions, with the
`records` that keys do not place), ``counts`` (`keys`, `records` and `sizes` of the
task), ``deciding`` (the `keys` that decide, their `records`, those of the hottest key
in `number`, the sum of their squares, a double, in `by_partition`),
``null`` (records without a key), ``hot`` and ``apart-key`` (a key; `name`: other
partitioner), ``apart`` (keys that another partitioner places elsewhere), ``wrong`` (a
problem of a key; `name` is its rule), ``failed`` (a partitioner failed; `name` says
how).
"""
SOME_SIZES = "the column bytes must have a whole number from 0 for every record"
PLACED, COUNTS, DECIDING = "placed", "counts", "deciding"
NULL, HOT = "null", "hot"
MOST_WRONG = 10
"""Wrong keys of a task that are named."""
SHOWN_BYTES = 4 * MOST_SHOWN
"""Bytes of a wrong key that a message may repeat: four for each character."""
APART, APART_KEY, WRONG, FAILED = "apart", "apart-key", "wrong", "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SumTask:
    """
    Work of every task.

    Parameters
    ----------
    names
        Partitioners, the first of which places the sample.
    num_partitions
        Partitions of the topic.
    sweep
        Other numbers of partitions, for the first partitioner.
    num_hot
        Hottest keys.
    batch_bytes
        ``batch.size``.
    schema_id
        Id that is written before each key; `None` for none.
    record_bytes
        Bytes of each record if rows have none; 0 for those of the key.
    has_sizes
        Whether rows have the bytes of their records.
    """

    names: Sequence[str]
    num_partitions: int
    sweep: Sequence[int] = ()
    num_hot: int = 10
    batch_bytes: int = 16_384
    schema_id: int | None = None
    record_bytes: int = 0
    has_sizes: bool = True

    def partitioners(self) -> list[Partitioner]:
        """
        Return the partitioners.

        Raises
        ------
        UserPartitionerError
            If one of the user cannot be loaded where the task runs.
        """
        size = self.batch_bytes
        try:
            return [named_partitioner(name, batch_bytes=size) for name in self.names]
        except BadInputError as error:
            rule = error.problems[0].rule
            msg = f"a task of Spark cannot load a partitioner: {rule}"
            raise UserPartitionerError(msg) from error

    def cells(self) -> list[tuple[int, int]]:
        """Return each partitioner's index with each number of partitions it is for."""
        counts = list(dict.fromkeys([self.num_partitions, *self.sweep]))
        others = range(1, len(self.names))
        return [
            *((0, count) for count in counts),
            *((other, self.num_partitions) for other in others),
        ]


@dataclass(slots=True)
class HotKeys:
    """
    Keys with the most records, at most so many.

    Parameters
    ----------
    most
        Number of keys to keep.
    """

    most: int
    _heap: list[tuple[int, bytes]] = field(default_factory=list)

    def add(self, keys: KeyColumn, rows: CountArray, records: CountArray) -> None:
        """Add some rows of distinct keys."""
        if len(self._heap) == self.most:
            least = self._heap[0][0] if self._heap else 0
            rows = rows[records[rows] > least]
        best = rows[np.argsort(-records[rows], kind="stable")[: self.most]]
        for row in best.tolist():
            entry = (int(records[row]), keys[row] or b"")
            if len(self._heap) < self.most:
                heapq.heappush(self._heap, entry)
            elif entry > self._heap[0]:
                heapq.heappushpop(self._heap, entry)

    def listed(self) -> list[tuple[int, bytes]]:
        """Return records and key of each, the hottest first."""
        return sorted(self._heap, reverse=True)


class TaskSums:
    """
    Sums of one task.

    Parameters
    ----------
    task
        The work.
    """

    def __init__(self, task: SumTask) -> None:
        self.task = task
        self.partitioners = task.partitioners()
        cells = task.cells()
        self.records = {cell: np.zeros(cell[1]) for cell in cells}
        self.sizes = {cell: np.zeros(cell[1]) for cell in cells}
        self.keyless: Counter[tuple[int, str]] = Counter()
        self.counts: Counter[str] = Counter()
        self.deciding = DecidingKeys.of(np.zeros(0))
        self.hot = HotKeys(task.num_hot)
        self.apart = [Counter[str]() for _ in self.partitioners]
        self.apart_keys = [HotKeys(task.num_hot) for _ in self.partitioners]

    def add(self, batch: pa.RecordBatch) -> None:
        """
        Add distinct keys.

        Parameters
        ----------
        batch
            Columns ``key`` (serialized), ``records``, ``sizes`` and ``sized``.

        Raises
        ------
        UserPartitionerError
            If a partitioner of the user fails.
        BadInputError
            If records of a sample with sizes have none.
        """
        keys = key_column(batch.column("key").cast(pa.large_binary()))
        if self.task.schema_id is not None:
            keys = with_prefix(keys, schema_prefix(self.task.schema_id))
        records = batch.column("records").to_numpy(zero_copy_only=False)
        sizes = self._sizes(batch, keys, records)
        is_null = keys.null_mask
        self.counts["keys"] += int((~is_null).sum())
        self.counts["records"] += int(records.sum())
        self.counts["sizes"] += int(sizes.sum())
        self.counts["null"] += int(records[is_null].sum())
        self.hot.add(keys, np.flatnonzero(~is_null), records)
        self._place(keys, records, sizes)

    def _sizes(
        self, batch: pa.RecordBatch, keys: KeyColumn, records: CountArray
    ) -> CountArray:
        if self.task.has_sizes:
            if pc.sum(batch.column("sized")).as_py() != records.sum():
                raise BadInputError(SOME_SIZES)
            sizes: CountArray = batch.column("sizes").to_numpy(zero_copy_only=False)
            return sizes
        return (self.task.record_bytes or keys.lengths) * records

    def _place(self, keys: KeyColumn, records: CountArray, sizes: CountArray) -> None:
        first: IndexArray | None = None
        functions = [each.partitions_for(keys) for each in self.partitioners]
        for cell in self.records:
            placed = functions[cell[0]](cell[1])
            decided = placed != KEYLESS
            on = placed[decided]
            self.records[cell] += np.bincount(on, records[decided], cell[1])
            self.sizes[cell] += np.bincount(on, sizes[decided], cell[1])
            self.keyless[cell[0], "records"] += _at(cell, self.task, records[~decided])
            self.keyless[cell[0], "sizes"] += _at(cell, self.task, sizes[~decided])
            if first is None:
                first = placed
                found = DecidingKeys.of(records[decided].astype(np.float64))
                self.deciding = self.deciding.merged(found)
            elif cell[0]:
                self._compare(cell[0], keys, records, first != placed)

    def _compare(
        self,
        other: int,
        keys: KeyColumn,
        records: CountArray,
        is_apart: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ) -> None:
        rows = np.flatnonzero(is_apart & ~keys.null_mask)
        self.apart[other]["keys"] += len(rows)
        self.apart[other]["records"] += int(records[rows].sum())
        self.apart_keys[other].add(keys, rows, records)

    def rows(self) -> list[dict[str, object]]:
        """Return the rows of the task, as `SCHEMA` says."""
        found: list[dict[str, object]] = [
            {
                "kind": PLACED,
                "name": self.task.names[cell[0]],
                "number": cell[1],
                "records": self.keyless[cell[0], "records"],
                "sizes": self.keyless[cell[0], "sizes"],
                "by_partition": records.tobytes(),
                "sizes_by_partition": self.sizes[cell].tobytes(),
            }
            for cell, records in self.records.items()
        ]
        found += [self._total(), self._deciding()]
        found.append({"kind": NULL, "records": self.counts["null"]})
        found += [
            {"kind": HOT, "records": records, "key": key}
            for records, key in self.hot.listed()
        ]
        return [*found, *self._apart_rows()]

    def _total(self) -> dict[str, object]:
        names = ("keys", "records", "sizes")
        return {"kind": COUNTS, **{name: self.counts[name] for name in names}}

    def _deciding(self) -> dict[str, object]:
        return {
            "kind": DECIDING,
            "keys": self.deciding.count,
            "records": int(self.deciding.records),
            "number": int(self.deciding.hottest),
            "by_partition": np.array([self.deciding.squares]).tobytes(),
        }

    def _apart_rows(self) -> Iterator[dict[str, object]]:
        for other, name in list(enumerate(self.task.names))[1:]:
            yield {"kind": APART, "name": name, **self.apart[other]}
            for records, key in self.apart_keys[other].listed():
                row = {"kind": APART_KEY, "name": name, "records": records, "key": key}
                yield row


def _at(cell: tuple[int, int], task: SumTask, values: FloatArray | CountArray) -> int:
    """Return a sum once per partitioner, not for each number of partitions."""
    return int(values.sum()) if cell[1] == task.num_partitions else 0


def sum_batches(
    batches: Iterable[pa.RecordBatch], task: SumTask
) -> Iterator[pa.RecordBatch]:
    """
    Yield the rows of a task.

    Parameters
    ----------
    batches
        Distinct keys: ``key``, ``records``, ``sizes``, ``sized`` (how many of the
        records have a size), and ``wrong``, the rule that a key breaks, if any.
    task
        The work.
    """
    try:
        rows = _rows(batches, task)
    except UserPartitionerError as error:
        rows = [{"kind": FAILED, "name": str(error)}]
    except BadInputError as error:
        rows = [{"kind": WRONG, "name": error.message}]
    yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def _rows(
    batches: Iterable[pa.RecordBatch], task: SumTask
) -> Sequence[dict[str, object]]:
    """Return the rows of a task: its sums, or its first wrong keys."""
    sums = TaskSums(task)
    wrong: list[dict[str, object]] = []
    for batch in batches:
        wrong += _wrong_rows(batch, MOST_WRONG - len(wrong))
        if not wrong:
            sums.add(batch)
    return wrong or sums.rows()


def _wrong_rows(batch: pa.RecordBatch, most: int) -> list[dict[str, object]]:
    """Return rows of the first wrong keys of a batch, with the start of each key."""
    wrong = batch.filter(batch.column("wrong").is_valid()).slice(0, most)
    starts = pc.binary_slice(wrong.column("key"), 0, SHOWN_BYTES)
    return [
        {"kind": WRONG, "name": rule, "key": start}
        for rule, start in zip(
            wrong.column("wrong").to_pylist(), starts.to_pylist(), strict=True
        )
    ]
