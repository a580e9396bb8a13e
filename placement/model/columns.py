"""
The columns of a cluster: brokers, log dirs, topics, partitions, replicas.

``B`` brokers, ``D`` log dirs, ``T`` topics, ``P`` partitions, ``R`` replicas of all
partitions together. An ``*_idx`` is a row; an ``*_id`` is a name given by Kafka.
Replicas are compressed rows: those of partition ``p``, preferred leader first, are rows
``start[p]:start[p + 1]``; nothing is padded to the largest replication factor. Arrays
are kept, not copied, and become read-only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import (
    BoolArray,
    BytesArray,
    CodeArray,
    CountArray,
    IndexArray,
    OffsetArray,
    RateArray,
    RowArray,
)

ABSENT = -1
"""No row: an unknown log dir, no leader, no broker set."""
UNKNOWN = -1
"""An integer that was not measured. Unknown rates are NaN."""


class BrokerState(IntEnum):
    """State of a broker; brokers in the last three states are not live."""

    ALIVE = 0
    NEW = 1
    DEMOTED = 2
    SHUTTING_DOWN = 3
    FENCED = 4
    DEAD = 5

    @property
    def words(self) -> str:
        """The state as written in files and on screens: ``shutting-down``."""
        return self.name.lower().replace("_", "-")


class LogDirState(IntEnum):
    """State of a log dir: it serves (`ONLINE`, `CORDONED`), may take new replicas."""

    ONLINE = 0
    OFFLINE = 1
    CORDONED = 2


class Storage(IntEnum):
    """Storage of a topic's bytes; `SHARED` topics take no bytes on a disk."""

    LOCAL = 0
    TIERED = 1
    SHARED = 2
    UNKNOWN = 3


def starts_of(counts: CountArray) -> OffsetArray:
    """Return ``(N + 1,)`` start of each of ``N`` concatenated lists, given lengths."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def rows_of_starts(start: OffsetArray) -> IndexArray:
    """Return the list that each entry of concatenated lists belongs to."""
    counts = np.diff(start)
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def count_rows(rows: RowArray | IndexArray, count: int) -> CountArray:
    """Return ``(count,)`` how often each row occurs; `ABSENT` does not count."""
    known = rows[np.not_equal(rows, ABSENT)]
    return np.bincount(known, minlength=count).astype(np.int64)


def freeze(columns: Any) -> None:  # noqa: ANN401 - any dataclass of arrays
    """Make the arrays of a dataclass read-only."""
    for column in fields(columns):
        value = getattr(columns, column.name)
        if isinstance(value, np.ndarray):
            value.setflags(write=False)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Brokers:
    """
    The brokers, by ascending id.

    Parameters
    ----------
    ids
        ``(B,)`` Kafka's broker ids, ascending.
    rack_idx
        ``(B,)`` row of `racks`. A broker without a rack has a row of its own.
    racks
        Names, sorted; `None` for the rack of a broker without one (these come last, in
        the order of their brokers).
    host_idx
        ``(B,)`` row of `hosts`. A broker without a host has a row of its own.
    hosts
        Names; `None` for the host of a broker without one.
    broker_set_idx
        ``(B,)`` row of `broker_sets`, or `ABSENT`.
    broker_sets
        Names, sorted.
    state
        ``(B,)`` `BrokerState` of each broker.
    disk_bytes
        ``(B,)`` bytes. Capacity, or `UNKNOWN`.
    in_bytes_per_s, out_bytes_per_s
        ``(B,)`` bytes/s. Capacity of the network, or NaN.
    cpu_cores
        ``(B,)`` cores, or NaN.
    max_replicas
        ``(B,)`` maximum number of replicas, or `UNKNOWN`.
    """

    ids: IndexArray
    rack_idx: IndexArray
    racks: tuple[str | None, ...]
    host_idx: IndexArray
    hosts: tuple[str | None, ...]
    broker_set_idx: IndexArray
    broker_sets: tuple[str, ...]
    state: CodeArray
    disk_bytes: BytesArray
    in_bytes_per_s: RateArray
    out_bytes_per_s: RateArray
    cpu_cores: RateArray
    max_replicas: OffsetArray

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_live(self) -> BoolArray:
        """``(B,)`` true for brokers that serve: alive, new or demoted."""
        return np.less_equal(self.state, BrokerState.DEMOTED)

    @property
    def may_lead(self) -> BoolArray:
        """``(B,)`` true for live brokers that are not demoted."""
        return np.less(self.state, BrokerState.DEMOTED)

    def rows_of(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> IndexArray:
        """Return the row of each broker id; `ABSENT` for unknown ids."""
        wanted = np.asarray(ids, dtype=np.int64)
        if not len(self.ids):
            return np.full(wanted.shape, ABSENT, dtype=np.int32)
        rows = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        found = np.equal(self.ids[rows], wanted)
        return np.where(found, rows, ABSENT).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LogDirs:
    """
    The log dirs of all brokers, by broker and path.

    Parameters
    ----------
    broker_idx
        ``(D,)`` row of the broker of each log dir, ascending.
    paths
        Absolute paths, sorted inside a broker.
    size_bytes, usable_bytes
        ``(D,)`` bytes of the file system, and free bytes of it, or `UNKNOWN`.
    state
        ``(D,)`` `LogDirState` of each log dir.
    """

    broker_idx: IndexArray
    paths: tuple[str, ...]
    size_bytes: BytesArray
    usable_bytes: BytesArray
    state: CodeArray

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.broker_idx)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Topics:
    """
    The topics, by name.

    Parameters
    ----------
    names
        Names, sorted.
    topic_ids
        Kafka's topic ids; `None` if unknown.
    storage
        ``(T,)`` `Storage` of each topic.
    min_insync_replicas
        ``(T,)`` min.insync.replicas of the topic, else of the cluster, else 1.
    configs
        Configs of each topic that differ from the default.
    """

    names: tuple[str, ...]
    topic_ids: tuple[str | None, ...]
    storage: CodeArray
    min_insync_replicas: IndexArray
    configs: tuple[Mapping[str, str], ...]

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Partitions:
    """
    The partitions, by topic and number.

    Parameters
    ----------
    topic_idx
        ``(P,)`` row of the topic, ascending.
    partition
        ``(P,)`` Kafka's number inside the topic, ascending there.
    leader_idx
        ``(P,)`` row of the broker that leads now, or `ABSENT`.
    size_bytes
        ``(P,)`` bytes. Size of a copy: the leader's local bytes, or `UNKNOWN`.
    remote_bytes
        ``(P,)`` bytes in tiered storage, or `UNKNOWN`.
    in_bytes_per_s, out_bytes_per_s
        ``(P,)`` bytes/s that producers write and consumers read, without replication.
        NaN if unknown.
    leader_cpu_cores, follower_cpu_cores
        ``(P,)`` cores used on the leader and on each follower, or NaN.
    """

    topic_idx: IndexArray
    partition: IndexArray
    leader_idx: IndexArray
    size_bytes: BytesArray
    remote_bytes: BytesArray
    in_bytes_per_s: RateArray
    out_bytes_per_s: RateArray
    leader_cpu_cores: RateArray
    follower_cpu_cores: RateArray

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.topic_idx)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Replicas:
    """
    The replicas of all partitions, as compressed rows.

    Parameters
    ----------
    start
        ``(P + 1,)`` replicas of partition ``p`` are rows ``start[p]:start[p + 1]``,
        preferred leader first; during a reassignment the target, then the removing
        replicas.
    broker_idx
        ``(R,)`` row of the broker.
    is_in_sync
        ``(R,)`` true for members of the ISR.
    is_adding, is_removing
        ``(R,)`` true if an ongoing reassignment adds or removes the replica.
    is_eligible, is_last_known_eligible
        ``(R,)`` true for members of the ELR and of the last known ELR (KIP-966).
    is_failed
        ``(R,)`` true for replicas that a live broker cannot serve for a reason that no
        log dir explains: the metadata lists them as offline, or they are in an unknown
        one of several failed log dirs.
    log_dir_idx, future_log_dir_idx
        ``(R,)`` row of the log dir of the replica, and of the log dir inside the broker
        to which it is being copied; `ABSENT` if unknown or none.
    own_bytes
        ``(R,)`` bytes of the replica on its disk if they differ from the leader's, else
        `UNKNOWN`.
    """

    start: OffsetArray
    broker_idx: IndexArray
    is_in_sync: BoolArray
    is_adding: BoolArray
    is_removing: BoolArray
    is_eligible: BoolArray
    is_last_known_eligible: BoolArray
    is_failed: BoolArray
    log_dir_idx: IndexArray
    future_log_dir_idx: IndexArray
    own_bytes: BytesArray

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.broker_idx)

    @property
    def partition_idx(self) -> IndexArray:
        """``(R,)`` the partition of each replica."""
        return rows_of_starts(self.start)

    def broker_idx_at(self, rows: npt.NDArray[np.int64]) -> IndexArray:
        """Return the broker of each replica row; `ABSENT` stays `ABSENT`."""
        if not len(self.broker_idx):
            return np.full(len(rows), ABSENT, dtype=np.int32)
        found = self.broker_idx[rows]
        return np.where(np.equal(rows, ABSENT), ABSENT, found).astype(np.int32)


def sum_rows(values: npt.NDArray[Any], start: OffsetArray) -> npt.NDArray[np.int64]:
    """
    Sum each compressed row.

    Parameters
    ----------
    values
        ``(R,)`` integers or flags.
    start
        ``(P + 1,)`` start of each row.

    Returns
    -------
    ``(P,)`` int64; 0 for an empty row.
    """
    running = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=running[1:])
    summed: npt.NDArray[np.int64] = running[start[1:]] - running[start[:-1]]
    return summed
