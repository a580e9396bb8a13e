"""
Hash codes of Java, and the iteration order of its hash maps.

A ``HashMap`` iterates over its buckets. An entry of hash code ``h`` is in bucket
``(h ^ h >>> 16) & (n - 1)`` of ``n``, a power of two that doubles once more than three
quarters are used. Entries of a bucket keep the order of insertion.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

SMALLEST_TABLE = 16
BITS = 0xFFFFFFFF
_SIGN = 1 << 31


def compare_key(text: str) -> bytes:
    """Return a key that sorts texts as ``String.compareTo`` does: by UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


def string_hash(text: str) -> int:
    """
    Return ``text.hashCode()``: over UTF-16 code units, in 32 bits with a sign.

    Examples
    --------
    >>> string_hash("polygenelubricants") == -2**31
    True
    """
    units = compare_key(text)
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & BITS
    return value - (1 << 32) if value & _SIGN else value


def partition_hash(topic: str, partition: int) -> int:
    """Return ``new TopicPartition(topic, partition).hashCode()``, in 32 bits."""
    value = (31 * (31 + partition) + string_hash(topic)) & BITS
    return value - (1 << 32) if value & _SIGN else value


def table_size(num_entries: int) -> int:
    """Return the number of buckets of a map that grew entry by entry."""
    size = SMALLEST_TABLE
    while num_entries * 4 > size * 3:
        size *= 2
    return size


def bucket(code: int, size: int) -> int:
    """Return the bucket of an unsigned hash code in a table of `size` buckets."""
    return (code ^ code >> 16) & (size - 1)


def map_order(keys: Iterable[Key], hash_of: Callable[[Key], int]) -> list[Key]:
    """
    Return distinct keys in the order in which a ``HashMap`` of them iterates.

    Parameters
    ----------
    keys
        Keys in the order of insertion.
    hash_of
        Function that returns the ``hashCode()`` of a key.

    Notes
    -----
    The map starts with 16 buckets and doubles them when it is more than three quarters
    full; a bucket keeps the order of insertion. Java turns a bucket of more than eight
    keys into a tree, which may put one of them first: this is not modelled.
    """
    distinct = list(dict.fromkeys(keys))
    size = table_size(len(distinct))
    return sorted(distinct, key=lambda key: bucket(hash_of(key) & BITS, size))


def hash_order(names: Iterable[str | None]) -> list[str | None]:
    """
    Return distinct strings in the order of a ``HashMap``; see `map_order`.

    `None` stands for an empty ``Optional``, whose hash is 0.

    Examples
    --------
    >>> hash_order(["zeta", "alpha", "mu"])
    ['zeta', 'alpha', 'mu']
    """
    return map_order(names, lambda name: 0 if name is None else string_hash(name))
