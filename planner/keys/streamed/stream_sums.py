"""Sums over a stream of records by key: exact per partition, sketched per key."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from assignment.partitioners import Partitioner
from assignment.partitioners.key_column import KeyColumn, schema_prefix, with_prefix
from assignment.partitioners.partitioner import KEYLESS
from placement.array_types import BoolArray, CountArray, FloatArray, IndexArray
from planner.keys.key_skew import SkewOptions
from planner.keys.key_types import key_column
from planner.keys.streamed.distinct_count import DistinctCount, HashArray, hashes_of
from planner.keys.streamed.space_saving import SpaceSaving


@dataclass(frozen=True, slots=True, eq=False)
class CountedBatch:
    """
    Keys of a batch, each once.

    Parameters
    ----------
    keys
        ``(K,)`` serialized keys, large_binary; null for none.
    records, sizes
        ``(K,)`` records with each key, and their bytes.
    """

    keys: Any
    records: CountArray
    sizes: CountArray


class PartitionSums:
    """
    Records and bytes on the partitions, by one partitioner and number of partitions.

    Parameters
    ----------
    num_partitions
        Partitions.
    """

    def __init__(self, num_partitions: int) -> None:
        self.num_partitions = num_partitions
        self._sums = np.zeros((2, num_partitions))
        self._keyless = np.zeros(2)

    def add(self, placed: IndexArray, batch: CountedBatch) -> None:
        """Add the keys of a batch on their partitions."""
        decided = placed != KEYLESS
        for row, values in enumerate((batch.records, batch.sizes)):
            self._sums[row] += np.bincount(
                placed[decided], values[decided], self.num_partitions
            )
            self._keyless[row] += values[~decided].sum()

    @property
    def num_keyless(self) -> int:
        """Records that keys do not place."""
        return int(self._keyless[0])

    def spread(self) -> tuple[FloatArray, FloatArray]:
        """Return records and bytes, those that keys do not place spread evenly."""
        records, sizes = self._sums + (self._keyless / self.num_partitions)[:, None]
        return records, sizes


class StreamSums:
    """
    Sums of a stream.

    Parameters
    ----------
    options
        Partitions, partitioners and sweep.
    most_keys
        Keys that are counted each.
    schema_id
        Id that is written before each key; `None` for none.
    """

    def __init__(
        self, options: SkewOptions, most_keys: int, schema_id: int | None
    ) -> None:
        self._prefix = b"" if schema_id is None else schema_prefix(schema_id)
        self._first, *self._others = options.partitioners
        wanted = dict.fromkeys([options.num_partitions, *options.sweep])
        self.by_count = {count: PartitionSums(count) for count in wanted}
        self.by_other = [PartitionSums(options.num_partitions) for _ in self._others]
        self.sketch = SpaceSaving(most_keys)
        self.keys, self.deciding = DistinctCount(), DistinctCount()
        self.apart = [DistinctCount() for _ in self._others]
        self.records_apart = [0] * len(self._others)
        self.totals = Counter[str]()
        self._count = options.num_partitions

    def add(self, batch: CountedBatch) -> None:
        """
        Add a batch.

        Raises
        ------
        UserPartitionerError
            If a partitioner of the user fails.
        """
        keys = self.with_schema(batch.keys)
        has_key = ~keys.null_mask
        hashes = hashes_of(keys)
        self.totals["records"] += int(batch.records.sum())
        self.totals["sizes"] += int(batch.sizes.sum())
        self.totals["null"] += int(batch.records[~has_key].sum())
        self.sketch.add(batch.keys.drop_null(), batch.records[has_key])
        self.keys.add(hashes[has_key])
        first = self._place_first(keys, batch, hashes)
        for row, other in enumerate(self._others):
            placed = other.partitions_for(keys)(self._count)
            self.by_other[row].add(placed, batch)
            is_apart: BoolArray = np.not_equal(placed, first) & has_key
            self.apart[row].add(hashes[is_apart])
            self.records_apart[row] += int(batch.records[is_apart].sum())

    def _place_first(
        self, keys: KeyColumn, batch: CountedBatch, hashes: HashArray
    ) -> IndexArray:
        """Add a batch at every number of partitions; return its first place."""
        place = self._first.partitions_for(keys)
        for count, sums in self.by_count.items():
            sums.add(place(count), batch)
        first = place(self._count)
        self.deciding.add(hashes[(first != KEYLESS) & ~keys.null_mask])
        return first

    @property
    def partitioners(self) -> Sequence[Partitioner]:
        """The partitioners, the first of which places the sample."""
        return [self._first, *self._others]

    def with_schema(self, keys: Any) -> KeyColumn:  # noqa: ANN401 - an Arrow column
        """Return a column of keys as producers send them."""
        return with_prefix(key_column(keys), self._prefix)

    def prefixed(self, keys: Sequence[bytes]) -> KeyColumn:
        """Return keys of the sketch as producers send them."""
        return with_prefix(KeyColumn.of(keys), self._prefix)

    @property
    def prefix_bytes(self) -> int:
        """Bytes of the schema's prefix."""
        return len(self._prefix)


def counted(keys: Any, sizes: CountArray) -> CountedBatch:  # noqa: ANN401 - Arrow
    """
    Return the keys of records, each once.

    Parameters
    ----------
    keys
        ``(R,)`` serialized keys, large_binary.
    sizes
        ``(R,)`` bytes of each record.
    """
    table = pa.table({"key": keys, "size": sizes})
    by_key = table.group_by("key", use_threads=False)
    sums = by_key.aggregate([([], "count_all"), ("size", "sum")]).combine_chunks()
    return CountedBatch(
        pa.concat_arrays(sums.column("key").chunks),
        sums.column("count_all").to_numpy(),
        sums.column("size_sum").to_numpy(),
    )
