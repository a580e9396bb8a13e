"""Give topics another replication factor."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from placement.cluster import ClusterState
from placement.core.problem import Movability
from placement.core.solution import Shortfall
from placement.operations.resizing import resize
from placement.rules.draft import Draft, Note
from placement.rules.left_alone import UsableLogDirs, is_excluded, is_untouchable

RowArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SetReplicationFactor:
    """
    Add copies, or drop some, until partitions have as many as wanted.

    *Goals*: brokers come near their bands. *Constraints*: no copy that exists moves;
    racks are as even as they can be; the last copy in sync stays. *Algorithm*: copies
    are dropped one by one from the fullest rack, where the bands want it; new ones go
    where the bands want them.

    Parameters
    ----------
    factors
        Replication factor by topic; others keep theirs.
    notes
        What is to be said about the wish.
    """

    factors: Mapping[str, int]
    notes: tuple[Note, ...] = field(default=())
    goal: str = "set-replication-factor"

    def fill(self, draft: Draft) -> None:
        """Decide on what is dropped; let the bands find brokers for what is added."""
        draft.notes += self.notes
        change_factors(draft, wanted_factors(draft.state, self.factors))


def wanted_factors(state: ClusterState, factors: Mapping[str, int]) -> RowArray:
    """Return ``(P,)`` the factor wanted of each partition; 0: that which it has."""
    of_topic = np.array(
        [factors.get(name, 0) for name in state.topics.names], dtype=np.int64
    )
    if not len(of_topic):
        return np.zeros(0, dtype=np.int64)
    return of_topic[state.partitions.topic_idx]


def change_factors(draft: Draft, wanted: RowArray) -> None:
    """
    Give partitions other factors, as far as they may be touched.

    Parameters
    ----------
    draft
        The draft, in which nothing has been decided yet.
    wanted
        ``(P,)`` factors; 0: that of now.
    """
    state = draft.state
    UsableLogDirs().fill(draft)
    untouchable = is_untouchable(draft)
    now = state.replication_factor
    differs = (wanted > 0) & np.not_equal(wanted, now) & ~is_excluded(draft)
    chosen = differs & ~untouchable
    resized = resize(draft, np.where(chosen, wanted, state.num_replicas))
    draft.shortfalls += [
        _left_alone(draft, int(p), int(now[p]), int(wanted[p]))
        for p in np.nonzero(differs & untouchable)[0]
    ]
    draft.shortfalls += resized.shortfalls
    draft.decide(resized.lists, resized.is_unplaced)
    if draft.settings.frees_the_rest:
        draft.movability = np.where(
            resized.is_unplaced, Movability.MUST, Movability.MAY
        ).astype(np.int8)
        draft.may_lead_anew[:] = True
    else:
        draft.is_left_alone |= ~chosen & ~untouchable


def _left_alone(draft: Draft, p: int, have: int, need: int) -> Shortfall:
    return Shortfall(
        what="bins",
        have=have,
        need=need,
        group=p,
        level="replica",
        message=f"{draft.state.name_of(p)} keeps {have} replicas: it is left alone, "
        "see the notes",
    )
