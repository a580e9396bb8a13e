"""Change the replication factor of topics."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.core.model.problem import Movability
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft, Note
from placement.draft.rule_tables import MOST_CELLS, Eligibility
from placement.model.cluster import ClusterState, sum_rows
from placement.model.reassignment import Reassignment
from placement.operations.steps.factor_changes import Resized, resize
from placement.rules.fetch_sources import report_no_source
from placement.rules.frozen_partitions import UsableLogDirs, is_excluded, is_untouchable
from placement.rules.pinning import keep_still


@dataclass(frozen=True, slots=True)
class SetReplicationFactor:
    """
    Add or drop copies until partitions have the wanted number of replicas.

    *Goals*: brokers come near their bands. *Constraints*: no existing copy moves; racks
    are as even as possible; the last copy in sync stays. *Algorithm*: offline copies
    are dropped first, then copies from the fullest rack; new ones are added; the bands
    choose which copies and which brokers. A partition that keeps an
    offline replica is left alone.

    Parameters
    ----------
    factors
        Replication factor by topic; other topics keep theirs.
    notes
        Notes on the requested factors, added to the plan.
    """

    factors: Mapping[str, int]
    notes: tuple[Note, ...] = field(default=())

    def fill(self, draft: Draft) -> None:
        """Decide the copies to drop; the search finds brokers for the copies to add."""
        draft.notes += self.notes
        change_factors(draft, wanted_factors(draft.state, self.factors))


def wanted_factors(state: ClusterState, factors: Mapping[str, int]) -> RowArray:
    """Return ``(P,)`` wanted replication factors; 0 keeps the present one."""
    of_topic = np.array(
        [factors.get(name, 0) for name in state.topics.names], dtype=np.int64
    )
    if not len(of_topic):
        return np.zeros(0, dtype=np.int64)
    return of_topic[state.partitions.topic_idx]


def change_factors(draft: Draft, wanted: RowArray) -> None:
    """
    Change the replication factor of partitions that may change.

    Parameters
    ----------
    draft
        The draft, in which nothing has been decided yet.
    wanted
        ``(P,)`` replication factors; 0 keeps the present one.
    """
    state = draft.state
    UsableLogDirs().fill(draft)
    untouchable = is_untouchable(draft)
    now = state.replication_factor
    differs = (wanted > 0) & np.not_equal(wanted, now) & ~is_excluded(draft)
    drops = differs & untouchable & _may_drop_offline(draft, now - wanted)

    def resized_to(chosen: BoolArray) -> Resized:
        return resize(draft, np.where(chosen, wanted, state.num_replicas))

    resized = resized_to(differs & (drops | ~untouchable))
    keeps = drops & _has_offline(resized.lists.after())
    if keeps.any():
        # An offline replica may be the last in sync, which is never dropped.
        drops &= ~keeps
        resized = resized_to(differs & (drops | ~untouchable))
    untouchable &= ~drops
    chosen = differs & ~untouchable
    report_no_source(draft, differs & ~state.has_source)
    draft.shortfalls += [
        _left_alone(draft, int(p), int(now[p]), int(wanted[p]))
        for p in np.nonzero(differs & untouchable & ~draft.lacks_source)[0]
    ]
    draft.shortfalls += resized.shortfalls
    draft.decide(resized.lists, resized.is_unplaced)
    if draft.settings.frees_the_rest:
        draft.movability = np.where(
            resized.is_unplaced, Movability.MUST, Movability.MAY
        ).astype(np.int8)
        draft.may_lead_anew[:] = True
        _bring_back_nothing_behind(draft, resized.lists)
    else:
        draft.is_left_alone |= ~chosen & ~untouchable


def _may_drop_offline(draft: Draft, surplus: RowArray) -> BoolArray:
    """Return ``(P,)`` partitions whose offline replicas a lower factor may drop."""
    state = draft.state
    offline = sum_rows(state.is_offline, state.replicas.start)
    return (offline <= surplus) & ~is_untouchable(draft, drops_offline=True)


def _has_offline(state: ClusterState) -> BoolArray:
    """Return ``(P,)`` partitions with a replica that is offline."""
    return sum_rows(state.is_offline, state.replicas.start) > 0


def _bring_back_nothing_behind(draft: Draft, lists: Reassignment) -> None:
    """
    Exclude brokers of dropped copies out of sync as destinations of other replicas.

    Such a broker still has the copy, so that nothing would be copied: a replica in sync
    would leave and none would arrive.
    """
    before = lists.before
    replicas, num_brokers = before.replicas, before.num_brokers
    is_behind = lists.is_dropped & ~replicas.is_in_sync
    rows = np.nonzero(is_behind & before.brokers.is_live[replicas.broker_idx])[0]
    of = replicas.partition_idx[rows]
    concerned, place = np.unique(of, return_inverse=True)
    if len(concerned) * num_brokers > MOST_CELLS:
        is_concerned = np.bincount(of, minlength=before.num_partitions) > 0
        keep_still(draft, is_concerned[draft.state.replicas.partition_idx])
        return
    closed = np.zeros((len(concerned), num_brokers), dtype=np.bool_)
    closed[place, replicas.broker_idx[rows]] = True
    kinds, kind = np.unique(closed, axis=0, return_inverse=True)
    partition_class = np.zeros(before.num_partitions, dtype=np.int64)
    partition_class[concerned] = 1 + kind.reshape(-1)
    everywhere = np.ones((1, num_brokers), dtype=np.bool_)
    allowed = np.concatenate([everywhere, ~kinds])
    draft.eligibility.append(Eligibility(partition_class, allowed))


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
