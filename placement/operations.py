"""
Operations: what each may move, as interface.md's table says.

An operation fills a draft; where things go is then up to the bands. It is data, not
code in the search.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from placement.cluster import BoolArray, BrokerState, LogDirState
from placement.core.problem import Movability
from placement.load import first_live_replica, first_true
from placement.rules.draft import Draft


class Operation(Protocol):
    """What is to be done with a cluster."""

    @property
    def goal(self) -> str:
        """Name of the operation, as the command line has it."""
        ...

    def fill(self, draft: Draft) -> None:
        """Say which brokers leave or are filled, and what may move."""
        ...


@dataclass(frozen=True, slots=True)
class Rebalance:
    """Anything not excluded may move; dead brokers are evacuated."""

    goal: str = "rebalance"

    def fill(self, draft: Draft) -> None:
        """Empty dead brokers; leave the rest free."""
        draft.leaves |= np.equal(draft.state.brokers.state, BrokerState.DEAD)
        _evacuate(draft, rest=Movability.MAY)


@dataclass(frozen=True, slots=True)
class AddBrokers:
    """
    Fill brokers that are new; copies go nowhere else, leadership anywhere.

    Parameters
    ----------
    broker_ids
        The brokers to fill besides those whose state is `new`.
    """

    broker_ids: tuple[int, ...] = ()
    goal: str = "add-brokers"

    def fill(self, draft: Draft) -> None:
        """Let copies go to the new brokers alone."""
        added = np.isin(draft.state.brokers.ids, self.broker_ids)
        # Named brokers are the ones added; without names, those whose state is new.
        draft.is_new = added if self.broker_ids else draft.is_new
        if not draft.settings.frees_the_rest:
            draft.may_receive &= draft.is_new
            draft.old_may_be_low = True


@dataclass(frozen=True, slots=True)
class RemoveBrokers:
    """
    Empty brokers: only what must moves.

    Parameters
    ----------
    broker_ids
        The brokers to empty, whatever their state.
    """

    broker_ids: tuple[int, ...]
    goal: str = "remove-brokers"

    def fill(self, draft: Draft) -> None:
        """Make every replica on the leaving brokers move."""
        brokers = draft.state.brokers
        draft.to_empty |= np.isin(brokers.ids, self.broker_ids)
        draft.leaves |= draft.to_empty
        draft.leaves |= np.equal(brokers.state, BrokerState.DEAD)
        rest = Movability.MAY if draft.settings.frees_the_rest else Movability.NEVER
        _evacuate(draft, rest=rest)


def _evacuate(draft: Draft, *, rest: Movability) -> None:
    """Make replicas on leaving brokers move; the rest is `rest`."""
    replicas = draft.state.replicas
    draft.holds &= ~draft.leaves
    draft.leads &= ~draft.leaves
    draft.may_receive &= ~draft.leaves
    must = draft.leaves[replicas.broker_idx]
    # A partition that is touched anyway leaves no replica in an offline log dir.
    offline = _in_offline_dirs(draft)
    if rest == Movability.NEVER:
        touched = first_true(must, replicas.start) >= 0
        offline &= touched[replicas.partition_idx]
    must |= offline
    draft.movability = np.where(must, Movability.MUST, rest).astype(np.int8)
    if rest == Movability.NEVER:
        draft.may_lead_anew &= _is_led_by(draft, draft.leaves)


def _in_offline_dirs(draft: Draft) -> BoolArray:
    """Return ``(R,)`` true for replicas in an offline log dir of a live broker."""
    state = draft.state
    if not len(state.log_dirs):
        return np.zeros(len(state.replicas), dtype=np.bool_)
    offline = np.equal(state.log_dirs.state, LogDirState.OFFLINE)
    row = state.replicas.log_dir_idx
    lies: BoolArray = (row >= 0) & offline[row]
    return lies & state.brokers.is_live[state.replicas.broker_idx]


def _is_led_by(draft: Draft, chosen: BoolArray) -> BoolArray:
    """Return ``(P,)`` true where the first live replica, or the first, is there."""
    replicas = draft.state.replicas
    leader = first_live_replica(draft.state)
    leader = np.where(leader < 0, replicas.start[:-1], leader)
    on = first_true(chosen[replicas.broker_idx], replicas.start)
    return chosen[replicas.broker_idx_at(leader)] & (on >= 0)
