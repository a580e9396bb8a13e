"""
Waves of removals that no copy replaces.

Where the partition is also copied, the removal runs with its last copy. Other removals
run in the first wave, because they free disks at no cost. Removals of leaders run after
all copies, a limited number at a time, because each causes an election.
"""

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ClusterState
from placement.model.copies import Copies, is_internal, sent_by

MOST_LEADERS = 1000
"""Maximum leader changes in one wave, as in one pass of Kafka's own election."""


def when_dropped(state: ClusterState, copies: Copies, wave: RowArray) -> RowArray:
    """
    Return the waves, with waves for partitions that only lose replicas filled in.

    Parameters
    ----------
    state
        Cluster before the waves.
    copies
        Copies and removals.
    wave
        ``(E,)`` wave of each copy, and of each removal that goes with a last copy.
    """
    alone = np.nonzero(copies.is_drop & ~is_copied_too(copies))[0]
    if not len(alone):
        return wave
    found, num = wave.copy(), int(wave.max(initial=-1)) + 1
    late = is_internal(state)[copies.partition_idx[alone]]
    leads = np.equal(
        copies.drops_idx[alone], sent_by(state)[copies.partition_idx[alone]]
    )
    leads = np.isin(copies.partition_idx[alone], copies.partition_idx[alone[leads]])
    first = alone[~late & ~leads]
    found[first] = 0
    began = max(num, int(len(first) > 0))
    # First partitions that lose their leader, then internal topics.
    for rows in (alone[~late & leads], alone[late]):
        turn = _turns(copies.partition_idx[rows]) // MOST_LEADERS
        found[rows] = began + turn
        began += int(turn.max(initial=-1)) + 1
    return found


def is_copied_too(copies: Copies) -> BoolArray:
    """Return ``(E,)`` true where the partition has a copy between brokers."""
    most = int(copies.partition_idx.max(initial=-1)) + 1
    of: BoolArray = np.zeros(most, dtype=np.bool_)
    of[copies.partition_idx[copies.passes]] = True
    return of[copies.partition_idx]


def _turns(partition: RowArray) -> RowArray:
    """Return the rank of each row's partition among the distinct partitions."""
    if not len(partition):
        return partition
    return np.unique(partition, return_inverse=True)[1].astype(np.int64)
