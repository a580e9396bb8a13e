"""Options of every plan: balance, brokers, topics, caps and the search."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from planner.options.declared.option import Option, Panel, Saved
from planner.options.declared.savers import amount_if_any, sorted_ids, sorted_texts
from planner.options.declared.types import (
    BrokerId,
    Effort,
    Fractions,
    Prefer,
    ResourceName,
)
from planner.options.declared.value_readers import (
    read_bands,
    read_brokers,
    read_count,
    read_fractions,
    read_pattern,
    read_resources,
    read_seconds,
    read_size,
)

NAME_LOG_DIRS = (
    "rebalance",
    "add-brokers",
    "remove-brokers",
    "replace-broker",
    "set-replication-factor",
    "fix",
)
"""Operations that may choose the log dir of each copy."""
MOVE_THE_REST = NAME_LOG_DIRS[1:]
"""Operations that may also make moves that they do not require."""


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """Options of balance, brokers, topics, caps on copies and the search."""

    band: Annotated[
        Fractions,
        Option(
            help="How far from its share a broker may be: 0.10, disk=0.05. Repeatable.",
            metavar="[RESOURCE=]FRACTION",
            takes=list,
            read=read_bands,
            example="{ all = 0.10, disk = 0.05 }",
            panel=Panel.BALANCE,
        ),
    ] = field(default_factory=dict)
    resources: Annotated[
        tuple[ResourceName, ...] | None,
        Option(
            help="Which to balance: disk,in,out,cpu,replicas,leaders. Default: "
            "all known.",
            metavar="NAMES",
            takes=str,
            read=read_resources,
            example='["disk", "in", "out", "replicas", "leaders"]',
            panel=Panel.BALANCE,
        ),
    ] = None
    capacity_threshold: Annotated[
        Fractions,
        Option(
            help="Fraction of a capacity no broker may exceed. Default 0.8, cpu 0.7.",
            metavar="RESOURCE=FRACTION",
            takes=list,
            read=read_fractions,
            example="{ disk = 0.8, in = 0.8, out = 0.8, cpu = 0.7 }",
            panel=Panel.BALANCE,
        ),
    ] = field(default_factory=dict)
    broker_list: Annotated[
        tuple[BrokerId, ...] | None,
        Option(
            help="Broker ids: 1,2,5-9.",
            metavar="IDS",
            takes=str,
            read=read_brokers,
            example="[4, 5]",
            operations=(
                "add-brokers",
                "remove-brokers",
                "demote",
            ),
            panel=Panel.BROKERS,
            save=sorted_ids,
        ),
    ] = None
    destination_broker_list: Annotated[
        tuple[BrokerId, ...] | None,
        Option(
            help="Only these get replicas.",
            metavar="IDS",
            takes=str,
            read=read_brokers,
            example='"1-6"',
            panel=Panel.BROKERS,
            save=sorted_ids,
        ),
    ] = None
    exclude_brokers_for_replicas: Annotated[
        tuple[BrokerId, ...] | None,
        Option(
            help="These get no replicas.",
            metavar="IDS",
            takes=str,
            read=read_brokers,
            example="[4]",
            panel=Panel.BROKERS,
            save=sorted_ids,
        ),
    ] = None
    exclude_brokers_for_leaders: Annotated[
        tuple[BrokerId, ...] | None,
        Option(
            help="These get no leaders.",
            metavar="IDS",
            takes=str,
            read=read_brokers,
            example="[4]",
            panel=Panel.BROKERS,
            save=sorted_ids,
        ),
    ] = None
    order_followers: Annotated[
        bool,
        Option(
            help="Also reorder lists whose leader stays, so that leaders stay "
            "even when a broker or a rack is lost.",
            operations=("leaders",),
            panel=Panel.OPERATION,
            saved=Saved.OWN,
        ),
    ] = False
    empty: Annotated[
        tuple[str, ...],
        Option(
            help="Log dir that shall hold nothing: 3:/data/d1, or of several "
            "brokers 1-4:/logs/kafka-log{broker}. Repeatable.",
            metavar="BROKER:PATH",
            takes=list,
            example='["3:/data/d1"]',
            operations=("log-dirs",),
            panel=Panel.OPERATION,
            saved=Saved.OWN,
            save=sorted_texts,
        ),
    ] = ()
    with_log_dirs: Annotated[
        bool | None,
        Option(
            help="Also name the log dir of each copy, and balance log dirs where "
            "copies may come; by default only where the broker's own choice "
            "would overfill one.",
            example="true",
            operations=NAME_LOG_DIRS,
            panel=Panel.OPERATION,
            sets="names_log_dirs",
            saved=Saved.GIVEN,
        ),
    ] = None
    topic: Annotated[
        tuple[str, ...],
        Option(
            help="Only this topic. Repeatable.",
            metavar="NAME",
            takes=list,
            example='["orders", "payments"]',
            panel=Panel.TOPICS,
            save=sorted_texts,
        ),
    ] = ()
    topics: Annotated[
        str | None,
        Option(
            help="Only topics whose name matches.",
            metavar="REGEX",
            read=read_pattern,
            example='"(orders|payments)[.].*"',
            panel=Panel.TOPICS,
        ),
    ] = None
    exclude_topics: Annotated[
        str | None,
        Option(
            help="Topics left as they are.",
            metavar="REGEX",
            read=read_pattern,
            example='["__.*", "dev[.].*"]',
            panel=Panel.TOPICS,
        ),
    ] = None
    max_moves: Annotated[
        int | None,
        Option(
            help="Copy at most so many replicas.",
            metavar="N",
            read=read_count,
            example="500",
            panel=Panel.COPIES,
            sets="max_moves",
        ),
    ] = None
    max_bytes: Annotated[
        int | None,
        Option(
            help="Copy at most so much: 2TB.",
            metavar="SIZE",
            takes=str,
            read=read_size,
            example='"2TB"',
            panel=Panel.COPIES,
            sets="max_bytes",
        ),
    ] = None
    max_cross_rack_bytes: Annotated[
        int | None,
        Option(
            help="Copy at most so much to another rack than the leader's: 500GB.",
            metavar="SIZE",
            takes=str,
            read=read_size,
            example='"500GB"',
            panel=Panel.COPIES,
            sets="max_cross_rack_bytes",
        ),
    ] = None
    prefer: Annotated[
        Prefer,
        Option(
            help="Fewest bytes, or few moves as well.",
            panel=Panel.COPIES,
        ),
    ] = "bytes"
    move_cost_bytes: Annotated[
        int | None,
        Option(
            help="Price of a move, on top of its bytes.",
            metavar="SIZE",
            takes=str,
            read=read_size,
            example='"1GB"',
            panel=Panel.COPIES,
            save=amount_if_any,
        ),
    ] = None
    rebalance: Annotated[
        bool,
        Option(
            help="Also move what the operation need not.",
            operations=MOVE_THE_REST,
            panel=Panel.OPERATION,
            sets="frees_the_rest",
        ),
    ] = False
    topic_slack: Annotated[
        int | None,
        Option(
            help="Replicas of a topic above a broker's share of it that are no harm.",
            metavar="N",
            at_least=0,
            panel=Panel.COPIES,
            sets="topic_slack",
            absent=None,
        ),
    ] = 2
    transient_disk: Annotated[
        bool,
        Option(
            help="Count what leaves a disk there too until all is copied.",
            panel=Panel.COPIES,
            sets="is_disk_transient",
        ),
    ] = False
    deadline: Annotated[
        float | None,
        Option(
            help="End the search by then; another run may find another plan.",
            metavar="SECONDS",
            read=read_seconds,
            example="60",
            panel=Panel.SEARCH,
            sets="deadline_s",
        ),
    ] = None
    effort: Annotated[
        Effort,
        Option(
            help="How much work the search may do.",
            panel=Panel.SEARCH,
            sets="effort",
        ),
    ] = "normal"
    seed: Annotated[
        int,
        Option(
            help="Of the search's random numbers.",
            panel=Panel.SEARCH,
            sets="seed",
        ),
    ] = 1


class CommonKeywords(TypedDict, total=False):
    """The same options as keywords of Python, but for those of single operations."""

    band: float | Mapping[str, float]
    resources: Sequence[str]
    capacity_threshold: Mapping[str, float]
    topic: Sequence[str]
    topics: str
    exclude_topics: str
    exclude_brokers_for_replicas: Iterable[int]
    exclude_brokers_for_leaders: Iterable[int]
    max_moves: int
    max_bytes: int
    max_cross_rack_bytes: int
    prefer: Prefer
    move_cost_bytes: int
    effort: Effort
    seed: int
    topic_slack: int | None
    transient_disk: bool
    deadline: float
