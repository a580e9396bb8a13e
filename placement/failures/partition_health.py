"""Health of partitions, and bytes that an unclean election would lose."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, BytesArray, IndexArray
from placement.failures.controller_decision import Election, is_usable
from placement.failures.controller_events import elect
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, sum_rows


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Health:
    """
    State of every partition; all columns ``(P,)``.

    Parameters
    ----------
    is_offline
        True without a leader: no writes and no reads.
    is_gone
        True without a replica on a live broker and log dir: no election is possible,
        not even an unclean one.
    is_under_min_isr
        True with fewer live in-sync replicas than `ClusterState.min_isr`: producers
        with acks=all are refused. Offline partitions can be among these.
    is_at_min_isr
        True with exactly `ClusterState.min_isr` live in-sync replicas and a leader: the
        next loss refuses producers.
    is_under_replicated
        True with fewer live in-sync replicas than the replication factor.
    """

    is_offline: BoolArray
    is_gone: BoolArray
    is_under_min_isr: BoolArray
    is_at_min_isr: BoolArray
    is_under_replicated: BoolArray

    def counts(self) -> dict[str, int]:
        """Return the number of partitions in each state."""
        return {
            "offline": int(self.is_offline.sum()),
            "gone": int(self.is_gone.sum()),
            "under_min_isr": int(self.is_under_min_isr.sum()),
            "at_min_isr": int(self.is_at_min_isr.sum()),
            "under_replicated": int(self.is_under_replicated.sum()),
        }


def hurt_before(state: ClusterState) -> dict[str, int]:
    """Return the number of partitions that serve no producer now, by kind of harm."""
    counts = health_of(state).counts()
    return {name: counts[name] for name in ("offline", "under_min_isr")}


def health_of(state: ClusterState) -> Health:
    """Return the current health of each partition."""
    start, usable = state.replicas.start, is_usable(state)
    in_sync = sum_rows(usable & state.replicas.is_in_sync, start)
    least = state.min_isr
    is_offline = np.equal(state.partitions.leader_idx, ABSENT)
    return Health(
        is_offline=is_offline,
        is_gone=np.equal(sum_rows(usable, start), 0),
        is_under_min_isr=np.less(in_sync, least),
        is_at_min_isr=np.equal(in_sync, least) & ~is_offline,
        is_under_replicated=np.less(in_sync, state.replication_factor),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UncleanLosses:
    """
    Losses by unclean elections of leaders that are not in sync.

    Parameters
    ----------
    partition_idx
        ``(N,)`` rows of the partitions without a leader.
    leader_idx
        ``(N,)`` row of the broker that would lead, `ABSENT` where none is live.
    lost_bytes
        ``(N,)`` bytes by which the new leader's log is shorter than the last leader's,
        a lower bound on the loss. `UNKNOWN` where the sizes of replicas are unknown.
    """

    partition_idx: npt.NDArray[np.int64]
    leader_idx: IndexArray
    lost_bytes: BytesArray


def unclean_losses(state: ClusterState) -> UncleanLosses:
    """
    Return the losses of an unclean election of every partition without a leader.

    All replicas truncate their logs to that of the new leader, so records that it lacks
    are lost. The time span of the lost records is unknown.
    """
    chosen = np.nonzero(np.equal(state.partitions.leader_idx, ABSENT))[0]
    elected = elect(state, Election.UNCLEAN, chosen).partitions.leader_idx[chosen]
    replicas = state.replicas
    of = replicas.partition_idx
    leader_of = np.full(state.num_partitions, ABSENT, dtype=np.int32)
    leader_of[chosen] = elected
    leads = np.equal(replicas.broker_idx, leader_of[of])
    own = np.full(state.num_partitions, UNKNOWN, dtype=np.int64)
    own[of[leads]] = replicas.own_bytes[leads]
    size = state.partitions.size_bytes[chosen]
    is_known = (own[chosen] != UNKNOWN) & (size != UNKNOWN)
    lost = np.where(is_known, np.maximum(size - own[chosen], 0), UNKNOWN)
    return UncleanLosses(partition_idx=chosen, leader_idx=elected, lost_bytes=lost)
