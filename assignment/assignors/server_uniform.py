"""Uniform assignor of the group coordinator."""

from dataclasses import dataclass

import numpy as np

from assignment.assignors.claims import sole_owners
from assignment.assignors.server_uniform_mixed import assign_mixed
from assignment.assignors.sticky import are_subscriptions_equal
from assignment.errors import AssignorError
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment
from placement.array_types import IndexArray


@dataclass(frozen=True, slots=True)
class ServerUniform:
    """
    Balance the counts and keep owned partitions in place, as the broker does.

    Goals: counts differ by at most one, then few moves. Both goals are reached where
    all members read the same topics. Where subscriptions differ, counts are balanced
    within one topic at a time, in at most sixteen passes: counts of 9, 10 and 11 can
    remain although a chain of moves over two topics would make them 10, 10 and 10.

    Constraints: only subscribed topics; each partition once. Racks are ignored. Of
    several members that claim one partition, one counts as the owner, as in a
    coordinator's records.

    Algorithm where all members read the same topics: each of M members has a quota of
    P div M of P partitions, and the first P mod M members have one more. A member that
    owns no more than P div M partitions passes its extra on, as long as enough members
    follow to take the extras. Members keep owned partitions up to their quotas, topic
    by topic, and then take the remaining partitions in order. Otherwise: see
    `server_uniform_mixed`.

    Raises
    ------
    AssignorError
        From `assign`, if a member is subscribed to a topic that does not exist; a real
        coordinator removes such topics beforehand.

    References
    ----------
    KIP-848, apache/kafka#19677; ``coordinator.group.assignor.UniformAssignor`` of
    Apache Kafka 4.3.

    Examples
    --------
    Two members own 0, 1 and 2, 3 of a topic, a third joins: one partition moves.
    """

    name: str = "server-uniform"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition."""
        _refuse_missing_topics(group)
        if are_subscriptions_equal(group):
            return Assignment(_assign_same(group))
        return Assignment(assign_mixed(group))


def _refuse_missing_topics(group: Group) -> None:
    is_missing = np.equal(group.topics.num_partitions[group.subscribed.idx], 0)
    for topic in group.subscribed.idx[is_missing][:1].tolist():
        name = group.topics.topic_ids[topic] or group.topics.names[topic]
        msg = (
            f"Members are subscribed to topic {name} which doesn't exist in the topic "
            "metadata."
        )
        raise AssignorError(msg)


def _assign_same(group: Group) -> IndexArray:
    """Return the member of each partition if all members read the same topics."""
    is_read = group.is_read[group.partitions.topic_idx]
    member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    owner_idx = sole_owners(group)
    free = np.nonzero(is_read & np.equal(owner_idx, ABSENT))[0].tolist()
    low, extras = divmod(int(is_read.sum()), group.num_members)
    room = []
    for member, rows in enumerate(group.owned):
        owned = rows[is_read[rows] & np.equal(owner_idx[rows], member)]
        members_left = group.num_members - member
        has_extra = extras > 0 and (len(owned) > low or members_left <= extras)
        extras -= has_extra
        quota = low + has_extra
        member_idx[owned[:quota]] = member
        free += owned[quota:].tolist()
        room.append(max(0, quota - len(owned)))
    takers = np.repeat(np.arange(group.num_members, dtype=np.int32), room)
    member_idx[free] = takers[: len(free)]
    return member_idx
