"""A cluster as it would be once a scenario's changes are made, before any plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Self

import numpy as np

from placement.model.cluster import ClusterState, CodeArray
from placement.model.reassignment import usable_after
from placement.scenarios.changes.hardware_rows import broker_rows, dir_rows, rebuilt


class Data(IntEnum):
    """Where the bytes of a replica come from."""

    THERE = 0
    COPIED = 1
    EMPTY = 2


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Variant:
    """
    A cluster that need not exist.

    Parameters
    ----------
    state
        Where every replica would lie. New ones lie where there is most room.
    data
        ``(R,)`` a `Data` each: bytes that are there, that the change itself copies,
        or that will be written there (new topics and partitions).
    leaving
        Ids of live brokers that are to be emptied.
    lost_brokers, lost_racks
        Ids and names of what was lost, for the controllers' quorum.
    has_lost
        Whether brokers, racks or log dirs were lost.
    types
        By id the type of each broker that has one; for prices.
    notes
        What a reader should know, one sentence each.
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
        """Return this variant with more to know, each sentence once."""
        notes = dict.fromkeys((*self.notes, *sentences))
        return replace(self, notes=tuple(notes))

    def weighing(self, state: ClusterState) -> Self:
        """
        Return this variant with other sizes or rates on the same replicas.

        What no replica explains on a disk stays what it was.
        """
        usable = usable_after(self.state, state)
        dirs = replace(state.log_dirs, usable_bytes=usable)
        return replace(self, state=replace(state, log_dirs=dirs))


def variant_of(state: ClusterState) -> Variant:
    """Return a cluster as it is."""
    return Variant(state=state, data=np.zeros(len(state.replicas), dtype=np.int8))


def without_brokers(state: ClusterState, broker_ids: frozenset[int]) -> ClusterState:
    """Return a cluster without some brokers, which must hold nothing."""
    if not broker_ids:
        return state
    return rebuilt(
        state,
        [row for row in broker_rows(state) if row.broker_id not in broker_ids],
        [row for row in dir_rows(state) if row.broker_id not in broker_ids],
    )


def held_by(state: ClusterState, broker_ids: frozenset[int]) -> int:
    """Return how many replicas lie on some brokers."""
    chosen = np.isin(state.brokers.ids, sorted(broker_ids))
    return int(chosen[state.replicas.broker_idx].sum())
