"""Replication traffic between racks, by partition."""

import numpy as np

from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import WeightArray


def crossing_bytes_per_s(state: ClusterState) -> WeightArray:
    """Return ``(P,)`` bytes/s to followers in other racks; unknown rates are 0."""
    rates: WeightArray = np.nan_to_num(state.partitions.in_bytes_per_s)
    return rates * in_other_racks(state)


def in_other_racks(state: ClusterState) -> WeightArray:
    """Return ``(P,)`` the number of followers in other racks than their leader."""
    racks = state.brokers.rack_idx
    of, leader = (
        state.replicas.partition_idx,
        state.partitions.leader_idx[state.replicas.partition_idx],
    )
    away = (leader != ABSENT) & (racks[leader] != racks[state.replicas.broker_idx])
    counted: WeightArray = np.bincount(of[away], minlength=state.num_partitions)
    return counted
