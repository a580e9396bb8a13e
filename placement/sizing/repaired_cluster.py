"""Cluster with all replicas back: what is out today is no matter of its size."""

from dataclasses import replace

import numpy as np

from placement.cluster_changes.variant import Variant
from placement.model.cluster import ABSENT, BrokerState, LogDirState


def repaired(variant: Variant) -> Variant:
    """
    Return a cluster that carries all replicas, whatever is out of it today.

    A size is asked for the whole load. So brokers that are not live count as leaving,
    replicas in failed log dirs as in others of their brokers, and all as in sync: a
    plan leaves none of them alone.
    """
    state = variant.state
    brokers, replicas, dirs = state.brokers, state.replicas, state.log_dirs
    if not state.is_offline.any():
        return variant
    away = brokers.ids[~brokers.is_live].tolist()
    is_lost = np.equal(replicas.log_dir_idx, ABSENT)
    if len(dirs):
        is_lost |= np.equal(dirs.state, LogDirState.OFFLINE)[replicas.log_dir_idx]
    first = replicas.broker_idx_at(replicas.start[:-1])
    leader = state.partitions.leader_idx
    back = replace(
        state,
        brokers=replace(
            brokers,
            state=np.where(brokers.is_live, brokers.state, BrokerState.ALIVE).astype(
                brokers.state.dtype
            ),
        ),
        partitions=replace(
            state.partitions,
            leader_idx=np.where(np.equal(leader, ABSENT), first, leader),
        ),
        replicas=replace(
            replicas,
            is_in_sync=np.ones_like(replicas.is_in_sync),
            is_failed=np.zeros_like(replicas.is_failed),
            log_dir_idx=np.where(is_lost, ABSENT, replicas.log_dir_idx).astype(
                replicas.log_dir_idx.dtype
            ),
        ),
    )
    return replace(variant, state=back, leaving=variant.leaving | frozenset(away))
