"""Skew of a sample of keys over partitions, its causes, and other partitioners."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assignment.partitioners import NAMES, Partitioner
from assignment.partitioners.partitioner import KEYLESS
from placement.array_types import FloatArray, IndexArray, RowArray
from planner.keys.key_sample import KeySample, PlacedSample, place_sample
from planner.keys.partitioner_names import named_partitioner
from planner.keys.share_bounds import SkewBounds, key_bounds, skew_bounds
from planner.keys.skew_causes import DecidingKeys, SweepRow, sweep_row
from planner.keys.skew_notes import skew_notes


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewOptions:
    """
    Options of a skew.

    Parameters
    ----------
    num_partitions
        Partitions of the topic.
    partitioners
        Partitioner, and others that are compared with it.
    sweep
        Numbers of partitions to compare.
    num_hot
        Hottest keys listed, and those that another partitioner places elsewhere.
    seed
        Seed of records whose keys do not decide.
    """

    num_partitions: int
    partitioners: Sequence[Partitioner]
    sweep: Sequence[int] = ()
    num_hot: int = 10
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCounts:
    """
    Counts of a sample.

    Parameters
    ----------
    source
        File or topic.
    records, keys, size_bytes
        Records read, distinct keys, and bytes of the records.
    null_keys
        Records without a key.
    is_estimate
        Whether a record of the sample stands for several of the topic.
    has_sizes
        Whether the bytes are those of records, and not of their keys alone.
    """

    source: str
    records: int
    keys: int
    size_bytes: int
    null_keys: int
    is_estimate: bool = False
    has_sizes: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedKey:
    """
    A key with its records.

    Parameters
    ----------
    key
        Serialized key; `None` for records without one.
    records
        Records with the key.
    partition
        Partition of the key; `KEYLESS` if the key does not decide.
    other
        Partition by another partitioner, likewise.
    error
        Largest excess of `records` over the true count.
    bounds
        Bounds of the share of records at 95 %; `None` unless it is an estimate.
    """

    key: bytes | None
    records: float
    partition: int
    other: int = KEYLESS
    error: float = 0.0
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """
    Keys that another partitioner places elsewhere.

    Parameters
    ----------
    partitioner
        Name of the other partitioner.
    num_keys, num_records
        Keys on another partition, and their records.
    max_over_mean
        Skew by the other partitioner.
    examples
        Hottest of the keys.
    """

    partitioner: str
    num_keys: int
    num_records: float
    max_over_mean: float
    examples: Sequence[PlacedKey]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeySkew:
    """
    Skew of a sample.

    Parameters
    ----------
    counts
        Counts of the sample.
    partitioner
        Name of the partitioner.
    key_type, prefix_bytes
        Serializer of the keys, and bytes of a schema's prefix of each.
    records, sizes
        ``(P,)`` records and bytes on each partition.
    bounds
        Bounds of shares and skew at 95 %; `None` unless they are estimates.
    row
        Skew at the number of partitions.
    hot
        Hottest keys, the hottest first.
    sweep
        Skew at other numbers of partitions.
    compared
        Other partitioners.
    placed_as
        Share of keyed records on the partition that each client's partitioner gives,
        the largest first; empty if the sample does not give partitions.
    notes
        Notes on the sample and the partitioner.
    """

    counts: SampleCounts
    partitioner: str
    key_type: str
    prefix_bytes: int
    records: FloatArray
    sizes: FloatArray
    bounds: SkewBounds | None
    row: SweepRow
    hot: Sequence[PlacedKey]
    sweep: Sequence[SweepRow]
    compared: Sequence[Compared]
    placed_as: Sequence[tuple[str, float]]
    notes: Sequence[str]


def find_skew(sample: KeySample, options: SkewOptions) -> KeySkew:
    """
    Return the skew of a sample over partitions.

    Parameters
    ----------
    sample
        At least one record.
    options
        Partitions, partitioners, and what else to compute.

    Raises
    ------
    UserPartitionerError
        If a partitioner of the user fails.
    """
    first, *others = options.partitioners
    partitions_for = first.partitions_for(sample.keys)

    def at(count: int) -> PlacedSample:
        return place_sample(sample, first, partitions_for, count, options.seed)

    placed = at(options.num_partitions)
    every = np.arange(len(sample.keys))
    hot_rows = hottest(sample.records_by_key, every)[: options.num_hot]
    bounds = key_bounds(sample, hot_rows)
    placed_as = recognised(sample, sample.num_partitions or options.num_partitions)
    return KeySkew(
        counts=counts_of(sample),
        partitioner=first.name,
        key_type=sample.key_type,
        prefix_bytes=sample.prefix_bytes,
        records=placed.records,
        sizes=placed.sizes,
        bounds=skew_bounds(sample, placed),
        row=_row(sample, placed),
        hot=_bounded(_placed_keys(sample, hot_rows, placed.key_partitions), bounds),
        sweep=[_row(sample, at(count)) for count in options.sweep],
        compared=[_compare(sample, placed, each, options) for each in others],
        placed_as=placed_as,
        notes=[*sample.notes, *skew_notes(sample, placed, first, placed_as)],
    )


def counts_of(sample: KeySample) -> SampleCounts:
    """Return the counts of a sample."""
    nulls = sample.records_by_key[sample.keys.null_mask]
    return SampleCounts(
        source=sample.source,
        records=sample.num_records,
        keys=sample.num_keys,
        size_bytes=int(sample.sizes.sum()),
        null_keys=round(float(nulls.sum())),
        is_estimate=sample.weights is not None,
        has_sizes=sample.has_sizes,
    )


def _placed_keys(
    sample: KeySample,
    rows: RowArray,
    partitions: IndexArray,
    others: IndexArray | None = None,
) -> list[PlacedKey]:
    return [
        PlacedKey(
            key=sample.keys[row],
            records=float(sample.records_by_key[row]),
            partition=int(partitions[row]),
            other=KEYLESS if others is None else int(others[row]),
        )
        for row in rows.tolist()
    ]


def _bounded(
    keys: Sequence[PlacedKey], bounds: FloatArray | None
) -> Sequence[PlacedKey]:
    if bounds is None:
        return keys
    return [
        replace(key, bounds=(float(low), float(high)))
        for key, (low, high) in zip(keys, bounds, strict=True)
    ]


def hottest(records: FloatArray, rows: RowArray) -> RowArray:
    """Return rows by their records, most first; ties by the lower row."""
    order: RowArray = rows[np.argsort(-records[rows], kind="stable")]
    return order


def _row(sample: KeySample, placed: PlacedSample) -> SweepRow:
    by_key = sample.records_by_key[placed.key_partitions != KEYLESS]
    return sweep_row(placed.records, DecidingKeys.of(by_key))


def _compare(
    sample: KeySample, placed: PlacedSample, other: Partitioner, options: SkewOptions
) -> Compared:
    theirs = place_sample(
        sample,
        other,
        other.partitions_for(sample.keys),
        options.num_partitions,
        options.seed,
    )
    # A key that both spread at random has no order under either.
    is_apart = theirs.key_partitions != placed.key_partitions
    is_apart &= ~sample.keys.null_mask
    rows = hottest(sample.records_by_key, np.flatnonzero(is_apart))
    shown = rows[: options.num_hot]
    return Compared(
        partitioner=other.name,
        num_keys=len(rows),
        num_records=float(sample.records_by_key[rows].sum()),
        max_over_mean=theirs.max_over_mean,
        examples=_placed_keys(
            sample, shown, placed.key_partitions, theirs.key_partitions
        ),
    )


def recognised(sample: KeySample, num_partitions: int) -> list[tuple[str, float]]:
    """Return each client's share of keyed records that are where it puts them."""
    if sample.partitions is None or sample.partitions.max() >= num_partitions:
        return []
    found = []
    for name in NAMES:
        by_key = named_partitioner(name).partitions_for(sample.keys)(num_partitions)
        expected = by_key[sample.key_idx]
        is_keyed = (expected != KEYLESS) & ~sample.keys.null_mask[sample.key_idx]
        if is_keyed.any():
            matches = sample.partitions[is_keyed] == expected[is_keyed]
            found.append((name, float(matches.mean())))
    return sorted(found, key=lambda each: -each[1])
