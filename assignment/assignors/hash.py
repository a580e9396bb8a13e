"""Round robin assignor of Kafka's first consumer, in the order of hash codes."""

from dataclasses import dataclass

import numpy as np

from assignment.assignors.order import (
    partitions_by_topic,
    subscribers_in_order,
    topics_by_name,
)
from assignment.assignors.roundrobin import deal_singly
from assignment.group import Group
from assignment.outcome import Assignment
from placement.array_types import RowArray
from placement.kafka_java.java_maps import compare_key
from placement.kafka_java.java_orders import unsigned_string_hash


@dataclass(frozen=True, slots=True)
class HashRoundRobin:
    """
    Assign all partitions to the members round robin, in the order of hash codes.

    Goals: partitions of one topic are spread over members, and counts differ by at most
    one where all members read the same topics.

    Constraints: only subscribed topics; each partition once.

    Algorithm: members are sorted by id (there were no static members), partitions by
    the hash code of ``[topic,number]`` as a signed number of 32 bits, ties by topic
    and number. Each partition goes to the next member in turn that reads its topic.

    References
    ----------
    ``kafka.consumer.RoundRobinAssignor`` of Apache Kafka 0.8.2 to 0.11. Kafka listed
    each stream of a consumer; here each member has one stream.

    Examples
    --------
    One topic of 11 partitions, two members: number 10 comes between 1 and 2.
    """

    name: str = "hash"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition."""
        ids = group.members.ids
        by_id = sorted(range(len(ids)), key=lambda member: compare_key(ids[member]))
        order: RowArray = np.array(by_id, dtype=np.int64)
        topics = topics_by_name(group)
        rows = partitions_by_topic(group, topics).tolist()
        rows.sort(key=lambda row: _signed_hash(group, row))
        read = subscribers_in_order(group, topics, order)
        return Assignment(deal_singly(group, rows, read, order))


def _signed_hash(group: Group, row: int) -> int:
    topic = int(group.partitions.topic_idx[row])
    number = row - int(group.topics.start[topic])
    code = unsigned_string_hash(f"[{group.topics.names[topic]},{number}]")
    return code - (code >> 31 << 32)
