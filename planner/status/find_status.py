"""Status of a cluster: troubles, throttles, quorum, and unknown facts."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import ClusterState
from placement.status import Troubles, find_troubles
from planner.kafka_releases import Release, release_of
from planner.snapshot.snapshot_document import Snapshot
from planner.snapshot.tables.table_rows import as_array
from planner.status.controller_quorum import QuorumStatus, quorum_of
from planner.status.throttles_in_force import throttles_in
from planner.status.unknown_facts import Unknown, find_unknown
from planner.throttles import LOG_DIR_RATE, Throttle


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Status:
    """
    Current troubles of a cluster, as far as its snapshot has the facts.

    Parameters
    ----------
    cluster_id, taken_at
        Fields of the snapshot.
    release
        Release of Kafka that the snapshot names; `None` where it names none.
    troubles
        Troubles of brokers, log dirs, partitions and reassignments.
    has_isr
        ``(P,)`` true where the snapshot names the in-sync replicas.
    throttles
        Every throttle in force.
    is_throttle_used
        Whether each throttle limits a copy that is under way.
    quorum
        The controllers' quorum; `None` where the snapshot does not name it.
    unknown
        Facts that the snapshot does not hold.
    """

    cluster_id: str | None
    taken_at: str | None
    release: Release | None
    troubles: Troubles
    has_isr: BoolArray
    throttles: tuple[Throttle, ...]
    is_throttle_used: tuple[bool, ...]
    quorum: QuorumStatus | None
    unknown: tuple[Unknown, ...]

    @property
    def state(self) -> ClusterState:
        """The cluster as columns."""
        return self.troubles.state

    @property
    def throttles_left(self) -> list[Throttle]:
        """Throttles that limit no copy that is under way."""
        pairs = zip(self.throttles, self.is_throttle_used, strict=True)
        return [throttle for throttle, is_used in pairs if not is_used]

    @property
    def is_wrong(self) -> bool:
        """Whether the cluster has a trouble; a running reassignment is none."""
        found, quorum = self.troubles, self.quorum
        return bool(
            len(found.broker_idx)
            or len(found.log_dir_idx)
            or found.unplaced_on.any()
            or found.impossible
            or found.leaderless
            or len(found.no_source)
            or len(found.under_min_isr.topic_idx)
            or len(found.under_replicated.topic_idx)
            or found.moves.is_stuck.any()
            or self.throttles_left
            or (quorum is not None and quorum.silent)
        )

    @property
    def verdict(self) -> str:
        """``wrong`` with troubles, else ``unknown`` with unknown facts, or ``fine``."""
        if self.is_wrong:
            return "wrong"
        return "unknown" if self.unknown else "fine"


def status_of(snapshot: Snapshot, state: ClusterState | None = None) -> Status:
    """
    Find the current troubles of a cluster.

    Parameters
    ----------
    snapshot
        The cluster.
    state
        Columns of the snapshot; `None` computes them.
    """
    state = snapshot.to_state() if state is None else state
    troubles = find_troubles(state)
    throttles = tuple(throttles_in(snapshot))
    isr = as_array(snapshot.partitions.column("isr"))
    return Status(
        cluster_id=snapshot.cluster_id,
        taken_at=snapshot.taken_at,
        release=release_of(snapshot.kafka_version),
        troubles=troubles,
        has_isr=isr.is_valid().to_numpy(zero_copy_only=False),
        throttles=throttles,
        is_throttle_used=tuple(_are_used(troubles, throttles)),
        quorum=quorum_of(snapshot, state),
        unknown=tuple(find_unknown(snapshot, state)),
    )


def _are_used(troubles: Troubles, throttles: tuple[Throttle, ...]) -> Iterator[bool]:
    """Yield for each throttle whether it limits a copy that is under way."""
    moves, topics = troubles.moves, troubles.state.topics.names
    moving = troubles.state.partitions.topic_idx[moves.partition_idx]
    busy = {topics[t] for t in np.unique(moving).tolist()}
    for throttle in throttles:
        if throttle.key == LOG_DIR_RATE:
            yield moves.num_log_dir_moves > 0
        elif throttle.scope == "topic":
            yield throttle.name in busy
        else:
            yield bool(busy)
