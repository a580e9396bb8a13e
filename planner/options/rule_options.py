"""Optional rules of a plan: parsed, recorded and checked."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np

from placement.array_types import BoolArray
from placement.draft.draft import Settings
from placement.draft.rule import Rule
from placement.model.cluster import ClusterState
from placement.model.load import Resource
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
    named_sets,
    read_sets,
    sets_of_topics,
)
from planner.options.option_reader import OptionReader
from planner.options.overrides import read_cpu_weights, read_rack_map
from planner.options.softness import read_hard, read_soft
from planner.options.topic_goals import MOST_TOPICS, read_topic_goals
from planner.options.topic_groups import read_apart, read_together

CRUISE_CONTROL = "cruise-control"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRequest:
    """
    Options of rules, as given.

    Parameters
    ----------
    rules
        ``cruise-control``: its default goals with its limits, unless another option
        overrides them; or `None`.
    rack_rule
        ``distribution``, ``strict``, ``off``; `None`: the first, or that of `rules`.
    rack_map
        ``FROM=TO`` texts, or a file of such lines.
    broker_set
        ``REGEX=SET`` texts that assign topics to sets; ``off`` alone: to none.
    topics_apart
        ``REGEX=REGEX`` texts: topics that share no broker.
    topics_together
        Regular expressions: partition n of all topics that match has the same list.
    keep_topics, keep_leaders
        Regular expression of topics whose replicas, or whose leaders, stay.
    locality_scoped, only_over_threshold, only_trades, potential_out, leader_in
        Whether these rules apply.
    even_positions
        Whether each broker occurs equally often at each position of the lists.
    host_capacity_threshold
        ``RESOURCE=FRACTION`` texts: limit on the joint use of the brokers of a host.
    low_utilization
        ``RESOURCE=FRACTION`` texts.
    max_replicas_per_broker
        Largest number of replicas of any broker.
    spread_topics, spread_topic_leaders
        Regular expression of topics whose replicas, or whose leaders, are spread over
        all brokers.
    spread_band
        Allowed difference of their number from the mean, as a fraction of it; `None`:
        1.8.
    spread_gap
        ``LEAST-MOST``: bounds on that difference; `None`: 2-40.
    min_topic_leaders
        ``REGEX=N`` texts: every broker leads at least N partitions of such a topic.
    soft
        Names of rules that are relaxed, in this order, if no plan keeps all.
    hard
        Names of goals that every plan must meet.
    cpu_weight
        ``NAME=CORES`` texts: cores per MB/s, to estimate loads that were not measured.
    """

    rules: str | None = None
    rack_rule: str | None = None
    rack_map: Sequence[str] = ()
    broker_set: Sequence[str] = ()
    topics_apart: Sequence[str] = ()
    topics_together: Sequence[str] = ()
    keep_topics: str | None = None
    keep_leaders: str | None = None
    locality_scoped: bool = False
    only_over_threshold: bool = False
    only_trades: bool = False
    host_capacity_threshold: Sequence[str] = ()
    low_utilization: Sequence[str] = ()
    max_replicas_per_broker: int | None = None
    potential_out: bool = False
    leader_in: bool = False
    even_positions: bool = False
    spread_topics: str | None = None
    spread_topic_leaders: str | None = None
    spread_band: float | None = None
    spread_gap: str | None = None
    min_topic_leaders: Sequence[str] = ()
    soft: Sequence[str] = ()
    hard: Sequence[str] = ()
    cpu_weight: Sequence[str] = ()


RULE_NAMES = {one.name for one in fields(RuleRequest)}


def rule_request(given: Mapping[str, Any]) -> RuleRequest:
    """Return a request from values of the command line, by the names of its fields."""
    texts = {
        "rack_map",
        "broker_set",
        "topics_apart",
        "topics_together",
        "host_capacity_threshold",
        "low_utilization",
        "min_topic_leaders",
        "soft",
        "hard",
        "cpu_weight",
    }
    words = {"rules", "rack_rule"}
    read: dict[str, Any] = {
        name: tuple(value or ()) if name in texts else value
        for name, value in given.items()
    }
    for name in words & read.keys():
        read[name] = None if read[name] is None else str(read[name])
    return RuleRequest(**read)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RuleWishes:
    """
    Rules parsed for one cluster.

    Parameters
    ----------
    chosen
        Rules that fill the draft.
    document
        Entries of plan.json under `settings`.
    host_thresholds, low_utilization, max_replicas, rack_rule, soft,
    hard
        As for `Settings`.
    """

    chosen: tuple[Rule, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)
    host_thresholds: Mapping[Resource, float] = field(default_factory=dict)
    low_utilization: Mapping[Resource, float] = field(default_factory=dict)
    max_replicas: int | None = None
    rack_rule: str = "distribution"
    soft: tuple[str, ...] = ()
    hard: frozenset[str] = frozenset()

    def applied(self, settings: Settings) -> Settings:
        """Return settings with these rules added."""
        lifted = {"rack"} if self.rack_rule == "off" else set()
        return replace(
            settings,
            rules=(*settings.rules, *self.chosen),
            host_thresholds=self.host_thresholds,
            soft=self.soft,
            hard=self.hard,
            low_utilization=self.low_utilization,
            max_replicas=self.max_replicas,
            is_rack_strict=self.rack_rule == "strict",
            lifted=settings.lifted | lifted,
        )


def read_rules(reader: OptionReader, request: RuleRequest) -> RuleWishes:
    """Parse the rules for the reader's cluster; the reader keeps the problems."""
    state = reader.state
    chosen: list[Rule] = []
    if request.rules == CRUISE_CONTROL:
        chosen.append(CruiseControlLimits())
        request, notes = _seen_by_cruise_control(request, state)
        chosen += notes
    racks = read_rack_map(reader, request.rack_map)
    pattern = reader.pattern("--keep-topics", request.keep_topics)
    led = reader.pattern("--keep-leaders", request.keep_leaders)
    sets = read_sets(reader, request.broker_set)
    apart = read_apart(reader, request.topics_apart)
    together = read_together(reader, request.topics_together)
    option = "--host-capacity-threshold"
    hosts = reader.fractions(option, request.host_capacity_threshold)
    soft = read_soft(reader, request.soft)
    hard = read_hard(reader, request.hard, request.soft, _goals(request))
    low = reader.fractions("--low-utilization", request.low_utilization)
    most = reader.count("--max-replicas-per-broker", request.max_replicas_per_broker)
    of_topics = read_topic_goals(reader, request)
    set_of_topic: dict[str, str] | None = None
    if state is not None and not reader.problems:
        if pattern is not None:
            chosen.append(KeepTopics(_matching(state, pattern)))
        if led is not None:
            chosen.append(KeepLeaders(_matching(state, led)))
        if are_sets_kept(state, request.broker_set):
            rule = BrokerSets(sets_of_topics(reader, state, sets))
            chosen.append(rule)
            set_of_topic = named_sets(state, rule)
            if not sets:
                chosen.append(kept_as_they_are(state))
        chosen += apart
        chosen += of_topics.columns(reader, state)
    plain: Sequence[tuple[bool, Callable[[], Rule]]] = (
        (request.locality_scoped, WithinRack),
        (request.potential_out, PotentialOut),
        (request.leader_in, partial(LeaderIn, _margin(request))),
        (request.even_positions, EvenPositions),
        (request.only_over_threshold, OnlyOverThreshold),
        (request.only_trades, OnlyTrades),
    )
    chosen += [make() for is_wanted, make in plain if is_wanted]
    # Last, since joined topics intersect what other rules allow each of them.
    chosen += together
    rack_rule = request.rack_rule or "distribution"
    return RuleWishes(
        chosen=tuple(chosen),
        host_thresholds=hosts,
        low_utilization=low,
        max_replicas=most,
        rack_rule=rack_rule,
        soft=soft,
        hard=hard,
        document={
            "rules": request.rules,
            "rack_rule": rack_rule,
            "rack_map": racks,
            "broker_sets": set_of_topic,
            "topics_apart": list(request.topics_apart),
            "topics_together": list(request.topics_together),
            "keep_topics": request.keep_topics,
            "keep_leaders": request.keep_leaders,
            "locality_scoped": request.locality_scoped,
            "only_over_threshold": request.only_over_threshold,
            "only_trades": request.only_trades,
            "host_capacity_threshold": {str(r): value for r, value in hosts.items()},
            "low_utilization": {str(r): value for r, value in low.items()},
            "max_replicas_per_broker": most,
            "potential_out": request.potential_out,
            "leader_in": request.leader_in,
            "even_positions": request.even_positions,
            "spread_topics": request.spread_topics,
            "spread_topic_leaders": request.spread_topic_leaders,
            "spread_band": of_topics.band,
            "spread_gap": "-".join(map(str, of_topics.gap)),
            "min_topic_leaders": list(request.min_topic_leaders),
            "soft": list(soft),
            "hard": sorted(hard),
            "cpu_weights": read_cpu_weights(reader, request.cpu_weight),
        },
    )


def _margin(request: RuleRequest) -> float:
    """Return the factor on a threshold that gives its band."""
    return MARGIN if request.rules == CRUISE_CONTROL else 1.0


def _goals(request: RuleRequest) -> dict[str, bool]:
    """Return whether each goal is requested, by name."""
    return {
        "potential-out": request.potential_out,
        "leader-in": request.leader_in,
        "spread-topics": request.spread_topics is not None,
        "spread-topic-leaders": request.spread_topic_leaders is not None,
        "min-topic-leaders": bool(request.min_topic_leaders),
        "even-positions": request.even_positions,
    }


def _seen_by_cruise_control(
    request: RuleRequest, state: ClusterState | None
) -> tuple[RuleRequest, list[Rule]]:
    """Return the preset for a cluster; of too many topics, uneven ones have goals."""
    if state is None or request.spread_topics is not None:
        return with_preset(request), []
    topics = state.topics.names
    if len(topics) <= MOST_TOPICS:
        return with_preset(request), []
    rows = uneven_topics(state)[:MOST_TOPICS].tolist()
    message = (
        f"no goal for each of {len(topics)} topics, {MOST_TOPICS} at most: those that "
        f"lie unevenly have one ({len(rows)}); name others in --spread-topics"
    )
    uneven = "|".join(re.escape(topics[row]) for row in rows)
    return with_preset(request, uneven or None), [Say("no-goal", message)]


def with_preset(request: RuleRequest, spread_topics: str | None = ".*") -> RuleRequest:
    """
    Return a request with the defaults of its preset.

    Parameters
    ----------
    request
        Request as given.
    spread_topics
        Regular expression of topics to spread over all brokers; the number of topics
        with a goal is limited.
    """
    if request.rules != CRUISE_CONTROL:
        return request
    most = request.max_replicas_per_broker
    return replace(
        request,
        rack_rule=request.rack_rule or "strict",
        max_replicas_per_broker=10_000 if most is None else most,
        potential_out=True,
        leader_in=True,
        spread_topics=request.spread_topics or spread_topics,
    )


def preset_band(request: RuleRequest) -> float | None:
    """
    Return the band of a preset; `None`: the default band.

    0.09: Cruise Control's `*.balance.threshold` of 1.10 less 1, times its balance
    margin of 0.9.
    """
    return 0.09 if request.rules == CRUISE_CONTROL else None


def _matching(state: ClusterState, pattern: re.Pattern[str]) -> BoolArray:
    return np.array(
        [bool(pattern.fullmatch(name)) for name in state.topics.names], dtype=np.bool_
    )
