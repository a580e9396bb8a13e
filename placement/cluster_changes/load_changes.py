"""Changes of traffic, sizes and consumers; replicas stay on their brokers."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, BytesArray, RateArray
from placement.cluster_changes.variant import Variant
from placement.model.cluster import UNKNOWN, ClusterState, Storage
from placement.model.load import Resource

TRAFFIC = frozenset({Resource.IN, Resource.OUT, Resource.CPU})
EVERYTHING = TRAFFIC | {Resource.DISK}


def grow(
    variant: Variant, factor: RateArray, resources: Collection[Resource] = EVERYTHING
) -> Variant:
    """
    Multiply the loads of topics.

    Parameters
    ----------
    variant
        Cluster to change.
    factor
        ``(T,)`` factor of each topic's present load. Not negative.
    resources
        Resources that grow, of disk, in, out and cpu. Unknown loads stay unknown.
    """
    state = variant.state
    ratio = factor[state.partitions.topic_idx]
    names = {
        Resource.IN: ("in_bytes_per_s",),
        Resource.OUT: ("out_bytes_per_s",),
        Resource.CPU: ("leader_cpu_cores", "follower_cpu_cores"),
    }
    columns = {
        name: getattr(state.partitions, name) * ratio
        for resource in TRAFFIC & frozenset(resources)
        for name in names[resource]
    }
    changed = replace(state, partitions=replace(state.partitions, **columns))
    if Resource.DISK in resources:
        changed = scaled_sizes(changed, ratio)
    return variant.weighing(changed)


def scaled_sizes(state: ClusterState, ratio: RateArray) -> ClusterState:
    """Return the cluster with all sizes, remote and own ones too, times ``(P,)``."""
    partitions, replicas = state.partitions, state.replicas
    return replace(
        state,
        partitions=replace(
            partitions,
            size_bytes=_times(partitions.size_bytes, ratio),
            remote_bytes=_times(partitions.remote_bytes, ratio),
        ),
        replicas=replace(
            replicas,
            own_bytes=_times(replicas.own_bytes, ratio[replicas.partition_idx]),
        ),
    )


def _times(size: BytesArray, ratio: RateArray) -> BytesArray:
    grown = np.rint(np.where(np.equal(size, UNKNOWN), 0, size) * ratio)
    return np.where(np.equal(size, UNKNOWN), UNKNOWN, grown).astype(np.int64)


def with_sizes(variant: Variant, size_bytes: RateArray) -> Variant:
    """Return the cluster with ``(P,)`` sizes on disk, own sizes in proportion."""
    state = variant.state
    old = state.partitions.size_bytes.astype(np.float64)
    ratio = np.where(old > 0, size_bytes / np.where(old > 0, old, 1.0), 1.0)
    remote = state.partitions.remote_bytes
    changed = scaled_sizes(state, ratio)
    kept = replace(changed.partitions, remote_bytes=remote)
    return variant.weighing(replace(changed, partitions=kept))


def consume(
    variant: Variant,
    chosen: BoolArray,
    *,
    factor: float = 1.0,
    groups: float = 0.0,
    fan_out: float | None = None,
) -> Variant:
    """
    Change the rates that consumers read.

    Parameters
    ----------
    variant
        Cluster to change.
    chosen
        ``(T,)`` true for the topics to change.
    factor
        Factor of the present read rate.
    groups
        Number of additional groups that read every written byte.
    fan_out
        New ratio of the read rate to the write rate, in place of `factor` and `groups`.
    """
    state, partitions = variant.state, variant.state.partitions
    inbound, out = partitions.in_bytes_per_s, partitions.out_bytes_per_s
    added = np.where(groups == 0, 0.0, groups * inbound)
    read = out * factor + added if fan_out is None else inbound * fan_out
    of = chosen[partitions.topic_idx]
    changed = replace(partitions, out_bytes_per_s=np.where(of, read, out))
    return replace(variant, state=replace(state, partitions=changed))


def tier(
    variant: Variant,
    chosen: BoolArray,
    kept_fraction: RateArray,
    most_bytes: RateArray,
    is_tiered: BoolArray,
) -> Variant:
    """
    Move the older part of topics to remote storage.

    Parameters
    ----------
    variant
        Cluster to change.
    chosen
        ``(T,)`` true for the topics to change.
    kept_fraction
        ``(T,)`` bytes on the brokers' disks as a fraction of the present ones; over 1
        only for topics that are tiered already.
    most_bytes
        ``(T,)`` most bytes that a partition may have on a disk; infinite: no limit.
    is_tiered
        ``(T,)`` true for topics that are tiered already.
    """
    state = variant.state
    of = chosen[state.partitions.topic_idx]
    ratio = np.where(of, kept_fraction[state.partitions.topic_idx], 1.0)
    size, remote = state.partitions.size_bytes, state.partitions.remote_bytes
    most = np.maximum(most_bytes[state.partitions.topic_idx], size)
    kept = np.asarray(np.minimum(size * ratio, most), dtype=np.float64)
    changed_sizes = with_sizes(variant, kept)
    known = np.maximum(remote, 0) + np.maximum(size, 0)
    moved = np.where(np.equal(size, UNKNOWN), remote, np.maximum(remote, known))
    # Topics that are tiered already have their data in remote storage.
    moved = np.where(is_tiered[state.partitions.topic_idx], remote, moved)
    storage = np.where(chosen, Storage.TIERED, state.topics.storage).astype(np.int8)
    changed = changed_sizes.state
    return replace(
        changed_sizes,
        state=replace(
            changed,
            topics=replace(changed.topics, storage=storage),
            partitions=replace(
                changed.partitions,
                remote_bytes=np.where(of, moved, remote).astype(np.int64),
            ),
        ),
    )
