"""Iteration orders of Java's collections that Kafka's results depend on."""

from collections.abc import Callable, Iterable, Sequence

from placement.kafka_java.java_maps import (
    BITS,
    SMALLEST_TABLE,
    bucket,
    compare_key,
    map_order,
    partition_hash,
    string_hash,
    table_size,
)


def unsigned_string_hash(text: str) -> int:
    """
    Return ``String.hashCode``, as an unsigned number of 32 bits.

    Examples
    --------
    >>> unsigned_string_hash("consumer-1")
    4128728090
    """
    return string_hash(text) & BITS


def unsigned_partition_hash(topic: str, partition: int) -> int:
    """Return ``TopicPartition.hashCode``, as an unsigned number of 32 bits."""
    return partition_hash(topic, partition) & BITS


def hash_map_order(keys: Sequence[str]) -> list[int]:
    """
    Return the positions of keys in the order of a ``HashMap``; see `map_order`.

    Parameters
    ----------
    keys
        Keys in the order of insertion, each once.

    Examples
    --------
    >>> hash_map_order(["c1", "c0", "b7"])
    [2, 1, 0]
    """
    return map_order(range(len(keys)), lambda at: string_hash(keys[at]))


class HashSet:
    """
    ``HashSet`` of numbers with given hash codes, to find its first entry.

    Parameters
    ----------
    hash_code
        Function that returns the hash code of a number.
    """

    def __init__(self, hash_code: Callable[[int], int]) -> None:
        self._hash_code = hash_code
        # Python's dictionaries keep the order of insertion, as buckets do.
        self._entries: dict[int, None] = {}
        self._size = SMALLEST_TABLE

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, entry: int) -> None:
        """Add an entry."""
        self._entries[entry] = None
        # A hash table grows, and never shrinks.
        self._size = max(self._size, table_size(len(self._entries)))

    def remove(self, entry: int) -> None:
        """Remove an entry."""
        del self._entries[entry]

    def first(self) -> int:
        """Return the first entry in the order of iteration."""
        return min(self._entries, key=self._bucket)

    def _bucket(self, entry: int) -> int:
        return bucket(self._hash_code(entry), self._size)


def ranks(texts: Iterable[str]) -> list[int]:
    """
    Return the position of each text in Java's sort order of all texts.

    Examples
    --------
    >>> ranks(["b", "a", "c"])
    [1, 0, 2]
    """
    keys = [compare_key(text) for text in texts]
    position = {key: rank for rank, key in enumerate(sorted(keys))}
    return [position[key] for key in keys]
