"""Cluster after the changes of a scenario, before any plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Self

import numpy as np

from placement.array_types import CodeArray
from placement.cluster_changes.hardware_rows import broker_rows, dir_rows, rebuilt
from placement.model.cluster import ClusterState
from placement.model.free_space import usable_after


class Data(IntEnum):
    """Origin of the bytes of a replica."""

    THERE = 0
    COPIED = 1
    EMPTY = 2


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Variant:
    """
    Hypothetical cluster of a scenario.

    Parameters
    ----------
    state
        Cluster with all replicas. New replicas are on the brokers with most room.
    data
        ``(R,)`` `Data` of each replica: bytes that are present, that the change itself
        copies, or that producers will write (new topics and partitions).
    leaving
        Ids of live brokers to be emptied.
    lost_brokers, lost_racks
        Ids of lost brokers and names of lost racks, for the controllers' quorum.
    has_lost
        Whether brokers, racks or log dirs were lost.
    types
        Type by broker id, where known; for prices.
    notes
        Notes for the reader, one sentence each.
    """

    state: ClusterState
    data: CodeArray
    leaving: frozenset[int] = frozenset()
    lost_brokers: frozenset[int] = frozenset()
    lost_racks: frozenset[str] = frozenset()
    has_lost: bool = False
    types: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def noting(self, *sentences: str) -> Self:
        """Return this variant with further notes, each sentence once."""
        notes = dict.fromkeys((*self.notes, *sentences))
        return replace(self, notes=tuple(notes))

    def weighing(self, state: ClusterState) -> Self:
        """
        Return this variant with other sizes or rates on the same replicas.

        Bytes on a disk that belong to no replica stay the same.
        """
        usable = usable_after(self.state, state)
        dirs = replace(state.log_dirs, usable_bytes=usable)
        return replace(self, state=replace(state, log_dirs=dirs))


def variant_of(state: ClusterState) -> Variant:
    """Return the variant of an unchanged cluster."""
    return Variant(state=state, data=np.zeros(len(state.replicas), dtype=np.int8))


def without_brokers(state: ClusterState, broker_ids: frozenset[int]) -> ClusterState:
    """Return a cluster without some brokers, which must hold no replica."""
    if not broker_ids:
        return state
    return rebuilt(
        state,
        [row for row in broker_rows(state) if row.broker_id not in broker_ids],
        [row for row in dir_rows(state) if row.broker_id not in broker_ids],
    )


def held_by(state: ClusterState, broker_ids: frozenset[int]) -> int:
    """Return the number of replicas on some brokers."""
    chosen = np.isin(state.brokers.ids, sorted(broker_ids))
    return int(chosen[state.replicas.broker_idx].sum())
