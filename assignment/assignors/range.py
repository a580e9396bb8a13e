"""Range assignor of the Kafka client."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assignment.assignors.order import (
    TopicSubscribers,
    member_order,
    subscribers_in_order,
    topics_by_name,
)
from assignment.assignors.racks import counts, rack_of_members, racks_of
from assignment.group import ABSENT, Group
from assignment.outcome import Assignment
from placement.array_types import RowArray


@dataclass(frozen=True, slots=True)
class Range:
    """
    Divide each topic into one contiguous range of partitions per subscriber.

    Goals: subscribers of several topics of one size get the same partition numbers of
    each, so that the topics can be joined. The price is balance: the remainder of each
    topic goes to the first members.

    Constraints: only subscribed topics; each partition once.

    Algorithm: static members come first (`member_order`). Each of C subscribers gets
    P div C of P partitions, the first P mod C get one more, as contiguous ranges in
    order. Where racks count (KIP-881), topics with the same subscribers and size are
    first assigned together: each partition number goes to the first member with room
    whose rack has a replica of every partition with that number. Of any other topic,
    each member gets its first partitions with a replica in its rack. Members without a
    rack match any replica. Contiguous ranges of the remaining partitions follow.

    References
    ----------
    KIP-54, KIP-881; ``clients.consumer.RangeAssignor`` of Apache Kafka 4.3.

    Examples
    --------
    Two topics of three partitions, two members on both: the first gets 0 and 1 of each
    topic, the second gets 2 of each.
    """

    name: str = "range"

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition."""
        order = member_order(group)
        topics = topics_by_name(group)
        member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
        read = subscribers_in_order(group, topics, order)
        rack_of = rack_of_members(group)
        shares = [_Share.of(group, each, order, rack_of) for each in read]
        if any(share.looks_at_racks for share in shares):
            _deal_by_rack(shares, member_idx)
        for share in shares:
            _deal_runs(share, member_idx)
        return Assignment(member_idx)


def runs(num_partitions: int, num_members: int) -> npt.NDArray[np.int64]:
    """Return ``(C,)`` the length of each subscriber's range."""
    base, extra = divmod(num_partitions, num_members)
    return base + np.less(np.arange(num_members), extra).astype(np.int64)


@dataclass(slots=True)
class _Share:
    """Unassigned partitions of one topic, and the room of its subscribers."""

    members: list[int]
    racks: list[int]
    of_partition: list[frozenset[int]]
    start: int
    base: int
    extra: int
    looks_at_racks: bool
    left: dict[int, None]
    given: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        group: Group,
        read: TopicSubscribers,
        order: RowArray,
        rack_of: list[int],
    ) -> "_Share":
        members = order[read.positions].tolist()
        racks = [rack_of[member] for member in members]
        rows = group.partitions_of(read.topic).tolist()
        base, extra = divmod(len(rows), len(members))
        here = set(racks) - {ABSENT}
        of_partition = [racks_of(group, p) for p in rows] if here else []
        return cls(
            members=members,
            racks=racks,
            of_partition=of_partition,
            start=rows[0],
            base=base,
            extra=extra,
            looks_at_racks=bool(here) and counts(here, of_partition),
            left=dict.fromkeys(rows),
            given=dict.fromkeys(members, 0),
        )

    def room(self, member: int) -> int:
        """Return the number of partitions that a member may still take."""
        return max(0, self.base + (self.extra > 0) - self.given[member])

    def is_near(self, at: int, number: int) -> bool:
        """Return whether the member at a position has no rack or one with a replica."""
        rack = self.racks[at]
        if rack == ABSENT:
            return True
        return bool(self.of_partition) and rack in self.of_partition[number]

    def give(
        self, member: int, rows: list[int], member_idx: npt.NDArray[np.int32]
    ) -> None:
        """Assign the listed partitions to a member."""
        if not rows:
            return
        member_idx[rows] = member
        self.given[member] += len(rows)
        self.extra -= self.given[member] > self.base
        for row in rows:
            del self.left[row]


def _deal_runs(share: _Share, member_idx: npt.NDArray[np.int32]) -> None:
    """Assign the remaining partitions as ranges, in the order of the members."""
    left = np.array(list(share.left), dtype=np.int64)
    if not any(share.given.values()):
        lengths = runs(len(left), len(share.members))
        member_idx[left] = np.repeat(np.array(share.members, dtype=np.int32), lengths)
        return
    for member in share.members:
        share.give(member, list(share.left)[: share.room(member)], member_idx)


def _deal_by_rack(shares: list[_Share], member_idx: npt.NDArray[np.int32]) -> None:
    groups: dict[tuple[tuple[int, ...], int], list[_Share]] = {}
    for share in shares:
        size = len(share.of_partition)
        groups.setdefault((tuple(share.members), size), []).append(share)
    for together in groups.values():
        if len(together) > 1:
            _deal_together(together, member_idx)
        elif together[0].looks_at_racks:
            _deal_near(together[0], member_idx)


def _deal_near(share: _Share, member_idx: npt.NDArray[np.int32]) -> None:
    for at, member in enumerate(share.members):
        near = [row for row in share.left if share.is_near(at, row - share.start)]
        share.give(member, near[: share.room(member)], member_idx)


def _deal_together(shares: list[_Share], member_idx: npt.NDArray[np.int32]) -> None:
    """Assign each number of all topics to one member with replicas in its rack."""
    open_at = list(range(len(shares[0].members)))
    for number in range(len(shares[0].of_partition)):
        at = next((at for at in open_at if _takes(shares, at, number)), None)
        if at is None:
            continue
        member = shares[0].members[at]
        for share in shares:
            share.give(member, [share.start + number], member_idx)
        if not any(share.room(member) for share in shares):
            open_at.remove(at)


def _takes(shares: list[_Share], at: int, number: int) -> bool:
    member = shares[0].members[at]
    return all(share.is_near(at, number) and share.room(member) for share in shares)
