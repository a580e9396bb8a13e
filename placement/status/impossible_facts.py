"""Impossible loads: more on a disk or a link than its whole capacity."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, BytesArray, FloatArray
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState
from placement.model.load import Resource, add_to, weigh

SLACK = 1e-6
"""Relative rounding error of rates: a smaller excess over a link is ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """
    Load above the whole capacity of a disk or link.

    Parameters
    ----------
    resource
        Disk, in or out.
    broker_idx
        Row of the broker.
    log_dir_idx
        Row of the log dir; `ABSENT` for the broker as a whole.
    load, capacity
        Bytes, or bytes/s. The load is a lower bound: unknown values count as 0.
    """

    resource: Resource
    broker_idx: int
    log_dir_idx: int = ABSENT
    load: float
    capacity: float


def find_impossible(state: ClusterState) -> list[Impossible]:
    """
    Return the loads of live brokers and log dirs above their whole capacity.

    Only in-sync replicas count, as others may be incomplete; on disks also replicas of
    known size. A broker is not reported for its disks if one of its log dirs is.
    """
    follows: BoolArray = state.replicas.is_in_sync & ~state.is_offline
    return [*_disks(state, follows), *_links(state, follows)]


def _disks(state: ClusterState, follows: BoolArray) -> Iterator[Impossible]:
    replicas, dirs, brokers = state.replicas, state.log_dirs, state.brokers
    size = _least_bytes(state, follows)
    in_dirs = np.zeros(len(dirs), dtype=np.int64)
    on_brokers = np.zeros(len(brokers), dtype=np.int64)
    located = np.not_equal(replicas.log_dir_idx, ABSENT)
    add_to(in_dirs, replicas.log_dir_idx[located], size[located])
    add_to(on_brokers, replicas.broker_idx, size)
    serves = np.not_equal(dirs.state, LogDirState.OFFLINE)
    serves &= brokers.is_live[dirs.broker_idx]
    over = serves & np.not_equal(dirs.size_bytes, UNKNOWN) & (in_dirs > dirs.size_bytes)
    named = set(dirs.broker_idx[over].tolist())
    for d in np.nonzero(over)[0].tolist():
        yield Impossible(
            resource=Resource.DISK,
            broker_idx=int(dirs.broker_idx[d]),
            log_dir_idx=d,
            load=float(in_dirs[d]),
            capacity=float(dirs.size_bytes[d]),
        )
    is_known = np.not_equal(brokers.disk_bytes, UNKNOWN) & brokers.is_live
    # A failed disk is not part of the capacity, and its bytes are not load.
    is_known[dirs.broker_idx[~serves]] = False
    for b in np.nonzero(is_known & (on_brokers > brokers.disk_bytes))[0].tolist():
        if b not in named:
            yield Impossible(
                resource=Resource.DISK,
                broker_idx=b,
                load=float(on_brokers[b]),
                capacity=float(brokers.disk_bytes[b]),
            )


def _least_bytes(state: ClusterState, follows: BoolArray) -> BytesArray:
    """Return ``(replicas,)`` bytes of complete online replicas; 0 for the others."""
    replicas, weights = state.replicas, weigh(state)
    size = weights.copy_bytes[replicas.partition_idx]
    if len(weights.own):
        size = size + weights.own
    is_whole = np.not_equal(replicas.own_bytes, UNKNOWN) | follows
    return np.where(is_whole & ~state.is_offline, size, 0)


def _links(state: ClusterState, follows: BoolArray) -> Iterator[Impossible]:
    replicas, partitions, brokers = state.replicas, state.partitions, state.brokers
    each = np.nan_to_num(partitions.in_bytes_per_s)
    count = len(brokers)
    received = _summed(
        replicas.broker_idx[follows], each[replicas.partition_idx[follows]], count
    )
    # The leader is in sync, but does not fetch from itself.
    num_fetching = np.bincount(
        replicas.partition_idx[follows], minlength=len(partitions)
    )
    sent_by = np.nan_to_num(partitions.out_bytes_per_s)
    sent_by = sent_by + each * np.maximum(num_fetching - 1, 0)
    led = np.not_equal(partitions.leader_idx, ABSENT)
    sent = _summed(partitions.leader_idx[led], sent_by[led], count)
    for resource, load, link in (
        (Resource.IN, received, brokers.in_bytes_per_s),
        (Resource.OUT, sent, brokers.out_bytes_per_s),
    ):
        yield from _over(resource, load, link, brokers.is_live)


def _summed(
    rows: npt.NDArray[np.integer], values: FloatArray, count: int
) -> FloatArray:
    """Return ``(count,)`` sums of values by row."""
    total: FloatArray = np.zeros(count)
    np.add.at(total, rows, values)
    return total


def _over(
    resource: Resource, load: FloatArray, link: FloatArray, is_live: BoolArray
) -> Iterator[Impossible]:
    # A comparison with NaN (an unknown link) is false.
    for b in np.nonzero(is_live & (load > link * (1 + SLACK)))[0].tolist():
        yield Impossible(
            resource=resource,
            broker_idx=b,
            load=float(load[b]),
            capacity=float(link[b]),
        )
