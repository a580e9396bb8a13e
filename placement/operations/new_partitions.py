"""Place partitions that do not exist yet; what exists stays."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from placement.core.model.problem import Movability
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft
from placement.model.cluster import BoolArray

MOST_LISTED = 1000
"""Partitions that are looked at: those of a topic are much alike."""


@dataclass(frozen=True, slots=True, eq=False)
class NewPartitions:
    """
    New replicas alone have no place yet.

    Parameters
    ----------
    is_new
        ``(P,)`` partitions of the cluster as it will be that do not exist yet.
    is_fixed
        Whether somebody has said where these lie.
    """

    is_new: BoolArray
    is_fixed: bool = False
    goal: str = "new-topic"

    def fill(self, draft: Draft) -> None:
        """Let new replicas go anywhere, for nothing: there are no bytes yet."""
        replicas = draft.state.replicas
        may = self.is_new & (not self.is_fixed)
        draft.movability[:] = np.where(
            may[replicas.partition_idx], Movability.MAY, Movability.NEVER
        )
        draft.may_lead_anew &= may
        draft.is_left_alone |= ~self.is_new
        copy_bytes = np.where(self.is_new, 0, draft.weights.copy_bytes)
        draft.weights = replace(draft.weights, copy_bytes=copy_bytes)


@dataclass(frozen=True, slots=True, eq=False)
class PlacesForNew:
    """
    New replicas need brokers that may get them, one of which may lead.

    To the search they lie somewhere already, and may stay there. Comes after all rules
    that say who may get what.

    Parameters
    ----------
    is_new
        ``(P,)`` partitions that do not exist yet.
    """

    is_new: BoolArray
    name: str = "places-for-new"

    def fill(self, draft: Draft) -> None:
        """Say which partitions have too few."""
        known: dict[tuple[int, ...], tuple[int, int]] = {}
        for p in np.nonzero(self.is_new)[0][:MOST_LISTED].tolist():
            kind = tuple(int(table.partition_class[p]) for table in draft.eligibility)
            if kind not in known:
                is_open = draft.open_to(p)
                known[kind] = int(is_open.sum()), int((is_open & draft.leads).sum())
            draft.shortfalls += _lacking(draft, p, *known[kind])


def _lacking(draft: Draft, p: int, places: int, leaders: int) -> Iterator[Shortfall]:
    """Yield what a new partition lacks, of places and of brokers that may lead."""
    factor = int(draft.state.replication_factor[p])
    for what, have, need in (("bins", places, factor), ("roles", leaders, 1)):
        if have < need:
            yield Shortfall(
                what=what, have=have, need=need, group=p, level="broker", is_proven=True
            )
