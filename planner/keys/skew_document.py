"""The document of `keys skew`, and its records."""

from collections.abc import Iterator, Sequence
from typing import Any

from assignment.partitioners.partitioner import KEYLESS
from planner.io.records import Int32, Record
from planner.keys.key_sample import KeySample
from planner.keys.key_skew import Compared, KeySkew, SweepRow
from planner.keys.key_types import key_text
from planner.text.document_numbers import rounded
from planner.text.format import percent_text

MOST_EXAMPLES = 10
RECOGNISED = 0.9
"""Share of records where a partitioner puts them, from which it is named."""


class KeySampleRecord(Record):
    """The sample; `keys` counts distinct keys, `null_keys` records without a key."""

    source: str
    records: int
    keys: int
    bytes: int
    null_keys: int
    estimated: bool


class KeyPartitionRecord(Record):
    """Load of a partition; `low` and `high` bound an estimated share at 95 %."""

    partition: Int32
    records: int
    bytes: int
    share: float
    low: float | None
    high: float | None


class HotKeyRecord(Record):
    """A hot key, null for none; `error`: largest excess of `records`."""

    key: str | None
    records: int
    share: float
    partition: Int32 | None
    error: int


class SkewCausesRecord(Record):
    """Excess over an even load: what the hottest key enforces, and the rest."""

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
    """Answer of `keys skew`."""

    sample: KeySampleRecord
    partitioner: str
    partitions: list[KeyPartitionRecord]
    max_over_mean: float
    bytes_max_over_mean: float
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
    sizes = skew.placed.sizes
    row = skew.row
    return KeysSkewRecord(
        sample=sample_record(skew.sample),
        partitioner=skew.options.partitioners[0].name,
        partitions=_partitions(skew),
        max_over_mean=rounded(row.max_over_mean),
        bytes_max_over_mean=rounded(float(sizes.max() / sizes.mean()))
        if sizes.any()
        else 1.0,
        expected_max_over_mean=_or_none(row.expected),
        least_max_over_mean=rounded(row.least),
        causes=SkewCausesRecord(
            hot_keys=rounded(row.least - 1),
            hashing=rounded(max(row.max_over_mean - row.least, 0.0)),
        ),
        hot_keys=_hot_keys(skew),
        sweep=[sweep_record(each) for each in skew.sweep],
        compared=[_compared(skew, each) for each in skew.compared],
        placed_as=[
            PlacedAsRecord(partitioner=name, share=rounded(share))
            for name, share in skew.placed_as
        ],
        notes=[*skew.sample.notes, *_notes(skew)],
    ).model_dump()


def sample_record(sample: KeySample) -> KeySampleRecord:
    """Return the record of a sample."""
    nulls = sample.records_by_key[sample.keys.null_mask]
    return KeySampleRecord(
        source=sample.source,
        records=sample.num_records,
        keys=sample.num_keys,
        bytes=int(sample.sizes.sum()),
        null_keys=round(float(nulls.sum())),
        estimated=sample.weights is not None,
    )


def sweep_record(row: SweepRow) -> SweepRecord:
    """Return the record of a number of partitions."""
    return SweepRecord(
        partitions=row.num_partitions,
        max_over_mean=rounded(row.max_over_mean),
        expected_max_over_mean=_or_none(row.expected),
        least_max_over_mean=rounded(row.least),
    )


def text_of(sample: KeySample, row: int) -> str | None:
    """Return a key as people know it."""
    return key_text(sample.keys[row], sample.key_type, sample.prefix_bytes)


def partition_or_none(partition: int) -> int | None:
    """Return a partition; `None` if the key does not decide it."""
    return None if partition == KEYLESS else partition


def _or_none(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _partitions(skew: KeySkew) -> list[KeyPartitionRecord]:
    records, sizes = skew.placed.records, skew.placed.sizes
    total = records.sum()
    bounds = skew.intervals
    return [
        KeyPartitionRecord(
            partition=partition,
            records=round(float(records[partition])),
            bytes=round(float(sizes[partition])),
            share=rounded(float(records[partition] / total)),
            low=None if bounds is None else rounded(float(bounds[partition, 0])),
            high=None if bounds is None else rounded(float(bounds[partition, 1])),
        )
        for partition in range(len(records))
    ]


def _hot_keys(skew: KeySkew) -> list[HotKeyRecord]:
    records = skew.sample.records_by_key
    total = float(records.sum())
    return [
        HotKeyRecord(
            key=text_of(skew.sample, row),
            records=round(float(records[row])),
            share=rounded(float(records[row]) / total),
            partition=partition_or_none(int(skew.placed.key_partitions[row])),
            error=0,
        )
        for row in skew.hot_rows.tolist()
    ]


def _compared(skew: KeySkew, other: Compared) -> ComparedRecord:
    ours, theirs = skew.placed.key_partitions, other.key_partitions
    records = skew.sample.records_by_key
    return ComparedRecord(
        partitioner=other.partitioner,
        keys_apart=len(other.key_rows),
        records_apart=round(other.num_records),
        share_apart=rounded(other.num_records / float(records.sum())),
        max_over_mean=rounded(other.max_over_mean),
        examples=[
            KeyApartRecord(
                key=text_of(skew.sample, row),
                records=round(float(records[row])),
                partition=partition_or_none(int(ours[row])),
                other=partition_or_none(int(theirs[row])),
            )
            for row in other.key_rows[:MOST_EXAMPLES].tolist()
        ],
    )


def _notes(skew: KeySkew) -> Iterator[str]:
    sample, name = skew.sample, skew.options.partitioners[0].name
    is_keyless = skew.placed.key_partitions == KEYLESS
    if (is_keyless & ~sample.keys.null_mask).any():
        yield f"{name} does not place records with keys by their keys"
    if is_keyless.any():
        yield "records that keys do not place are simulated, shares as on average"
    if not sample.has_sizes:
        yield "the sample has no sizes of records: bytes are those of the keys"
    yield from _schema_notes(sample)
    if skew.placed_as:
        yield recognised_note(skew.placed_as, len(skew.placed.records))


def recognised_note(placed_as: Sequence[tuple[str, float]], num_partitions: int) -> str:
    """Return which partitioner the partitions of a sample are those of."""
    name, share = placed_as[0]
    if share < RECOGNISED:
        return (
            f"no known partitioner placed these keys on {num_partitions} partitions: "
            f"{name} comes nearest with {percent_text(share)} of the keyed records"
        )
    also = [other for other, equal in placed_as[1:] if equal == share]
    names = " or ".join([name, *also])
    rest = "" if share == 1 else "; the others have lost their order"
    return (
        f"{percent_text(share)} of the keyed records are where {names} puts them{rest}"
    )


def _schema_notes(sample: KeySample) -> Iterator[str]:
    """Yield a note if keys differ in nothing but the schema id before them."""
    if sample.key_type not in {"bytes", "base64", "hex"} or sample.prefix_bytes:
        return
    keys = (sample.keys[row] for row in range(len(sample.keys)))
    framed = [key for key in keys if key is not None and len(key) > 5 and key[0] == 0]
    repeated = len(framed) - len({key[5:] for key in framed})
    if repeated and len(framed) == sample.num_keys:
        yield (
            f"{repeated} keys differ from another in nothing but the schema id before "
            "them: a key under a new schema has another partition"
        )
