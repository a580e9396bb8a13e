"""Optional rules of a plan, made for one cluster from its options."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from placement.array_types import BoolArray
from placement.draft.rule import Rule
from placement.model.cluster import ClusterState
from placement.model.targets import MARGIN
from placement.rules.broker_sets import BrokerSets
from placement.rules.cruise_control import CruiseControlLimits
from placement.rules.frozen_partitions import Say
from placement.rules.goal_columns import (
    LeaderIn,
    PotentialOut,
    uneven_topics,
)
from placement.rules.list_positions import EvenPositions
from placement.rules.pinning import (
    KeepLeaders,
    KeepTopics,
    OnlyOverThreshold,
    OnlyTrades,
)
from placement.rules.rack_rules import WithinRack
from planner.options.broker_sets import (
    are_sets_kept,
    kept_as_they_are,
    look_up_sets,
    named_sets,
    sets_of_topics,
)
from planner.options.declared.plan_options import PlanOptions
from planner.options.option_reader import OptionReader
from planner.options.softness import read_hard
from planner.options.topic_goals import MOST_TOPICS, topic_goals
from planner.options.topic_groups import apart_rules, together_rules

CRUISE_CONTROL = "cruise-control"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChosenRules:
    """
    Optional rules of a plan.

    Parameters
    ----------
    options
        Options with those of the preset.
    rules
        Rules that fill the draft.
    hard
        Names of hard goals.
    set_of_topic
        Broker set of each topic; `None`: topics are not confined to sets.
    """

    options: PlanOptions
    rules: tuple[Rule, ...] = ()
    hard: frozenset[str] = frozenset()
    set_of_topic: Mapping[str, str] | None = None


def chosen_rules(reader: OptionReader, options: PlanOptions) -> ChosenRules:
    """Return the rules for the reader's cluster; the reader keeps the problems."""
    state = reader.state
    rules: list[Rule] = []
    if options.rules == CRUISE_CONTROL:
        rules.append(CruiseControlLimits())
        options, notes = _seen_by_cruise_control(options, state)
        rules += notes
    hard = read_hard(reader, options.hard, options.soft, _goals(options))
    look_up_sets(reader, options.broker_set or {})
    apart = apart_rules(reader, options.topics_apart)
    together = together_rules(reader, options.topics_together)
    if state is None or reader.problems:
        return ChosenRules(options=options, hard=hard)
    rules += _pinned(state, options)
    sets = None
    if are_sets_kept(state, options.broker_set):
        sets = BrokerSets(sets_of_topics(state, options.broker_set or {}))
        rules.append(sets)
        if not options.broker_set:
            rules.append(kept_as_they_are(state))
    rules += apart
    rules += topic_goals(reader, state, options)
    rules += _plain_rules(options)
    # Last, since joined topics intersect what other rules allow each of them.
    rules += together
    return ChosenRules(
        options=options,
        rules=tuple(rules),
        hard=hard,
        set_of_topic=None if sets is None else named_sets(state, sets),
    )


def _pinned(state: ClusterState, options: PlanOptions) -> Iterator[Rule]:
    """Yield the rules on topics whose replicas, or whose leaders, stay."""
    if options.keep_topics is not None:
        yield KeepTopics(_matching(state, options.keep_topics))
    if options.keep_leaders is not None:
        yield KeepLeaders(_matching(state, options.keep_leaders))


def _plain_rules(options: PlanOptions) -> Iterator[Rule]:
    """Yield the rules that take nothing from the cluster."""
    plain: Sequence[tuple[bool, Callable[[], Rule]]] = (
        (options.locality_scoped, WithinRack),
        (options.potential_out, PotentialOut),
        (options.leader_in, partial(LeaderIn, _margin(options))),
        (options.even_positions, EvenPositions),
        (options.only_over_threshold, OnlyOverThreshold),
        (options.only_trades, OnlyTrades),
    )
    yield from (make() for is_wanted, make in plain if is_wanted)


def _margin(options: PlanOptions) -> float:
    """Return the factor on a threshold that gives its band."""
    return MARGIN if options.rules == CRUISE_CONTROL else 1.0


def _goals(options: PlanOptions) -> dict[str, bool]:
    """Return whether each goal is requested, by name."""
    return {
        "potential-out": options.potential_out,
        "leader-in": options.leader_in,
        "spread-topics": options.spread_topics is not None,
        "spread-topic-leaders": options.spread_topic_leaders is not None,
        "min-topic-leaders": bool(options.min_topic_leaders),
        "even-positions": options.even_positions,
    }


def _seen_by_cruise_control(
    options: PlanOptions, state: ClusterState | None
) -> tuple[PlanOptions, list[Rule]]:
    """Return the preset for a cluster; of too many topics, uneven ones have goals."""
    if state is None or options.spread_topics is not None:
        return with_preset(options), []
    topics = state.topics.names
    if len(topics) <= MOST_TOPICS:
        return with_preset(options), []
    rows = uneven_topics(state)[:MOST_TOPICS].tolist()
    message = (
        f"no goal for each of {len(topics)} topics, {MOST_TOPICS} at most: those that "
        f"lie unevenly have one ({len(rows)}); name others in --spread-topics"
    )
    uneven = "|".join(re.escape(topics[row]) for row in rows)
    return with_preset(options, uneven or None), [Say("no-goal", message)]


def with_preset(options: PlanOptions, spread_topics: str | None = ".*") -> PlanOptions:
    """
    Return options with the defaults of their preset.

    Parameters
    ----------
    options
        Options as given.
    spread_topics
        Regular expression of topics to spread over all brokers; the number of topics
        with a goal is limited.
    """
    if options.rules != CRUISE_CONTROL:
        return options
    most = options.max_replicas_per_broker
    return replace(
        options,
        rack_rule=options.rack_rule or "strict",
        max_replicas_per_broker=10_000 if most is None else most,
        potential_out=True,
        leader_in=True,
        spread_topics=options.spread_topics or spread_topics,
    )


def preset_band(options: PlanOptions) -> float | None:
    """
    Return the band of a preset; `None`: the default band.

    0.09: Cruise Control's `*.balance.threshold` of 1.10 less 1, times its balance
    margin of 0.9.
    """
    return 0.09 if options.rules == CRUISE_CONTROL else None


def _matching(state: ClusterState, pattern: str) -> BoolArray:
    return np.array(
        [re.fullmatch(pattern, name) is not None for name in state.topics.names],
        dtype=np.bool_,
    )
