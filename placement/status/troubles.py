"""Current problems of a cluster, as columns."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, RowArray
from placement.failures.partition_health import Health, health_of
from placement.model.cluster import ABSENT, ClusterState, LogDirState, sum_rows
from placement.status.impossible_facts import Impossible, find_impossible
from placement.status.leaderless_partitions import Leaderless, find_leaderless
from placement.status.running_moves import Moves, find_moves


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TopicTroubles:
    """
    Topics with partitions that lack in-sync replicas, worst first.

    Parameters
    ----------
    topic_idx
        ``(N,)`` topic rows, ascending by in-sync replicas of the worst partition, then
        descending by number of partitions.
    num_partitions
        ``(N,)`` number of partitions that lack in-sync replicas.
    least_in_sync
        ``(N,)`` number of in-sync replicas of the worst partition.
    needed
        ``(N,)`` number of in-sync replicas that the worst partition should have.
    """

    topic_idx: RowArray
    num_partitions: RowArray
    least_in_sync: RowArray
    needed: RowArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Troubles:
    """
    Current problems of a cluster, and ongoing reassignments.

    Parameters
    ----------
    state
        Current cluster.
    health
        Health flags of the partitions.
    broker_idx
        Rows of the brokers that are not live, by id.
    replicas_on
        ``(B,)`` number of replicas on each broker.
    log_dir_idx
        Rows of the offline log dirs, by broker and path.
    replicas_in
        ``(D,)`` number of replicas known to be in each log dir.
    unplaced_on
        ``(B,)`` number of offline replicas on each live broker without a known failed
        log dir: the log dir is one of several, or unknown.
    leaderless
        Partitions without a leader.
    no_source
        Rows of the partitions without a source for copies now.
    under_min_isr, under_replicated
        Topics with such partitions, worst first.
    moves
        Ongoing reassignments.
    impossible
        Loads above the whole capacity of a disk or link, caused by wrong input.
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
    """Return the current problems of a cluster."""
    replicas, brokers, dirs = state.replicas, state.brokers, state.log_dirs
    is_offline, has_source = state.is_offline, state.has_source
    health = health_of(state)
    in_sync = sum_rows(replicas.is_in_sync & ~is_offline, replicas.start)
    located = replicas.log_dir_idx[replicas.log_dir_idx != ABSENT]
    # The extra last row includes replicas in unknown log dirs.
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
        under_min_isr=_by_topic(state, health.is_under_min_isr, in_sync, state.min_isr),
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
    """Return the topics of partitions that lack in-sync replicas, worst first."""
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
