"""Skew of a sample read as a stream: the figures of `planner.keys.key_skew`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from assignment.errors import UserPartitionerError
from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.partitioner import KEYLESS
from placement.array_types import CountArray
from planner.keys.formats.read_sample import sample_rows, serialized
from planner.keys.key_skew import (
    Compared,
    KeySkew,
    PlacedKey,
    SampleCounts,
    SkewOptions,
)
from planner.keys.key_types import is_binary, key_column
from planner.keys.keys_request import user_failure
from planner.keys.sample_options import SampleOptions
from planner.keys.sample_rows import SampleProblems, SampleRows, SizeCheck
from planner.keys.skew_causes import DecidingKeys, SweepRow, sweep_row
from planner.keys.skew_notes import NO_SIZES, SPREAD_EVENLY, ignores_keys
from planner.keys.streamed.stream_sums import CountedBatch, StreamSums, counted


def stream_skew(
    path: Path, reading: SampleOptions, options: SkewOptions, most_keys: int
) -> KeySkew:
    """
    Return the skew of a sample whose keys need not fit into memory.

    Parameters
    ----------
    path
        The sample.
    reading
        Reading of the sample.
    options
        Partitions, partitioners, and what else to compute.
    most_keys
        Keys that are counted each. With more distinct keys the hottest are counted by
        SpaceSaving, and the number of keys is an estimate.

    Returns
    -------
    KeySkew
        Exact shares. Records that keys do not place are spread evenly.

    Raises
    ------
    BadInputError
        If options are wrong, the sample cannot be read, keys are not of their type or
        too long, or there is none; has every problem.
    """
    reading.validate()
    sums = StreamSums(options, most_keys, reading.schema_id)
    stream = _Stream(str(path), reading)
    try:
        for batch in stream.batches(sample_rows(path, reading, stream.problems)):
            sums.add(batch)
    except UserPartitionerError as error:
        raise user_failure(error) from error
    stream.problems.raise_all()
    if not sums.totals["records"]:
        stream.problems.add("", None, "must have at least one record")
        stream.problems.raise_all()
    return _skew(sums, stream, options)


class _Stream:
    """Rows of a sample as counted batches, and what they have."""

    def __init__(self, source: str, reading: SampleOptions) -> None:
        self.source, self.reading = source, reading
        self.problems = SampleProblems(source)
        self._size_check = SizeCheck()
        self.key_type = reading.key_type or "string"

    def batches(self, rows: Iterable[SampleRows]) -> Iterator[CountedBatch]:
        """Yield the batches; those with wrong keys are left out."""
        for each in rows:
            self._size_check.add(each, self.problems)
            if is_binary(each.keys.type) and self.reading.key_type is None:
                self.key_type = "bytes"
            keys = serialized(
                each, self.reading, self.problems, self.reading.prefix_bytes
            )
            if keys is not None and len(keys):
                yield counted(keys, self._sizes(each, key_column(keys)))

    @property
    def has_sizes(self) -> bool:
        """Whether the records have sizes."""
        return bool(self._size_check.has_sizes)

    def _sizes(self, rows: SampleRows, keys: KeyColumn) -> CountArray:
        if rows.sizes is not None:
            sizes: CountArray = rows.sizes.to_numpy(zero_copy_only=False)
            return sizes
        if size := self.reading.record_bytes:
            return np.full(len(keys), size, np.int64)
        return np.where(keys.null_mask, 0, keys.lengths + self.reading.prefix_bytes)


def _skew(sums: StreamSums, stream: _Stream, options: SkewOptions) -> KeySkew:
    records, sizes = sums.by_count[options.num_partitions].spread()
    keys = _deciding_keys(sums, options.num_partitions)
    return KeySkew(
        counts=SampleCounts(
            source=stream.source,
            records=sums.totals["records"],
            keys=_num_keys(sums),
            size_bytes=sums.totals["sizes"],
            null_keys=sums.totals["null"],
            has_sizes=stream.has_sizes or stream.reading.record_bytes > 0,
        ),
        partitioner=sums.partitioners[0].name,
        key_type=stream.key_type,
        prefix_bytes=sums.prefix_bytes,
        records=records,
        sizes=sizes,
        bounds=None,
        row=_row(sums, options.num_partitions, keys),
        hot=_hot(sums, options),
        sweep=[_row(sums, count, keys) for count in options.sweep],
        compared=[_compared(sums, row, options) for row in range(len(sums.by_other))],
        placed_as=[],
        notes=list(_notes(sums, stream, options)),
    )


def _num_keys(sums: StreamSums) -> int:
    """Return the number of distinct keys, exact if all have a counter."""
    return sums.keys.count() if sums.sketch.threshold else sums.sketch.num_keys


def _row(sums: StreamSums, count: int, keys: DecidingKeys) -> SweepRow:
    records, _ = sums.by_count[count].spread()
    return sweep_row(records, keys)


def _deciding_keys(sums: StreamSums, count: int) -> DecidingKeys:
    """
    Return the figures of the keys that decide, exact if all have a counter.

    Without its error a count is one that the key certainly has. The rest of the records
    is taken as that of equally hot keys.
    """
    keys, certain = sums.sketch.certain()
    placed = sums.partitioners[0].partitions_for(sums.with_schema(keys))(count)
    held = DecidingKeys.of(certain[placed != KEYLESS].astype(np.float64))
    keyed = sums.totals["records"] - sums.by_count[count].num_keyless
    number = _num_deciding(sums)
    rest, others = keyed - held.records, number - held.count
    return DecidingKeys(
        count=number,
        records=float(keyed),
        hottest=held.hottest,
        squares=held.squares + rest * rest / max(others, 1),
    )


def _num_deciding(sums: StreamSums) -> int:
    """Return the number of keys that decide, exact if all have a counter."""
    estimate = sums.deciding.count()
    if sums.sketch.threshold or sums.deciding.is_exact:
        return estimate
    # A partitioner ignores all keys, or none but the empty one.
    return sums.sketch.num_keys if sums.deciding.count() else 0


def _placed(
    sums: StreamSums, num_hot: int, count: int, other: int | None = None
) -> list[PlacedKey]:
    """Return the hottest keys of the sketch with their partitions."""
    found = sums.sketch.hottest(num_hot)
    keys = sums.prefixed([each.key for each in found])
    own = sums.partitioners[0].partitions_for(keys)(count)
    theirs = own
    if other is not None:
        theirs = sums.partitioners[other + 1].partitions_for(keys)(count)
    return [
        PlacedKey(
            key=keys[row],
            records=each.count,
            partition=int(own[row]),
            other=int(theirs[row]),
            error=each.error,
        )
        for row, each in enumerate(found)
    ]


def _hot(sums: StreamSums, options: SkewOptions) -> list[PlacedKey]:
    found = _placed(sums, options.num_hot, options.num_partitions)
    if nulls := sums.totals["null"]:
        place = sums.partitioners[0].partitions_for(KeyColumn.of([None]))
        partition = int(place(options.num_partitions)[0])
        found.append(PlacedKey(key=None, records=nulls, partition=partition))
    return sorted(found, key=lambda each: -each.records)[: options.num_hot]


def _compared(sums: StreamSums, row: int, options: SkewOptions) -> Compared:
    records, _ = sums.by_other[row].spread()
    every = _placed(sums, sums.sketch.num_keys, options.num_partitions, row)
    apart = [each for each in every if each.partition != each.other]
    return Compared(
        partitioner=sums.partitioners[row + 1].name,
        num_keys=sums.apart[row].count() if sums.sketch.threshold else len(apart),
        num_records=sums.records_apart[row],
        max_over_mean=float(records.max() / records.mean()),
        examples=apart[: options.num_hot],
    )


def _notes(sums: StreamSums, stream: _Stream, options: SkewOptions) -> Iterator[str]:
    yield from stream.problems.notes
    name, totals = sums.partitioners[0].name, sums.totals
    keyless = sums.by_count[options.num_partitions].num_keyless
    if keyless > totals["null"]:
        yield ignores_keys(name)
    if keyless:
        yield SPREAD_EVENLY
    if not stream.has_sizes and not stream.reading.record_bytes:
        yield NO_SIZES
    if sums.sketch.threshold:
        yield (
            f"more than {sums.sketch.most:,} distinct keys: their number is an "
            "estimate with a standard error of 1.6 %, and each count of a hot key may "
            f"be too large by its error, at most {sums.sketch.threshold:,}"
        )
