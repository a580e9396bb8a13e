"""
Partitioners of librdkafka, the base of the clients for C, Python, Go, .NET and others.

A null key counts as an empty one in ``consistent``, ``murmur2`` and ``fnv1a``, so that
all records without keys share one partition. ``consistent_random``, its default, draws
a partition for empty and for null keys, ``murmur2_random`` and ``fnv1a_random`` for
null keys alone. Newer clients keep a drawn partition for
``sticky.partitioning.linger.ms``; here it is drawn for each record, and shares are the
same in the long run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.key_hashes import (
    SIGN_CLEARED,
    HashFunction,
    crc32,
    fnv1a,
    murmur2,
)
from assignment.partitioners.keyless import place_at_random
from assignment.partitioners.partitioner import PartitionsFor, all_keyless, by_hash
from placement.array_types import BoolArray, BytesArray, IndexArray, IntArray


class RandomFor(Enum):
    """Records whose partition is drawn."""

    NONE = "none"
    NULL = "null"
    NULL_OR_EMPTY = "null or empty"


def murmur2_hashes(keys: KeyColumn) -> IntArray:
    """Return murmur2 of each key with its sign bit cleared, as in Java."""
    return murmur2(keys) & SIGN_CLEARED


def fnv1a_hashes(keys: KeyColumn) -> IntArray:
    """
    Return the absolute value of FNV-1a of each key, read as signed.

    Sarama's ``NewHashPartitioner`` takes the absolute value of the remainder, which is
    the remainder of the absolute value.
    """
    hashes = fnv1a(keys)
    return np.where(hashes > SIGN_CLEARED, (1 << 32) - hashes, hashes)


@dataclass(frozen=True, slots=True)
class HashPartitioner:
    """
    Partitioner by the remainder of a hash of the key, and at random without key.

    Parameters
    ----------
    name
        Name on the command line.
    hashes
        Hash function, not negative.
    random_for
        Records whose partition is drawn.
    """

    name: str
    hashes: HashFunction
    random_for: RandomFor = RandomFor.NULL

    def partitions_for(self, keys: KeyColumn) -> PartitionsFor:
        """Return the function that places keys by their hash."""
        return by_hash(self.hashes(keys), self._keyless(keys))

    def _keyless(self, keys: KeyColumn) -> BoolArray | None:
        match self.random_for:
            case RandomFor.NONE:
                return None
            case RandomFor.NULL:
                return keys.is_null
            case RandomFor.NULL_OR_EMPTY:
                is_empty: BoolArray = np.equal(keys.lengths, 0)
                return is_empty

    def place_keyless(
        self, sizes: BytesArray, num_partitions: int, rng: np.random.Generator
    ) -> IndexArray:
        """Draw the partition of each record."""
        return place_at_random(sizes, num_partitions, rng)


@dataclass(frozen=True, slots=True)
class RandomPartitioner:
    """Partitioner that draws the partition of each record and ignores keys."""

    name: str = "random"

    def partitions_for(self, keys: KeyColumn) -> PartitionsFor:
        """Return a function that leaves all records to `place_keyless`."""
        return all_keyless(keys)

    def place_keyless(
        self, sizes: BytesArray, num_partitions: int, rng: np.random.Generator
    ) -> IndexArray:
        """Draw the partition of each record."""
        return place_at_random(sizes, num_partitions, rng)


LIBRDKAFKA: Sequence[HashPartitioner | RandomPartitioner] = (
    HashPartitioner("consistent", crc32, RandomFor.NONE),
    HashPartitioner("consistent-random", crc32, RandomFor.NULL_OR_EMPTY),
    HashPartitioner("murmur2", murmur2_hashes, RandomFor.NONE),
    HashPartitioner("murmur2-random", murmur2_hashes, RandomFor.NULL),
    HashPartitioner("fnv1a", fnv1a_hashes, RandomFor.NONE),
    HashPartitioner("fnv1a-random", fnv1a_hashes, RandomFor.NULL),
    RandomPartitioner(),
)
"""Values of ``partitioner`` of librdkafka."""
