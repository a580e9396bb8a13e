"""Everything that is wrong with a cluster now, as columns."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.failures.partition_health import Health, health_of
from placement.model.cluster import (
    ABSENT,
    BoolArray,
    ClusterState,
    LogDirState,
    sum_rows,
)
from placement.status.impossible_facts import Impossible, find_impossible
from placement.status.leaderless_partitions import Leaderless, find_leaderless
from placement.status.running_moves import Moves, find_moves

RowArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TopicTroubles:
    """
    Topics with partitions that lack in-sync replicas, the worst first.

    Parameters
    ----------
    topic_idx
        ``(N,)`` topics: those with the fewest in sync first, then those with the most
        partitions.
    num_partitions
        ``(N,)`` partitions that lack some.
    least_in_sync
        ``(N,)`` in-sync replicas of the worst partition.
    needed
        ``(N,)`` in-sync replicas that this partition should have.
    """

    topic_idx: RowArray
    num_partitions: RowArray
    least_in_sync: RowArray
    needed: RowArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Troubles:
    """
    Everything that is wrong with a cluster now, and what is under way.

    Parameters
    ----------
    state
        The cluster.
    health
        Flags of its partitions.
    broker_idx
        Brokers that are not live, by id.
    replicas_on
        ``(B,)`` replicas that each broker holds.
    log_dir_idx
        Log dirs that are offline, by broker and path.
    replicas_in
        ``(D,)`` replicas known to be in each log dir.
    unplaced_on
        ``(B,)`` offline replicas of a live broker of which no single failed log dir is
        known: they are in one of several, or nothing says where.
    leaderless
        Partitions without a leader.
    no_source
        Partitions of which no copy can be made now.
    under_min_isr, under_replicated
        Topics, the worst first.
    moves
        Reassignments under way.
    impossible
        Loads above the whole of what carries them: some input is wrong.
    """

    state: ClusterState
    health: Health
    broker_idx: RowArray
    replicas_on: RowArray
    log_dir_idx: RowArray
    replicas_in: RowArray
    unplaced_on: RowArray
    leaderless: list[Leaderless]
    no_source: RowArray
    under_min_isr: TopicTroubles
    under_replicated: TopicTroubles
    moves: Moves
    impossible: list[Impossible]


def find_troubles(state: ClusterState) -> Troubles:
    """Find everything that is wrong with a cluster now."""
    replicas, brokers, dirs = state.replicas, state.brokers, state.log_dirs
    is_offline, has_source = state.is_offline, state.has_source
    health = health_of(state)
    in_sync = sum_rows(replicas.is_in_sync & ~is_offline, replicas.start)
    least = state.topics.min_insync_replicas[state.partitions.topic_idx]
    located = replicas.log_dir_idx[replicas.log_dir_idx != ABSENT]
    # A row more, so that replicas in unknown log dirs count.
    is_failed_dir = np.append(np.equal(dirs.state, LogDirState.OFFLINE), [False])
    is_unplaced = is_offline & brokers.is_live[replicas.broker_idx]
    is_unplaced &= ~is_failed_dir[replicas.log_dir_idx]
    return Troubles(
        state=state,
        health=health,
        broker_idx=np.nonzero(~brokers.is_live)[0],
        replicas_on=np.bincount(replicas.broker_idx, minlength=len(brokers)),
        log_dir_idx=np.nonzero(np.equal(dirs.state, LogDirState.OFFLINE))[0],
        replicas_in=np.bincount(located, minlength=len(dirs)),
        unplaced_on=np.bincount(
            replicas.broker_idx[is_unplaced], minlength=len(brokers)
        ),
        leaderless=find_leaderless(state, is_offline, state.can_lead),
        no_source=np.nonzero(~has_source)[0],
        under_min_isr=_by_topic(state, health.is_under_min_isr, in_sync, least),
        under_replicated=_by_topic(
            state, health.is_under_replicated, in_sync, state.replication_factor
        ),
        moves=find_moves(state, is_offline, has_source),
        impossible=find_impossible(state),
    )


def _by_topic(
    state: ClusterState,
    is_short: BoolArray,
    in_sync: RowArray,
    needed: npt.NDArray[np.integer],
) -> TopicTroubles:
    """Return the topics of partitions that are short of in-sync replicas."""
    rows = np.nonzero(is_short)[0]
    # The worst partition of each topic comes first; ties go to the lowest.
    rows = rows[np.lexsort((rows, -needed[rows], in_sync[rows]))]
    topic = state.partitions.topic_idx[rows]
    topics, first, counts = np.unique(topic, return_index=True, return_counts=True)
    worst = rows[first]
    order = np.lexsort((topics, -counts, in_sync[worst]))
    return TopicTroubles(
        topic_idx=topics[order].astype(np.int64),
        num_partitions=counts[order],
        least_in_sync=in_sync[worst][order],
        needed=needed[worst][order].astype(np.int64),
    )
