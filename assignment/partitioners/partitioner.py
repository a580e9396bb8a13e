"""Interface of a partitioner, and the order in which a producer decides."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from assignment.partitioners.key_column import KeyColumn
from placement.array_types import BoolArray, BytesArray, IndexArray, IntArray

KEYLESS = -1
"""Partition of a record whose key does not decide, in the columns of partitioners."""

PartitionsFor = Callable[[int], IndexArray]
"""Function from a number of partitions to ``(K,)`` the partition of each key."""


class Partitioner(Protocol):
    """Interface of a partitioner."""

    @property
    def name(self) -> str:
        """Name of the partitioner on the command line."""
        ...

    def partitions_for(self, keys: KeyColumn) -> PartitionsFor:
        """
        Return the function that places keys on any number of partitions.

        The hashes are computed once. The partition is `KEYLESS` where the key does not
        decide: the record then goes where `place_keyless` sends it.
        """
        ...

    def place_keyless(
        self, sizes: BytesArray, num_partitions: int, rng: np.random.Generator
    ) -> IndexArray:
        """
        Place records whose keys do not decide, in the order in which they are sent.

        Parameters
        ----------
        sizes
            ``(R,)`` bytes of each record.
        num_partitions
            Partitions of the topic, all of them available. At least 1.
        rng
            Random numbers of the client.
        """
        ...


def place_records(
    partitioner: Partitioner,
    keys: KeyColumn,
    num_partitions: int,
    *,
    sizes: BytesArray | None = None,
    explicit: IndexArray | None = None,
    seed: int = 1,
) -> IndexArray:
    """
    Return the partition of each record, as the producer decides it.

    An explicit partition comes first, then the key, then the rule for records without
    keys, as in Kafka's ``DefaultPartitioner`` [1]_.

    Parameters
    ----------
    partitioner
        Partitioner of the client.
    keys
        ``(R,)`` serialized keys, in the order in which records are sent.
    num_partitions
        Partitions of the topic. At least 1.
    sizes
        ``(R,)`` bytes of each record; by default those of its key.
    explicit
        ``(R,)`` partition that the application names; `KEYLESS` where it names none.
    seed
        Seed of the client's random numbers.

    Raises
    ------
    ValueError
        If there is no partition, or an explicit one is not of the topic.

    References
    ----------
    .. [1] KIP-480: Sticky Partitioner. Apache Kafka.

    Examples
    --------
    >>> from assignment.partitioners.registry import find_partitioner
    >>> default = find_partitioner("default")
    >>> keys = KeyColumn.of([b"a", b"b", b"a"])
    >>> place_records(default, keys, 6).tolist()
    [4, 2, 4]
    >>> named = np.array([-1, -1, 5], np.int32)
    >>> place_records(default, keys, 6, explicit=named).tolist()
    [4, 2, 5]
    """
    if num_partitions < 1:
        msg = f"num_partitions must be at least 1, got {num_partitions}."
        raise ValueError(msg)
    placed = partitioner.partitions_for(keys)(num_partitions).copy()
    if explicit is not None:
        _validate_explicit(explicit, num_partitions)
        is_keyless = (placed == KEYLESS) & (explicit == KEYLESS)
        placed = np.where(explicit == KEYLESS, placed, explicit).astype(np.int32)
    else:
        is_keyless = placed == KEYLESS
    if is_keyless.any():
        bytes_of = keys.lengths if sizes is None else sizes
        rng = np.random.default_rng(seed)
        placed[is_keyless] = partitioner.place_keyless(
            bytes_of[is_keyless], num_partitions, rng
        )
    return placed


def _validate_explicit(explicit: IndexArray, num_partitions: int) -> None:
    is_wrong = (explicit < KEYLESS) | (explicit >= num_partitions)
    if is_wrong.any():
        msg = (
            f"explicit partition {explicit[is_wrong][0]} is not of the topic, which "
            f"has {num_partitions}."
        )
        raise ValueError(msg)


def all_keyless(keys: KeyColumn) -> PartitionsFor:
    """Return the function of a partitioner that ignores keys."""
    return lambda _: np.full(len(keys), KEYLESS, np.int32)


def by_hash(hashes: IntArray, is_keyless: BoolArray | None) -> PartitionsFor:
    """
    Return the function that places keys by hash modulo the number of partitions.

    Parameters
    ----------
    hashes
        ``(K,)`` non-negative hashes.
    is_keyless
        ``(K,)`` records whose key does not decide; `None` if there are none.
    """

    def partitions(num_partitions: int) -> IndexArray:
        placed = (hashes % num_partitions).astype(np.int32)
        if is_keyless is not None:
            placed[is_keyless] = KEYLESS
        return placed

    return partitions
