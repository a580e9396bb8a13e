"""Traffic between racks, and bytes in remote storage."""

import numpy as np

from placement.model.cluster import ABSENT, ClusterState


def knows_racks(state: ClusterState) -> bool:
    """Return whether every live broker has a known rack, and there are several."""
    live = state.brokers.rack_idx[state.brokers.is_live].tolist()
    names = {state.brokers.racks[rack] for rack in live}
    return None not in names and len(names) > 1


def cross_rack_rate(state: ClusterState) -> float | None:
    """
    Return the bytes/s that followers fetch from leaders in another rack.

    `None` where racks or write rates are unknown. Traffic of producers and consumers is
    not included, because a snapshot does not contain their racks.
    """
    rate = state.partitions.in_bytes_per_s
    if not knows_racks(state) or not np.isfinite(rate).all():
        return None
    of, holder = state.replicas.partition_idx, state.replicas.broker_idx
    leader = state.partitions.leader_idx[of]
    racks = state.brokers.rack_idx
    away = (leader != ABSENT) & ~state.is_offline
    away &= racks[leader] != racks[holder]
    return float(rate[of[away]].sum())


def remote_bytes(state: ClusterState) -> int:
    """Return the known bytes in remote storage."""
    return int(np.maximum(state.partitions.remote_bytes, 0).sum())
