"""
Options of optional rules and goals (docs/rules.md).

The fields between markers are written by ``python -m support.rule_options`` from the
descriptors of the rules in `placement/rules`: a copy, so that the command line starts
without these modules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Annotated, Literal, TypedDict

from planner.options.declared.option import Option, Panel, Saved
from planner.options.declared.rule_readers import (
    read_apart,
    read_cpu_weights,
    read_gap,
    read_rack_map,
    read_sets,
    read_soft,
    read_spread_band,
    read_topic_leaders,
)
from planner.options.declared.savers import (
    gap_text,
    pair_texts,
    rule_or_default,
    sorted_texts,
)
from planner.options.declared.types import Fractions, Preset, RackRule
from planner.options.declared.value_readers import (
    read_count,
    read_fractions,
    read_pattern,
    read_patterns,
)

GIVEN = Saved.GIVEN
"""Plans that record an option that the first plan.json lacked."""
_rule = partial(Option, panel=Panel.RULES)
_topics = partial(Option, panel=Panel.TOPICS, metavar="REGEX", read=read_pattern)
_balance = partial(Option, panel=Panel.BALANCE)
_fractions = partial(
    _balance, metavar="RESOURCE=FRACTION", takes=list, read=read_fractions
)
_goal = partial(Option, panel=Panel.GOALS)
_goal_pattern = partial(_goal, metavar="REGEX", read=read_pattern)


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """Options of optional rules and goals."""

    rules: Annotated[
        Preset | None,
        _rule(
            help="Preset: default goals and limits of another tool.",
            example='"cruise-control"',
        ),
    ] = None
    rack_rule: Annotated[
        RackRule | None,
        _rule(
            help="As even as racks allow (default), one replica per rack, or none.",
            example='"strict"',
            save=rule_or_default,
        ),
    ] = None
    rack_map: Annotated[
        dict[str, str],
        _rule(
            help="Replace a rack by another; or a file of such lines. Repeatable.",
            metavar="FROM=TO|FILE",
            takes=list,
            read=read_rack_map,
            example='{ "us-east-1a" = "a", "us-east-1b" = "b" }',
        ),
    ] = field(default_factory=dict)
    # Requested rules: start
    broker_set: Annotated[
        dict[str, str] | None,
        _rule(
            help="Set of brokers for topics that match; others stay on the set "
            "with most of their replicas; off: ignore sets. Repeatable.",
            example='["orders.*=gold", ".*=silver"]',
            saved_as="broker_sets",
            metavar="REGEX=SET",
            takes=list,
            read=read_sets,
        ),
    ] = None
    topics_apart: Annotated[
        tuple[str, ...],
        _rule(
            help="Topics that share no broker, also of several expressions. "
            "Repeatable.",
            example='["orders.*=payments.*"]',
            metavar="REGEX=REGEX",
            takes=list,
            read=read_apart,
        ),
    ] = ()
    topics_together: Annotated[
        tuple[str, ...],
        _rule(
            help="Topics whose partitions of the same number have the same replica"
            " list. Repeatable.",
            example='["orders|payments"]',
            metavar="REGEX",
            takes=list,
            read=read_patterns,
        ),
    ] = ()
    keep_topics: Annotated[
        str | None,
        _topics(
            help="Topics whose replicas stay; leaders may change.", example='["__.*"]'
        ),
    ] = None
    keep_leaders: Annotated[
        str | None,
        _topics(
            help="Topics whose leaders stay, unless their replica must move; "
            "followers may move.",
            example='["payments.*"]',
        ),
    ] = None
    locality_scoped: Annotated[bool, _rule(help="Replicas stay in their racks.")] = (
        False
    )
    only_over_threshold: Annotated[
        bool, _rule(help="Only relieve brokers over a capacity threshold.")
    ] = False
    only_trades: Annotated[
        bool,
        _rule(help="Only swap replicas: each broker keeps its number of replicas."),
    ] = False
    max_topic_replicas: Annotated[
        tuple[tuple[str, int], ...],
        _rule(
            help="Most replicas of each topic on a broker; 32 topics at most. "
            "Repeatable.",
            example='{ "orders.*" = 3 }',
            metavar="REGEX=N",
            takes=list,
            read=read_topic_leaders,
            save=pair_texts,
            saved=GIVEN,
        ),
    ] = ()
    # Requested rules: end
    host_capacity_threshold: Annotated[
        Fractions,
        _fractions(
            help="Fraction of their capacity that brokers of a host may use. "
            "Repeatable.",
            example="{ in = 0.8, out = 0.8 }",
        ),
    ] = field(default_factory=dict)
    low_utilization: Annotated[
        Fractions,
        _fractions(
            help="Do not balance a resource with lower use. Repeatable.",
            example="{ disk = 0.2 }",
        ),
    ] = field(default_factory=dict)
    max_replicas_per_broker: Annotated[
        int | None,
        _rule(
            help="Most replicas on a broker.",
            metavar="N",
            read=read_count,
            example="4000",
            sets="max_replicas",
        ),
    ] = None
    # Requested goals: start
    potential_out: Annotated[
        bool,
        _goal(
            help="Keep out under its threshold even if a broker leads all its "
            "replicas; soft."
        ),
    ] = False
    leader_in: Annotated[
        bool, _goal(help="Keep the rate of producers to leaders near its mean; soft.")
    ] = False
    even_positions: Annotated[
        bool,
        _goal(help="Brokers are equally often first, second and so on in lists; soft."),
    ] = False
    # Requested goals: end
    spread_topics: Annotated[
        str | None,
        _goal_pattern(
            help="Topics whose replicas are spread over all brokers by count; 32 "
            "at most; soft.",
            example='"orders[.].*"',
        ),
    ] = None
    spread_topic_leaders: Annotated[
        str | None,
        _goal_pattern(
            help="Topics whose leaders are spread in the same way; soft.",
            example='"orders[.].*"',
        ),
    ] = None
    spread_band: Annotated[
        float,
        _goal(
            help="Distance of a count from its mean.  [default: 1.8]",
            metavar="FRACTION",
            takes=Fraction,
            read=read_spread_band,
            example="1.8",
        ),
    ] = 1.8
    spread_gap: Annotated[
        tuple[int, int],
        _goal(
            help="Bounds of that distance, as counts.  [default: 2-40]",
            metavar="LEAST-MOST",
            takes=str,
            read=read_gap,
            example='"2-40"',
            save=gap_text,
        ),
    ] = (2, 40)
    min_topic_leaders: Annotated[
        tuple[tuple[str, int], ...],
        _goal(
            help="Leaders of each topic on every broker; 32 topics at most; "
            "soft. Repeatable.",
            metavar="REGEX=N",
            takes=list,
            read=read_topic_leaders,
            example='{ "__consumer_offsets" = 1 }',
            save=pair_texts,
        ),
    ] = ()
    soft: Annotated[
        tuple[str, ...],
        _rule(
            help="Rule to relax where a plan cannot keep all: rack, capacity, "
            "host, max-replicas, broker-set, topics-apart, topics-together, "
            "locality-scoped, max-moves, max-bytes, max-cross-rack-bytes. "
            "Repeatable: the first one is relaxed first.",
            metavar="RULE",
            takes=list,
            read=read_soft,
            example='["max-bytes", "rack", "capacity-disk"]',
        ),
    ] = ()
    hard: Annotated[
        tuple[str, ...],
        _goal(
            help="Goal to enforce, or else no plan (exit 4): bands, band-disk, "
            "potential-out, leader-in, spread-topics, spread-topic-leaders, "
            "min-topic-leaders, even-positions. Repeatable.",
            metavar="GOAL",
            takes=list,
            example='["band-disk"]',
            save=sorted_texts,
        ),
    ] = ()
    cpu_weight: Annotated[
        dict[str, float],
        _balance(
            help="Cores per MB/s, to estimate cpu: leader_in, leader_out, "
            "follower_in. Repeatable.",
            metavar="NAME=CORES",
            takes=list,
            read=read_cpu_weights,
            example="{ leader_in = 0.02, leader_out = 0.01, follower_in = 0.01 }",
            saved_as="cpu_weights",
        ),
    ] = field(default_factory=dict)


class RuleKeywords(TypedDict, total=False):
    """The same options as keywords of Python."""

    rules: Preset
    rack_rule: RackRule
    rack_map: Mapping[str, str]
    # Requested rules: start
    broker_set: Mapping[str, str] | Literal["off"]
    topics_apart: Sequence[str]
    topics_together: Sequence[str]
    keep_topics: str
    keep_leaders: str
    locality_scoped: bool
    only_over_threshold: bool
    only_trades: bool
    max_topic_replicas: Mapping[str, int]
    # Requested rules: end
    host_capacity_threshold: Mapping[str, float]
    low_utilization: Mapping[str, float]
    max_replicas_per_broker: int
    # Requested goals: start
    potential_out: bool
    leader_in: bool
    even_positions: bool
    # Requested goals: end
    spread_topics: str
    spread_topic_leaders: str
    spread_band: float
    spread_gap: str
    min_topic_leaders: Mapping[str, int]
    soft: Sequence[str]
    hard: Sequence[str]
    cpu_weight: Mapping[str, float]
