"""
A reassignment: the difference between two placements of one cluster.

Both have the same partitions and the same number of replicas in each row; what differs
is the broker of a replica and the order of a partition's list.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from placement.cluster import (
    ABSENT,
    UNKNOWN,
    BoolArray,
    BytesArray,
    ClusterState,
    IndexArray,
    Replicas,
)
from placement.load import (
    Weights,
    bytes_by_place,
    first_live_replica,
    first_true,
)

RowArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reassignment:
    """
    What changes from one placement to another.

    Parameters
    ----------
    before
        The cluster as it is.
    broker_idx
        ``(R,)`` row of the broker in each place of the target lists; rows as in
        ``before.replicas``.
    origin
        ``(R,)`` the replica row of `before` that each place keeps or replaces.
    """

    before: ClusterState
    broker_idx: IndexArray
    origin: RowArray

    @property
    def is_copied(self) -> BoolArray:
        """``(R,)`` true for places of the target that need a new copy."""
        old = self.before.replicas.broker_idx[self.origin]
        return np.not_equal(self.broker_idx, old)

    @property
    def is_changed(self) -> BoolArray:
        """``(P,)`` true for partitions whose list differs, in members or in order."""
        differs = np.not_equal(self.broker_idx, self.before.replicas.broker_idx)
        first = first_true(differs, self.before.replicas.start)
        return np.not_equal(first, ABSENT)

    @property
    def is_led_anew(self) -> BoolArray:
        """``(P,)`` true for partitions whose first replica changes."""
        first = self.before.replicas.start[:-1]
        if not len(self.broker_idx):
            return np.zeros(0, dtype=np.bool_)
        return np.not_equal(
            self.broker_idx[first], self.before.replicas.broker_idx[first]
        )

    def copied_bytes(self, weights: Weights) -> int:
        """Return the bytes of all copies made."""
        of = self.before.replicas.partition_idx
        return int(weights.copy_bytes[of[self.is_copied]].sum())

    def after(self) -> ClusterState:
        """
        Return the cluster once every reassignment and preferred election is done.

        Changed partitions: replicas := target, in sync where live, nothing being
        added, removed or moved between log dirs. All partitions: the first live
        replica leads.
        """
        before = self.before
        state = replace(before, replicas=self._replicas_after())
        leader = state.replicas.broker_idx_at(_leading_replicas(state))
        return replace(
            state,
            partitions=replace(before.partitions, leader_idx=leader),
            log_dirs=replace(before.log_dirs, usable_bytes=usable_after(before, state)),
        )

    def _replicas_after(self) -> Replicas:
        replicas, brokers = self.before.replicas, self.before.brokers
        changed = self.is_changed[replicas.partition_idx]
        copied, origin = self.is_copied, self.origin
        is_live = brokers.is_live[self.broker_idx]
        kept_dir = np.where(copied, ABSENT, replicas.log_dir_idx[origin])
        future = np.where(changed, ABSENT, replicas.future_log_dir_idx[origin])
        own = np.where(copied, UNKNOWN, replicas.own_bytes[origin])
        return replace(
            replicas,
            broker_idx=self.broker_idx,
            is_in_sync=np.where(changed, is_live, replicas.is_in_sync[origin]),
            is_adding=replicas.is_adding & ~changed,
            is_removing=replicas.is_removing & ~changed,
            is_eligible=replicas.is_eligible & ~changed,
            is_last_known_eligible=replicas.is_last_known_eligible & ~changed,
            log_dir_idx=kept_dir.astype(np.int32),
            future_log_dir_idx=future.astype(np.int32),
            own_bytes=own,
        )


def _leading_replicas(state: ClusterState) -> RowArray:
    """Return the first live in-sync replica of each partition, else the first live."""
    replicas = state.replicas
    is_live = state.brokers.is_live[replicas.broker_idx]
    in_sync = first_true(is_live & replicas.is_in_sync, replicas.start)
    return np.where(in_sync == ABSENT, first_live_replica(state), in_sync)


def reassign(
    before: ClusterState, broker_of: IndexArray, leading: RowArray
) -> Reassignment:
    """
    Turn a new broker per replica, and who leads, into lists.

    A copy takes the place of the replica that it replaces; then the leading one goes
    to the front and the rest keep their order. Partitions in which no replica moves
    and the leading one is what it was keep their list as it is.

    Parameters
    ----------
    before
        The cluster as it is.
    broker_of
        ``(R,)`` new broker of each replica.
    leading
        ``(P,)`` replica row that leads in the end, or `ABSENT`.
    """
    replicas = before.replicas
    rows = np.arange(len(replicas), dtype=np.int64)
    of = replicas.partition_idx
    moved = np.not_equal(broker_of, replicas.broker_idx)
    has_moved = first_true(moved, replicas.start) != ABSENT
    touched = has_moved | (leading != first_live_replica(before))
    touched &= leading != ABSENT
    leads = np.equal(rows, leading[of]) & touched[of]
    # Stable sort by (partition, not the leader): the leader first, the rest in order.
    origin = np.lexsort((rows, ~leads, of)).astype(np.int64)
    return Reassignment(before=before, broker_idx=broker_of[origin], origin=origin)


def usable_after(before: ClusterState, after: ClusterState) -> BytesArray:
    """
    Return ``(D,)`` free bytes of the log dirs once replicas have come and gone.

    What left a log dir frees it; what lies in an unknown one fills the dirs of its
    broker, the emptiest first. So the load that no replica explains stays what it was.

    Parameters
    ----------
    before, after
        The same cluster before and after a reassignment.
    """
    usable = before.log_dirs.usable_bytes.copy()
    is_known = np.not_equal(usable, UNKNOWN) & np.not_equal(
        before.log_dirs.size_bytes, UNKNOWN
    )
    if not is_known.any():
        return usable
    located, elsewhere = bytes_by_place(after)
    located_before, elsewhere_before = bytes_by_place(before)
    usable -= np.where(is_known, located - located_before, 0)
    more = elsewhere - elsewhere_before
    for broker in np.nonzero(more)[0]:
        dirs = np.nonzero(is_known & np.equal(before.log_dirs.broker_idx, broker))[0]
        _fill(usable, before.log_dirs.size_bytes, dirs, int(more[broker]))
    most = np.maximum(before.log_dirs.size_bytes, before.log_dirs.usable_bytes)
    return np.where(is_known, np.clip(usable, 0, np.maximum(most, 0)), usable)


def _fill(usable: BytesArray, size: BytesArray, dirs: RowArray, more: int) -> None:
    """Take bytes from the free space of a broker's dirs, or give them back."""
    for log_dir in dirs[np.argsort(-usable[dirs], kind="stable")]:
        room = (
            int(usable[log_dir]) if more > 0 else int(size[log_dir] - usable[log_dir])
        )
        part = min(abs(more), max(room, 0))
        usable[log_dir] -= part if more > 0 else -part
        more -= part if more > 0 else -part
