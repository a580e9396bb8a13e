"""Bounds of the number of members a group needs, and the largest useful number."""

from bisect import bisect_left, insort
from dataclasses import dataclass

import numpy as np

from placement.array_types import OffsetArray, RateArray

_ROUNDING = 1e-9
"""Relative rounding error allowed in sums that fit exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Needed:
    """
    Bounds of the number of members that carry a load.

    Parameters
    ----------
    at_least
        Proven lower bound: no assignment to fewer members fits.
    enough
        Upper bound: an assignment to this many members was found.
    too_heavy
        Rows of partitions above the capacity of one member, which no number of members
        can carry. The other figures exclude these partitions.
    """

    at_least: int
    enough: int
    too_heavy: OffsetArray


def members_needed(load: RateArray, capacity: float) -> Needed:
    """
    Return bounds of the number of members of one capacity that carry all partitions.

    Every member may read every partition.

    Parameters
    ----------
    load
        ``(P,)`` load of each partition on its reader, in any unit. Not negative.
    capacity
        Load that one member can carry, in the same unit. Positive.

    Notes
    -----
    Lower bounds: the total load over the capacity, and the number of partitions above
    half the capacity, no two of which fit on one member. The assignment is found by
    best fit decreasing, which uses at most 11/9 of the minimum and 4 more members.

    References
    ----------
    Johnson, D. S. (1973), Near-optimal bin packing algorithms, MIT.
    """
    fits = load <= capacity * (1 + _ROUNDING)
    sizes = load[fits & (load > 0)]
    whole = int(np.ceil(sizes.sum() / capacity * (1 - _ROUNDING)))
    large = int(np.count_nonzero(sizes > capacity / 2 * (1 + _ROUNDING)))
    return Needed(
        at_least=max(whole, large),
        enough=_best_fit(np.sort(sizes)[::-1], capacity),
        too_heavy=np.nonzero(~fits)[0],
    )


def _best_fit(sizes: RateArray, capacity: float) -> int:
    """Return the number of bins that best fit uses, taking sizes in their order."""
    rooms: list[float] = []
    slack = capacity * _ROUNDING
    num_bins = 0
    for size in sizes.tolist():
        at = bisect_left(rooms, size - slack)
        if at < len(rooms):
            room = rooms.pop(at)
        else:
            room, num_bins = capacity, num_bins + 1
        insort(rooms, max(0.0, room - size))
    return num_bins


def members_worth_having(load: RateArray) -> int:
    """
    Return a number of members with loads no larger than the heaviest partition.

    More members do not reduce the largest load: a partition has one reader.
    """
    heaviest = float(load.max(initial=0.0))
    return members_needed(load, heaviest).enough if heaviest > 0 else 0
