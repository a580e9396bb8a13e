"""
Replica that each copy deletes at the end of its wave.

Lists keep their length, and racks are never worse than before or after the plan. A
leader that goes is deleted with the last copy of its partition, because it is the
source of all copies. Replicas on brokers that are not live are removed with the first
copy, since no list may name such a broker; the list is shorter until the other copies
are done.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice, permutations

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ABSENT
from placement.model.copies import Copies, sent_by
from placement.model.reassignment import Reassignment

MOST_TRIED = 5000
"""Maximum orders to try, more than any replication factor in use has."""
DROPPED = frozenset({"drops_idx", "freed_bytes", "drops_dir"})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Removals:
    """
    Replica deleted at the end of the wave of each copy.

    Parameters
    ----------
    broker_idx
        ``(E,)`` row of the broker that deletes its replica, or `ABSENT`.
    freed_bytes
        ``(E,)`` bytes freed.
    """

    broker_idx: RowArray
    freed_bytes: RowArray


def settle_removals(
    reassignment: Reassignment,
    copies: Copies,
    wave: RowArray,
    caps: tuple[int, int, int],
) -> tuple[RowArray, Removals]:
    """
    Return the removal of each copy, and move copies to other waves where racks need it.

    Parameters
    ----------
    reassignment, copies
        Change of the placement, and its copies. Removals without a copy are included
        only for partitions that are also copied.
    wave
        ``(E,)`` wave of each copy by the caps alone.
    caps
        Maximum copies out, in, and both together, of a broker in a wave.

    Returns
    -------
    Waves and removals. A wave is changed only where a partition has several copies
    and no order of deletions keeps both its racks and its leader.
    """
    wave, broker = with_last_copy(copies, wave), copies.drops_idx.copy()
    freed = copies.freed_bytes.copy()
    slots = _Slots(copies, wave, caps)
    wanted = _is_astray(copies, wave) & _has_removals(copies)
    for rows in _several(copies, wanted):
        order = _safe_order(reassignment, copies, rows, wave)
        if order is None:
            made = [row for row in rows if copies.target_idx[row] != ABSENT]
            slots.space_out(made)
            wave[rows[len(made) :]] = wave[made[-1]]
        chosen = order if order is not None else rows
        ordered = sorted(rows, key=lambda row: (wave[row], row))
        broker[ordered] = copies.drops_idx[chosen]
        freed[ordered] = copies.freed_bytes[chosen]
    return wave, Removals(broker_idx=broker, freed_bytes=freed)


def spread_partitions(
    copies: Copies, wave: RowArray, most: int, caps: tuple[int, int, int]
) -> RowArray:
    """
    Return waves in which no partition exceeds its cap on new replicas.

    Parameters
    ----------
    copies
        Copies of the reassignment.
    wave
        ``(E,)`` wave of each copy by the caps of brokers, below 0: none.
    most
        Maximum number of new replicas of a partition in one wave.
    caps
        Maximum copies out, in, and both together, of a broker in a wave.
    """
    rows = np.nonzero(copies.passes & (wave >= 0))[0]
    places = copies.partition_idx[rows] * (int(wave.max(initial=0)) + 1) + wave[rows]
    _, at, counts = np.unique(places, return_inverse=True, return_counts=True)
    crowded = np.unique(copies.partition_idx[rows[counts[at] > most]])
    if not len(crowded):
        return wave
    found = wave.copy()
    slots = _Slots(copies, found, caps)
    for partition in crowded.tolist():
        slots.space_out(rows[copies.partition_idx[rows] == partition].tolist())
    # Waves without copies are removed.
    is_in = found >= 0
    found[is_in] = np.unique(found[is_in], return_inverse=True)[1]
    return found


def with_last_copy(copies: Copies, wave: RowArray) -> RowArray:
    """
    Return the waves, with waves for removals of partitions that are also copied.

    A removal runs with the partition's last copy between brokers. Without such a copy,
    or if that copy has no wave, the removal has none.
    """
    found = wave.copy()
    last = np.full(int(copies.partition_idx.max(initial=-1)) + 1, -1, dtype=np.int64)
    passes = copies.passes
    np.maximum.at(last, copies.partition_idx[passes], wave[passes])
    found[copies.is_drop] = last[copies.partition_idx[copies.is_drop]]
    return found


def _safe_order(
    reassignment: Reassignment, copies: Copies, rows: list[int], wave: RowArray
) -> list[int] | None:
    """
    Return the copies in the order in which their replaced replicas go, or `None`.

    A move inside a broker deletes its own source replica, and nothing else.
    """
    ordered = sorted(rows, key=lambda row: (wave[row], row))
    racks = _RackRule(reassignment, int(copies.partition_idx[rows[0]]))
    leader = int(sent_by(reassignment.before)[copies.partition_idx[rows[0]]])
    is_live = reassignment.before.brokers.is_live
    free = [row for row in rows if copies.target_idx[row] != copies.drops_idx[row]]
    last = [row for row in free if copies.drops_idx[row] == leader != ABSENT]
    keeps = [row for row in free if row not in last]
    # Replicas on dead brokers go before replicas that serve.
    keeps.sort(key=lambda row: bool(is_live[copies.drops_idx[row]]))
    for choice in islice(permutations(keeps), MOST_TRIED):
        in_turn = iter([*choice, *last])
        removal = [next(in_turn) if row in free else row for row in ordered]
        if racks.holds(copies, ordered, removal, wave):
            return removal
    return None


def _has_removals(copies: Copies) -> BoolArray:
    """Return ``(E,)`` true for copies of partitions that lose a replica."""
    removes = np.not_equal(copies.removed_idx, ABSENT)
    most = int(copies.partition_idx.max(initial=-1)) + 1
    of: BoolArray = np.zeros(most, dtype=np.bool_)
    of[copies.partition_idx[removes]] = True
    return of[copies.partition_idx]


def _is_astray(copies: Copies, wave: RowArray) -> BoolArray:
    """Return ``(E,)`` true for copies that do not run after their previous copy."""
    previous = copies.previous
    return (previous >= 0) & (wave <= wave[previous])


def _several(copies: Copies, wanted: BoolArray) -> Iterator[list[int]]:
    """Yield the rows of each partition with several copies, one of them wanted."""
    start = np.nonzero(copies.previous < 0)[0]
    stop = np.append(start[1:], len(copies))
    if not len(start):
        return
    has = np.add.reduceat(wanted.astype(np.int64), start) > 0
    for first in np.nonzero((stop - start > 1) & has)[0].tolist():
        yield list(range(int(start[first]), int(stop[first])))


def in_safe_order(reassignment: Reassignment, copies: Copies) -> Copies:
    """
    Sort the copies of each partition into an order that is safe one by one.

    Racks are no worse after any copy, and the leader's replica is deleted last. Where
    no such order is found, the copies keep their order.
    """
    order, drops = np.arange(len(copies)), np.arange(len(copies))
    turn = np.zeros(len(copies), dtype=np.int64)
    rack = reassignment.before.brokers.rack_idx
    # A copy that replaces a replica in its own rack, or replaces none, is safe in any
    # order.
    stays = np.equal(rack[copies.target_idx], rack[copies.drops_idx])
    stays |= np.equal(copies.drops_idx, ABSENT)
    passes, inside = copies.passes, copies.is_inside
    for rows in _several(copies, ~stays):
        first = [row for row in rows if inside[row]]
        made = [row for row in rows if passes[row]]
        rest = rows[len(first) + len(made) :]
        for tried in islice(permutations(made), MOST_TRIED if made else 0):
            turn[first], turn[list(tried)] = rows[0], made
            # Removals without a copy go with the last copy.
            turn[rest] = made[-1]
            removal = _safe_order(reassignment, copies, rows, turn)
            if removal is not None:
                order[rows] = [*first, *tried, *rest]
                drops[rows] = removal
                break
    columns = {
        column.name: getattr(copies, column.name)[
            drops if column.name in DROPPED else order
        ]
        for column in fields(copies)
    }
    return replace(copies, **columns)


class _RackRule:
    """Rule that no rack holds more of a partition than before or after the plan."""

    def __init__(self, reassignment: Reassignment, partition: int) -> None:
        replicas = reassignment.before.replicas
        start, stop = replicas.start[partition : partition + 2].tolist()
        self.rack = reassignment.before.brokers.rack_idx.tolist()
        self.before = replicas.broker_idx[start:stop].tolist()
        start, stop = reassignment.start[partition : partition + 2].tolist()
        after = reassignment.broker_idx[start:stop].tolist()
        most = self._counts(self.before)
        for rack, count in self._counts(after).items():
            most[rack] = max(most[rack], count)
        self.most = most
        live = reassignment.before.brokers.is_live
        # Dead brokers leave the list with the first copy.
        self.dead = {b for b in self.before if not live[b] and b not in after}

    def _counts(self, brokers: list[int]) -> Counter[int]:
        return Counter(self.rack[broker] for broker in brokers)

    def holds(
        self, copies: Copies, ordered: list[int], removal: list[int], wave: RowArray
    ) -> bool:
        now = set(self.before) - self.dead
        for position, row in enumerate(ordered):
            if copies.target_idx[row] != ABSENT:
                now.add(int(copies.target_idx[row]))
            gone = removal[position]
            if copies.drops_idx[gone] != copies.target_idx[gone]:
                now.discard(int(copies.drops_idx[gone]))
            is_last = position + 1 == len(ordered)
            if not is_last and wave[ordered[position + 1]] == wave[row]:
                continue
            counts = self._counts(sorted(now))
            if any(count > max(self.most[rack], 1) for rack, count in counts.items()):
                return False
        return True


class _Slots:
    """Search for another wave in which both ends of a copy have room for one more."""

    def __init__(
        self, copies: Copies, wave: RowArray, caps: tuple[int, int, int]
    ) -> None:
        self.copies, self.wave, self.caps = copies, wave, caps
        self.sent: Counter[tuple[int, int]] = Counter()
        self.received: Counter[tuple[int, int]] = Counter()
        self.num = int(wave.max(initial=-1)) + 1
        self.is_counted = False
        # The only copy of a partition may run in any wave.
        first = copies.previous < 0
        last = np.append(first[1:], True)
        self.is_alone = (first & last).tolist()
        self.at_end: dict[tuple[str, int, int], list[int]] = defaultdict(list)

    def _count(self) -> None:
        ends = zip(
            self.wave.tolist(),
            self.copies.source_idx.tolist(),
            self.copies.target_idx.tolist(),
            strict=True,
        )
        for row, (wave, source, target) in enumerate(ends):
            self.sent[wave, source] += 1
            self.received[wave, target] += 1
            if self.is_alone[row]:
                self.at_end["out", wave, source].append(row)
                self.at_end["in", wave, target].append(row)
        self.is_counted = True

    def space_out(self, rows: list[int]) -> None:
        """Assign ascending waves to the copies of a partition, in their order."""
        if not self.is_counted:
            self._count()
        earliest = 0
        for row in rows:
            # As early as possible, so that later copies find a wave as well.
            if not self._moved(row, range(earliest, self.num)):
                self._take(row)
                self._put(row, max(self.num, earliest))
            earliest = int(self.wave[row]) + 1

    def _moved(self, row: int, waves: range) -> bool:
        """Move a copy to the first of some waves that has, or can make, room."""
        source = int(self.copies.source_idx[row])
        target = int(self.copies.target_idx[row])
        old = int(self.wave[row])
        self._take(row)
        for new in waves:
            if self._has_room(new, source, target) or self._makes_room(row, old, new):
                self._put(row, new)
                return True
        self._put(row, old)
        return False

    def _take(self, row: int) -> None:
        wave = int(self.wave[row])
        self.sent[wave, int(self.copies.source_idx[row])] -= 1
        self.received[wave, int(self.copies.target_idx[row])] -= 1

    def _put(self, row: int, wave: int) -> None:
        self.num = max(self.num, wave + 1)
        self.sent[wave, int(self.copies.source_idx[row])] += 1
        self.received[wave, int(self.copies.target_idx[row])] += 1
        self.wave[row] = wave

    def _makes_room(self, row: int, old: int, new: int) -> bool:
        """Move a copy of each busy end from wave `new` to the vacated wave `old`."""
        source = int(self.copies.source_idx[row])
        target = int(self.copies.target_idx[row])
        moved: list[int] = []
        for end in (("in", new, target), ("out", new, source)):
            if self._has_room(new, source, target):
                break
            rival = self._rival(end, old)
            if rival is not None:
                self._change(rival, old)
                moved.append(rival)
        if self._has_room(new, source, target):
            return True
        for rival in moved:
            self._change(rival, new)
        return False

    def _rival(self, end: tuple[str, int, int], old: int) -> int | None:
        """Return a copy of a busy end that has room in wave `old`, or `None`."""
        direction, wave, broker = end
        busy = (self.received if direction == "in" else self.sent)[wave, broker]
        out, into, both = self.caps
        if busy < min(into if direction == "in" else out, both):
            return None
        for other in self.at_end[end]:
            if self.wave[other] == wave:
                self._take(other)
                ends = self.copies.source_idx[other], self.copies.target_idx[other]
                has_room = self._has_room(old, int(ends[0]), int(ends[1]))
                self._put(other, wave)
                if has_room:
                    return other
        return None

    def _change(self, row: int, wave: int) -> None:
        self._take(row)
        self._put(row, wave)
        if self.is_alone[row]:
            self.at_end["in", wave, int(self.copies.target_idx[row])].append(row)
            self.at_end["out", wave, int(self.copies.source_idx[row])].append(row)

    def _has_room(self, wave: int, source: int, target: int) -> bool:
        out, into, both = self.caps
        if self.received[wave, target] >= into:
            return False
        if self.received[wave, target] + self.sent[wave, target] >= both:
            return False
        if source < 0:
            return True
        busy = self.sent[wave, source]
        return busy < out and busy + self.received[wave, source] < both
