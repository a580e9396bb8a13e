"""Replace brokers by others."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT
from placement.model.load import first_live_replica, first_true
from placement.model.reassignment import reassign
from placement.operations.steps.broker_successors import Replacing
from placement.rules.fetch_sources import report_no_source
from placement.rules.frozen_partitions import UsableLogDirs, is_untouchable
from placement.rules.pinning import kept_leaders


@dataclass(frozen=True, slots=True)
class ReplaceBroker:
    """
    Replace brokers by others: the same replicas in the same list positions.

    *Goals*: every list names the new broker where it named the old one. *Constraints*:
    a list does not name a broker twice; racks are as even as possible; no broker
    exceeds a capacity. *Algorithm*: pair by pair, largest replicas first; a replica
    that cannot go to its new broker stays, and is reported as a shortfall.

    Parameters
    ----------
    pairs
        Ids of the old and the new broker of each pair, all different.
    """

    pairs: tuple[tuple[int, int], ...]

    def fill(self, draft: Draft) -> None:
        """Decide the new broker of every replica on the old brokers."""
        rows = draft.state.brokers.rows_of
        olds, news = (rows([pair[side] for pair in self.pairs]) for side in (0, 1))
        _say_who_leaves(draft, olds, news)
        UsableLogDirs().fill(draft)
        before, untouchable = draft.state, is_untouchable(draft)
        pairs = list(zip(olds.tolist(), news.tolist(), strict=True))
        placing = Replacing(draft, untouchable, pairs)
        # One pair may free capacity for another pair.
        while sum(placing.replace(*pair) for pair in pairs):
            pass
        was_on = np.isin(before.replicas.broker_idx, olds)
        concerned = first_true(was_on, before.replicas.start) != ABSENT
        report_no_source(draft, concerned & ~before.has_source)
        left = [
            one
            for old in olds.tolist()
            for one in placing.reasons(old)
            if not draft.lacks_source[one.group]
        ]
        draft.decide(reassign(before, placing.broker_of, _leading(draft, placing)))
        if draft.settings.frees_the_rest:
            draft.to_empty[olds] = True
            _free_the_rest(draft, was_on, placing.is_replaced)
            return
        draft.is_left_alone |= ~concerned & ~untouchable
        draft.shortfalls += left


def _say_who_leaves(draft: Draft, olds: IndexArray, news: IndexArray) -> None:
    draft.leaves[olds] = True
    draft.is_new[news] = True
    for stays in (draft.holds, draft.leads, draft.may_receive):
        stays[olds] = False


def _leading(draft: Draft, placing: Replacing) -> RowArray:
    """Return ``(P,)`` the replica that leads: the first live one that may."""
    brokers, replicas = draft.state.brokers, draft.state.replicas
    is_live = brokers.is_live[placing.broker_of]
    first = first_true(is_live, replicas.start)
    allowed = first_true(placing.can_lead(), replicas.start)
    touched = first_true(placing.is_replaced, replicas.start) != ABSENT
    # A new broker that may not lead passes leadership by position on to another.
    barred = placing.is_replaced & ~draft.leads[placing.broker_of]
    by_new = touched & barred[first]
    moved = np.where(by_new & (allowed != ABSENT), allowed, first)
    # With leaders kept, the replica that leads for a dead broker remains the leader.
    now = first_live_replica(draft.state)
    stays = (now != ABSENT) & (kept_leaders(draft) & placing.can_lead())[now]
    return np.where(touched & ~stays, moved, now)


def _free_the_rest(draft: Draft, was_on: BoolArray, is_replaced: BoolArray) -> None:
    """Free all other replicas; those that could not be replaced must go elsewhere."""
    assert draft.decided is not None  # noqa: S101 - decided by the caller
    origin = draft.decided.origin
    kinds = np.where(was_on, Movability.MUST, Movability.MAY)
    kinds = np.where(is_replaced, Movability.NEVER, kinds)
    draft.movability = kinds[origin].astype(np.int8)
    draft.may_lead_anew[:] = True
