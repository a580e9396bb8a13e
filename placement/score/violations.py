"""Which rules each partition breaks."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from placement.cluster import ABSENT, BoolArray, ClusterState, LogDirState, sum_rows
from placement.targets import rack_limit

Counts = npt.NDArray[np.int64]

VIOLATIONS = (
    "rack",
    "offline_replicas",
    "offline_partitions",
    "under_replicated",
    "under_min_isr",
    "at_min_isr",
    "leader_not_preferred",
    "over_capacity",
    "rf1",
    "rf_equals_min_isr",
)
"""All that a score counts: of partitions, but for replicas and `over_capacity`."""


def partition_violations(
    state: ClusterState, holds: BoolArray, leader_idx: npt.NDArray[np.int32]
) -> Mapping[str, Counts]:
    """
    Count what is wrong with each partition.

    Parameters
    ----------
    state
        The cluster.
    holds
        ``(B,)`` brokers that count for the rack rule.
    leader_idx
        ``(P,)`` row of the broker that leads, or `ABSENT`.

    Returns
    -------
    ``(P,)`` by rule: 1 where it is broken; `offline_replicas` counts replicas. All of
    `VIOLATIONS` but `over_capacity`, which is one of brokers.
    """
    replicas, start = state.replicas, state.replicas.start
    factor = state.replication_factor
    in_sync = sum_rows(replicas.is_in_sync, start)
    min_isr = state.topics.min_insync_replicas[state.partitions.topic_idx]
    first = replicas.broker_idx_at(start[:-1])
    is_led = np.not_equal(leader_idx, ABSENT)
    broken = {
        "rack": rack_broken(state, holds),
        "offline_replicas": sum_rows(is_offline(state), start),
        "offline_partitions": ~is_led,
        "under_replicated": in_sync < factor,
        "under_min_isr": in_sync < min_isr,
        "at_min_isr": in_sync == min_isr,
        "leader_not_preferred": is_led & (leader_idx != first),
        "rf1": factor == 1,
        "rf_equals_min_isr": factor == min_isr,
    }
    return {name: counts.astype(np.int64) for name, counts in broken.items()}


def is_offline(state: ClusterState) -> BoolArray:
    """Return ``(R,)`` true for replicas on a broker or log dir that does not serve."""
    replicas = state.replicas
    off: BoolArray = ~state.brokers.is_live[replicas.broker_idx]
    if len(state.log_dirs):
        dead_dir = np.equal(state.log_dirs.state, LogDirState.OFFLINE)
        located = np.not_equal(replicas.log_dir_idx, ABSENT)
        off = off | (located & dead_dir[replicas.log_dir_idx])
    return off


def rack_broken(state: ClusterState, holds: BoolArray) -> BoolArray:
    """
    Return ``(P,)`` true for partitions that break the rack rule.

    Parameters
    ----------
    state
        The cluster.
    holds
        ``(B,)`` brokers that count; replicas elsewhere are not looked at.
    """
    racks, num_racks = state.brokers.rack_idx, state.num_racks
    in_rack = np.bincount(racks[holds], minlength=num_racks)
    limit = rack_limit(state.replication_factor, in_rack)
    replicas = state.replicas
    counted = holds[replicas.broker_idx]
    key = replicas.partition_idx.astype(np.int64) * max(num_racks, 1)
    key = key[counted] + racks[replicas.broker_idx[counted]]
    keys, counts = np.unique(key, return_counts=True)
    of = keys // max(num_racks, 1)
    broken = np.zeros(state.num_partitions, dtype=np.bool_)
    broken[of[counts > limit[of]]] = True
    # With κ = 1 no rack can hold two more than another; only wider rows need a look.
    fullest = np.zeros(state.num_partitions, dtype=np.int64)
    np.maximum.at(fullest, of, counts)
    for p in np.nonzero((fullest > 1) & ~broken)[0]:
        held = np.zeros(num_racks, dtype=np.int64)
        low, high = np.searchsorted(keys, [p * num_racks, (p + 1) * num_racks])
        held[keys[low:high] - p * num_racks] = counts[low:high]
        free = held < in_rack
        broken[p] = bool(free.any() and held.max() - held[free].min() > 1)
    return broken
