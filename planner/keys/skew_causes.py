"""Skew at a number of partitions, and its causes: hot keys and hashing."""

from dataclasses import dataclass

from assignment.partitioners.balls_into_bins import (
    expected_max_over_mean,
    expected_with_hot_keys,
)
from placement.array_types import FloatArray


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
    by_hot_keys
        Part of the excess of `max_over_mean` over 1 that hot keys cause.
    """

    num_partitions: int
    max_over_mean: float
    expected: float | None
    least: float
    by_hot_keys: float

    @property
    def by_hashing(self) -> float:
        """Rest of the excess, which equally hot keys have too."""
        return max(self.max_over_mean - 1 - self.by_hot_keys, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingKeys:
    """
    Keys that decide the partition of their records.

    Parameters
    ----------
    count
        Number of them.
    records
        Records with one of them.
    hottest
        Records of the hottest one.
    squares
        Sum of the squares of the records of each.
    """

    count: int
    records: float
    hottest: float
    squares: float

    @classmethod
    def of(cls, records: FloatArray) -> "DecidingKeys":
        """Return the figures of ``(K,)`` records of each key."""
        return cls(
            count=len(records),
            records=float(records.sum()),
            hottest=float(records.max(initial=0.0)),
            squares=float((records * records).sum()),
        )

    def merged(self, other: "DecidingKeys") -> "DecidingKeys":
        """Return the figures with those of other keys."""
        return DecidingKeys(
            count=self.count + other.count,
            records=self.records + other.records,
            hottest=max(self.hottest, other.hottest),
            squares=self.squares + other.squares,
        )

    def expected_skews(self, num_partitions: int) -> tuple[float, float]:
        """Return the skew expected of equally hot keys, and of keys as hot as these."""
        equal = expected_max_over_mean(self.count, num_partitions)
        # Numbers that are not whole come from estimates alone.
        effective = min(max(self.records**2 / self.squares, 1.0), float(self.count))
        share = min(self.hottest / self.records, 1.0)
        return equal, expected_with_hot_keys(effective, share, num_partitions)


def sweep_row(records: FloatArray, keys: DecidingKeys) -> SweepRow:
    """
    Return the skew of records on partitions, and what it is due to.

    Parameters
    ----------
    records
        ``(P,)`` records on each partition.
    keys
        The keys that decide. The rest of the records is taken as spread evenly.

    Notes
    -----
    Hot keys cause what keys as hot as these are expected to have in excess of equally
    hot ones, and at least what the hottest key enforces, since all of its records are
    on one partition.
    """
    count, mean = len(records), float(records.mean())
    skew, least = float(records.max()) / mean, max(1.0, keys.hottest / mean)
    expected, by_hot_keys = None, least - 1
    if keys.count:
        keyed = keys.records / float(records.sum())
        equal, uneven = keys.expected_skews(count)
        expected = 1 + keyed * (equal - 1)
        by_hot_keys = max(keyed * (uneven - equal), least - 1)
    return SweepRow(
        num_partitions=count,
        max_over_mean=skew,
        expected=expected,
        least=least,
        by_hot_keys=min(by_hot_keys, max(skew - 1, 0.0)),
    )
