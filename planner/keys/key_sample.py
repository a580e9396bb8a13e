"""Sample of keys as columns: distinct keys, and for each record its key and bytes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.partitioner import KEYLESS, Partitioner, PartitionsFor
from placement.array_types import BytesArray, FloatArray, IndexArray

ASSUMED_RECORD_BYTES = 1_000
"""Bytes of a record in batches where its size is unknown: a key alone has none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class KeySample:
    """
    ``R`` records with ``K`` distinct keys.

    Parameters
    ----------
    source
        File, or topic, that the sample is from.
    keys
        ``(K,)`` distinct serialized keys; no key is one of them, if a record has none.
    key_idx
        ``(R,)`` key of each record, in the order of the sample.
    sizes
        ``(R,)`` bytes of each record.
    has_sizes
        Whether the sample gives the bytes; otherwise they are those of the keys.
    partitions
        ``(R,)`` partition that each record is in; `None` if unknown.
    weights
        ``(R,)`` records of the topic that each record of the sample stands for; `None`
        if the sample is all there is.
    num_partitions
        Partitions of the topic; `None` if unknown.
    key_type
        Serializer of the keys.
    prefix_bytes
        Bytes of a schema's prefix of each key.
    notes
        Notes on the sample.
    """

    source: str
    keys: KeyColumn
    key_idx: IndexArray
    sizes: BytesArray
    has_sizes: bool = True
    partitions: IndexArray | None = None
    weights: FloatArray | None = None
    num_partitions: int | None = None
    key_type: str = "string"
    prefix_bytes: int = 0
    notes: tuple[str, ...] = ()

    @property
    def num_records(self) -> int:
        """Number of records read."""
        return len(self.key_idx)

    @property
    def num_keys(self) -> int:
        """Number of distinct keys, no key not counted."""
        return len(self.keys) - int(self.keys.null_mask.sum())

    @cached_property
    def records_by_key(self) -> FloatArray:
        """``(K,)`` records with each key, estimated if the sample is weighted."""
        return self._by_key(self.weights)

    @cached_property
    def bytes_by_key(self) -> FloatArray:
        """``(K,)`` bytes of the records with each key, estimated likewise."""
        return self._by_key(self._weighted_sizes())

    @property
    def batch_sizes(self) -> BytesArray:
        """``(R,)`` bytes of each record in a batch, assumed where they are unknown."""
        if self.has_sizes:
            return self.sizes
        return np.full(self.num_records, ASSUMED_RECORD_BYTES, np.int64)

    def _by_key(self, weights: FloatArray | None) -> FloatArray:
        counts = np.bincount(self.key_idx, weights, minlength=len(self.keys))
        return counts.astype(np.float64)

    def _weighted_sizes(self) -> FloatArray:
        sizes = self.sizes.astype(np.float64)
        return sizes if self.weights is None else sizes * self.weights


@dataclass(frozen=True, slots=True, eq=False)
class PlacedSample:
    """
    A sample on the partitions of a topic.

    Parameters
    ----------
    records, sizes
        ``(P,)`` records and bytes on each partition.
    key_partitions
        ``(K,)`` partition of each key; `KEYLESS` if the key does not decide.
    record_partitions
        ``(R,)`` partition of each record; `None` if keys decide all of them.
    """

    records: FloatArray
    sizes: FloatArray
    key_partitions: IndexArray
    record_partitions: IndexArray | None = None

    @property
    def max_over_mean(self) -> float:
        """Records on the busiest partition, over the mean of all."""
        return float(self.records.max() / self.records.mean())


def place_sample(
    sample: KeySample,
    partitioner: Partitioner,
    partitions_for: PartitionsFor,
    num_partitions: int,
    seed: int,
) -> PlacedSample:
    """
    Return a sample on partitions as a partitioner places it.

    Parameters
    ----------
    sample
        The sample.
    partitioner
        The partitioner, for records whose keys do not decide.
    partitions_for
        Its function for the sample's keys.
    num_partitions
        Partitions of the topic.
    seed
        Seed of the client's random numbers.
    """
    placed = partitions_for(num_partitions)
    is_keyless = placed == KEYLESS
    if not is_keyless.any():
        return PlacedSample(
            sums_by_partition(placed, sample.records_by_key, num_partitions),
            sums_by_partition(placed, sample.bytes_by_key, num_partitions),
            placed,
        )
    by_record = placed[sample.key_idx]
    rows = np.flatnonzero(by_record == KEYLESS)
    by_record[rows] = partitioner.place_keyless(
        sample.batch_sizes[rows], num_partitions, np.random.default_rng(seed)
    )
    sizes = sample.sizes if sample.weights is None else sample.sizes * sample.weights
    return PlacedSample(
        sums_by_partition(by_record, sample.weights, num_partitions),
        sums_by_partition(by_record, sizes, num_partitions),
        placed,
        by_record,
    )


def sums_by_partition(
    placed: IndexArray, weights: FloatArray | BytesArray | None, num_partitions: int
) -> FloatArray:
    """Return ``(P,)`` the sum of weights on each partition, or the number of rows."""
    return np.bincount(placed, weights, num_partitions).astype(np.float64)
