"""Order in which Kafka's assignors process members, topics and partitions."""

from dataclasses import dataclass

import numpy as np

from assignment.group import Group
from placement.array_types import RowArray
from placement.kafka_java.java_maps import compare_key


def member_order(group: Group) -> RowArray:
    """Return members: static members by instance id, then others by member id."""
    members = group.members

    def key(member: int) -> tuple[bool, bytes]:
        instance = members.instance_ids[member]
        name = members.ids[member] if instance is None else instance
        return instance is None, compare_key(name)

    return np.array(sorted(range(len(members)), key=key), dtype=np.int64)


def topics_by_name(group: Group) -> list[int]:
    """Return the topics that exist and have a subscriber, by name."""
    is_read = group.is_read
    return [topic for topic in group.topics.by_name if is_read[topic]]


def partitions_by_topic(group: Group, topics: list[int]) -> RowArray:
    """Return the rows of the topics' partitions, in topic order, then by number."""
    rows = [group.partitions_of(topic) for topic in topics]
    return np.concatenate([np.zeros(0, dtype=np.int64), *rows])


@dataclass(frozen=True, slots=True)
class TopicSubscribers:
    """
    Subscribers of a topic, in the order of the members.

    Parameters
    ----------
    topic
        Row of the topic.
    positions
        Positions of its subscribers in `member_order`, ascending.
    """

    topic: int
    positions: RowArray


def subscribers_in_order(
    group: Group, topics: list[int], order: RowArray
) -> list[TopicSubscribers]:
    """Return the subscribers of each topic, by their positions in the order."""
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    subscribers = group.subscribers
    return [
        TopicSubscribers(topic, np.sort(position[subscribers.of(topic)]))
        for topic in topics
    ]
