"""Skew of a sample of keys over partitions, its causes, and other partitioners."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assignment.partitioners import NAMES, Partitioner
from assignment.partitioners.balls_into_bins import expected_max_over_mean
from assignment.partitioners.partitioner import KEYLESS
from placement.array_types import FloatArray, RowArray
from planner.keys.key_sample import KeySample, PlacedSample, place_sample
from planner.keys.partitioner_names import named_partitioner

CONFIDENCE_95 = 1.959964
"""Standard deviations of a normal number on each side of an interval of 95 %."""


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
        Hottest keys listed.
    seed
        Seed of records whose keys do not decide.
    """

    num_partitions: int
    partitioners: Sequence[Partitioner]
    sweep: Sequence[int] = ()
    num_hot: int = 10
    seed: int = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SweepRow:
    """
    Skew at one number of partitions.

    Parameters
    ----------
    num_partitions
        Partitions.
    max_over_mean
        Busiest partition over the mean, by records.
    expected
        The same, expected for as many equally hot keys; `None` without keys.
    least
        Least that any placement by key can reach, because of the hottest key.
    """

    num_partitions: int
    max_over_mean: float
    expected: float | None
    least: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Compared:
    """
    Keys that another partitioner places elsewhere.

    Parameters
    ----------
    partitioner
        Name of the other partitioner.
    key_rows
        Keys on another partition, the hottest first.
    key_partitions
        ``(K,)`` partition of each key by the other partitioner.
    num_records
        Records with these keys.
    max_over_mean
        Skew by the other partitioner.
    """

    partitioner: str
    key_rows: RowArray
    key_partitions: RowArray
    num_records: float
    max_over_mean: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeySkew:
    """
    Skew of a sample.

    Parameters
    ----------
    sample, options
        The sample, and what was asked.
    placed
        Records and bytes on the partitions.
    intervals
        ``(P, 2)`` bounds of each share at 95 %; `None` unless shares are estimates.
    row
        Skew at the number of partitions.
    hot_rows
        Hottest keys.
    sweep
        Skew at other numbers of partitions.
    compared
        Other partitioners.
    placed_as
        Share of keyed records on the partition that each client's partitioner gives,
        the largest first; empty if the sample does not give partitions.
    """

    sample: KeySample
    options: SkewOptions
    placed: PlacedSample
    intervals: FloatArray | None
    row: SweepRow
    hot_rows: RowArray
    sweep: Sequence[SweepRow]
    compared: Sequence[Compared]
    placed_as: Sequence[tuple[str, float]]


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
    return KeySkew(
        sample=sample,
        options=options,
        placed=placed,
        intervals=share_intervals(sample, placed),
        row=_row(sample, placed),
        hot_rows=hottest(sample.records_by_key, np.arange(len(sample.keys)))[
            : options.num_hot
        ],
        sweep=[_row(sample, at(count)) for count in options.sweep],
        compared=[_compare(sample, placed, each, options) for each in others],
        placed_as=recognised(sample, options.num_partitions),
    )


def hottest(records: FloatArray, rows: RowArray) -> RowArray:
    """Return rows by their records, most first; ties by the lower row."""
    order: RowArray = rows[np.argsort(-records[rows], kind="stable")]
    return order


def least_max_over_mean(sample: KeySample, placed: PlacedSample) -> float:
    """Return the least skew of any placement by key: all of a key is in one place."""
    by_key = sample.records_by_key[placed.key_partitions != KEYLESS]
    hottest_key = float(by_key.max(initial=0.0))
    return max(1.0, hottest_key / float(placed.records.mean()))


def _row(sample: KeySample, placed: PlacedSample) -> SweepRow:
    decided = int((placed.key_partitions != KEYLESS).sum())
    count = len(placed.records)
    return SweepRow(
        num_partitions=count,
        max_over_mean=placed.max_over_mean,
        expected=expected_max_over_mean(decided, count) if decided else None,
        least=least_max_over_mean(sample, placed),
    )


def share_intervals(sample: KeySample, placed: PlacedSample) -> FloatArray | None:
    """
    Return ``(P, 2)`` bounds of the shares at 95 %, if they are estimates.

    The sample has so many records of each partition of the topic: a stratified sample,
    whose variance is the sum over the strata, each with its weight squared.
    """
    if sample.weights is None or sample.partitions is None:
        return None
    on = placed.record_partitions
    on = placed.key_partitions[sample.key_idx] if on is None else on
    num_strata, count = int(sample.partitions.max()) + 1, len(placed.records)
    cells = np.bincount(sample.partitions * count + on, minlength=num_strata * count)
    counts = cells.reshape(num_strata, count)
    sampled = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    weights = np.bincount(sample.partitions, sample.weights, num_strata)
    part = counts / sampled
    variance = (
        (weights / weights.sum())[:, None] ** 2 * part * (1 - part) / sampled
    ).sum(axis=0)
    shares = placed.records / placed.records.sum()
    half = CONFIDENCE_95 * np.sqrt(variance)
    bounds: FloatArray = np.clip(np.stack([shares - half, shares + half], axis=1), 0, 1)
    return bounds


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
    by_key = theirs.key_partitions
    # A key that one of the two spreads at random has no order under either.
    is_apart = by_key != placed.key_partitions
    is_apart &= ~sample.keys.null_mask
    rows = hottest(sample.records_by_key, np.flatnonzero(is_apart))
    return Compared(
        partitioner=other.name,
        key_rows=rows,
        key_partitions=by_key.astype(np.int64),
        num_records=float(sample.records_by_key[rows].sum()),
        max_over_mean=theirs.max_over_mean,
    )


def recognised(sample: KeySample, num_partitions: int) -> list[tuple[str, float]]:
    """Return each client's share of keyed records that are where it puts them."""
    if sample.partitions is None:
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
