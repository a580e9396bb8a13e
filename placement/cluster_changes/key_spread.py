"""Load of a topic spread over its partitions by shares, as its keys spread it."""

from dataclasses import replace
from typing import Any

import numpy as np

from placement.array_types import BoolArray, BytesArray, RateArray, RowArray
from placement.cluster_changes.load_changes import scaled_sizes
from placement.cluster_changes.partition_changes import set_partitions
from placement.cluster_changes.variant import Variant
from placement.model.cluster import UNKNOWN, ClusterState
from placement.model.columns import Replicas

RATES = ("in_bytes_per_s", "out_bytes_per_s", "leader_cpu_cores", "follower_cpu_cores")


def spread_by_shares(variant: Variant, topic: int, shares: RateArray) -> Variant:
    """
    Spread the total load of a topic over its partitions by shares.

    Parameters
    ----------
    variant
        Cluster to change.
    topic
        Row of the topic.
    shares
        ``(N,)`` share of each partition, which add up to 1. `N` is at least the number
        of partitions now; further ones are added as by `set_partitions`.

    Notes
    -----
    Sizes follow the shares too, as after the old data is deleted. Where the size of a
    partition is unknown, those of the whole topic are; likewise rates.
    """
    grown = set_partitions(variant, {topic: len(shares)})
    state = grown.state
    rows = np.nonzero(np.equal(state.partitions.topic_idx, topic))[0]
    columns: dict[str, Any] = {
        name: _spread(getattr(state.partitions, name), rows, shares) for name in RATES
    }
    spread = replace(state, partitions=replace(state.partitions, **columns))
    return grown.weighing(_with_sizes(spread, rows, shares))


def _spread(column: RateArray, rows: RowArray, shares: RateArray) -> RateArray:
    spread = column.copy()
    spread[rows] = column[rows].sum() * shares
    return spread


def _with_sizes(state: ClusterState, rows: RowArray, shares: RateArray) -> ClusterState:
    """Return the cluster with sizes by the shares, own sizes in proportion."""
    old = state.partitions.size_bytes
    sizes, remote = (
        _spread_bytes(getattr(state.partitions, name), rows, shares)
        for name in ("size_bytes", "remote_bytes")
    )
    ratio = np.where(old > 0, sizes / np.where(old > 0, old, 1), 1.0)
    scaled = scaled_sizes(state, ratio)
    exact = replace(scaled.partitions, size_bytes=sizes, remote_bytes=remote)
    is_new = np.equal(old, 0) & (sizes != 0) | np.equal(sizes, UNKNOWN)
    return replace(
        scaled, partitions=exact, replicas=_as_partition(scaled.replicas, is_new)
    )


def _spread_bytes(column: BytesArray, rows: RowArray, shares: RateArray) -> BytesArray:
    spread = column.copy()
    is_unknown = np.equal(column[rows], UNKNOWN).any()
    spread[rows] = (
        UNKNOWN if is_unknown else np.rint(column[rows].sum() * shares).astype(np.int64)
    )
    return spread


def _as_partition(replicas: Replicas, is_chosen: BoolArray) -> Replicas:
    """Return replicas of chosen partitions with the size of their partition."""
    own = np.where(is_chosen[replicas.partition_idx], UNKNOWN, replicas.own_bytes)
    return replace(replicas, own_bytes=own.astype(np.int64))
