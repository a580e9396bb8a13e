"""Leaders and replicas of a topic on the fullest broker, in the most even placement."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from placement.array_types import BoolArray, CountArray


def ceil_div(numerator: CountArray, denominator: CountArray | int) -> CountArray:
    """Return the quotients, rounded up."""
    return -(-numerator // denominator)


def even_from(least: int, brokers: int, leading: int) -> int:
    """
    Return the smallest count with even leaders, from a smallest one on.

    Examples
    --------
    >>> even_from(1, 3, 12), even_from(4, 3, 12), even_from(7, 100, 12)
    (3, 6, 12)
    """
    count = max(least, min(brokers, leading))
    return count if count < brokers else -(-count // brokers) * brokers


def is_even(counts: CountArray, brokers: int, leading: int) -> BoolArray:
    """
    Return ``(N,)`` true where leaders can be even.

    Either all brokers lead the same number of partitions, or on a large cluster at
    least so many of them one each.
    """
    even: BoolArray = np.equal(counts % brokers, 0)
    even |= (counts >= leading) & (counts < brokers)
    return even


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
    A rack of ``b`` brokers takes at most ``s`` replicas of a partition (`rack_share`),
    and ``min(b m, s n)`` of the topic with at most ``m`` on a broker. That is enough
    where the sum reaches the number of replicas (a flow from partitions over racks to
    brokers). The sum is the least over the sets of full racks, so that ``m`` is the
    largest quotient over the sets of racks that fill first.

    Examples
    --------
    >>> most_replicas(np.array([6]), (2, 2, 2), 3), most_replicas(
    ...     np.array([6]), (1, 2, 3), 3
    ... )
    (array([3]), array([6]))
    """
    factor = min(factor, sum(racks))
    share, sizes = rack_share(racks, factor), Counter(racks)
    wanted, left, full = counts * factor, sum(racks), 0
    most = ceil_div(wanted, left)
    # Racks with the fewest replicas for each broker fill first, large ones therefore.
    for brokers in sorted(sizes, reverse=True)[:-1]:
        full += sizes[brokers] * min(share, brokers)
        left -= sizes[brokers] * brokers
        most = np.maximum(most, ceil_div(wanted - full * counts, left))
    return most


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
