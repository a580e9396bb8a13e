"""
Partitioners of Kafka's Java producer, for keys bit for bit.

The default hashes the serialized key by murmur2, clears the sign bit and takes the
remainder of the number of partitions. Keys count in all versions alike; records without
keys do not.
"""

from dataclasses import dataclass

import numpy as np

from assignment.partitioners.built_in import (
    BATCH_BYTES,
    SlowBrokers,
    place_adaptively,
    place_in_batches,
)
from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.key_hashes import SIGN_CLEARED, murmur2
from assignment.partitioners.keyless import place_in_sticky_batches, place_in_turn
from assignment.partitioners.partitioner import PartitionsFor, all_keyless, by_hash
from placement.array_types import BytesArray, IndexArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JavaDefault:
    """
    Default of Kafka's producer: by key, else in batches.

    Parameters
    ----------
    name
        Name on the command line.
    ignores_keys
        ``partitioner.ignore.keys``: records with keys are placed in batches too.
    batch_bytes
        ``batch.size``.
    is_sticky
        Batches as in 2.4 to 3.2 (KIP-480); otherwise as since 3.3 (KIP-794).
    slow
        Brokers that fall behind or are away; `None` if none is. Ignored if `is_sticky`.
    is_adaptive
        ``partitioner.adaptive.partitioning.enable``: brokers that fall behind get
        fewer records.
    """

    name: str = "default"
    ignores_keys: bool = False
    batch_bytes: int = BATCH_BYTES
    is_sticky: bool = False
    slow: SlowBrokers | None = None
    is_adaptive: bool = True

    def partitions_for(self, keys: KeyColumn) -> PartitionsFor:
        """Return the function that places keys by murmur2."""
        if self.ignores_keys:
            return all_keyless(keys)
        return by_hash(murmur2(keys) & SIGN_CLEARED, keys.is_null)

    def place_keyless(
        self, sizes: BytesArray, num_partitions: int, rng: np.random.Generator
    ) -> IndexArray:
        """Place records without keys in batches."""
        size = self.batch_bytes
        if self.is_sticky:
            return place_in_sticky_batches(sizes, num_partitions, rng, batch_bytes=size)
        if self.slow is None:
            return place_in_batches(sizes, num_partitions, rng, batch_bytes=size)
        if len(self.slow.drained) != num_partitions:
            msg = (
                f"slow.drained has {len(self.slow.drained)} entries for "
                f"{num_partitions} partitions."
            )
            raise ValueError(msg)
        return place_adaptively(
            sizes, self.slow, rng, batch_bytes=size, is_adaptive=self.is_adaptive
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRobinPartitioner:
    """
    ``RoundRobinPartitioner``: records in turn, keys ignored.

    Parameters
    ----------
    name
        Name on the command line.
    skips
        The fault of 2.4 and later that KAFKA-9965 describes: a record that begins a
        batch is placed twice, and the turn of the first time is lost. If every record
        begins a batch, an even number of partitions receives half of its share.
    batch_bytes
        ``batch.size``, which decides which records begin a batch.
    """

    name: str = "roundrobin"
    skips: bool = False
    batch_bytes: int = BATCH_BYTES

    def partitions_for(self, keys: KeyColumn) -> PartitionsFor:
        """Return a function that leaves all records to `place_keyless`."""
        return all_keyless(keys)

    def place_keyless(
        self, sizes: BytesArray, num_partitions: int, rng: np.random.Generator
    ) -> IndexArray:
        """Deal records to the partitions in turn."""
        del rng
        if not self.skips:
            return place_in_turn(sizes, num_partitions)
        return _place_with_skips(sizes, num_partitions, self.batch_bytes)


def _place_with_skips(
    sizes: BytesArray, num_partitions: int, batch_bytes: int
) -> IndexArray:
    """
    Deal records in turn, where a record that begins a batch takes two turns.

    Each partition has a batch of its own, which ends only when it is full: the producer
    sends faster than its batches leave.
    """
    filled = [batch_bytes] * num_partitions
    placed = np.empty(len(sizes), np.int32)
    turn = 0
    for row, size in enumerate(sizes.tolist()):
        partition = turn % num_partitions
        turn += 1
        if filled[partition] + size > batch_bytes:
            partition = turn % num_partitions
            turn += 1
            if filled[partition] + size > batch_bytes:
                filled[partition] = 0
        filled[partition] += size
        placed[row] = partition
    return placed
