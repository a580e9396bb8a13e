"""The copies of a reassignment: where from, where to, and what each replaces."""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from placement.change import Reassignment
from placement.cluster import ABSENT
from placement.load import Weights

RowArray = npt.NDArray[np.int64]
INTERNAL = frozenset(
    {
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__remote_log_metadata",
        "__cluster_metadata",
    }
)
"""Topics of Kafka itself: they move last."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Copies:
    """
    One row per copy, by partition.

    Of one partition those that replace what is dead come first, and the one that
    replaces the leader last.

    Parameters
    ----------
    partition_idx
        ``(E,)`` ascending.
    source_idx
        ``(E,)`` row of the broker that leads, from which Kafka copies; `ABSENT` where
        nobody leads.
    target_idx
        ``(E,)`` row of the broker that gets the copy.
    drops_idx
        ``(E,)`` row of the broker whose replica is deleted when the copy is done.
    size_bytes
        ``(E,)`` bytes of the copy.
    freed_bytes
        ``(E,)`` bytes that the deleted replica took.
    target_dir, drops_dir
        ``(E,)`` row of the log dir the copy goes to, and of the one that is freed;
        `ABSENT` where not known.
    """

    partition_idx: RowArray
    source_idx: RowArray
    target_idx: RowArray
    drops_idx: RowArray
    size_bytes: RowArray
    freed_bytes: RowArray
    target_dir: RowArray
    drops_dir: RowArray

    def __len__(self) -> int:
        return len(self.partition_idx)

    def of(self, rows: RowArray) -> Self:
        """Return some of the copies."""
        columns = {c.name: getattr(self, c.name)[rows] for c in fields(self)}
        return replace(self, **columns)

    @property
    def previous(self) -> RowArray:
        """``(E,)`` the copy of the same partition before it, -1 for the first."""
        same = np.zeros(len(self), dtype=np.bool_)
        same[1:] = np.equal(self.partition_idx[1:], self.partition_idx[:-1])
        return np.where(same, np.arange(len(self)) - 1, -1)


def copies_of(
    reassignment: Reassignment,
    weights: Weights,
    target_dir: npt.NDArray[np.int32] | None = None,
) -> Copies:
    """
    Return the copies that a reassignment makes.

    Parameters
    ----------
    reassignment
        What changes.
    weights
        What the replicas weigh.
    target_dir
        ``(R,)`` row of the log dir in each place of the target lists, `ABSENT` for
        any; `None`: any everywhere.
    """
    before, replicas = reassignment.before, reassignment.before.replicas
    places = np.nonzero(reassignment.is_copied)[0]
    of = replicas.partition_idx[places].astype(np.int64)
    drops = reassignment.origin[places]
    leader = before.partitions.leader_idx[of]
    drops_leader = np.equal(replicas.broker_idx[drops], leader)
    drops_live = before.brokers.is_live[replicas.broker_idx[drops]]
    order = np.lexsort((places, drops_live, drops_leader, of))
    places, of, drops = places[order], of[order], drops[order]
    size = weights.copy_bytes[of]
    own = weights.own[drops] if len(weights.own) else 0
    dirs = np.full(len(places), ABSENT, dtype=np.int64)
    return Copies(
        partition_idx=of,
        source_idx=before.partitions.leader_idx[of].astype(np.int64),
        target_idx=reassignment.broker_idx[places].astype(np.int64),
        drops_idx=replicas.broker_idx[drops].astype(np.int64),
        size_bytes=size,
        freed_bytes=size + own,
        target_dir=dirs if target_dir is None else target_dir[places].astype(np.int64),
        drops_dir=replicas.log_dir_idx[drops].astype(np.int64),
    )
