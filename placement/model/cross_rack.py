"""
Copies that cross racks.

Kafka copies a replica from the partition's leader, independent of the replica's
previous broker. A copy crosses racks if its broker is in another rack than the
leader's. Each broker without a rack is a rack of its own.
"""

import numpy as np

from placement.array_types import RowArray
from placement.model.cluster import ABSENT, ClusterState
from placement.model.copies import sent_by
from placement.model.load import WeightArray, Weights
from placement.model.reassignment import Reassignment


def source_racks(state: ClusterState) -> RowArray:
    """Return ``(P,)`` the rack that copies come from; `ABSENT` without a source."""
    source = sent_by(state)
    rack = state.brokers.rack_idx.astype(np.int64)
    return np.where(source == ABSENT, ABSENT, rack[source])


def crossing_copies(reassignment: Reassignment, weights: Weights) -> WeightArray:
    """
    Return ``(M,)`` the bytes of each copy that crosses racks; 0 for other places.

    Parameters
    ----------
    reassignment
        Replica lists before and after.
    weights
        Weights of the replicas.
    """
    state, of = reassignment.before, reassignment.partition_idx
    source = source_racks(state)[of]
    lands = state.brokers.rack_idx[reassignment.broker_idx]
    crosses = reassignment.is_copied & (source != ABSENT) & (source != lands)
    return np.where(crosses, weights.copy_bytes[of], 0)
