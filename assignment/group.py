"""
Columns of a consumer group: topics, partitions, members and their owned partitions.

``T`` topics, ``P`` partitions, ``M`` members. An ``*_idx`` is a row; an ``*_id`` is a
name given by Kafka. Partitions are listed topic by topic, so number ``n`` of topic
``t`` is row ``topics.start[t] + n``. Arrays are kept, not copied, and become read-only.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from assignment.errors import InvalidGroupError
from assignment.rows import Rows
from placement.array_types import BoolArray, IndexArray, OffsetArray, RateArray
from placement.model.columns import ABSENT, freeze

__all__ = [
    "ABSENT",
    "DEFAULT_GENERATION",
    "NOT_SENT",
    "Group",
    "GroupPartitions",
    "GroupTopics",
    "Members",
]

NOT_SENT = -(2**31)
"""Generation of a subscription that was sent without one."""
DEFAULT_GENERATION = -1
"""Generation of a member that has not been in any generation yet."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroupTopics:
    """
    Topics, in the order in which the group coordinator's assignors process them.

    Parameters
    ----------
    names
        Names, each once.
    topic_ids
        Kafka's topic ids; `None` where unknown.
    start
        ``(T + 1,)`` partitions of topic ``t`` are rows ``start[t]:start[t + 1]``. A
        topic without partitions has subscribers, but does not exist.
    """

    names: tuple[str, ...]
    topic_ids: tuple[str | None, ...]
    start: OffsetArray

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def num_partitions(self) -> OffsetArray:
        """Number of partitions of each topic, ``(T,)``; 0 where it does not exist."""
        return np.diff(self.start)

    @property
    def rank(self) -> IndexArray:
        """Position of each topic in the order of names, ``(T,)``."""
        ranks = np.empty(len(self), dtype=np.int32)
        ranks[np.array(self.by_name, dtype=np.int64)] = np.arange(len(self))
        return ranks

    @property
    def by_name(self) -> list[int]:
        """Rows of the topics, sorted by name."""
        return sorted(range(len(self)), key=lambda topic: self.names[topic])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroupPartitions:
    """
    Partitions, topic by topic.

    Parameters
    ----------
    topic_idx
        ``(P,)`` row of the topic, ascending.
    weight
        ``(P,)`` load of the partition on its reader, in any unit. Not negative.
    racks
        Racks of each partition's replicas, as rows of `Group.racks`; an empty list
        where unknown.
    """

    topic_idx: IndexArray
    weight: RateArray
    racks: Rows

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.topic_idx)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """
    Members, in the order in which Kafka's sticky assignors process them.

    Parameters
    ----------
    ids
        Kafka's member ids, each once.
    instance_ids
        ``group.instance.id`` of static members, else `None`.
    rack_idx
        ``(M,)`` row of `Group.racks`, or `ABSENT`.
    capacity
        ``(M,)`` capacity of each member, relative to the others. Positive.
    generation
        ``(M,)`` generation in which the member got its owned partitions, or `NOT_SENT`.
    subscription_generation
        ``(M,)`` generation of the member's subscription, or `NOT_SENT`. Kafka uses it
        to resolve conflicting claims to a partition.
    patterns
        Regular expression the member subscribed with, or `None`; `Group.subscribed` has
        the matching topics.
    user_data
        User data sent by the member's assignor: any JSON value.
    """

    ids: tuple[str, ...]
    instance_ids: tuple[str | None, ...]
    rack_idx: IndexArray
    capacity: RateArray
    generation: npt.NDArray[np.int64]
    subscription_generation: npt.NDArray[np.int64]
    patterns: tuple[str | None, ...]
    user_data: tuple[Any, ...]

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Group:
    """
    Consumer group with its subscriptions and the current owners of partitions.

    Parameters
    ----------
    group_id
        Kafka's ``group.id``.
    racks
        Names of all racks of members and of replicas.
    topics, partitions, members
        Columns; see each class.
    subscribed
        Topics of each member, as rows, each once. Patterns are resolved.
    owned
        Partitions that each member owned until now, as rows, in the member's order.
        Several members may claim a partition; no member lists a partition twice.

    Raises
    ------
    InvalidGroupError
        If rows are out of bounds, columns have inconsistent lengths, or a number is out
        of range.
    """

    group_id: str
    racks: tuple[str, ...]
    topics: GroupTopics
    partitions: GroupPartitions
    members: Members
    subscribed: Rows
    owned: Rows

    def __post_init__(self) -> None:
        if problems := _problems(self):
            raise InvalidGroupError(problems)

    @property
    def num_partitions(self) -> int:
        """Number of partitions, ``P``."""
        return len(self.partitions)

    @property
    def num_members(self) -> int:
        """Number of members, ``M``."""
        return len(self.members)

    @property
    def number(self) -> OffsetArray:
        """Kafka's number of each partition inside its topic, ``(P,)``."""
        rows = np.arange(self.num_partitions, dtype=np.int64)
        return rows - self.topics.start[self.partitions.topic_idx]

    @property
    def subscribers(self) -> Rows:
        """Members of each topic, as rows, ascending."""
        return self.subscribed.transposed(len(self.topics))

    @property
    def has_equal_weights(self) -> bool:
        """Whether all partitions have the same positive weight."""
        weight = self.partitions.weight
        return bool(weight[0] > 0 and (weight == weight[0]).all())

    @property
    def has_equal_capacities(self) -> bool:
        """Whether all members have the same capacity."""
        capacity = self.members.capacity
        return bool((capacity == capacity[0]).all())

    @property
    def is_read(self) -> BoolArray:
        """Mask of topics that exist and have a subscriber, ``(T,)``."""
        is_subscribed = np.zeros(len(self.topics), dtype=np.bool_)
        is_subscribed[self.subscribed.idx] = True
        found: BoolArray = is_subscribed & (self.topics.num_partitions > 0)
        return found

    def partitions_of(self, topic_idx: int) -> npt.NDArray[np.int64]:
        """Return the rows of one topic's partitions."""
        return np.arange(self.topics.start[topic_idx], self.topics.start[topic_idx + 1])

    def name_of(self, partition_idx: int) -> str:
        """Return ``topic-partition`` of one row, as Kafka's tools print it."""
        topic = int(self.partitions.topic_idx[partition_idx])
        number = partition_idx - int(self.topics.start[topic])
        return f"{self.topics.names[topic]}-{number}"

    def without_missing_topics(self) -> Self:
        """
        Return the group without subscriptions to topics that do not exist.

        A coordinator of the new protocol removes these before it calls its assignor.
        """
        is_there = self.topics.num_partitions[self.subscribed.idx] > 0
        if is_there.all():
            return self
        counts = np.bincount(
            self.subscribed.owner[is_there], minlength=len(self.members)
        )
        start = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=start[1:])
        return replace(self, subscribed=Rows(start, self.subscribed.idx[is_there]))

    def with_members(self, order: npt.NDArray[np.integer[Any]]) -> Self:
        """Return the group with the listed members, in the listed order."""
        at = [int(m) for m in order]
        members = self.members
        return replace(
            self,
            members=Members(
                ids=tuple(members.ids[m] for m in at),
                instance_ids=tuple(members.instance_ids[m] for m in at),
                rack_idx=members.rack_idx[at],
                capacity=members.capacity[at],
                generation=members.generation[at],
                subscription_generation=members.subscription_generation[at],
                patterns=tuple(members.patterns[m] for m in at),
                user_data=tuple(members.user_data[m] for m in at),
            ),
            subscribed=_taken(self.subscribed, at),
            owned=_taken(self.owned, at),
        )


def _taken(rows: Rows, at: list[int]) -> Rows:
    start = np.zeros(len(at) + 1, dtype=np.int64)
    np.cumsum(rows.counts[at], out=start[1:])
    lists = [rows.of(owner) for owner in at]
    return Rows(start, np.concatenate([*lists, rows.idx[:0]]))


def _problems(group: Group) -> list[str]:
    return _shape_problems(group) or [
        *_reference_problems(group),
        *_number_problems(group),
    ]


def _shape_problems(group: Group) -> list[str]:
    topics, members, partitions = group.topics, group.members, group.partitions
    lists = [
        ("partitions.racks", partitions.racks, len(partitions)),
        ("subscribed", group.subscribed, len(members)),
        ("owned", group.owned, len(members)),
    ]
    problems = [
        f"{name}.start must ascend from 0 to {len(rows.idx)} in {owners + 1} steps"
        for name, rows, owners in lists
        if len(rows.start) != owners + 1
        or rows.start[0] != 0
        or rows.start[-1] != len(rows.idx)
        or (rows.counts < 0).any()
    ]
    expected = np.repeat(np.arange(len(topics)), topics.num_partitions)
    if not np.array_equal(expected, partitions.topic_idx):
        problems.append(
            "partitions.topic_idx must list the topics as topics.start does"
        )
    for name, values in (("member id", members.ids), ("topic", topics.names)):
        if len(set(values)) != len(values):
            again = sorted({v for v in values if values.count(v) > 1})
            problems.append(f"a {name} must stand once, found twice: {again}")
    return problems


def _reference_problems(group: Group) -> list[str]:
    references = [
        ("members.rack_idx", group.members.rack_idx, ABSENT, len(group.racks)),
        ("partitions.racks", group.partitions.racks.idx, 0, len(group.racks)),
        ("subscribed", group.subscribed.idx, 0, len(group.topics)),
        ("owned", group.owned.idx, 0, len(group.partitions)),
    ]
    return [
        f"{name} must lie in {low}..{high - 1}, got {rows.min()}..{rows.max()}"
        for name, rows, low, high in references
        if len(rows) and (rows.min() < low or rows.max() >= high)
    ]


def _number_problems(group: Group) -> list[str]:
    weight, capacity = group.partitions.weight, group.members.capacity
    rules = [
        ("weights must be finite and not negative", _is_finite(weight, above=False)),
        ("capacities must be finite and positive", _is_finite(capacity, above=True)),
        ("a member must list a topic once", _is_once(group.subscribed)),
        ("a member must own a partition once", _is_once(group.owned)),
    ]
    return [message for message, is_kept in rules if not is_kept]


def _is_finite(values: RateArray, *, above: bool) -> bool:
    is_enough = values > 0 if above else values >= 0
    return bool((np.isfinite(values) & is_enough).all())


def _is_once(rows: Rows) -> bool:
    if not len(rows.idx):
        return True
    # If all rows differ, no list repeats one; else the lists have to be sorted.
    seen = np.zeros(int(rows.idx.max()) + 1, dtype=np.bool_)
    seen[rows.idx] = True
    if int(np.count_nonzero(seen)) == len(rows.idx):
        return True
    key = np.sort(rows.owner.astype(np.int64) * len(seen) + rows.idx)
    return bool((key[1:] != key[:-1]).all())
