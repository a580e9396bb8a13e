"""
Defaults of Sarama (Go) and kafka-python.

Sarama hashes by FNV-1a and takes the absolute value of the signed remainder; its
``NewReferenceHashPartitioner`` clears the sign bit instead, as Java does, so that the
two place about half of all keys differently. kafka-python hashes as Java does. Both
draw a partition for each record without key.
"""

from collections.abc import Sequence

from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.key_hashes import SIGN_CLEARED, fnv1a
from assignment.partitioners.librdkafka import (
    HashPartitioner,
    fnv1a_hashes,
    murmur2_hashes,
)
from placement.array_types import IntArray


def fnv1a_reference_hashes(keys: KeyColumn) -> IntArray:
    """Return FNV-1a of each key with its sign bit cleared."""
    return fnv1a(keys) & SIGN_CLEARED


OTHER_CLIENTS: Sequence[HashPartitioner] = (
    HashPartitioner("sarama", fnv1a_hashes),
    HashPartitioner("sarama-reference", fnv1a_reference_hashes),
    HashPartitioner("kafka-python", murmur2_hashes),
)
"""Partitioners of other clients, by default at random without key."""
