"""
The waves as lists that Kafka takes, one after the other.

While copies run the leader stays first in its list, so that nobody else is elected
meanwhile. The lists get their final order, and partitions their first replica as
leader, in waves of their own at the end.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.cluster import ABSENT
from placement.waves.cut import Cut

RowArray = npt.NDArray[np.int64]
Lists = dict[int, list[int]]
MOST_LEADERS = 1000
"""Leaders that change in one wave, as many as Kafka's own election does in a pass."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Step:
    """
    One wave.

    Parameters
    ----------
    number
        From 1.
    has_copies
        False for waves that only change orders and leaders.
    before, after
        Rows of the brokers of each partition in it, by row of the partition.
    copies
        ``(E,)`` rows of the copies it makes.
    elects
        Partitions that then are led by another than their first replica.
    """

    number: int
    has_copies: bool
    before: Lists
    after: Lists
    copies: RowArray
    elects: tuple[int, ...]


def steps_of(found: Cut) -> Iterator[Step]:
    """Yield the waves in order."""
    now = _Lists(found)
    order = np.argsort(found.wave, kind="stable")
    bounds = np.searchsorted(found.wave[order], np.arange(found.num_waves + 1))
    for w in range(found.num_waves):
        rows = np.sort(order[bounds[w] : bounds[w + 1]])
        before, after = now.copied(rows)
        yield Step(
            number=w + 1,
            has_copies=True,
            before=before,
            after=after,
            copies=rows,
            elects=(),
        )
    # What could not be copied keeps its order too.
    pending = now.unordered()
    for k, start in enumerate(range(0, len(pending), MOST_LEADERS)):
        part = pending[start : start + MOST_LEADERS]
        before = {p: now.lists[p] for p in part}
        after = {p: now.target(p) for p in part}
        yield Step(
            number=found.num_waves + 1 + k,
            has_copies=False,
            before=before,
            after=after,
            copies=np.zeros(0, dtype=np.int64),
            elects=tuple(p for p in part if now.leader(p) != after[p][0]),
        )


class _Lists:
    """The lists of the partitions that change, as they are between two waves."""

    def __init__(self, found: Cut) -> None:
        self.found = found
        reassignment, state = found.reassignment, found.reassignment.before
        self.start = state.replicas.start.tolist()
        self.old = state.replicas.broker_idx.tolist()
        self.new: list[int] = reassignment.broker_idx.tolist()
        self.led_by = state.partitions.leader_idx.tolist()
        changed = np.nonzero(reassignment.is_changed)[0].tolist()
        self.lists: Lists = {
            p: self.old[self.start[p] : self.start[p + 1]] for p in changed
        }
        copies = found.copies
        self.partition = copies.partition_idx.tolist()
        self.comes = copies.target_idx.tolist()
        self.goes = found.removals.broker_idx.tolist()

    def target(self, p: int) -> list[int]:
        """Return the final list of a partition."""
        return self.new[self.start[p] : self.start[p + 1]]

    def leader(self, p: int) -> int:
        """Return who leads once the copies are done, without an election."""
        leader = self.led_by[p]
        return leader if leader in self.lists[p] else self.lists[p][0]

    def copied(self, rows: RowArray) -> tuple[Lists, Lists]:
        """Carry out some copies; return the lists before and after."""
        members: dict[int, set[int]] = {}
        for row in rows.tolist():
            p = self.partition[row]
            now = members.setdefault(p, set(self.lists[p]))
            now.add(self.comes[row])
        for row in rows.tolist():
            members[self.partition[row]].discard(self.goes[row])
        before = {p: self.lists[p] for p in members}
        after = {p: self._ordered(p, now) for p, now in members.items()}
        self.lists.update(after)
        return before, after

    def _ordered(self, p: int, members: set[int]) -> list[int]:
        """Return the leader first, then the final order, then what goes later."""
        leader = self.led_by[p]
        final = [b for b in self.target(p) if b in members]
        rest = [b for b in self.lists[p] if b in members and b not in final]
        rest += sorted(members.difference(final, rest))
        listed = [*final, *rest]
        if leader == ABSENT or leader not in members:
            return listed
        return [leader, *(b for b in listed if b != leader)]

    def unordered(self) -> list[int]:
        """Return the partitions whose lists are not in their final order."""
        return [
            p
            for p, now in self.lists.items()
            if now != self.target(p) and set(now) == set(self.target(p))
        ]
