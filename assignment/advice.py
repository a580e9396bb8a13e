"""How many members a group needs, and how many are worth having."""

from bisect import bisect_left, insort
from dataclasses import dataclass

import numpy as np

from assignment.group import OffsetArray, RateArray

_ROUNDING = 1e-9
"""Sums of what fits exactly may be so much above it, as a fraction."""


@dataclass(frozen=True, slots=True, eq=False)
class Needed:
    """
    How many members carry a load.

    Parameters
    ----------
    at_least
        Fewer cannot, however the partitions are assigned: proven.
    enough
        So many can: an assignment was found.
    too_heavy
        Rows of partitions that are too much for one member alone: no number of members
        carries these. They are left out of the other figures.
    """

    at_least: int
    enough: int
    too_heavy: OffsetArray


def members_needed(load: RateArray, capacity: float) -> Needed:
    """
    Return how many members of one capacity carry all partitions.

    Any member is taken to be able to read any partition.

    Parameters
    ----------
    load
        ``(P,)`` what each partition costs its reader, in any unit. Not negative.
    capacity
        What a member can carry, in the same unit. Positive.

    Notes
    -----
    Bounds: the whole load over the capacity, and the partitions of more than half the
    capacity, no two of which fit together. The assignment is found by best fit,
    heaviest first, which takes at most 11/9 of the least number and 4 more.

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
    """Return how many bins best fit takes."""
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
    Return how many members carry no more than the heaviest partition each.

    More cannot relieve the busiest of them: a partition has one reader.
    """
    heaviest = float(load.max(initial=0.0))
    return members_needed(load, heaviest).enough if heaviest > 0 else 0
