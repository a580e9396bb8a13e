"""Range assignor of the group coordinator."""

from dataclasses import dataclass

import numpy as np

from assignment.assignors.order import (
    member_order,
    subscribers_in_order,
    topics_by_name,
)
from assignment.assignors.range import runs
from assignment.errors import AssignorError
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment


@dataclass(frozen=True, slots=True)
class ServerRange:
    """
    Divide each topic into one contiguous range per subscriber, as the broker does.

    Goals: as `Range`, co-partitioning first, balance second. Owned partitions and racks
    are ignored.

    Constraints: only subscribed topics; each partition once.

    Algorithm: each of C subscribers, static members first, gets P div C of P
    partitions, the first P mod C get one more, as contiguous ranges in order.

    Raises
    ------
    AssignorError
        From `assign`, if a member is subscribed to a topic that does not exist; a real
        coordinator removes such topics beforehand.

    References
    ----------
    KIP-848; ``coordinator.group.assignor.RangeAssignor`` of Apache Kafka 4.3.

    Examples
    --------
    A topic of five partitions for two members: 0 to 2 and 3 to 4.
    """

    name: str = "server-range"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition."""
        if (group.topics.num_partitions[group.subscribed.idx] == 0).any():
            msg = "Member is subscribed to a non-existent topic"
            raise AssignorError(msg)
        order = member_order(group)
        member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
        for read in subscribers_in_order(group, topics_by_name(group), order):
            rows = group.partitions_of(read.topic)
            lengths = runs(len(rows), len(read.positions))
            member_idx[rows] = np.repeat(order[read.positions], lengths)
        return Assignment(member_idx)
