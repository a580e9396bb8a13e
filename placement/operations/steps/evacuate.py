"""Evacuation of brokers that are emptied, and the changes allowed with it."""

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.load import first_live_replica, first_true


def evacuate(draft: Draft, *, rest: Movability) -> None:
    """Mark replicas on leaving brokers as those that must move; others get `rest`."""
    replicas = draft.state.replicas
    draft.holds &= ~draft.leaves
    draft.leads &= ~draft.leaves
    draft.may_receive &= ~draft.leaves
    must = draft.leaves[replicas.broker_idx]
    # A partition that changes anyway keeps no replica in an offline log dir.
    offline = in_failed_dirs(draft)
    if rest == Movability.NEVER:
        touched = first_true(must, replicas.start) >= 0
        offline &= touched[replicas.partition_idx]
    must |= offline
    draft.movability = np.where(must, Movability.MUST, rest).astype(np.int8)
    if rest == Movability.NEVER:
        draft.may_lead_anew &= is_led_by(draft, draft.leaves)


def in_failed_dirs(draft: Draft) -> BoolArray:
    """Return ``(R,)`` true for offline replicas on live brokers."""
    state = draft.state
    failed: BoolArray = (
        state.is_offline & state.brokers.is_live[state.replicas.broker_idx]
    )
    return failed


def is_led_by(draft: Draft, chosen: BoolArray) -> BoolArray:
    """Return ``(P,)`` true if the first live replica, or the first, is on `chosen`."""
    replicas = draft.state.replicas
    leader = first_live_replica(draft.state)
    leader = np.where(leader < 0, replicas.start[:-1], leader)
    on = first_true(chosen[replicas.broker_idx], replicas.start)
    return chosen[replicas.broker_idx_at(leader)] & (on >= 0)
