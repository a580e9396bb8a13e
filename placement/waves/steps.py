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
from placement.waves.lists import (
    Lists,
    lists_after,
    lists_before,
    ragged,
    starts_of,
)

RowArray = npt.NDArray[np.int64]
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
    turns = _turns(found)
    history = _History(found, turns)
    before, after = history.lists_by_wave()
    bounds = np.searchsorted(turns.wave, np.arange(found.num_waves + 1))
    run = np.nonzero(found.wave >= 0)[0]
    run = run[np.argsort(found.wave[run], kind="stable")]
    ends = np.searchsorted(found.wave[run], np.arange(found.num_waves + 1))
    for w in range(found.num_waves):
        yield Step(
            number=w + 1,
            has_copies=True,
            before=before.part(bounds[w], bounds[w + 1]),
            after=after.part(bounds[w], bounds[w + 1]),
            copies=run[ends[w] : ends[w + 1]],
            elects=(),
        )
    yield from _leader_steps(found, history.at_last())


def _leader_steps(found: Cut, now: Lists) -> Iterator[Step]:
    """Yield the waves that bring lists into their final order."""
    target = lists_after(found)
    # What could not be copied keeps its order too.
    differ = np.nonzero(~_is_same_list(now, target))[0]
    pending = differ[_is_same_set(now.of(differ), target.of(differ))]
    for k, begin in enumerate(range(0, len(pending), MOST_LEADERS)):
        rows = pending[begin : begin + MOST_LEADERS]
        before, after = now.of(rows), target.of(rows)
        # Once the copies are done, and without an election.
        led_by = found.reassignment.before.partitions.leader_idx
        leader = led_by[before.partition_idx].astype(np.int64)
        leader = np.where(before.has(leader), leader, before.first)
        is_elected = np.not_equal(leader, after.first)
        yield Step(
            number=found.num_waves + 1 + k,
            has_copies=False,
            before=before,
            after=after,
            copies=np.zeros(0, dtype=np.int64),
            elects=tuple(before.partition_idx[is_elected].tolist()),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Turns:
    """
    What one wave does to one partition, by wave and then by partition.

    Parameters
    ----------
    wave, partition_idx
        ``(T,)`` which.
    turn
        ``(T,)`` how many came before it of the same partition.
    of
        ``(E,)`` the turn of each copy; -1 of those in no wave.
    """

    wave: RowArray
    partition_idx: RowArray
    turn: RowArray
    of: RowArray


def _turns(found: Cut) -> _Turns:
    partition = found.copies.partition_idx
    order = np.lexsort((partition, found.wave))
    order = order[found.wave[order] >= 0]
    wave, partition = found.wave[order], partition[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (wave[1:] != wave[:-1]) | (partition[1:] != partition[:-1])
    of = np.full(len(found.wave), -1, dtype=np.int64)
    of[order] = np.cumsum(is_first) - 1
    wave, partition = wave[is_first], partition[is_first]
    by_partition = np.argsort(partition, kind="stable")
    begins = np.ones(len(partition), dtype=np.bool_)
    begins[1:] = partition[by_partition[1:]] != partition[by_partition[:-1]]
    place = np.arange(len(partition))
    turn = np.empty(len(partition), dtype=np.int64)
    turn[by_partition] = place - np.maximum.accumulate(np.where(begins, place, 0))
    return _Turns(wave=wave, partition_idx=partition, turn=turn, of=of)


class _History:
    """
    Every list that a partition ever has, and where each turn begins and ends.

    Turns are played in rounds: the first one of every partition, then the second.
    """

    def __init__(self, found: Cut, turns: _Turns) -> None:
        self.found, self.turns = found, turns
        start, target = lists_before(found), lists_after(found)
        self.changed = start.partition_idx
        self.broker = start.broker_idx
        # Where the list of each partition that changes begins now, and its length.
        self.begin, self.count = start.start[:-1].copy(), start.counts
        num = found.reassignment.before.num_brokers
        self.num_brokers = num
        key = np.repeat(target.partition_idx, target.counts) * num + target.broker_idx
        order = np.argsort(key)
        self.wanted = key[order]
        slot = np.arange(len(key)) - np.repeat(target.start[:-1], target.counts)
        self.slot = slot[order]
        shape = (2, len(turns.wave))
        self.begins, self.counts = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.row = np.searchsorted(self.changed, turns.partition_idx)
        for k in range(int(turns.turn.max(initial=-1)) + 1):
            self._play(np.nonzero(turns.turn == k)[0])

    def lists_by_wave(self) -> tuple[Lists, Lists]:
        """Return the lists before and after every turn."""
        before, after = (
            self._lists(self.turns.partition_idx, begin, count)
            for begin, count in zip(self.begins, self.counts, strict=True)
        )
        return before, after

    def at_last(self) -> Lists:
        """Return the lists once all copies are done."""
        return self._lists(self.changed, self.begin, self.count)

    def _lists(self, partition: RowArray, begin: RowArray, count: RowArray) -> Lists:
        return Lists(partition, starts_of(count), self.broker[ragged(begin, count)])

    def _play(self, turns: RowArray) -> None:
        """Play turns of different partitions."""
        rows = self.row[turns]
        self.begins[0, turns], self.counts[0, turns] = (
            self.begin[rows],
            self.count[rows],
        )
        turn, broker = self._members(turns, rows)
        count = np.bincount(turn, minlength=len(turns)).astype(np.int64)
        self.begin[rows] = len(self.broker) + starts_of(count)[:-1]
        self.count[rows] = count
        self.broker = np.concatenate([self.broker, broker])
        self.begins[1, turns], self.counts[1, turns] = self.begin[rows], count

    def _members(self, turns: RowArray, rows: RowArray) -> tuple[RowArray, RowArray]:
        """Return who is in each list after a turn, as turns and brokers, in order."""
        copies, goes = self.found.copies, self.found.removals.broker_idx
        place = np.full(len(self.turns.wave) + 1, -1, dtype=np.int64)
        place[turns] = np.arange(len(turns))
        own = np.nonzero(place[self.turns.of] >= 0)[0]
        of = place[self.turns.of[own]]
        counts = self.count[rows]
        turn = np.concatenate([np.repeat(np.arange(len(turns)), counts), of])
        stood = self.broker[ragged(self.begin[rows], counts)]
        broker = np.concatenate([stood, copies.target_idx[own]])
        num = self.num_brokers
        stays = ~np.isin(turn * num + broker, of * num + goes[own])
        # Slots now; what comes and is not wanted in the end stands last, by broker.
        slot = np.arange(len(stood)) - np.repeat(starts_of(counts)[:-1], counts)
        most = int(counts.max(initial=0))
        later = np.concatenate([slot, most + copies.target_idx[own]])
        turn, broker, later = turn[stays], broker[stays], later[stays]
        rank = self._ranks(self.turns.partition_idx[turns][turn], broker, later)
        order = np.lexsort((rank, turn))
        return turn[order], broker[order]

    def _ranks(
        self, partition: RowArray, broker: RowArray, later: RowArray
    ) -> RowArray:
        """Return the leader first, then the final order, then what goes later."""
        leader = self.found.reassignment.before.partitions.leader_idx[partition]
        key = partition * self.num_brokers + broker
        at = np.minimum(np.searchsorted(self.wanted, key), len(self.wanted) - 1)
        is_wanted = np.equal(self.wanted[at], key)
        after_all = int(self.slot.max(initial=0)) + 1
        rank = np.where(is_wanted, self.slot[at], after_all + later)
        return np.where(np.equal(broker, leader), ABSENT, rank)


def _is_same_list(one: Lists, other: Lists) -> npt.NDArray[np.bool_]:
    """Return ``(N,)`` true where two lists of a partition are the same."""
    return _is_alike(one, other, one.broker_idx, other.broker_idx)


def _is_same_set(one: Lists, other: Lists) -> npt.NDArray[np.bool_]:
    """Return ``(N,)`` true where two lists name the same brokers, in any order."""
    return _is_alike(one, other, _ascending(one), _ascending(other))


def _ascending(lists: Lists) -> RowArray:
    of = np.repeat(np.arange(len(lists)), lists.counts)
    return lists.broker_idx[np.lexsort((lists.broker_idx, of))]


def _is_alike(
    one: Lists, other: Lists, left: RowArray, right: RowArray
) -> npt.NDArray[np.bool_]:
    same = np.equal(one.counts, other.counts)
    rows = np.nonzero(same)[0]
    counts = one.counts[rows]
    equal = np.equal(
        left[ragged(one.start[:-1][rows], counts)],
        right[ragged(other.start[:-1][rows], counts)],
    )
    if len(rows):
        same[rows] = np.logical_and.reduceat(equal, starts_of(counts)[:-1])
    return same
