"""Orders that Java's collections iterate in, where Kafka's results depend on them."""

from collections.abc import Callable, Iterable, Sequence

from placement.kafka_java import java_maps
from placement.kafka_java.java_maps import (
    SMALLEST_TABLE,
    bucket,
    compare_key,
    table_size,
)


def string_hash(text: str) -> int:
    """
    Return ``String.hashCode``, as an unsigned number of 32 bits.

    Examples
    --------
    >>> string_hash("consumer-1")
    4128728090
    """
    return java_maps.string_hash(text) & java_maps.BITS


def topic_partition_hash(topic: str, partition: int) -> int:
    """Return ``TopicPartition.hashCode``, as an unsigned number of 32 bits."""
    return java_maps.partition_hash(topic, partition) & java_maps.BITS


def hash_map_order(keys: Sequence[str]) -> list[int]:
    """
    Return the positions of keys in the order in which a ``HashMap`` walks them.

    Parameters
    ----------
    keys
        In the order in which they were put in, each once.

    Notes
    -----
    Buckets of more than eight entries, which Java keeps as trees, are taken as lists:
    only keys made to collide come to that.

    Examples
    --------
    >>> hash_map_order(["c1", "c0", "b7"])
    [2, 1, 0]
    """
    size = table_size(len(keys))
    buckets = [bucket(string_hash(key), size) for key in keys]
    return sorted(range(len(keys)), key=buckets.__getitem__)


class HashSet:
    """
    A ``HashSet`` of numbers with given hash codes, for its first entry.

    Parameters
    ----------
    hash_code
        Gives the hash code of each number that may be put in.
    """

    def __init__(self, hash_code: Callable[[int], int]) -> None:
        self._hash_code = hash_code
        # Python's dictionaries keep the order of insertion, as buckets do.
        self._entries: dict[int, None] = {}
        self._size = SMALLEST_TABLE

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, entry: int) -> None:
        """Put an entry in."""
        self._entries[entry] = None
        # A table grows, and never shrinks.
        self._size = max(self._size, table_size(len(self._entries)))

    def remove(self, entry: int) -> None:
        """Take an entry out."""
        del self._entries[entry]

    def first(self) -> int:
        """Return the entry that an iterator gives first."""
        return min(self._entries, key=self._bucket)

    def _bucket(self, entry: int) -> int:
        return bucket(self._hash_code(entry), self._size)


def ranks(texts: Iterable[str]) -> list[int]:
    """
    Return the position of each text among all, in Java's order.

    Examples
    --------
    >>> ranks(["b", "a", "c"])
    [1, 0, 2]
    """
    keys = [compare_key(text) for text in texts]
    position = {key: rank for rank, key in enumerate(sorted(keys))}
    return [position[key] for key in keys]
