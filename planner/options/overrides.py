"""Cluster as the settings of a plan define it: mapped racks, estimated loads."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from placement.array_types import RateArray
from placement.model.cluster import ClusterState
from planner.options.declared.rule_readers import CPU_WEIGHTS

LEADER_IN, LEADER_OUT, FOLLOWER_IN = CPU_WEIGHTS
MEGABYTE = 1e6


def with_cpu_weights(state: ClusterState, weights: Mapping[str, float]) -> ClusterState:
    """
    Estimate the CPU cores of replicas whose load was not measured.

    A leader uses cores in proportion to the bytes written to it, and to the bytes that
    it sends to consumers and followers; a follower in proportion to the bytes that it
    fetches. Measured values are kept. If a rate is unknown, so is the estimate.

    Parameters
    ----------
    state
        The cluster.
    weights
        Cores per MB/s by name; absent: 0. Empty: nothing is estimated.
    """
    if not weights:
        return state
    partitions, factor = state.partitions, state.replication_factor
    inbound = partitions.in_bytes_per_s / MEGABYTE
    outbound = partitions.out_bytes_per_s / MEGABYTE
    sent = outbound + np.where(factor > 1, (factor - 1) * inbound, 0.0)
    leader = _part(weights, LEADER_IN, inbound) + _part(weights, LEADER_OUT, sent)
    follower = _part(weights, FOLLOWER_IN, inbound)
    return replace(
        state,
        partitions=replace(
            partitions,
            leader_cpu_cores=_filled(partitions.leader_cpu_cores, leader),
            follower_cpu_cores=_filled(partitions.follower_cpu_cores, follower),
        ),
    )


def _part(weights: Mapping[str, float], name: str, rate: RateArray) -> RateArray:
    weight = weights.get(name, 0.0)
    return weight * rate if weight else np.zeros_like(rate)


def _filled(measured: RateArray, estimate: RateArray) -> RateArray:
    return np.where(np.isfinite(measured), measured, estimate)


def with_rack_map(state: ClusterState, racks: Mapping[str, str]) -> ClusterState:
    """Return a cluster with mapped racks merged into their targets."""
    if not racks:
        return state
    brokers = state.brokers
    named = [None if rack is None else racks.get(rack, rack) for rack in brokers.racks]
    names: list[str | None] = []
    row_of: dict[str, int] = {}
    rows = np.zeros(len(named), dtype=np.int32)
    for old, name in enumerate(named):
        if name is not None and name in row_of:
            rows[old] = row_of[name]
            continue
        rows[old] = len(names)
        if name is not None:
            row_of[name] = len(names)
        names.append(name)
    mapped = replace(
        brokers,
        rack_idx=rows[brokers.rack_idx] if len(rows) else brokers.rack_idx,
        racks=tuple(names),
    )
    return replace(state, brokers=mapped)


def seen_as(
    state: ClusterState, racks: Mapping[str, str], weights: Mapping[str, float]
) -> ClusterState:
    """
    Return a cluster as a plan uses it, with mapped racks and estimated loads.

    Parameters
    ----------
    state
        The cluster of the snapshot.
    racks
        Mapping of racks.
    weights
        Cores per MB/s.
    """
    return with_cpu_weights(with_rack_map(state, racks), weights)
