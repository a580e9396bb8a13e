"""Options of every plan: balance, brokers, topics, caps and the search."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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

_balance = partial(Option, panel=Panel.BALANCE)
_brokers = partial(
    Option,
    panel=Panel.BROKERS,
    metavar="IDS",
    takes=str,
    read=read_brokers,
    save=sorted_ids,
)
_operation = partial(Option, panel=Panel.OPERATION)
_topics = partial(Option, panel=Panel.TOPICS)
_topic_pattern = partial(_topics, metavar="REGEX", read=read_pattern)
_copies = partial(Option, panel=Panel.COPIES)
_size = partial(_copies, metavar="SIZE", takes=str, read=read_size)
_search = partial(Option, panel=Panel.SEARCH)


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """Options of balance, brokers, topics, caps on copies and the search."""

    band: Annotated[
        Fractions,
        _balance(
            help="Distance of a broker from its share: 0.10, disk=0.05. Repeatable.",
            metavar="[RESOURCE=]FRACTION",
            takes=list,
            read=read_bands,
            example="{ all = 0.10, disk = 0.05 }",
        ),
    ] = field(default_factory=dict)
    resources: Annotated[
        tuple[ResourceName, ...] | None,
        _balance(
            help="Resources to balance: disk,in,out,cpu,replicas,leaders. "
            "Default: all known.",
            metavar="NAMES",
            takes=str,
            read=read_resources,
            example='["disk", "in", "out", "replicas", "leaders"]',
        ),
    ] = None
    capacity_threshold: Annotated[
        Fractions,
        _balance(
            help="Fraction of a capacity no broker may exceed. Default 0.8, cpu 0.7.",
            metavar="RESOURCE=FRACTION",
            takes=list,
            read=read_fractions,
            example="{ disk = 0.8, in = 0.8, out = 0.8, cpu = 0.7 }",
        ),
    ] = field(default_factory=dict)
    broker_list: Annotated[
        tuple[BrokerId, ...] | None,
        _brokers(
            panel=Panel.OPERATION,
            help="Broker ids: 1,2,5-9.",
            example="[4, 5]",
        ),
    ] = None
    destination_broker_list: Annotated[
        tuple[BrokerId, ...] | None,
        _brokers(help="Only these receive replicas.", example='"1-6"'),
    ] = None
    exclude_brokers_for_replicas: Annotated[
        tuple[BrokerId, ...] | None,
        _brokers(help="These receive no replicas.", example="[4]"),
    ] = None
    exclude_brokers_for_leaders: Annotated[
        tuple[BrokerId, ...] | None,
        _brokers(help="These receive no leaders.", example="[4]"),
    ] = None
    order_followers: Annotated[
        bool,
        _operation(
            help="Also reorder lists whose leader stays, to keep leaders even "
            "after the loss of a broker or a rack.",
            saved=Saved.OWN,
        ),
    ] = False
    empty: Annotated[
        tuple[str, ...],
        _operation(
            help="Log dir to empty: 3:/data/d1, or of several brokers "
            "1-4:/logs/kafka-log{broker}. Repeatable.",
            metavar="BROKER:PATH",
            takes=list,
            example='["3:/data/d1"]',
            saved=Saved.OWN,
            save=sorted_texts,
        ),
    ] = ()
    with_log_dirs: Annotated[
        bool | None,
        _operation(
            help="Also choose the log dir of each copy, and balance log dirs of "
            "receiving brokers; by default only where the broker's choice "
            "would overfill one.",
            example="true",
            sets="names_log_dirs",
            saved=Saved.GIVEN,
        ),
    ] = None
    topic: Annotated[
        tuple[str, ...],
        _topics(
            help="Only this topic. Repeatable.",
            metavar="NAME",
            takes=list,
            example='["orders", "payments"]',
            save=sorted_texts,
        ),
    ] = ()
    topics: Annotated[
        str | None,
        _topic_pattern(
            help="Only topics whose name matches.", example='"(orders|payments)[.].*"'
        ),
    ] = None
    exclude_topics: Annotated[
        str | None,
        _topic_pattern(
            help="Topics that stay as they are.", example='["__.*", "dev[.].*"]'
        ),
    ] = None
    max_moves: Annotated[
        int | None,
        _copies(
            help="Most replicas to copy.",
            metavar="N",
            read=read_count,
            example="500",
            sets="max_moves",
        ),
    ] = None
    max_bytes: Annotated[
        int | None,
        _size(help="Most bytes to copy: 2TB.", example='"2TB"', sets="max_bytes"),
    ] = None
    max_cross_rack_bytes: Annotated[
        int | None,
        _size(
            help="Most bytes to copy to another rack than the leader's: 500GB.",
            example='"500GB"',
            sets="max_cross_rack_bytes",
        ),
    ] = None
    prefer: Annotated[Prefer, _copies(help="Fewest bytes, or also few moves.")] = (
        "bytes"
    )
    move_cost_bytes: Annotated[
        int | None,
        _size(
            help="Price of a move, besides its bytes.",
            example='"1GB"',
            save=amount_if_any,
        ),
    ] = None
    rebalance: Annotated[
        bool,
        _operation(
            help="Also balance the other replicas.",
            sets="frees_the_rest",
        ),
    ] = False
    topic_slack: Annotated[
        int | None,
        _balance(
            help="Replicas of a topic above the share of a broker that are accepted.",
            metavar="N",
            at_least=0,
            sets="topic_slack",
            absent=None,
        ),
    ] = 2
    transient_disk: Annotated[
        bool,
        _copies(
            help="Count replicas that leave a disk there until all copies are done.",
            sets="is_disk_transient",
        ),
    ] = False
    deadline: Annotated[
        float | None,
        _search(
            help="Time limit of the search; the plan may differ between runs.",
            metavar="SECONDS",
            read=read_seconds,
            example="60",
            sets="deadline_s",
        ),
    ] = None
    effort: Annotated[
        Effort, _search(help="Amount of work of the search.", sets="effort")
    ] = "normal"
    seed: Annotated[
        int, _search(help="Seed of the search's random numbers.", sets="seed")
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
