"""Keys that change partition when a topic grows, and counts that serve better."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assignment.partitioners import Partitioner
from assignment.partitioners.balls_into_bins import moved_share, smallest_multiple
from assignment.partitioners.partitioner import KEYLESS
from placement.array_types import IndexArray, RowArray
from planner.keys.key_sample import KeySample, PlacedSample, place_sample
from planner.keys.key_skew import hottest

MOST_MULTIPLES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthOptions:
    """
    Options of a growth.

    Parameters
    ----------
    old, new
        Partitions before and after; `new` is larger.
    partitioner
        Partitioner of the topic's producers.
    num_examples
        Moved keys listed.
    seed
        Seed of records whose keys do not decide.
    """

    old: int
    new: int
    partitioner: Partitioner
    num_examples: int = 10
    seed: int = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GrowthRow:
    """
    Figures of one number of partitions.

    Parameters
    ----------
    num_partitions
        Partitions after the growth.
    share
        Share of the sample's keys that change partition; `None` without keys.
    expected
        The same for keys at random: 1 − old/new for multiples.
    max_over_mean
        Skew after the growth.
    """

    num_partitions: int
    share: float | None
    expected: float
    max_over_mean: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeyGrowth:
    """
    Result of a growth.

    Parameters
    ----------
    sample, options
        The sample, and what was asked.
    before, after
        The sample on the partitions before and after.
    num_keys
        Keys that decide the partition of their records.
    moved_rows
        Keys that change partition, the hottest first.
    rows
        Figures of the count asked for, and of multiples of the count before.
    """

    sample: KeySample
    options: GrowthOptions
    before: PlacedSample
    after: PlacedSample
    num_keys: int
    moved_rows: RowArray
    rows: Sequence[GrowthRow]

    @property
    def smallest_multiple(self) -> int:
        """Smallest multiple of the count before that is not under the one asked for."""
        return smallest_multiple(self.options.old, self.options.new)

    @property
    def records_moved(self) -> float:
        """Records with keys that change partition."""
        return float(self.sample.records_by_key[self.moved_rows].sum())

    @property
    def records_share(self) -> float:
        """Share of the records with keys that change partition."""
        return self.records_moved / float(self.sample.records_by_key.sum())


def find_growth(sample: KeySample, options: GrowthOptions) -> KeyGrowth:
    """
    Return the keys that change partition when a topic grows.

    Raises
    ------
    UserPartitionerError
        If a partitioner of the user fails.
    """
    partitions_for = options.partitioner.partitions_for(sample.keys)

    def at(count: int) -> PlacedSample:
        return place_sample(
            sample, options.partitioner, partitions_for, count, options.seed
        )

    before, after = at(options.old), at(options.new)
    decides = before.key_partitions != KEYLESS
    moved = _moved(before.key_partitions, after.key_partitions)
    first = smallest_multiple(options.old, options.new)
    multiples = range(first, first + MOST_MULTIPLES * options.old, options.old)
    counts = list(dict.fromkeys([options.new, *multiples]))
    return KeyGrowth(
        sample=sample,
        options=options,
        before=before,
        after=after,
        num_keys=int(decides.sum()),
        moved_rows=hottest(sample.records_by_key, moved),
        rows=[_row(before, at(count), options.old) for count in counts],
    )


def _moved(before: IndexArray, after: IndexArray) -> RowArray:
    return np.flatnonzero((before != after) & (before != KEYLESS))


def _row(before: PlacedSample, after: PlacedSample, old: int) -> GrowthRow:
    decided = int((before.key_partitions != KEYLESS).sum())
    moved = len(_moved(before.key_partitions, after.key_partitions))
    new = len(after.records)
    return GrowthRow(
        num_partitions=new,
        share=moved / decided if decided else None,
        expected=moved_share(old, new),
        max_over_mean=after.max_over_mean,
    )
