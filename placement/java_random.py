"""The random numbers of Java, bit for bit, and the order of its hash maps."""

from collections.abc import Callable, Hashable, Iterable, MutableSequence
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)

_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 0xB
_MASK = (1 << 48) - 1
_SIGN = 1 << 31


class JavaRandom:
    """
    ``java.util.Random``: a linear congruential generator of 48 bits.

    Parameters
    ----------
    seed
        Any integer; the same seed gives the numbers that Java gives.

    Notes
    -----
    Its numbers decide where Kafka's own placers put replicas, and are good for that
    alone: nothing else here draws from it.

    References
    ----------
    .. [1] Java SE 17 API Specification, class ``java.util.Random``.

    Examples
    --------
    >>> random = JavaRandom(42)
    >>> [random.next_int(10) for _ in range(5)]
    [0, 3, 8, 4, 0]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _next(self, bits: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - bits)

    def next_int(self, bound: int) -> int:
        """
        Return an integer from 0 to `bound` − 1.

        Raises
        ------
        ValueError
            If `bound` is not positive.
        """
        if bound <= 0:
            msg = f"bound must be positive, got {bound}."
            raise ValueError(msg)
        drawn = self._next(31)
        if bound & (bound - 1) == 0:
            return (bound * drawn) >> 31
        # The last, incomplete run of `bound` numbers below 2^31 would favour small
        # remainders: draw again.
        while drawn - drawn % bound + bound - 1 >= _SIGN:
            drawn = self._next(31)
        return drawn % bound

    def shuffle(self, values: MutableSequence[Any]) -> None:
        """Shuffle in place, as ``Collections.shuffle`` does."""
        for size in range(len(values), 1, -1):
            chosen = self.next_int(size)
            values[size - 1], values[chosen] = values[chosen], values[size - 1]


def string_hash(text: str) -> int:
    """
    Return ``text.hashCode()``: over UTF-16 code units, in 32 bits with a sign.

    Examples
    --------
    >>> string_hash("polygenelubricants") == -2**31
    True
    """
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value & _SIGN else value


def partition_hash(topic: str, partition: int) -> int:
    """Return ``new TopicPartition(topic, partition).hashCode()``, in 32 bits."""
    value = (31 * (31 + partition) + string_hash(topic)) & 0xFFFFFFFF
    return value - (1 << 32) if value & _SIGN else value


def map_order(keys: Iterable[Key], hash_of: Callable[[Key], int]) -> list[Key]:
    """
    Return distinct keys in the order in which a ``HashMap`` of them iterates.

    Parameters
    ----------
    keys
        In the order in which they are put in.
    hash_of
        Their ``hashCode()``.

    Notes
    -----
    The map starts with 16 buckets and doubles them when it is more than three
    quarters full; a bucket keeps the order of arrival. Java turns a bucket of more
    than eight keys into a tree, which may put one of them first: not done here.
    """
    distinct = list(dict.fromkeys(keys))
    buckets = 16
    while len(distinct) > buckets * 3 // 4:
        buckets *= 2

    def bucket_of(key: Key) -> int:
        value = hash_of(key) & 0xFFFFFFFF
        return (value ^ (value >> 16)) & (buckets - 1)

    return sorted(distinct, key=bucket_of)


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
