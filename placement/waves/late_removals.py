"""
When replicas go that nothing replaces.

Where copies are made as well, with the last one of them. Else at once, for that frees
disks and costs nothing; but where the leader goes, after all copies, so many at a time,
since each of these is an election.
"""

import numpy as np
import numpy.typing as npt

from placement.model.cluster import BoolArray, ClusterState
from placement.model.copies import Copies, is_internal, sent_by

RowArray = npt.NDArray[np.int64]
MOST_LEADERS = 1000
"""Leaders that change in one wave, as many as Kafka's own election does in a pass."""


def when_dropped(state: ClusterState, copies: Copies, wave: RowArray) -> RowArray:
    """
    Return the waves with those of partitions that only lose replicas.

    Parameters
    ----------
    state
        The cluster.
    copies
        What changes.
    wave
        ``(E,)`` wave of each copy, and of what goes with the last one.
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
    # Internal topics last, and before them what is led by another then.
    for rows in (alone[~late & leads], alone[late]):
        turn = _turns(copies.partition_idx[rows]) // MOST_LEADERS
        found[rows] = began + turn
        began += int(turn.max(initial=-1)) + 1
    return found


def is_copied_too(copies: Copies) -> BoolArray:
    """Return ``(E,)`` true where something of the partition passes to a broker."""
    most = int(copies.partition_idx.max(initial=-1)) + 1
    of: BoolArray = np.zeros(most, dtype=np.bool_)
    of[copies.partition_idx[copies.passes]] = True
    return of[copies.partition_idx]


def _turns(partition: RowArray) -> RowArray:
    """Return how many other partitions come before that of each row."""
    if not len(partition):
        return partition
    return np.unique(partition, return_inverse=True)[1].astype(np.int64)
