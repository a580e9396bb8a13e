"""Ongoing reassignments, and the obstacles to their completion."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from placement.array_types import BoolArray, BytesArray, CodeArray, IndexArray, RowArray
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, sum_rows
from placement.model.load import first_true


class Obstacle(IntEnum):
    """Reason why a reassignment cannot complete by itself."""

    NONE = 0
    SAME_BROKER = 1
    """A broker is both added and removed, so its added replica is never in sync."""
    NO_SOURCE = 2
    """No live replica can be the source of a copy."""
    BROKER = 3
    """An added replica is on a broker that is not live."""
    LOG_DIR = 4
    """An added replica is offline on a live broker: its log dir failed."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Moves:
    """
    Ongoing reassignments.

    Parameters
    ----------
    partition_idx
        ``(M,)`` rows of the partitions being reassigned, ascending.
    obstacle
        ``(M,)`` first `Obstacle` that applies, in the order of their numbers.
    broker_idx
        ``(M,)`` row of the broker that is added and removed, or that the reassignment
        waits for; `ABSENT` without one.
    copy_bytes, left_bytes
        ``(M,)`` bytes of all copies, and bytes still to copy; `UNKNOWN` where the size
        of the partition is unknown.
    num_log_dir_moves
        Number of replicas being moved between log dirs of their brokers.
    """

    partition_idx: RowArray
    obstacle: CodeArray
    broker_idx: IndexArray
    copy_bytes: BytesArray
    left_bytes: BytesArray
    num_log_dir_moves: int

    @property
    def is_stuck(self) -> BoolArray:
        """``(M,)`` true where the reassignment cannot complete by itself."""
        return np.not_equal(self.obstacle, Obstacle.NONE)


def find_moves(
    state: ClusterState, is_offline: BoolArray, has_source: BoolArray
) -> Moves:
    """
    Return the ongoing reassignments and their obstacles.

    Parameters
    ----------
    state
        Current cluster.
    is_offline
        ``(R,)`` true for replicas that do not serve.
    has_source
        ``(P,)`` true for partitions with a source for copies now.
    """
    chosen = np.nonzero(state.is_reassigning)[0]
    obstacle, blamed = _obstacles(state, is_offline, has_source)
    copy_bytes, left_bytes = _copies(state)
    return Moves(
        partition_idx=chosen,
        obstacle=obstacle[chosen],
        broker_idx=state.replicas.broker_idx_at(blamed[chosen]),
        copy_bytes=copy_bytes[chosen],
        left_bytes=left_bytes[chosen],
        num_log_dir_moves=int((state.replicas.future_log_dir_idx != ABSENT).sum()),
    )


def _obstacles(
    state: ClusterState, is_offline: BoolArray, has_source: BoolArray
) -> tuple[CodeArray, RowArray]:
    """Return ``(P,)`` first obstacle of each partition, and row of its replica."""
    replicas, start = state.replicas, state.replicas.start
    missing = replicas.is_adding & ~replicas.is_in_sync
    is_live = state.brokers.is_live[replicas.broker_idx]
    waits = sum_rows(missing, start) > 0
    nothing = np.full(state.num_partitions, ABSENT, dtype=np.int64)
    found = {
        Obstacle.LOG_DIR: first_true(missing & is_offline & is_live, start),
        Obstacle.BROKER: first_true(missing & ~is_live, start),
        Obstacle.NO_SOURCE: np.where(waits & ~has_source, start[:-1], nothing),
        Obstacle.SAME_BROKER: first_true(
            replicas.is_adding & replicas.is_removing, start
        ),
    }
    obstacle = np.full(state.num_partitions, Obstacle.NONE, dtype=np.int8)
    blamed = nothing.copy()
    for kind, rows in found.items():
        applies = rows != ABSENT
        obstacle[applies] = kind
        blamed[applies] = rows[applies] if kind != Obstacle.NO_SOURCE else ABSENT
    return obstacle, blamed


def _copies(state: ClusterState) -> tuple[BytesArray, BytesArray]:
    """Return ``(P,)`` bytes of the replicas being added, and bytes still to copy."""
    replicas, sizes = state.replicas, state.partitions.size_bytes
    is_known = sizes != UNKNOWN
    size = np.where(is_known, sizes, 0)[replicas.partition_idx]
    there = np.clip(replicas.own_bytes, 0, size)
    left = np.where(replicas.is_in_sync, 0, size - there)
    total = sum_rows(np.where(replicas.is_adding, size, 0), replicas.start)
    missing = sum_rows(np.where(replicas.is_adding, left, 0), replicas.start)
    return (
        np.where(is_known, total, UNKNOWN),
        np.where(is_known, missing, UNKNOWN),
    )
