"""Place partitions that do not exist yet; existing partitions stay."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.problem import Movability
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft

MOST_LISTED = 1000
"""Maximum number of new partitions examined: those of a topic are much alike."""


@dataclass(frozen=True, slots=True, eq=False)
class NewPartitions:
    """
    Place new replicas; everything else stays.

    Parameters
    ----------
    is_new
        ``(P,)`` true for partitions of the future cluster that do not exist yet.
    is_fixed
        Whether the brokers of the new partitions are given.
    """

    is_new: BoolArray
    is_fixed: bool = False

    def fill(self, draft: Draft) -> None:
        """Allow new replicas on any broker at no cost, as they hold no bytes yet."""
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
    Require enough brokers for new replicas, at least one of which may lead.

    To the search, new replicas are on placeholder brokers and may stay there. This rule
    comes after all rules that decide which brokers may receive replicas.

    Parameters
    ----------
    is_new
        ``(P,)`` true for partitions that do not exist yet.
    """

    is_new: BoolArray
    name: str = "places-for-new"

    def fill(self, draft: Draft) -> None:
        """Add a shortfall for each new partition with too few brokers."""
        known: dict[tuple[int, ...], tuple[int, int]] = {}
        for p in np.nonzero(self.is_new)[0][:MOST_LISTED].tolist():
            kind = tuple(int(table.partition_class[p]) for table in draft.eligibility)
            if kind not in known:
                is_open = draft.open_to(p)
                known[kind] = int(is_open.sum()), int((is_open & draft.leads).sum())
            draft.shortfalls += _lacking(draft, p, *known[kind])


def _lacking(draft: Draft, p: int, places: int, leaders: int) -> Iterator[Shortfall]:
    """Yield the brokers, and the potential leaders, that a new partition lacks."""
    factor = int(draft.state.replication_factor[p])
    for what, have, need in (("bins", places, factor), ("roles", leaders, 1)):
        if have < need:
            yield Shortfall(
                what=what, have=have, need=need, group=p, level="broker", is_proven=True
            )
