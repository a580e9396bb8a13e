"""Rules that keep replicas where they are."""

from dataclasses import dataclass

import numpy as np

from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT, BoolArray
from placement.model.load import (
    Resource,
    broker_loads,
    first_live_replica,
    preferred_leaders,
)
from placement.rules.hard_levels import hard_capacities
from placement.rules.hosts import on_full_hosts


@dataclass(frozen=True, slots=True, eq=False)
class KeepTopics:
    """
    Replicas of some topics stay on their brokers; leadership may change.

    Replicas that must go (off a dead or a removed broker) still go.

    Parameters
    ----------
    topics
        ``(T,)`` true for those topics.
    """

    topics: BoolArray
    name: str = "keep-topics"

    def fill(self, draft: Draft) -> None:
        """Keep what may move."""
        state = draft.state
        kept = self.topics[state.partitions.topic_idx]
        keep_still(draft, kept[state.replicas.partition_idx])


@dataclass(frozen=True, slots=True, eq=False)
class KeepLeaders:
    """
    Leadership of some topics stays where it is; followers may move.

    It changes where the replica that leads must go (off a dead or a removed broker, or
    out of an offline log dir), and where its broker is to lead nothing. Where another
    replica stands first in the list, that one leads then.

    Parameters
    ----------
    topics
        ``(T,)`` true for those topics.
    """

    topics: BoolArray
    name: str = "keep-leaders"

    def fill(self, draft: Draft) -> None:
        """Keep who leads, and that replica on its broker."""
        state = draft.state
        kept = self.topics[state.partitions.topic_idx]
        leads = leading_rows(draft) & kept[state.replicas.partition_idx]
        goes = np.equal(draft.movability, Movability.MUST)
        goes |= draft.must_release[state.replicas.broker_idx]
        # Where another one leads now, and goes, it is the first one's turn to lead.
        first = first_live_replica(state)
        must = (first != ABSENT) & goes[first]
        draft.may_lead_anew &= ~kept | must
        # Who changes its log dir alone leads on.
        if draft.is_emptied_dir is None:
            keep_still(draft, leads & ~goes)


def kept_leaders(draft: Draft) -> BoolArray:
    """Return ``(R,)`` true for the replicas that lead and whose leadership stays."""
    state = draft.state
    kept = topics_led_on(draft)
    of = state.partitions.topic_idx[state.replicas.partition_idx]
    leads: BoolArray = leading_rows(draft) & kept[of]
    return (
        leads
        & state.replicas.is_in_sync
        & ~draft.must_release[state.replicas.broker_idx]
    )


def topics_led_on(draft: Draft) -> BoolArray:
    """Return ``(T,)`` true for the topics whose leaders stay."""
    return _topics_of(draft, KeepLeaders)


def topics_kept(draft: Draft) -> BoolArray:
    """Return ``(T,)`` true for the topics whose replicas stay."""
    return _topics_of(draft, KeepTopics)


def _topics_of(draft: Draft, kind: type[KeepTopics | KeepLeaders]) -> BoolArray:
    kept = np.zeros(len(draft.state.topics.names), dtype=np.bool_)
    for rule in draft.settings.rules:
        if isinstance(rule, kind):
            kept |= rule.topics
    return kept


def leading_rows(draft: Draft) -> BoolArray:
    """
    Return ``(R,)`` true for the replicas that lead.

    Those that lead now, and the first live ones of their lists, that would be elected.
    """
    state, replicas = draft.state, draft.state.replicas
    # What an operation has decided takes the first of each list for its leader.
    now = state if draft.decided is None else draft.decided.before
    leader = now.partitions.leader_idx
    leads: BoolArray = np.equal(replicas.broker_idx, leader[replicas.partition_idx])
    first = first_live_replica(state)
    leads[first[first != ABSENT]] = True
    return leads


@dataclass(frozen=True, slots=True)
class OnlyOverThreshold:
    """
    Only what relieves brokers over a capacity threshold moves, as little as that takes.

    Bands do not count. Replicas on other brokers stay, and so does leadership there.
    """

    name: str = "only-over-threshold"

    def fill(self, draft: Draft) -> None:
        """Free what lies on brokers over a threshold, and balance nothing."""
        state = draft.state
        leader = preferred_leaders(state)
        load = broker_loads(state, draft.weights, leader)
        over: BoolArray = np.greater(load - hard_capacities(draft), 0).max(axis=1)
        over |= on_full_hosts(draft, load)
        keep_still(draft, ~over[state.replicas.broker_idx])
        draft.may_lead_anew &= over[leader] & (leader >= 0)
        draft.may_balance = ()


@dataclass(frozen=True, slots=True)
class OnlyTrades:
    """
    Brokers trade replicas: none holds more of them than it did.

    As all replicas stay somewhere, none holds fewer either, but for brokers that are
    emptied. Counts have no bands.
    """

    name: str = "only-trades"

    def fill(self, draft: Draft) -> None:
        """Cap every broker at what it holds."""
        # What is still to be copied is nobody's yet.
        state = draft.state if draft.decided is None else draft.decided.before
        held = state.replicas.broker_idx
        draft.most_replicas = np.bincount(held, minlength=state.num_brokers)
        draft.may_balance = tuple(
            resource for resource in draft.may_balance if resource != Resource.REPLICAS
        )


def keep_still(draft: Draft, replicas: BoolArray) -> None:
    """Keep replicas, ``(R,)``, that may move and need not."""
    may = np.equal(draft.movability, Movability.MAY)
    draft.movability[replicas & may] = Movability.NEVER
