"""Optional rules of a plan, made for one cluster from its options."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from placement.draft.draft import Draft
from placement.draft.rule import Rule
from placement.model.cluster import ClusterState
from placement.rules.broker_sets import BrokerSets
from placement.rules.descriptor import RuleRequest, is_given
from placement.rules.frozen_partitions import Say
from placement.rules.goal_columns import (
    MOST_TOPICS,
    CruiseControlLimits,
    uneven_topics,
)
from placement.rules.registry import REQUESTED
from planner.options.declared.plan_options import OPTIONS, PlanOptions
from planner.options.option_reader import OptionReader
from planner.options.softness import read_hard

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
    rules: tuple[Rule[Draft], ...] = ()
    hard: frozenset[str] = frozenset()
    set_of_topic: Mapping[str, str] | None = None


def chosen_rules(reader: OptionReader, options: PlanOptions) -> ChosenRules:
    """Return the rules for the reader's cluster; the reader keeps the problems."""
    state = reader.state
    rules: list[Rule[Draft]] = []
    if options.rules == CRUISE_CONTROL:
        rules.append(CruiseControlLimits())
        options, notes = _seen_by_cruise_control(options, state)
        rules += notes
    values = {name: getattr(options, name) for name in OPTIONS}
    asked = {
        rule.name: is_given(values[rule.option_name])
        for rule in REQUESTED
        if rule.is_goal
    }
    hard = read_hard(reader, options.hard, options.soft, asked)
    if state is None:
        return ChosenRules(options=options, hard=hard)
    rules += _requested(reader, state, values)
    sets = next((rule for rule in rules if isinstance(rule, BrokerSets)), None)
    return ChosenRules(
        options=options,
        rules=tuple(rules),
        hard=hard,
        set_of_topic=None if sets is None else sets.names_of(state),
    )


def _requested(
    reader: OptionReader, state: ClusterState, values: Mapping[str, Any]
) -> Iterator[Rule[Draft]]:
    """Yield the rules that options request; the reader keeps the problems."""
    for rule in REQUESTED:
        value = values[rule.option_name]
        if rule.make is not None and (rule.is_always_made or is_given(value)):
            flag = OPTIONS[rule.option_name].flag
            refuse = partial(reader.refuse, flag)
            yield from rule.make(
                RuleRequest(state=state, value=value, options=values, refuse=refuse)
            )


def _seen_by_cruise_control(
    options: PlanOptions, state: ClusterState | None
) -> tuple[PlanOptions, list[Rule[Draft]]]:
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
