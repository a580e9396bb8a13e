"""Repair defects and change nothing else."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.core.model.problem import Movability
from placement.draft.draft import Draft, Note
from placement.model.cluster import ABSENT, BrokerState, ClusterState, sum_rows
from placement.model.load import first_live_replica, first_true
from placement.operations.steps.evacuate import in_failed_dirs
from placement.operations.steps.factor_changes import resize
from placement.operations.steps.rack_movers import rack_movers
from placement.rules.fetch_sources import report_no_source
from placement.rules.frozen_partitions import UsableLogDirs, is_untouchable
from placement.rules.pinning import topics_kept
from placement.rules.rack_rules import crowded, may_leave_racks

LEFT_OFFLINE = "left-offline"
"""Kind of the note on offline replicas that `fix` leaves alone."""


class Defect(StrEnum):
    """A kind of defect that `fix` repairs."""

    OFFLINE = "offline"
    """Replicas on dead brokers."""
    RACKS = "racks"
    """More replicas of a partition in a rack than the rack rule allows."""
    LOG_DIRS = "log-dirs"
    """Replicas in log dirs that are offline."""
    REPLICATION_FACTOR = "replication-factor"
    """Partitions whose replication factor differs from most of their topic."""


@dataclass(frozen=True, slots=True)
class Fix:
    """
    Copy replicas off dead brokers and failed log dirs; repair racks and factors.

    *Goals*: the fewest copies for the repair; the bands choose their brokers.
    *Constraints*: only defective partitions change. *Algorithm*: replication factors
    are repaired first; then the replicas that must leave their broker are marked, in
    crowded racks as few as possible.

    Parameters
    ----------
    only
        Kinds of defects to repair.
    lost
        Ids of brokers that are not live and count as lost for good. Kafka keeps a
        broker that died as fenced until it is unregistered.
    """

    only: frozenset[Defect] = frozenset(Defect)
    lost: frozenset[int] = frozenset()

    def fill(self, draft: Draft) -> None:
        """Mark the replicas with defects as those that must move."""
        draft.repairs_racks |= Defect.RACKS in self.only
        self._leave_the_dead(draft)
        self._mark_log_dirs(draft)
        UsableLogDirs().fill(draft)
        self._note_left_offline(draft)
        has_source = draft.state.has_source
        # The rule `NeedSource` reports partitions that need a change and have no
        # source.
        untouchable = is_untouchable(draft) & has_source
        changed = self._mend_factors(draft, untouchable, has_source)
        must = self._must_move(draft, untouchable, has_source)
        start = draft.state.replicas.start
        touched = changed | (first_true(must, start) != ABSENT)
        if draft.is_unplaced is not None:
            must |= draft.is_unplaced
        frees = draft.settings.frees_the_rest
        rest = Movability.MAY if frees else Movability.NEVER
        draft.movability = np.where(must, Movability.MUST, rest).astype(np.int8)
        draft.may_lead_anew = _loses_leader(draft, must) | frees
        if not frees:
            draft.is_left_alone |= ~touched & ~untouchable

    def _leave_the_dead(self, draft: Draft) -> None:
        if Defect.OFFLINE not in self.only:
            return
        brokers = draft.state.brokers
        draft.leaves |= np.equal(brokers.state, BrokerState.DEAD)
        draft.leaves |= np.isin(brokers.ids, sorted(self.lost)) & ~brokers.is_live
        draft.to_empty |= draft.leaves
        for those_that_stay in (draft.holds, draft.leads, draft.may_receive):
            those_that_stay[draft.leaves] = False

    def _note_left_offline(self, draft: Draft) -> None:
        """Add notes on brokers whose offline replicas stay, as they may come back."""
        if Defect.OFFLINE not in self.only:
            return
        state = draft.state
        waits = ~state.brokers.is_live & ~draft.leaves
        count = np.bincount(state.replicas.broker_idx, minlength=state.num_brokers)
        for broker in np.nonzero(waits & (count > 0))[0].tolist():
            draft.note(_left_offline(state, broker, int(count[broker])))

    def _mark_log_dirs(self, draft: Draft) -> None:
        if Defect.LOG_DIRS in self.only:
            draft.movability[in_failed_dirs(draft)] = Movability.MUST

    def _mend_factors(
        self, draft: Draft, untouchable: BoolArray, has_source: BoolArray
    ) -> BoolArray:
        """Change deviating factors to the usual one; return ``(P,)`` those changed."""
        state = draft.state
        if Defect.REPLICATION_FACTOR not in self.only:
            return np.zeros(state.num_partitions, dtype=np.bool_)
        wanted = usual_factors(state)
        least = state.topics.min_insync_replicas[state.partitions.topic_idx]
        # No replica is dropped if the factor would fall below min.insync.replicas, or
        # if
        # fewer than that might remain in sync: this would not be a repair.
        in_sync = sum_rows(state.replicas.is_in_sync, state.replicas.start)
        left = in_sync - np.maximum(state.num_replicas - wanted, 0)
        is_safe = (wanted > state.num_replicas) | ((wanted >= least) & (left >= least))
        differs = np.not_equal(wanted, state.num_replicas) & is_safe & ~untouchable
        report_no_source(draft, differs & ~has_source)
        changed: BoolArray = differs & has_source
        if changed.any():
            resized = resize(draft, np.where(changed, wanted, state.num_replicas))
            draft.shortfalls += resized.shortfalls
            draft.decide(resized.lists, resized.is_unplaced)
        return changed

    def _must_move(
        self, draft: Draft, untouchable: BoolArray, has_source: BoolArray
    ) -> BoolArray:
        """Return ``(R,)`` true for replicas that must leave their broker or log dir."""
        replicas = draft.state.replicas
        must: BoolArray = draft.leaves[replicas.broker_idx]
        if Defect.LOG_DIRS in self.only:
            must |= in_failed_dirs(draft)
        must &= ~untouchable[replicas.partition_idx]
        if Defect.RACKS in self.only:
            moving = must if draft.is_unplaced is None else must | draft.is_unplaced
            kept = topics_kept(draft)[draft.state.partitions.topic_idx]
            may = ~untouchable & ~kept & has_source
            must |= _out_of_racks(draft, rack_movers(draft, moving, may))
        return must


def _left_offline(state: ClusterState, broker: int, count: int) -> Note:
    """Return the note on a broker that is not live and not lost for good."""
    broker_id = int(state.brokers.ids[broker])
    word = BrokerState(state.brokers.state[broker]).words
    verb, noun = ("is", "replica") if count == 1 else ("are", "replicas")
    return Note(
        what=LEFT_OFFLINE,
        message=f"{count:,} {noun} on broker {broker_id}, which is {word}, {verb} left "
        "alone, because it may come back: start it. If it is gone for good, run "
        f"plan fix --lost {broker_id}, or plan remove-brokers --broker-list "
        f"{broker_id}, and unregister it afterwards",
        where={"broker": broker_id},
        have=float(count),
        need=0.0,
    )


def _out_of_racks(draft: Draft, movers: BoolArray) -> BoolArray:
    """Return the movers that may leave their racks; report partitions with others."""
    of = draft.state.replicas.partition_idx
    may: BoolArray = movers & may_leave_racks(draft)[of]
    draft.shortfalls += crowded(draft, np.unique(of[movers & ~may]))
    return may


def usual_factors(state: ClusterState) -> RowArray:
    """
    Return ``(P,)`` the most frequent replication factor of the topic.

    If several factors are equally frequent, the largest one counts.
    """
    factor, topic = state.replication_factor, state.partitions.topic_idx
    if not len(factor):
        return factor
    width = int(factor.max()) + 1
    counts = np.bincount(topic * width + factor, minlength=len(state.topics) * width)
    by_topic = counts.reshape(len(state.topics), width)
    usual: RowArray = width - 1 - np.argmax(by_topic[:, ::-1], axis=1)
    return usual[topic]


def _loses_leader(draft: Draft, must: BoolArray) -> BoolArray:
    """Return ``(P,)`` true where the first live replica, or else the first, leaves."""
    start = draft.state.replicas.start
    led = first_live_replica(draft.state)
    led = np.where(led == ABSENT, start[:-1], led)
    return must[led] if len(must) else np.zeros(len(led), dtype=np.bool_)
