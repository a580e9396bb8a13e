"""The random numbers of Java, bit for bit."""

from collections.abc import MutableSequence
from typing import Any

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
        Any integer; the same seed gives the same numbers as in Java.

    Notes
    -----
    These numbers determine the placement by Kafka's own placers, and serve only this
    purpose: nothing else in the package uses them.

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
