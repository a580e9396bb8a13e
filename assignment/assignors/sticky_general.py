"""
Sticky assignors where subscriptions differ.

Members keep owned partitions, each other partition goes to the least loaded subscriber,
and then partitions move one by one as long as a move makes the counts more even. If all
moves together do not make the counts more even, they are undone.
"""

import bisect
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from assignment.assignors.claims import Claims, generations
from assignment.assignors.movements import Movements
from assignment.assignors.order import partitions_by_topic
from assignment.assignors.racks import look_at_racks
from assignment.assignors.sticky_constrained import Given
from assignment.group import ABSENT, DEFAULT_GENERATION, Group
from placement.array_types import BoolArray
from placement.kafka_java.java_orders import ranks


def assign_general(group: Group, claims: Claims) -> Given:
    """
    Return the member of each partition.

    Parameters
    ----------
    group
        Group whose members may subscribe to different topics.
    claims
        Owners of its partitions after conflicting claims are resolved.
    """
    return _General(group, claims).given()


@dataclass(slots=True)
class _ByCount:
    """Members by their number of partitions, then by id."""

    rank: list[int]
    counts: list[int]
    line: list[tuple[int, int, int]] = field(default_factory=list)

    def put(self, member: int) -> None:
        bisect.insort(self.line, (self.counts[member], self.rank[member], member))

    def take(self, member: int) -> None:
        at = bisect.bisect_left(
            self.line, (self.counts[member], self.rank[member], member)
        )
        if at < len(self.line) and self.line[at][2] == member:
            del self.line[at]


class _General:
    """State of one run."""

    def __init__(self, group: Group, claims: Claims) -> None:
        self.group = group
        self.claims = claims
        self.readers = [members.tolist() for members in group.subscribers]
        self.topics_of = [set(topics.tolist()) for topics in group.subscribed]
        self.topic_of = group.partitions.topic_idx.tolist()
        self.rows = partitions_by_topic(group, self._topics_in_order()).tolist()
        self.racks = look_at_racks(group, np.array(self.rows, dtype=np.int64))
        self.owner = claims.owner_idx.tolist()
        self.counts = [0] * group.num_members
        self.holders: list[Counter[int]] = [Counter() for _ in self.readers]
        self.by_count = _ByCount(ranks(group.members.ids), self.counts)
        self.movements = Movements(group)
        self.older = _older_claims(group)
        self.is_revoking = False

    def _topics_in_order(self) -> list[int]:
        """Return the topics with a reader: fewest readers first, then by name."""
        topics, is_read = self.group.topics, self.group.is_read
        read = [topic for topic in topics.by_name if is_read[topic]]
        return sorted(read, key=lambda topic: len(self.readers[topic]))

    def given(self) -> Given:
        left = self._keep()
        for member in range(self.group.num_members):
            self.by_count.put(member)
        self._balance(left)
        member_idx = np.array(self.owner, dtype=np.int32)
        return Given(member_idx, _changing_hands(self.group, member_idx))

    def _keep(self) -> list[int]:
        """Keep owned partitions that are still read; return the unassigned ones."""
        left = []
        for row in self.rows:
            member = self.owner[row]
            if member != ABSENT and not self._may_keep(member, row):
                self.is_revoking = True
                self.owner[row] = ABSENT
            if self.owner[row] == ABSENT:
                left.append(row)
            else:
                self.counts[member] += 1
                self.holders[self.topic_of[row]][member] += 1
        return left

    def _may_keep(self, member: int, row: int) -> bool:
        is_read = self.topic_of[row] in self.topics_of[member]
        return is_read and not self.racks.mismatch(member, row)

    def _balance(self, left: list[int]) -> None:
        was_empty = self.by_count.line[-1][0] == 0
        pending = left
        if self.racks:
            pending = [row for row in left if not self._hand_out(row, by_rack=True)]
        for row in pending:
            self._hand_out(row, by_rack=False)
        for member in range(self.group.num_members):
            if not self._takes_part(member):
                self.by_count.take(member)
        before = list(self.owner), list(self.counts)
        if not self.is_revoking:
            # First, only the partitions assigned just now may move.
            self._even_out([row for row in left if self._is_shared(row)])
        has_moved = self._even_out([row for row in self.rows if self._is_shared(row)])
        if not was_empty and has_moved and self._is_no_better(before[1]):
            self.owner, self.counts[:] = before[0], before[1]

    def _hand_out(self, row: int, *, by_rack: bool) -> bool:
        """Assign a partition to the least loaded reader; return whether one exists."""
        topic = self.topic_of[row]
        for _, _, member in self.by_count.line:
            if topic not in self.topics_of[member]:
                continue
            if by_rack and self.racks.mismatch(member, row):
                continue
            self._set_owner(row, member)
            return True
        return False

    def _set_owner(self, row: int, member: int) -> None:
        """Assign a partition to a member, and take it from its current member."""
        if self.owner[row] != ABSENT:
            self._count(row, self.owner[row], -1)
        self._count(row, member, 1)
        self.owner[row] = member

    def _count(self, row: int, member: int, change: int) -> None:
        self.by_count.take(member)
        self.counts[member] += change
        self.by_count.put(member)
        holders = self.holders[self.topic_of[row]]
        holders[member] += change
        if not holders[member]:
            del holders[member]

    def _is_shared(self, row: int) -> bool:
        """Return whether several members subscribe to the partition's topic."""
        return len(self.readers[self.topic_of[row]]) > 1

    def _takes_part(self, member: int) -> bool:
        """Return whether a member could receive or release a partition."""
        sizes = self.group.topics.num_partitions
        topics = [topic for topic in self.topics_of[member] if sizes[topic]]
        if self.counts[member] < sum(int(sizes[topic]) for topic in topics):
            return True
        return any(len(self.readers[topic]) > 1 for topic in topics)

    def _is_no_better(self, counts_before: list[int]) -> bool:
        members = [member for _, _, member in self.by_count.line]
        now = _unevenness([self.counts[member] for member in members])
        return now >= _unevenness([counts_before[member] for member in members])

    def _even_out(self, rows: list[int]) -> bool:
        """Move partitions until no move helps; return whether any was moved."""
        has_moved = False
        while True:
            has_moved_now, is_balanced = False, self._is_balanced()
            for row in rows:
                if is_balanced:
                    break
                if self._move_if_better(row):
                    has_moved_now, is_balanced = True, self._is_balanced()
            has_moved |= has_moved_now
            if not has_moved_now:
                return has_moved

    def _move_if_better(self, row: int) -> bool:
        member = self.owner[row]
        counts = self.counts
        older = self.older.get(row, ABSENT)
        if older != ABSENT and counts[member] > counts[older] + 1:
            self._move(row, older)
            return True
        readers = self.readers[self.topic_of[row]]
        # Kafka first searches a less loaded reader in a rack of a replica. Whichever it
        # finds, the partition goes to the least loaded reader, so one search is enough.
        if any(counts[member] > counts[other] + 1 for other in readers):
            self._move(row, self._lightest(self.topic_of[row]))
            return True
        return False

    def _lightest(self, topic: int) -> int:
        return next(
            member
            for _, _, member in self.by_count.line
            if topic in self.topics_of[member]
        )

    def _move(self, row: int, member: int) -> None:
        """Move a partition, or move one of its topic back that moved the other way."""
        actual = self.movements.instead_of(row, self.owner[row], member)
        self.movements.add(actual, self.owner[actual], member)
        self._set_owner(actual, member)

    def _is_balanced(self) -> bool:
        line = self.by_count.line
        fullest = _Fullest(self.counts, self.holders)
        for count, _, member in line:
            if count >= line[-1][0] - 1:
                return True
            if any(fullest[topic] > count + 1 for topic in self.topics_of[member]):
                return False
        return True


class _Fullest(dict[int, int]):
    """Largest partition count of a topic's owners, by topic and on first access."""

    def __init__(self, counts: list[int], holders: list[Counter[int]]) -> None:
        self._counts = counts
        self._holders = holders

    def __missing__(self, topic: int) -> int:
        counts = (self._counts[member] for member in self._holders[topic])
        self[topic] = max(counts, default=0)
        return self[topic]


def _older_claims(group: Group) -> dict[int, int]:
    """Return the claimant of the latest old generation, by partition."""
    said = generations(group.members.generation)
    newest = max(DEFAULT_GENERATION, int(said.max(initial=DEFAULT_GENERATION)))
    older: dict[int, int] = {}
    for member in np.nonzero(said < newest)[0].tolist():
        for row in group.owned.of(member).tolist():
            if row not in older or said[member] > said[older[row]]:
                older[row] = member
    return older


def _unevenness(counts: list[int]) -> int:
    """Return the sum of all pairwise differences, with the overflow of 32 bits."""
    ordered, total = sorted(counts), 0
    for at, count in enumerate(ordered):
        total += count * (2 * at - len(ordered) + 1)
    return (total + 2**31) % 2**32 - 2**31


def _changing_hands(group: Group, member_idx: np.typing.NDArray[np.int32]) -> BoolArray:
    """Return ``(P,)`` true for partitions assigned to a member that others revoke."""
    rows, owner = group.owned.idx, group.owned.owner
    is_kept = np.zeros(group.num_partitions, dtype=np.bool_)
    is_kept[rows[np.equal(member_idx[rows], owner)]] = True
    is_given_up = np.zeros(group.num_partitions, dtype=np.bool_)
    is_given_up[rows[np.not_equal(member_idx[rows], owner)]] = True
    changing: BoolArray = is_given_up & ~is_kept & np.not_equal(member_idx, ABSENT)
    return changing
