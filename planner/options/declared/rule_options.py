"""Options of optional rules and goals (docs/rules.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """Options of optional rules and goals."""

    rules: Annotated[
        Preset | None,
        Option(
            help="The default goals of another tool, with its limits.",
            example='"cruise-control"',
            panel=Panel.RULES,
        ),
    ] = None
    rack_rule: Annotated[
        RackRule | None,
        Option(
            help="As even as racks allow (default), one replica per rack, or none.",
            example='"strict"',
            panel=Panel.RULES,
            save=rule_or_default,
        ),
    ] = None
    rack_map: Annotated[
        dict[str, str],
        Option(
            help="Take a rack for another; or a file of such lines. Repeatable.",
            metavar="FROM=TO|FILE",
            takes=list,
            read=read_rack_map,
            example='{ "us-east-1a" = "a", "us-east-1b" = "b" }',
            panel=Panel.RULES,
        ),
    ] = field(default_factory=dict)
    broker_set: Annotated[
        dict[str, str] | None,
        Option(
            help="Topics that match live on this set alone; others where most of "
            "them lies, as all do if brokers have sets; off: sets do not "
            "count. Repeatable.",
            metavar="REGEX=SET",
            takes=list,
            read=read_sets,
            example='["orders.*=gold", ".*=silver"]',
            panel=Panel.RULES,
            saved_as="broker_sets",
        ),
    ] = None
    topics_apart: Annotated[
        tuple[str, ...],
        Option(
            help="No broker holds topics of both, or of two of several. Repeatable.",
            metavar="REGEX=REGEX",
            takes=list,
            read=read_apart,
            example='["orders.*=payments.*"]',
            panel=Panel.RULES,
        ),
    ] = ()
    topics_together: Annotated[
        tuple[str, ...],
        Option(
            help="Partition n of all topics that match has the same brokers, in "
            "the same order. Repeatable.",
            metavar="REGEX",
            takes=list,
            read=read_patterns,
            example='["orders|payments"]',
            panel=Panel.RULES,
        ),
    ] = ()
    keep_topics: Annotated[
        str | None,
        Option(
            help="Replicas stay; leaders may change.",
            metavar="REGEX",
            read=read_pattern,
            example='["__.*"]',
            panel=Panel.RULES,
        ),
    ] = None
    keep_leaders: Annotated[
        str | None,
        Option(
            help="Leaders stay, unless their replica must go; followers may move.",
            metavar="REGEX",
            read=read_pattern,
            example='["payments.*"]',
            panel=Panel.RULES,
        ),
    ] = None
    locality_scoped: Annotated[
        bool,
        Option(
            help="Replicas stay in their racks.",
            panel=Panel.RULES,
        ),
    ] = False
    only_over_threshold: Annotated[
        bool,
        Option(
            help="Relieve brokers over a capacity threshold, and do no more.",
            panel=Panel.RULES,
        ),
    ] = False
    only_trades: Annotated[
        bool,
        Option(
            help="Brokers trade replicas: each keeps as many as it has.",
            panel=Panel.RULES,
        ),
    ] = False
    host_capacity_threshold: Annotated[
        Fractions,
        Option(
            help="What brokers of one host may use together of what they have. "
            "Repeatable.",
            metavar="RESOURCE=FRACTION",
            takes=list,
            read=read_fractions,
            example="{ in = 0.8, out = 0.8 }",
            panel=Panel.RULES,
        ),
    ] = field(default_factory=dict)
    low_utilization: Annotated[
        Fractions,
        Option(
            help="Do not balance a resource of which less is used. Repeatable.",
            metavar="RESOURCE=FRACTION",
            takes=list,
            read=read_fractions,
            example="{ disk = 0.2 }",
            panel=Panel.RULES,
        ),
    ] = field(default_factory=dict)
    max_replicas_per_broker: Annotated[
        int | None,
        Option(
            help="Most replicas of any broker.",
            metavar="N",
            read=read_count,
            example="4000",
            panel=Panel.RULES,
            sets="max_replicas",
        ),
    ] = None
    potential_out: Annotated[
        bool,
        Option(
            help="Keep out under its threshold if a broker led all it holds; soft.",
            panel=Panel.RULES,
        ),
    ] = False
    leader_in: Annotated[
        bool,
        Option(
            help="Keep what producers write to leaders near its mean; soft.",
            panel=Panel.RULES,
        ),
    ] = False
    even_positions: Annotated[
        bool,
        Option(
            help="Brokers stand first, second, … in lists equally often; soft.",
            panel=Panel.RULES,
        ),
    ] = False
    spread_topics: Annotated[
        str | None,
        Option(
            help="Spread replicas of each over all brokers, by count; 32 at "
            "most; soft.",
            metavar="REGEX",
            read=read_pattern,
            example='"orders[.].*"',
            panel=Panel.RULES,
        ),
    ] = None
    spread_topic_leaders: Annotated[
        str | None,
        Option(
            help="The same of their leaders; soft.",
            metavar="REGEX",
            read=read_pattern,
            example='"orders[.].*"',
            panel=Panel.RULES,
        ),
    ] = None
    spread_band: Annotated[
        float,
        Option(
            help="How far from its mean a topic's number may be.  [default: 1.8]",
            metavar="FRACTION",
            takes=float,
            read=read_spread_band,
            example="1.8",
            panel=Panel.RULES,
        ),
    ] = 1.8
    spread_gap: Annotated[
        tuple[int, int],
        Option(
            help="Least and most replicas, or leaders, that this is.  [default: 2-40]",
            metavar="LEAST-MOST",
            takes=str,
            read=read_gap,
            example='"2-40"',
            panel=Panel.RULES,
            save=gap_text,
        ),
    ] = (2, 40)
    min_topic_leaders: Annotated[
        tuple[tuple[str, int], ...],
        Option(
            help="Every broker leads so many of each; 32 topics at most; soft. "
            "Repeatable.",
            metavar="REGEX=N",
            takes=list,
            read=read_topic_leaders,
            example='{ "__consumer_offsets" = 1 }',
            panel=Panel.RULES,
            save=pair_texts,
        ),
    ] = ()
    soft: Annotated[
        tuple[str, ...],
        Option(
            help="A rule that gives way where a plan cannot keep all: rack, "
            "capacity, host, max-replicas, broker-set, topics-apart, "
            "topics-together, locality-scoped, max-moves, max-bytes, ... "
            "Repeatable, the first gives way first.",
            metavar="RULE",
            takes=list,
            read=read_soft,
            example='["max-bytes", "rack", "capacity-disk"]',
            panel=Panel.RULES,
        ),
    ] = ()
    hard: Annotated[
        tuple[str, ...],
        Option(
            help="A goal without which there is no plan (exit 4): bands, "
            "band-disk, leader-in, spread-topics, min-topic-leaders, ... "
            "Repeatable.",
            metavar="GOAL",
            takes=list,
            example='["band-disk"]',
            panel=Panel.RULES,
            save=sorted_texts,
        ),
    ] = ()
    cpu_weight: Annotated[
        dict[str, float],
        Option(
            help="Cores per MB/s, to estimate cpu: leader_in, leader_out, "
            "follower_in. Repeatable.",
            metavar="NAME=CORES",
            takes=list,
            read=read_cpu_weights,
            example="{ leader_in = 0.02, leader_out = 0.01, follower_in = 0.01 }",
            panel=Panel.RULES,
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
