"""Options of plans that set rules."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from planner.cli.common.fractions import fraction


class RackRule(StrEnum):
    """Limit on the replicas of a partition in a rack."""

    DISTRIBUTION = "distribution"
    STRICT = "strict"
    OFF = "off"


class Preset(StrEnum):
    """Rules and limits of another tool."""

    CRUISE_CONTROL = "cruise-control"


Rules = Annotated[
    Preset | None,
    typer.Option("--rules", help="Preset: default goals and limits of another tool."),
]
RackRuleOption = Annotated[
    RackRule | None,
    typer.Option(
        "--rack-rule",
        help="As even as racks allow (default), one replica per rack, or none.",
    ),
]
RackMap = Annotated[
    list[str] | None,
    typer.Option(
        "--rack-map",
        metavar="FROM=TO|FILE",
        help="Replace a rack by another; or a file of such lines. Repeatable.",
    ),
]
BrokerSet = Annotated[
    list[str] | None,
    typer.Option(
        "--broker-set",
        metavar="REGEX=SET",
        help="Set of brokers for topics that match; others stay on the set with most "
        "of their replicas; off: ignore sets. Repeatable.",
    ),
]
TopicsApart = Annotated[
    list[str] | None,
    typer.Option(
        "--topics-apart",
        metavar="REGEX=REGEX",
        help="Topics that share no broker, also of several expressions. Repeatable.",
    ),
]
TopicsTogether = Annotated[
    list[str] | None,
    typer.Option(
        "--topics-together",
        metavar="REGEX",
        help="Topics whose partitions of the same number have the same replica list. "
        "Repeatable.",
    ),
]
KeepTopics = Annotated[
    str | None,
    typer.Option(
        "--keep-topics",
        metavar="REGEX",
        help="Topics whose replicas stay; leaders may change.",
    ),
]
KeepLeaders = Annotated[
    str | None,
    typer.Option(
        "--keep-leaders",
        metavar="REGEX",
        help="Topics whose leaders stay, unless their replica must move; followers may "
        "move.",
    ),
]
LocalityScoped = Annotated[
    bool,
    typer.Option(
        "--locality-scoped/--no-locality-scoped", help="Replicas stay in their racks."
    ),
]
OnlyOverThreshold = Annotated[
    bool,
    typer.Option(
        "--only-over-threshold/--no-only-over-threshold",
        help="Only relieve brokers over a capacity threshold.",
    ),
]
OnlyTrades = Annotated[
    bool,
    typer.Option(
        "--only-trades/--no-only-trades",
        help="Only swap replicas: each broker keeps its number of replicas.",
    ),
]
HostThreshold = Annotated[
    list[str] | None,
    typer.Option(
        "--host-capacity-threshold",
        metavar="RESOURCE=FRACTION",
        help="Fraction of their capacity that brokers of a host may use. Repeatable.",
    ),
]
LowUtilization = Annotated[
    list[str] | None,
    typer.Option(
        "--low-utilization",
        metavar="RESOURCE=FRACTION",
        help="Do not balance a resource with lower use. Repeatable.",
    ),
]
MaxReplicas = Annotated[
    int | None,
    typer.Option(
        "--max-replicas-per-broker", metavar="N", help="Most replicas on a broker."
    ),
]
PotentialOut = Annotated[
    bool,
    typer.Option(
        "--potential-out/--no-potential-out",
        help="Keep out under its threshold even if a broker leads all its replicas; "
        "soft.",
    ),
]
LeaderIn = Annotated[
    bool,
    typer.Option(
        "--leader-in/--no-leader-in",
        help="Keep the rate of producers to leaders near its mean; soft.",
    ),
]
EvenPositions = Annotated[
    bool,
    typer.Option(
        "--even-positions/--no-even-positions",
        help="Brokers are equally often first, second and so on in lists; soft.",
    ),
]
SpreadTopics = Annotated[
    str | None,
    typer.Option(
        "--spread-topics",
        metavar="REGEX",
        help="Topics whose replicas are spread over all brokers by count; 32 at most; "
        "soft.",
    ),
]
SpreadTopicLeaders = Annotated[
    str | None,
    typer.Option(
        "--spread-topic-leaders",
        metavar="REGEX",
        help="Topics whose leaders are spread in the same way; soft.",
    ),
]
SpreadBand = Annotated[
    float | None,
    typer.Option(
        "--spread-band",
        metavar="FRACTION",
        parser=fraction(),
        help="Distance of a count from its mean.  [default: 1.8]",
    ),
]
SpreadGap = Annotated[
    str | None,
    typer.Option(
        "--spread-gap",
        metavar="LEAST-MOST",
        help="Bounds of that distance, as counts.  [default: 2-40]",
    ),
]
MinTopicLeaders = Annotated[
    list[str] | None,
    typer.Option(
        "--min-topic-leaders",
        metavar="REGEX=N",
        help="Leaders of each topic on every broker; 32 topics at most; soft. "
        "Repeatable.",
    ),
]
Soft = Annotated[
    list[str] | None,
    typer.Option(
        "--soft",
        metavar="RULE",
        help="Rule to relax where a plan cannot keep all: rack, capacity, host, "
        "max-replicas, broker-set, topics-apart, topics-together, locality-scoped, "
        "max-moves, max-bytes, max-cross-rack-bytes. Repeatable: the first one is "
        "relaxed first.",
    ),
]
Hard = Annotated[
    list[str] | None,
    typer.Option(
        "--hard",
        metavar="GOAL",
        help="Goal to enforce, or else no plan (exit 4): bands, band-disk, "
        "potential-out, leader-in, spread-topics, spread-topic-leaders, "
        "min-topic-leaders, even-positions. Repeatable.",
    ),
]
CpuWeight = Annotated[
    list[str] | None,
    typer.Option(
        "--cpu-weight",
        metavar="NAME=CORES",
        help="Cores per MB/s, to estimate cpu: leader_in, leader_out, follower_in. "
        "Repeatable.",
    ),
]


def rule_options(
    *,
    rules: Rules = None,
    rack_rule: RackRuleOption = None,
    rack_map: RackMap = None,
    broker_set: BrokerSet = None,
    topics_apart: TopicsApart = None,
    topics_together: TopicsTogether = None,
    keep_topics: KeepTopics = None,
    keep_leaders: KeepLeaders = None,
    locality_scoped: LocalityScoped = False,
    only_over_threshold: OnlyOverThreshold = False,
    only_trades: OnlyTrades = False,
    host_capacity_threshold: HostThreshold = None,
    low_utilization: LowUtilization = None,
    max_replicas_per_broker: MaxReplicas = None,
    potential_out: PotentialOut = False,
    leader_in: LeaderIn = False,
    even_positions: EvenPositions = False,
    spread_topics: SpreadTopics = None,
    spread_topic_leaders: SpreadTopicLeaders = None,
    spread_band: SpreadBand = None,
    spread_gap: SpreadGap = None,
    min_topic_leaders: MinTopicLeaders = None,
    soft: Soft = None,
    hard: Hard = None,
    cpu_weight: CpuWeight = None,
) -> dict[str, Any]:
    """Return the options of rules; the signature lists them."""
    return dict(locals())


def without_overruled(
    given: dict[str, Any], sources: Mapping[str, str]
) -> dict[str, Any]:
    """
    Return options in which no rule is both soft and hard by different sources.

    Parameters
    ----------
    given
        Values of `rule_options`.
    sources
        Source of each value. The line precedes the environment, and the environment
        precedes the file; a rule that one source names as both is kept, and refused by
        the reader.
    """
    rank = {"COMMANDLINE": 2, "ENVIRONMENT": 1}
    soft, hard = (rank.get(sources.get(name, ""), 0) for name in ("soft", "hard"))
    if soft == hard or not given["soft"] or not given["hard"]:
        return given
    from placement.draft.soft_rules import HARD, SOFT

    weak, strong = ("soft", "hard") if hard > soft else ("hard", "soft")
    members = {**SOFT, **HARD}
    taken = {one for name in given[strong] for one in members.get(name, (name,))}
    kept = []
    for name in given[weak]:
        rest = [one for one in members.get(name, (name,)) if one not in taken]
        kept += [name] if len(rest) == len(members.get(name, (name,))) else rest
    return {**given, weak: kept}
