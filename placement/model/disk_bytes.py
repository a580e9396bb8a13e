"""Bytes on disks: of replicas by place, and of everything else."""

import numpy as np

from placement.array_types import BoolArray, BytesArray, RateArray
from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    ClusterState,
    LogDirs,
    LogDirState,
    Storage,
)


def fixed_disk_bytes(state: ClusterState) -> BytesArray:
    """
    Return ``(B,)`` bytes on the disks of each broker besides its replicas.

    Stray and deleted directories, indexes, the metadata log: the bytes of each serving
    log dir with known free space that are neither free nor used by replicas. Replicas
    in an unknown log dir may be in any log dir of their broker.
    """
    if not taken_bytes(state.log_dirs).any():
        return np.zeros(state.num_brokers, dtype=np.int64)
    located, elsewhere = bytes_by_place(state)
    return unexplained_bytes(state.log_dirs, located, elsewhere)


def unexplained_bytes(
    log_dirs: LogDirs, located: BytesArray, elsewhere: BytesArray
) -> BytesArray:
    """Return ``(B,)`` `fixed_disk_bytes`, from the results of `bytes_by_place`."""
    left = np.maximum(taken_bytes(log_dirs) - located, 0)
    fixed = np.zeros(len(elsewhere), dtype=np.int64)
    np.add.at(fixed, log_dirs.broker_idx, left)
    least: BytesArray = np.maximum(fixed - elsewhere, 0)
    return least


def taken_bytes(log_dirs: LogDirs) -> BytesArray:
    """Return ``(D,)`` used bytes of each file system; 0 if unknown."""
    is_known = (
        np.not_equal(log_dirs.usable_bytes, UNKNOWN)
        & np.not_equal(log_dirs.size_bytes, UNKNOWN)
        & np.not_equal(log_dirs.state, LogDirState.OFFLINE)
    )
    taken: BytesArray = np.where(
        is_known, log_dirs.size_bytes - log_dirs.usable_bytes, 0
    )
    return taken


def used_bytes(state: ClusterState) -> BytesArray:
    """Return ``(D,)`` used bytes of each file system; at least those of replicas."""
    located, _ = bytes_by_place(state)
    used: BytesArray = np.maximum(located, taken_bytes(state.log_dirs))
    return used


def has_several_log_dirs(state: ClusterState) -> BoolArray:
    """
    Return ``(D,)`` true for serving log dirs of known size that are not alone.

    Such a log dir may be full while its broker has room.
    """
    dirs = state.log_dirs
    counts = np.bincount(dirs.broker_idx, minlength=state.num_brokers)
    several: BoolArray = (
        (counts[dirs.broker_idx] > 1)
        & (dirs.size_bytes > 0)
        & np.not_equal(dirs.state, LogDirState.OFFLINE)
    )
    return several


def full_log_dirs(
    state: ClusterState, threshold: float | RateArray | None
) -> BoolArray:
    """
    Return ``(D,)`` true for log dirs over a threshold, where a broker has several.

    Parameters
    ----------
    state
        The cluster.
    threshold
        Usable fraction of each log dir, or ``(D,)`` fractions; `None`: no limit.
    """
    several = has_several_log_dirs(state)
    if threshold is None or not several.any():
        return np.zeros(len(state.log_dirs), dtype=np.bool_)
    limit = threshold * state.log_dirs.size_bytes * (1 + 1e-9)
    full: BoolArray = several & (certain_bytes(state) > limit)
    return full


def certain_bytes(state: ClusterState) -> BytesArray:
    """
    Return ``(D,)`` bytes that a log dir has for certain.

    Where a broker is still to choose the log dirs of some replicas, those of its other
    replicas alone; else the used bytes.
    """
    replicas = state.replicas
    located, _ = bytes_by_place(state)
    chooses = np.zeros(state.num_brokers, dtype=np.bool_)
    chooses[replicas.broker_idx[np.equal(replicas.log_dir_idx, ABSENT)]] = True
    taken = np.where(chooses[state.log_dirs.broker_idx], 0, taken_bytes(state.log_dirs))
    certain: BytesArray = np.maximum(located, taken)
    return certain


def bytes_by_place(state: ClusterState) -> tuple[BytesArray, BytesArray]:
    """
    Return the bytes of replicas by log dir and broker.

    Returns
    -------
    ``(D,)`` per log dir, copies between log dirs included; ``(B,)`` per broker, of
    replicas with an unknown log dir.
    """
    replicas = state.replicas
    size, own = disk_weights(state)
    each = size[replicas.partition_idx]
    if len(own):
        each = each + own
    located = np.zeros(len(state.log_dirs), dtype=np.int64)
    for rows in (replicas.log_dir_idx, replicas.future_log_dir_idx):
        lies = np.not_equal(rows, ABSENT)
        np.add.at(located, rows[lies], each[lies])
    elsewhere = np.zeros(state.num_brokers, dtype=np.int64)
    lost = np.equal(replicas.log_dir_idx, ABSENT)
    np.add.at(elsewhere, replicas.broker_idx[lost], each[lost])
    return located, elsewhere


def disk_weights(state: ClusterState) -> tuple[BytesArray, BytesArray]:
    """
    Return the bytes of a copy of each partition, and what replicas differ by.

    Returns
    -------
    ``(P,)`` bytes, 0 for storage that brokers share; ``(R,)`` bytes of each replica
    less those of its partition, without items if no broker reports its own.
    """
    size = np.maximum(state.partitions.size_bytes, 0)
    topic_is_shared = np.equal(state.topics.storage, Storage.SHARED)
    is_shared = (
        topic_is_shared[state.partitions.topic_idx]
        if len(topic_is_shared)
        else np.zeros(len(size), dtype=np.bool_)
    )
    size = np.where(is_shared, 0, size)
    own = state.replicas.own_bytes
    if np.all(np.equal(own, UNKNOWN)):
        return size, np.zeros(0, dtype=np.int64)
    of = state.replicas.partition_idx
    differs = np.not_equal(own, UNKNOWN) & ~is_shared[of]
    return size, np.where(differs, own - size[of], 0)
