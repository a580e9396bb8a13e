"""Rule that every copy has a live replica to fetch from."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.check.case.finding import Finding
from placement.check.case.placed_replicas import serves
from placement.check.case.plan_case import Case
from placement.model.cluster import ClusterState


def no_source(case: Case) -> Iterator[Finding]:
    """
    Yield the partitions without a replica to fetch a copy from.

    A plan that copies such a partition hangs. The finding is existing if the plan makes
    no copy of the partition.
    """
    is_lacking = ~_can_be_fetched(case.state)
    copies = np.bincount(
        case.after.partition_idx[case.is_new], minlength=case.state.num_partitions
    )
    for partition in np.flatnonzero(is_lacking).tolist():
        yield _finding(case, partition, int(copies[partition]))


def _finding(case: Case, partition: int, copies: int) -> Finding:
    message = "no live replica is in sync, so nothing can be copied"
    if copies:
        noun = "copy" if copies == 1 else "copies"
        message += f"; the plan asks for {copies} {noun}, which would hang"
    finding = case.finding("no-source", partition, message)
    return replace(finding, existing=not copies)


def _can_be_fetched(state: ClusterState) -> BoolArray:
    """Return ``(P,)`` true where a live replica leads, is in sync or is eligible."""
    replicas = state.replicas
    of = np.repeat(np.arange(state.num_partitions), np.diff(replicas.start))
    is_able = serves(state)
    leads = np.equal(replicas.broker_idx, state.partitions.leader_idx[of])
    in_sync = _partitions(state, of[is_able & (replicas.is_in_sync | leads)])
    # The ELR counts only once no replica is in sync (KIP-966).
    eligible = _partitions(state, of[is_able & replicas.is_eligible])
    return in_sync | eligible


def _partitions(state: ClusterState, rows: IntArray) -> BoolArray:
    found = np.zeros(state.num_partitions, dtype=np.bool_)
    found[rows] = True
    return found
