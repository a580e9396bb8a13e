"""Round robin assignor of the Kafka client."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assignment.assignors.order import (
    TopicSubscribers,
    member_order,
    subscribers_in_order,
    topics_by_name,
)
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment
from placement.array_types import RowArray


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """
    Assign the partitions of all topics, one by one, to the members round robin.

    Goals: counts differ by at most one if all members read the same topics. Previous
    owners are ignored: when a member leaves, nearly all partitions move.

    Constraints: only subscribed topics; each partition once.

    Algorithm: static members come first (`member_order`); topics are sorted by name,
    partitions by number. Each partition goes to the next member in turn that reads its
    topic; the turn passes to the member behind that one.

    References
    ----------
    ``clients.consumer.RoundRobinAssignor`` of Apache Kafka 4.3.

    Examples
    --------
    Topics of 1, 2 and 3 partitions; C0 reads the first, C1 the first two, C2 all: C0
    gets one partition, C1 one, C2 four.
    """

    name: str = "roundrobin"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition."""
        order = member_order(group)
        read = subscribers_in_order(group, topics_by_name(group), order)
        member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
        at = 0
        for topic in read:
            rows = group.partitions_of(topic.topic)
            positions = deal(topic, len(rows), at)
            member_idx[rows] = order[positions]
            at = (int(positions[-1]) + 1) % len(order)
        return Assignment(member_idx)


def deal(topic: TopicSubscribers, num_partitions: int, at: int) -> RowArray:
    """Return the position of each partition's member, in turn from `at` on."""
    first = int(np.searchsorted(topic.positions, at))
    turns = first + np.arange(num_partitions)
    return topic.positions[turns % len(topic.positions)]


def deal_singly(
    group: Group, rows: Sequence[int], read: Sequence[TopicSubscribers], order: RowArray
) -> npt.NDArray[np.int32]:
    """Return the member of each partition, with the partitions in any order."""
    of_topic = {each.topic: each for each in read}
    member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    at = 0
    for row in rows:
        topic = of_topic[int(group.partitions.topic_idx[row])]
        position = int(deal(topic, 1, at)[0])
        member_idx[row] = order[position]
        at = (position + 1) % len(order)
    return member_idx
