"""What is wrong with the partitions, and what an unclean election would lose."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.failures.controller_decision import is_usable
from placement.failures.controller_events import elect
from placement.failures.partition_change import Election
from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    BoolArray,
    BytesArray,
    ClusterState,
    IndexArray,
    sum_rows,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Health:
    """
    The state of every partition; all columns ``(P,)``.

    Parameters
    ----------
    is_offline
        Nobody leads: neither written nor read.
    is_gone
        No replica is on a live broker and log dir: nothing to elect, even uncleanly.
    is_under_min_isr
        Fewer live in-sync replicas than min.insync.replicas: producers with acks=all
        are refused. Offline partitions count too.
    is_at_min_isr
        Just as many, and led: the next loss refuses producers.
    is_under_replicated
        Fewer live in-sync replicas than the replication factor.
    """

    is_offline: BoolArray
    is_gone: BoolArray
    is_under_min_isr: BoolArray
    is_at_min_isr: BoolArray
    is_under_replicated: BoolArray

    def counts(self) -> dict[str, int]:
        """Return how many partitions are in each state."""
        return {
            "offline": int(self.is_offline.sum()),
            "gone": int(self.is_gone.sum()),
            "under_min_isr": int(self.is_under_min_isr.sum()),
            "at_min_isr": int(self.is_at_min_isr.sum()),
            "under_replicated": int(self.is_under_replicated.sum()),
        }


def health_of(state: ClusterState) -> Health:
    """Return what is wrong with each partition now."""
    start, usable = state.replicas.start, is_usable(state)
    in_sync = sum_rows(usable & state.replicas.is_in_sync, start)
    least = state.topics.min_insync_replicas[state.partitions.topic_idx]
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
    What electing a leader that is not in sync would lose.

    Parameters
    ----------
    partition_idx
        ``(N,)`` the partitions that nobody may lead cleanly.
    leader_idx
        ``(N,)`` row of the broker that would lead, `ABSENT` where none is live.
    lost_bytes
        ``(N,)`` bytes by which its log is shorter than the last leader's: at least so
        much is lost. `UNKNOWN` where sizes of single replicas are not known.
    """

    partition_idx: npt.NDArray[np.int64]
    leader_idx: IndexArray
    lost_bytes: BytesArray


def unclean_losses(state: ClusterState) -> UncleanLosses:
    """
    Try an unclean election wherever nobody leads.

    Records that the new leader never had, and those that it has and others have not
    seen, are cut off in all replicas; how many in time is known to nobody.
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
