"""Options of optional rules and goals (docs/rules.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal, TypedDict

from planner.options.declared.option import Option, Panel
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

_rule = partial(Option, panel=Panel.RULES)
_pattern = partial(_rule, metavar="REGEX", read=read_pattern)
_fractions = partial(
    _rule, metavar="RESOURCE=FRACTION", takes=list, read=read_fractions
)


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """Options of optional rules and goals."""

    rules: Annotated[
        Preset | None,
        _rule(
            help="The default goals of another tool, with its limits.",
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
            help="Take a rack for another; or a file of such lines. Repeatable.",
            metavar="FROM=TO|FILE",
            takes=list,
            read=read_rack_map,
            example='{ "us-east-1a" = "a", "us-east-1b" = "b" }',
        ),
    ] = field(default_factory=dict)
    broker_set: Annotated[
        dict[str, str] | None,
        _rule(
            help="Topics that match live on this set alone; others where most of "
            "them lies, as all do if brokers have sets; off: sets do not "
            "count. Repeatable.",
            metavar="REGEX=SET",
            takes=list,
            read=read_sets,
            example='["orders.*=gold", ".*=silver"]',
            saved_as="broker_sets",
        ),
    ] = None
    topics_apart: Annotated[
        tuple[str, ...],
        _rule(
            help="No broker holds topics of both, or of two of several. Repeatable.",
            metavar="REGEX=REGEX",
            takes=list,
            read=read_apart,
            example='["orders.*=payments.*"]',
        ),
    ] = ()
    topics_together: Annotated[
        tuple[str, ...],
        _rule(
            help="Partition n of all topics that match has the same brokers, in "
            "the same order. Repeatable.",
            metavar="REGEX",
            takes=list,
            read=read_patterns,
            example='["orders|payments"]',
        ),
    ] = ()
    keep_topics: Annotated[
        str | None,
        _pattern(help="Replicas stay; leaders may change.", example='["__.*"]'),
    ] = None
    keep_leaders: Annotated[
        str | None,
        _pattern(
            help="Leaders stay, unless their replica must go; followers may move.",
            example='["payments.*"]',
        ),
    ] = None
    locality_scoped: Annotated[bool, _rule(help="Replicas stay in their racks.")] = (
        False
    )
    only_over_threshold: Annotated[
        bool, _rule(help="Relieve brokers over a capacity threshold, and do no more.")
    ] = False
    only_trades: Annotated[
        bool, _rule(help="Brokers trade replicas: each keeps as many as it has.")
    ] = False
    host_capacity_threshold: Annotated[
        Fractions,
        _fractions(
            help="What brokers of one host may use together of what they have. "
            "Repeatable.",
            example="{ in = 0.8, out = 0.8 }",
        ),
    ] = field(default_factory=dict)
    low_utilization: Annotated[
        Fractions,
        _fractions(
            help="Do not balance a resource of which less is used. Repeatable.",
            example="{ disk = 0.2 }",
        ),
    ] = field(default_factory=dict)
    max_replicas_per_broker: Annotated[
        int | None,
        _rule(
            help="Most replicas of any broker.",
            metavar="N",
            read=read_count,
            example="4000",
            sets="max_replicas",
        ),
    ] = None
    potential_out: Annotated[
        bool,
        _rule(help="Keep out under its threshold if a broker led all it holds; soft."),
    ] = False
    leader_in: Annotated[
        bool, _rule(help="Keep what producers write to leaders near its mean; soft.")
    ] = False
    even_positions: Annotated[
        bool, _rule(help="Brokers stand first, second, … in lists equally often; soft.")
    ] = False
    spread_topics: Annotated[
        str | None,
        _pattern(
            help="Spread replicas of each over all brokers, by count; 32 at "
            "most; soft.",
            example='"orders[.].*"',
        ),
    ] = None
    spread_topic_leaders: Annotated[
        str | None,
        _pattern(help="The same of their leaders; soft.", example='"orders[.].*"'),
    ] = None
    spread_band: Annotated[
        float,
        _rule(
            help="How far from its mean a topic's number may be.  [default: 1.8]",
            metavar="FRACTION",
            takes=float,
            read=read_spread_band,
            example="1.8",
        ),
    ] = 1.8
    spread_gap: Annotated[
        tuple[int, int],
        _rule(
            help="Least and most replicas, or leaders, that this is.  [default: 2-40]",
            metavar="LEAST-MOST",
            takes=str,
            read=read_gap,
            example='"2-40"',
            save=gap_text,
        ),
    ] = (2, 40)
    min_topic_leaders: Annotated[
        tuple[tuple[str, int], ...],
        _rule(
            help="Every broker leads so many of each; 32 topics at most; soft. "
            "Repeatable.",
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
            help="A rule that gives way where a plan cannot keep all: rack, "
            "capacity, host, max-replicas, broker-set, topics-apart, "
            "topics-together, locality-scoped, max-moves, max-bytes, ... "
            "Repeatable, the first gives way first.",
            metavar="RULE",
            takes=list,
            read=read_soft,
            example='["max-bytes", "rack", "capacity-disk"]',
        ),
    ] = ()
    hard: Annotated[
        tuple[str, ...],
        _rule(
            help="A goal without which there is no plan (exit 4): bands, "
            "band-disk, leader-in, spread-topics, min-topic-leaders, ... "
            "Repeatable.",
            metavar="GOAL",
            takes=list,
            example='["band-disk"]',
            save=sorted_texts,
        ),
    ] = ()
    cpu_weight: Annotated[
        dict[str, float],
        _rule(
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
    broker_set: Mapping[str, str] | Literal["off"]
    topics_apart: Sequence[str]
    topics_together: Sequence[str]
    keep_topics: str
    keep_leaders: str
    locality_scoped: bool
    only_over_threshold: bool
    only_trades: bool
    host_capacity_threshold: Mapping[str, float]
    low_utilization: Mapping[str, float]
    max_replicas_per_broker: int
    potential_out: bool
    leader_in: bool
    even_positions: bool
    spread_topics: str
    spread_topic_leaders: str
    spread_band: float
    spread_gap: str
    min_topic_leaders: Mapping[str, int]
    soft: Sequence[str]
    hard: Sequence[str]
    cpu_weight: Mapping[str, float]
