"""Construction of a group's columns from descriptions of topics and members."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from assignment.group import (
    ABSENT,
    NOT_SENT,
    Group,
    GroupPartitions,
    GroupTopics,
    Members,
)
from assignment.rows import Rows

INTERNAL_TOPICS = frozenset(
    {"__consumer_offsets", "__transaction_state", "__share_group_state"}
)
"""Topics that no pattern matches; members can subscribe to them by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSpec:
    """
    Description of one topic.

    Parameters
    ----------
    name
        Name of the topic.
    num_partitions
        Number of partitions; 0 if the topic does not exist.
    weights
        Load of each partition on its reader, in any unit; all 1 if not given.
    racks
        Racks of each partition's replicas, where known.
    topic_id
        Kafka's topic id, where known.
    """

    name: str
    num_partitions: int
    weights: Sequence[float] | None = None
    racks: Sequence[Sequence[str]] | None = None
    topic_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSpec:
    """
    Description of one member.

    Parameters
    ----------
    member_id
        Kafka's member id.
    instance_id
        ``group.instance.id`` of a static member.
    rack
        ``client.rack``, where known.
    capacity
        Capacity of the member, relative to the others. Positive.
    topics
        Topics that the member subscribes to by name, existing or not.
    pattern
        Regular expression of further topics; it must match the whole name.
    owned
        Partitions that the member owned until now, by topic. Partitions that do not
        exist are ignored.
    generation, subscription_generation
        See `Members`; `subscription_generation` defaults to `generation`.
    user_data
        User data sent by the member's assignor.
    """

    member_id: str
    instance_id: str | None = None
    rack: str | None = None
    capacity: float = 1.0
    topics: Sequence[str] = ()
    pattern: str | None = None
    owned: Mapping[str, Sequence[int]] = field(default_factory=dict)
    generation: int = NOT_SENT
    subscription_generation: int | None = None
    user_data: Any = None


def make_group(
    topics: Sequence[TopicSpec], members: Sequence[MemberSpec], *, group_id: str = ""
) -> Group:
    """
    Build a group.

    Parameters
    ----------
    topics
        Topics in the order in which the group coordinator's assignors process them.
        Topics that a member names and that are missing here do not exist.
    members
        Members in the order in which the sticky assignors process them.
    group_id
        Kafka's ``group.id``.

    Raises
    ------
    InvalidGroupError
        If a topic or a member is listed twice, or a number is out of range.
    """
    known = {topic.name for topic in topics}
    named = dict.fromkeys(chain.from_iterable(member.topics for member in members))
    missing = [TopicSpec(name=n, num_partitions=0) for n in named if n not in known]
    rows = _topics((*topics, *missing))
    all_racks = _racks(topics, members)
    rack_idx = {rack: row for row, rack in enumerate(all_racks)}
    return Group(
        group_id=group_id,
        racks=all_racks,
        topics=rows,
        partitions=_partitions((*topics, *missing), rows, rack_idx),
        members=_members(members, rack_idx),
        subscribed=_subscribed(rows, members),
        owned=_owned(rows, members),
    )


def matches(pattern: str, topic: str) -> bool:
    """Return whether a pattern subscribes to a topic."""
    return topic not in INTERNAL_TOPICS and re.fullmatch(pattern, topic) is not None


def _racks(
    topics: Iterable[TopicSpec], members: Iterable[MemberSpec]
) -> tuple[str, ...]:
    of_members = {member.rack for member in members if member.rack is not None}
    of_topics = (chain.from_iterable(topic.racks or ()) for topic in topics)
    return tuple(sorted(of_members.union(*of_topics)))


def _topics(topics: Sequence[TopicSpec]) -> GroupTopics:
    sizes = [topic.num_partitions for topic in topics]
    return GroupTopics(
        names=tuple(topic.name for topic in topics),
        topic_ids=tuple(topic.topic_id for topic in topics),
        start=_starts(sizes),
    )


def _starts(sizes: Sequence[int]) -> np.typing.NDArray[np.int64]:
    start = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(np.array(sizes, dtype=np.int64), out=start[1:])
    return start


def _rows(lists: Sequence[Sequence[int]]) -> Rows:
    start = _starts([len(each) for each in lists])
    flat = np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=start[-1])
    return Rows(start, flat)


def _partitions(
    topics: Sequence[TopicSpec], rows: GroupTopics, rack_idx: Mapping[str, int]
) -> GroupPartitions:
    sizes = rows.num_partitions
    weight = np.ones(int(rows.start[-1]))
    racks: list[Sequence[int]] = []
    for topic, start, size in zip(topics, rows.start, sizes, strict=False):
        if topic.weights is not None:
            weight[start : start + size] = topic.weights
        given = topic.racks if topic.racks is not None else [()] * int(size)
        racks += [[rack_idx[rack] for rack in each] for each in given]
    topic_idx = np.repeat(np.arange(len(topics), dtype=np.int32), sizes)
    return GroupPartitions(topic_idx=topic_idx, weight=weight, racks=_rows(racks))


def _members(members: Sequence[MemberSpec], rack_idx: Mapping[str, int]) -> Members:
    racks = [ABSENT if m.rack is None else rack_idx[m.rack] for m in members]
    subscribed = [
        m.generation if m.subscription_generation is None else m.subscription_generation
        for m in members
    ]
    return Members(
        ids=tuple(member.member_id for member in members),
        instance_ids=tuple(member.instance_id for member in members),
        rack_idx=np.array(racks, dtype=np.int32),
        capacity=np.array([member.capacity for member in members], dtype=np.float64),
        generation=np.array([m.generation for m in members], dtype=np.int64),
        subscription_generation=np.array(subscribed, dtype=np.int64),
        patterns=tuple(member.pattern for member in members),
        user_data=tuple(member.user_data for member in members),
    )


def _subscribed(rows: GroupTopics, members: Sequence[MemberSpec]) -> Rows:
    row_of = {name: row for row, name in enumerate(rows.names)}
    exists = rows.num_partitions > 0
    matched: dict[str, list[int]] = {}
    lists = []
    for member in members:
        topics = dict.fromkeys(row_of[name] for name in member.topics)
        if member.pattern is not None:
            if member.pattern not in matched:
                matched[member.pattern] = [
                    row
                    for name, row in row_of.items()
                    if exists[row] and matches(member.pattern, name)
                ]
            topics.update(dict.fromkeys(matched[member.pattern]))
        lists.append(list(topics))
    return _rows(lists)


def _owned(rows: GroupTopics, members: Sequence[MemberSpec]) -> Rows:
    row_of = {name: row for row, name in enumerate(rows.names)}
    sizes, starts = rows.num_partitions.tolist(), rows.start.tolist()
    lists = []
    for member in members:
        owned: list[int] = []
        for name, numbers in member.owned.items():
            topic = row_of.get(name)
            if topic is not None:
                start, size = starts[topic], sizes[topic]
                owned += [start + n for n in numbers if 0 <= n < size]
        lists.append(owned)
    return _rows(lists)
