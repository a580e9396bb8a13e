"""Leaders and replicas of a topic on the fullest broker, in the most even placement."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from placement.array_types import CountArray


def ceil_div(numerator: CountArray, denominator: CountArray | int) -> CountArray:
    """Return the quotients, rounded up."""
    return -(-numerator // denominator)


def most_leaders(counts: CountArray, brokers: int) -> CountArray:
    """
    Return ``(N,)`` partitions that the fullest broker leads at least.

    Parameters
    ----------
    counts
        ``(N,)`` number of partitions.
    brokers
        Number of brokers, at least 1.
    """
    return ceil_div(counts, brokers)


def most_replicas(counts: CountArray, racks: Sequence[int], factor: int) -> CountArray:
    """
    Return ``(N,)`` replicas that the fullest broker holds at least.

    Parameters
    ----------
    counts
        ``(N,)`` number of partitions.
    racks
        Number of brokers in each rack.
    factor
        Replication factor; a larger one than the number of brokers counts as that.

    Notes
    -----
    A rack takes at most `rack_share` replicas of a partition. With at most ``m``
    replicas per broker, racks hold ``sum(min(b m, share n))`` replicas, which is enough
    if it reaches the number of replicas (a flow from partitions over racks to brokers).
    The least such ``m`` is found by bisection.

    Examples
    --------
    >>> most_replicas(np.array([6]), (2, 2, 2), 3), most_replicas(
    ...     np.array([6]), (1, 2, 3), 3
    ... )
    (array([3]), array([6]))
    """
    factor = min(factor, sum(racks))
    share = rack_share(racks, factor)
    sizes = Counter(racks)

    def holds(most: CountArray) -> CountArray:
        room: CountArray = np.zeros_like(counts)
        for brokers, times in sizes.items():
            room += times * np.minimum(brokers * most, min(share, brokers) * counts)
        return room

    wanted = counts * factor
    low, high = ceil_div(wanted, sum(racks)), counts.copy()
    while (low < high).any():
        middle = (low + high) // 2
        is_enough = holds(middle) >= wanted
        high = np.where(is_enough, middle, high)
        low = np.where(is_enough, low, np.minimum(middle + 1, high))
    return high


def rack_share(racks: Sequence[int], factor: int) -> int:
    """
    Return the replicas of a partition in its fullest rack, spread as evenly as can be.

    Examples
    --------
    >>> rack_share((2, 2, 2), 3), rack_share((1, 5), 4)
    (1, 3)
    """
    share = 1
    while sum(min(brokers, share) for brokers in racks) < factor:
        share += 1
    return share
