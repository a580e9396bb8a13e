"""Replicas that are offline, may lead, and serve copies."""

import numpy as np

from placement.cluster import BoolArray, ClusterState, sum_rows
from placement.failures.decision import is_usable


def offline(state: ClusterState) -> BoolArray:
    """Return ``(R,)`` true for replicas that cannot be served."""
    off: BoolArray = ~is_usable(state)
    return off


def can_lead(state: ClusterState) -> BoolArray:
    """Return ``(R,)`` true for replicas that may be elected without loss."""
    replicas = state.replicas
    usable = is_usable(state)
    in_sync = usable & replicas.is_in_sync
    has_isr = (sum_rows(in_sync, replicas.start) > 0)[replicas.partition_idx]
    found: BoolArray = np.where(has_isr, in_sync, usable & replicas.is_eligible)
    return found


def has_source(state: ClusterState) -> BoolArray:
    """Return ``(P,)`` true where a copy can be fetched now."""
    found: BoolArray = sum_rows(can_lead(state), state.replicas.start) > 0
    return found
