"""The document of `keys skew`, and its records."""

from typing import Any

from assignment.partitioners.partitioner import KEYLESS
from placement.array_types import FloatArray
from planner.io.records import Int32, Record
from planner.keys.key_skew import Compared, KeySkew, PlacedKey, SampleCounts
from planner.keys.key_types import key_text
from planner.keys.skew_causes import SweepRow
from planner.text.document_numbers import rounded


class KeySampleRecord(Record):
    """The sample; `keys` counts distinct keys, `null_keys` records without a key."""

    source: str
    records: int
    keys: int
    bytes: int
    null_keys: int
    estimated: bool


class KeyPartitionRecord(Record):
    """
    Load of a partition; `bytes_share` is null without sizes of records.

    `low` and `high` bound an estimated share of records at 95 %, `bytes_low` and
    `bytes_high` one of bytes.
    """

    partition: Int32
    records: int
    bytes: int
    share: float
    bytes_share: float | None
    low: float | None
    high: float | None
    bytes_low: float | None
    bytes_high: float | None


class HotKeyRecord(Record):
    """
    A hot key, null for none; `error`: largest excess of `records`.

    `low` and `high` bound an estimated share at 95 %.
    """

    key: str | None
    records: int
    share: float
    partition: Int32 | None
    error: int
    low: float | None
    high: float | None


class SkewCausesRecord(Record):
    """Excess over an even load: due to hot keys, and to hashing."""

    hot_keys: float
    hashing: float


class SweepRecord(Record):
    """Skew at a number of partitions."""

    partitions: int
    max_over_mean: float
    expected_max_over_mean: float | None
    least_max_over_mean: float


class KeyApartRecord(Record):
    """A key on different partitions; null where the key does not decide."""

    key: str | None
    records: int
    partition: Int32 | None
    other: Int32 | None


class ComparedRecord(Record):
    """Another partitioner, and the keys that it places elsewhere."""

    partitioner: str
    keys_apart: int
    records_apart: int
    share_apart: float
    max_over_mean: float
    examples: list[KeyApartRecord]


class PlacedAsRecord(Record):
    """Share of keyed records on the partition that a partitioner gives."""

    partitioner: str
    share: float


class KeysSkewRecord(Record):
    """
    Answer of `keys skew`.

    `…_low` and `…_high` bound an estimated skew at 95 %, else they are null.
    """

    sample: KeySampleRecord
    partitioner: str
    partitions: list[KeyPartitionRecord]
    max_over_mean: float
    max_over_mean_low: float | None
    max_over_mean_high: float | None
    bytes_max_over_mean: float
    bytes_max_over_mean_low: float | None
    bytes_max_over_mean_high: float | None
    expected_max_over_mean: float | None
    least_max_over_mean: float
    causes: SkewCausesRecord
    hot_keys: list[HotKeyRecord]
    sweep: list[SweepRecord]
    compared: list[ComparedRecord]
    placed_as: list[PlacedAsRecord]
    notes: list[str]


def skew_document(skew: KeySkew) -> dict[str, Any]:
    """Return the document of a skew."""
    row = skew.row
    low, high = _bounds_of_skew(skew)
    bytes_low, bytes_high = _bounds_of_skew(skew, of_bytes=True)
    return KeysSkewRecord(
        sample=sample_record(skew.counts),
        partitioner=skew.partitioner,
        partitions=_partitions(skew),
        max_over_mean=rounded(row.max_over_mean),
        max_over_mean_low=low,
        max_over_mean_high=high,
        bytes_max_over_mean=_skew_of_bytes(skew),
        bytes_max_over_mean_low=bytes_low,
        bytes_max_over_mean_high=bytes_high,
        expected_max_over_mean=_or_none(row.expected),
        least_max_over_mean=rounded(row.least),
        causes=SkewCausesRecord(
            hot_keys=rounded(row.by_hot_keys), hashing=rounded(row.by_hashing)
        ),
        hot_keys=[_hot_key(skew, each) for each in skew.hot],
        sweep=[sweep_record(each) for each in skew.sweep],
        compared=[_compared(skew, each) for each in skew.compared],
        placed_as=[
            PlacedAsRecord(partitioner=name, share=rounded(share))
            for name, share in skew.placed_as
        ],
        notes=list(skew.notes),
    ).model_dump()


def _skew_of_bytes(skew: KeySkew) -> float:
    sizes = skew.sizes
    return rounded(float(sizes.max() / sizes.mean())) if sizes.any() else 1.0


def _bounds_of_skew(
    skew: KeySkew, *, of_bytes: bool = False
) -> tuple[float | None, float | None]:
    bounds = skew.bounds
    if bounds is None or (of_bytes and not _has_sizes(skew)):
        return None, None
    low, high = bounds.bytes_max_over_mean if of_bytes else bounds.max_over_mean
    return rounded(low), rounded(high)


def _has_sizes(skew: KeySkew) -> bool:
    """Return whether shares of bytes are those of records."""
    return skew.counts.has_sizes and bool(skew.sizes.any())


def sample_record(counts: SampleCounts) -> KeySampleRecord:
    """Return the record of a sample."""
    return KeySampleRecord(
        source=counts.source,
        records=counts.records,
        keys=counts.keys,
        bytes=counts.size_bytes,
        null_keys=counts.null_keys,
        estimated=counts.is_estimate,
    )


def sweep_record(row: SweepRow) -> SweepRecord:
    """Return the record of a number of partitions."""
    return SweepRecord(
        partitions=row.num_partitions,
        max_over_mean=rounded(row.max_over_mean),
        expected_max_over_mean=_or_none(row.expected),
        least_max_over_mean=rounded(row.least),
    )


def partition_or_none(partition: int) -> int | None:
    """Return a partition; `None` if the key does not decide it."""
    return None if partition == KEYLESS else partition


def _or_none(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _partitions(skew: KeySkew) -> list[KeyPartitionRecord]:
    records, sizes = skew.records, skew.sizes
    total, size = float(records.sum()), float(sizes.sum())
    bounds, has_sizes = skew.bounds, _has_sizes(skew)
    shares = None if bounds is None else bounds.shares
    byte_shares = bounds.byte_shares if bounds is not None and has_sizes else None
    return [
        KeyPartitionRecord(
            partition=partition,
            records=round(float(records[partition])),
            bytes=round(float(sizes[partition])),
            share=rounded(float(records[partition]) / total),
            bytes_share=rounded(float(sizes[partition]) / size) if has_sizes else None,
            low=_side(shares, partition, 0),
            high=_side(shares, partition, 1),
            bytes_low=_side(byte_shares, partition, 0),
            bytes_high=_side(byte_shares, partition, 1),
        )
        for partition in range(len(records))
    ]


def _side(bounds: FloatArray | None, partition: int, side: int) -> float | None:
    return None if bounds is None else rounded(float(bounds[partition, side]))


def _text(skew: KeySkew, key: bytes | None) -> str | None:
    return key_text(key, skew.key_type, skew.prefix_bytes)


def _hot_key(skew: KeySkew, each: PlacedKey) -> HotKeyRecord:
    return HotKeyRecord(
        key=_text(skew, each.key),
        records=round(each.records),
        share=rounded(each.records / float(skew.records.sum())),
        partition=partition_or_none(each.partition),
        error=round(each.error),
        low=None if each.bounds is None else rounded(each.bounds[0]),
        high=None if each.bounds is None else rounded(each.bounds[1]),
    )


def _compared(skew: KeySkew, other: Compared) -> ComparedRecord:
    return ComparedRecord(
        partitioner=other.partitioner,
        keys_apart=other.num_keys,
        records_apart=round(other.num_records),
        share_apart=rounded(other.num_records / float(skew.records.sum())),
        max_over_mean=rounded(other.max_over_mean),
        examples=[
            KeyApartRecord(
                key=_text(skew, each.key),
                records=round(each.records),
                partition=partition_or_none(each.partition),
                other=partition_or_none(each.other),
            )
            for each in other.examples
        ],
    )
