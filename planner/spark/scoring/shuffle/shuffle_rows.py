"""
Small tables that travel through Spark as one value each.

Partial sums have many columns and few rows. As rows of Spark, they would take longer to
pack and unpack, value by value, than to compute. Each shuffle row (parcel) therefore
has an Arrow batch in a binary column.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planner.snapshot.tables.snapshot_columns import ArrowArray, ArrowTable
from planner.snapshot.tables.table_rows import as_array
from planner.spark.common.problem_rows import FOUND
from planner.spark.io.fleet_files import TIME
from planner.spark.io.snapshot_keys import Key, by_key
from planner.spark.scoring.shuffle.row_batches import gathered
from planner.spark.scoring.sums.partial_sums import COUNTS, FACTORS, NUMBERS, TOPICS
from planner.spark.scoring.sums.place_sums import PLACES

Batches = Iterator[pa.RecordBatch]
Parcel = tuple[Key, int, float, str, bytes | None]
"""
Snapshot, bucket, fraction of the snapshot's work in earlier buckets, kind, and content:
a row of `SCHEMA`.
"""
Parcels = Iterator[Parcel]
LISTED = pa.schema([("topic", pa.string())])
"""Topics of the table of topics, duplicates included."""
COMPLETE = "complete"
"""Column of scored rows: whether no task warns of their snapshot."""
SEED = "seed"
"""Kind of an empty row for each snapshot, so that none is missed."""
KINDS: Mapping[str, Any] = MappingProxyType(
    {
        "place": PLACES,
        "factor": FACTORS,
        "count": COUNTS,
        "topic": TOPICS,
        "number": NUMBERS,
        "found": FOUND,
        "listed": LISTED,
    }
)
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", TIME),
        ("bucket", pa.int32()),
        ("before", pa.float64()),
        ("kind", pa.string()),
        ("sums", pa.binary()),
    ]
)
PARCEL_BYTES = 1 << 17
"""Largest size of a parcel: ten thousand, a batch of Spark, must fit in Arrow."""
SENT_BYTES, SENT_PARCELS = 1 << 22, 10_000
"""Bytes, or parcels, sent to Spark together: a batch costs as much as many parcels."""
BUCKET_BROKERS, MOST_BUCKETS = 128, 32
BROKER_ROWS = 100
"""Cost of scoring a broker and its log dirs, in partitions (64 to a topic)."""
_FNV_BASIS, _FNV_PRIME = np.uint32(0x811C9DC5), np.uint32(0x01000193)


@dataclass(frozen=True, slots=True)
class Buckets:
    """
    Division of the topics of a snapshot into buckets, which are distributed to tasks.

    Parameters
    ----------
    count
        Number of buckets. The first one also has everything that belongs to no topic.
    rest
        Fraction of all work that belongs to no topic, 0 to 1.
    """

    count: int = 1
    rest: float = 0.0

    def before(self, bucket: int) -> float:
        """Return the fraction of all work that is in earlier buckets, 0 to 1."""
        return self.rest + (1 - self.rest) * bucket / self.count if bucket else 0.0


WHOLE = Buckets()
"""Buckets of a snapshot that is not divided."""


def buckets_for(brokers: int, partitions: int) -> Buckets:
    """Return the buckets of a snapshot with about `partitions` partitions."""
    rest = BROKER_ROWS * brokers
    count = min(max(brokers // BUCKET_BROKERS, 1), MOST_BUCKETS)
    return Buckets(count, rest / max(rest + partitions, 1))


def buckets_of(topics: ArrowArray, count: int) -> npt.NDArray[np.int64]:
    """
    Return ``(T,)`` the bucket of each topic, which depends on its name alone.

    Notes
    -----
    FNV-1a of 32 bits, one byte of every name at a time.

    References
    ----------
    G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash
    Algorithm", RFC 9923, 2025.
    """
    names = as_array(topics).cast(pa.binary())
    _, ends, data = names.buffers()
    first, stop = names.offset, names.offset + len(names) + 1
    start = np.frombuffer(ends, np.int32)[first:stop].astype(np.int64)
    text = np.frombuffer(data or b"", np.uint8)
    length = np.diff(start)
    hashed = np.full(len(names), _FNV_BASIS, dtype=np.uint32)
    rows = np.arange(len(names))
    for at in range(int(length.max(initial=0))):
        rows = rows[length[rows] > at]
        hashed[rows] = (hashed[rows] ^ text[start[rows] + at]) * _FNV_PRIME
    return hashed.astype(np.int64) % count


def packed(
    key: Key, kind: str, table: ArrowTable, *, buckets: Buckets = WHOLE
) -> Parcels:
    """
    Pack a table into parcels.

    Parameters
    ----------
    key
        Key of the snapshot.
    kind
        One of `KINDS`.
    table
        The table. A table with a column `topic` is divided by buckets.
    buckets
        Buckets of the snapshot.
    """
    if not len(table):
        return
    parts = [(0, table)]
    if buckets.count > 1 and "topic" in table.column_names:
        parts = _in_buckets(table, buckets.count)
    for bucket, part in parts:
        before = buckets.before(bucket)
        for batch in cut(part):
            yield key, bucket, before, kind, batch.serialize().to_pybytes()


def sent(parcels: Iterable[Parcel]) -> Batches:
    """Yield parcels in the columns of `SCHEMA`, in large batches."""
    together = gathered(parcels, _size_of, enough=SENT_BYTES, most=SENT_PARCELS)
    return map(_batch, together)


def _size_of(parcel: Parcel) -> int:
    return len(parcel[-1] or b"")


def _batch(parcels: Sequence[Parcel]) -> pa.RecordBatch:
    keys, buckets, before, kinds, sums = zip(*parcels, strict=True)
    names, micros = zip(*keys, strict=True)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(names, pa.string()),
            pa.array(micros, pa.int64()).cast(TIME),
            pa.array(buckets, pa.int32()),
            pa.array(before, pa.float64()),
            pa.array(kinds, pa.string()),
            pa.array(sums, pa.binary()),
        ],
        schema=SCHEMA,
    )


def _in_buckets(table: ArrowTable, buckets: int) -> list[tuple[int, ArrowTable]]:
    codes = buckets_of(table.column("topic"), buckets)
    ordered = table.take(pa.array(np.argsort(codes, kind="stable")))
    start = np.append(0, np.cumsum(np.bincount(codes, minlength=buckets)))
    return [
        (bucket, ordered.slice(low, high - low))
        for bucket, (low, high) in enumerate(pairwise(start.tolist()))
        if high > low
    ]


def cut(table: ArrowTable) -> list[pa.RecordBatch]:
    """Cut a table into batches of at most about `PARCEL_BYTES`."""
    batches: list[pa.RecordBatch] = table.to_batches()
    if len(batches) == 1 and batches[0].nbytes <= PARCEL_BYTES:
        return batches
    rows = max(PARCEL_BYTES * len(table) // max(table.nbytes, 1), 1)
    return list(table.combine_chunks().to_batches(rows))


def seeds(keys: Iterable[Key]) -> Parcels:
    """Yield an empty parcel per snapshot, so that each one is scored."""
    for key in keys:
        yield key, 0, 0.0, SEED, None


class Unpacked:
    """
    Parcels of one snapshot in one task.

    Parameters
    ----------
    key
        Key of the snapshot.
    rows
        Parcels of the snapshot: rows of `SCHEMA`.

    Attributes
    ----------
    has_first
        Whether the task has the first bucket, with everything that belongs to no topic.
    is_complete
        Whether no task warns of the snapshot; true if the rows do not tell.
    kinds
        Kind of each parcel.
    """

    def __init__(self, key: Key, rows: ArrowTable) -> None:
        self.key = key
        self.has_first = 0 in rows.column("bucket").to_pylist()
        self.is_complete = COMPLETE not in rows.column_names or bool(
            rows.column(COMPLETE)[0].as_py()
        )
        self.kinds: list[str] = rows.column("kind").to_pylist()
        self._sums = rows.column("sums")
        self._tables: dict[str, ArrowTable] = {}

    def table(self, kind: str) -> ArrowTable:
        """Return the parcels of a kind as one table, unpacked on first use."""
        if kind not in self._tables:
            self._tables[kind] = _together(KINDS[kind], self.of([kind]))
        return self._tables[kind]

    def as_sent(self, kind: str) -> Parcels:
        """Yield the parcels of a kind unchanged."""
        for sums in self.of([kind]):
            yield self.key, 0, 0.0, kind, sums.to_pybytes()

    def of(self, kinds: Collection[str]) -> Iterator[pa.Buffer]:
        """Yield the contents of the parcels of some kinds."""
        for row, of_row in enumerate(self.kinds):
            if of_row in kinds:
                yield self._sums[row].as_buffer()


def _together(schema: pa.Schema, parcels: Iterable[pa.Buffer]) -> ArrowTable:
    batches = [pa.ipc.read_record_batch(sums, schema) for sums in parcels]
    return pa.Table.from_batches(batches, schema).combine_chunks()


def by_snapshot(batches: Batches) -> Iterator[tuple[Key, ArrowTable]]:
    """Yield the rows of each snapshot in a task, joined across batches."""
    waiting: list[ArrowTable] = []
    last: Key | None = None
    for batch in batches:
        for key, rows in by_key(pa.table(batch)):
            if key != last and waiting and last is not None:
                yield last, pa.concat_tables(waiting)
                waiting = []
            waiting.append(rows)
            last = key
    if waiting and last is not None:
        yield last, pa.concat_tables(waiting)
