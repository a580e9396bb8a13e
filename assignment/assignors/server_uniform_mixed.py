"""
Uniform assignor of the group coordinator where subscriptions differ.

Members keep the owned partitions that they still read. Each remaining partition goes to
the least loaded subscriber; topics with most partitions per subscriber come first.
Then, in at most sixteen passes over all topics, partitions of a topic move from its
most loaded to its least loaded subscribers, until their counts differ by at most one
or the loaded subscribers own no partition of the topic.
"""

import numpy as np

from assignment.assignors.claims import sole_owners
from assignment.group import ABSENT, Group
from placement.array_types import IndexArray

MAX_ROUNDS = 16


def assign_mixed(group: Group) -> IndexArray:
    """Return ``(P,)`` the member of each partition."""
    return _Mixed(group).assign()


class _Mixed:
    """State of one run."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.subscribers = [members.tolist() for members in group.subscribers]
        self.owner = np.full(group.num_partitions, ABSENT, dtype=np.int32)
        self.counts = [0] * group.num_members

    def assign(self) -> IndexArray:
        self._keep()
        topics = self._topics_in_order()
        for topic in topics:
            self._hand_out(topic)
        self._even_out([t for t in topics if len(self.subscribers[t]) > 1])
        return self.owner

    def _keep(self) -> None:
        topic_of, owner_idx = self.group.partitions.topic_idx, sole_owners(self.group)
        for member, rows in enumerate(self.group.owned):
            is_read = np.isin(topic_of[rows], self.group.subscribed.of(member))
            kept = rows[is_read & np.equal(owner_idx[rows], member)]
            self.owner[kept] = member
            self.counts[member] = len(kept)

    def _topics_in_order(self) -> list[int]:
        """Return topics: most partitions per subscriber, then fewest subscribers."""
        sizes = self.group.topics.num_partitions.tolist()

        def key(topic: int) -> tuple[float, int]:
            num_readers = len(self.subscribers[topic])
            return -sizes[topic] / num_readers, num_readers

        return sorted(np.nonzero(self.group.is_read)[0].tolist(), key=key)

    def _hand_out(self, topic: int) -> None:
        rows = self.group.partitions_of(topic)
        free = rows[np.equal(self.owner[rows], ABSENT)].tolist()
        if not free:
            return
        lightest = _Lightest(self.subscribers[topic], self.counts)
        for row in free:
            self._give(row, lightest.take())

    def _give(self, row: int, member: int) -> None:
        before = int(self.owner[row])
        if before != ABSENT:
            self.counts[before] -= 1
        self.owner[row] = member
        self.counts[member] += 1

    def _even_out(self, topics: list[int]) -> None:
        last_changed = ABSENT
        for _ in range(MAX_ROUNDS):
            for at, topic in enumerate(topics):
                if at == last_changed:
                    return
                if self._even_out_topic(topic) or last_changed == ABSENT:
                    last_changed = at

    def _even_out_topic(self, topic: int) -> bool:
        """Move partitions of one topic; return whether any was moved."""
        members, counts = self.subscribers[topic], self.counts
        most = max(counts[member] for member in members)
        if most - min(counts[member] for member in members) <= 1:
            return False
        lightest = _Lightest(members, counts)
        heaviest = _Heaviest(members, counts)
        owned = self._owned(topic)
        has_moved = False
        while not _are_even(lightest, heaviest):
            giver = heaviest.take()
            while giver is not None and not owned.get(giver):
                heaviest.leave_out()
                giver = heaviest.take()
            if giver is None:
                break
            row = owned[giver].pop()
            taker = lightest.take()
            if _are_even(lightest, heaviest):
                break
            self._give(row, taker)
            has_moved = True
        return has_moved

    def _owned(self, topic: int) -> dict[int, list[int]]:
        """Return the partitions of a topic by owner, ascending."""
        owned: dict[int, list[int]] = {}
        for row in self.group.partitions_of(topic).tolist():
            owned.setdefault(int(self.owner[row]), []).append(row)
        return owned


def _by_count(members: list[int], counts: list[int]) -> list[int]:
    return sorted(members, key=counts.__getitem__)


class _Lightest:
    """
    Iterator over the least loaded members, level by level.

    A level is a number of partitions. Members at the lowest level get one partition
    each, in order; then the level rises by one and includes the members that had that
    many partitions already. Counts are read during the iteration.
    """

    def __init__(self, members: list[int], counts: list[int]) -> None:
        self._line = _by_count(members, counts)
        self._counts = counts
        self._end = 0
        self._next = 0
        self.level = counts[self._line[0]] - 1

    def take(self) -> int:
        """Return the member that gets the next partition."""
        if self._next >= self._end:
            self.level += 1
            while self._end < len(self._line) and self._is_level(self._end):
                self._end += 1
            self._next = 0
        member = self._line[self._next]
        self._next += 1
        return member

    def _is_level(self, at: int) -> bool:
        return self._counts[self._line[at]] == self.level


class _Heaviest:
    """
    Iterator over the most loaded members, level by level downwards.

    A member without a partition of the topic is left out: it swaps places with the
    last member of the level, and the level ends before it from then on.
    """

    def __init__(self, members: list[int], counts: list[int]) -> None:
        self._line = _by_count(members, counts)
        self._counts = counts
        self._start = len(self._line)
        self._end = len(self._line)
        self._next = len(self._line) - 1
        self.level = counts[self._line[-1]] + 1

    def take(self) -> int | None:
        """Return the member to take the next partition from; `None` if none is left."""
        if self._next < self._start:
            self._widen()
        if self._next < 0:
            return None
        member = self._line[self._next]
        self._next -= 1
        return member

    def _widen(self) -> None:
        if self._end <= self._start and self._start > 0:
            # All members at this level are left out: go down to the level of the next.
            self.level = self._counts[self._line[self._start - 1]]
        else:
            self.level -= 1
        while self._start > 0 and self._is_level(self._start - 1):
            self._start -= 1
        self._next = self._end - 1

    def _is_level(self, at: int) -> bool:
        return self._counts[self._line[at]] == self.level

    def leave_out(self) -> None:
        """Leave out the member that `take` returned last."""
        at, last = self._next + 1, self._end - 1
        self._line[at], self._line[last] = self._line[last], self._line[at]
        self._end -= 1


def _are_even(lightest: _Lightest, heaviest: _Heaviest) -> bool:
    return heaviest.level - lightest.level <= 1
