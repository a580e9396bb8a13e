"""Rules that keep replicas where they are."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT
from placement.model.load import (
    Resource,
    broker_loads,
    first_live_replica,
    preferred_leaders,
)
from placement.rules.descriptor import (
    RuleDescriptor,
    RuleOption,
    RuleRequest,
)
from placement.rules.hard_levels import hard_capacities
from placement.rules.hosts import on_full_hosts


@dataclass(frozen=True, slots=True, eq=False)
class KeepTopics:
    """
    Replicas of some topics stay on their brokers; leadership may change.

    Replicas that must leave a dead or a removed broker still leave.

    Parameters
    ----------
    topics
        ``(T,)`` true for these topics.
    """

    topics: BoolArray
    name: str = "keep-topics"

    def fill(self, draft: Draft) -> None:
        """Fix the replicas of these topics that may move and need not."""
        state = draft.state
        kept = self.topics[state.partitions.topic_idx]
        keep_still(draft, kept[state.replicas.partition_idx])


@dataclass(frozen=True, slots=True, eq=False)
class KeepLeaders:
    """
    Leaders of some topics stay; followers may move.

    A leader changes only if its replica must leave (a dead or a removed broker, or an
    offline log dir), or if its broker must lead nothing. If another replica is first in
    the list, it then becomes the leader.

    Parameters
    ----------
    topics
        ``(T,)`` true for these topics.
    """

    topics: BoolArray
    name: str = "keep-leaders"

    def fill(self, draft: Draft) -> None:
        """Fix the leaders, and their replicas on their brokers."""
        state = draft.state
        kept = self.topics[state.partitions.topic_idx]
        leads = leading_rows(draft) & kept[state.replicas.partition_idx]
        goes = np.equal(draft.movability, Movability.MUST)
        goes |= draft.must_release[state.replicas.broker_idx]
        # If the present leader leaves and is not the first replica, the first one
        # leads.
        first = first_live_replica(state)
        must = (first != ABSENT) & goes[first]
        draft.may_lead_anew &= ~kept | must
        # A leader that changes only its log dir remains the leader.
        if draft.is_emptied_dir is None:
            keep_still(draft, leads & ~goes)


def kept_leaders(draft: Draft) -> BoolArray:
    """Return ``(R,)`` true for leading replicas whose leadership stays."""
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

    These are the present leaders, and the first live replicas of the lists, which would
    be elected.
    """
    state, replicas = draft.state, draft.state.replicas
    # In lists that an operation has decided, the first replica counts as leader.
    now = state if draft.decided is None else draft.decided.before
    leader = now.partitions.leader_idx
    leads: BoolArray = np.equal(replicas.broker_idx, leader[replicas.partition_idx])
    first = first_live_replica(state)
    leads[first[first != ABSENT]] = True
    return leads


@dataclass(frozen=True, slots=True)
class OnlyOverThreshold:
    """
    Move replicas only to relieve brokers over a capacity threshold, as few as possible.

    Bands do not count. Replicas on other brokers stay, and so does leadership there.
    """

    name: str = "only-over-threshold"

    def fill(self, draft: Draft) -> None:
        """Free the replicas on brokers over a threshold, and balance nothing."""
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
    Brokers exchange replicas: no broker holds more of them than before.

    As every replica has a broker, none holds fewer either, except brokers that are
    emptied. Counts have no bands.
    """

    name: str = "only-trades"

    def fill(self, draft: Draft) -> None:
        """Cap every broker at its present number of replicas."""
        # Copies that are still unplaced belong to no broker yet.
        state = draft.state if draft.decided is None else draft.decided.before
        held = state.replicas.broker_idx
        draft.most_replicas = np.bincount(held, minlength=state.num_brokers)
        draft.may_balance = tuple(
            resource for resource in draft.may_balance if resource != Resource.REPLICAS
        )


def keep_still(draft: Draft, replicas: BoolArray) -> None:
    """Fix the ``(R,)`` chosen replicas that may move and need not."""
    may = np.equal(draft.movability, Movability.MAY)
    draft.movability[replicas & may] = Movability.NEVER


def _chosen(request: RuleRequest) -> BoolArray:
    """Return ``(T,)`` true for the topics that the option names."""
    chosen = np.zeros(len(request.state.topics.names), dtype=np.bool_)
    chosen[request.topics(request.value)] = True
    return chosen


RULES = (
    RuleDescriptor(
        name="keep-topics",
        text="replicas of kept topics stay",
        remedy="let the kept topics move",
        rank=43,
        option=RuleOption(
            "topics",
            "Topics whose replicas stay; leaders may change.",
            example='["__.*"]',
        ),
        make=lambda request: [KeepTopics(_chosen(request))],
        fill_rank=0,
    ),
    RuleDescriptor(
        name="keep-leaders",
        text="leaders of kept topics stay",
        remedy="let the kept leaders change",
        rank=44,
        option=RuleOption(
            "topics",
            "Topics whose leaders stay, unless their replica must move; "
            "followers may move.",
            example='["payments.*"]',
        ),
        make=lambda request: [KeepLeaders(_chosen(request))],
        fill_rank=0,
    ),
    RuleDescriptor(
        name="only-over-threshold",
        text="only brokers over a threshold give replicas away",
        rank=46,
        option=RuleOption("switch", "Only relieve brokers over a capacity threshold."),
        make=lambda _: [OnlyOverThreshold()],
    ),
    RuleDescriptor(
        name="only-trades",
        text="no broker holds more replicas than it did",
        rank=47,
        option=RuleOption(
            "switch", "Only swap replicas: each broker keeps its number of replicas."
        ),
        make=lambda _: [OnlyTrades()],
    ),
)
