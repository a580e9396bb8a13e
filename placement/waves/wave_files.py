"""
Replica lists of each wave, as Kafka takes them.

While copies run, the leader stays first in its list, so that no other replica is
elected. Final list orders, and elections of the first replica as leader, follow in
waves of their own at the end.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from placement.array_types import RowArray
from placement.model.cluster import ABSENT
from placement.model.columns import starts_of
from placement.model.copies import sent_by
from placement.waves.broker_lists import Lists, changed_lists, ragged
from placement.waves.edge_colouring import stable_order
from placement.waves.late_removals import MOST_LEADERS
from placement.waves.wave_cut import Cut


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Step:
    """
    One wave.

    Parameters
    ----------
    number
        Number of the wave, from 1.
    has_copies
        False for waves that only change list orders and leaders; true also for waves
        that only remove replicas.
    before, after
        Broker lists of the partitions in the wave, before and after it.
    copies
        ``(E,)`` rows of the copies in the wave, moves inside brokers included.
    drops
        ``(D,)`` rows of the removals that no copy replaces.
    elects
        Rows of the partitions that need an election of their first replica.
    """

    number: int
    has_copies: bool
    before: Lists
    after: Lists
    copies: RowArray
    drops: RowArray
    elects: tuple[int, ...]


def steps_of(found: Cut) -> Iterator[Step]:
    """Yield the waves in order."""
    turns = _turns(found)
    history = _History(found, turns)
    before, after = history.lists_by_wave()
    bounds = np.searchsorted(turns.wave, np.arange(found.num_waves + 1))
    run = np.nonzero(found.wave >= 0)[0]
    run = run[stable_order(found.wave[run])]
    ends = np.searchsorted(found.wave[run], np.arange(found.num_waves + 1))
    is_drop = found.copies.is_drop
    for w in range(found.num_waves):
        rows = run[ends[w] : ends[w + 1]]
        yield Step(
            number=w + 1,
            has_copies=True,
            before=before.part(bounds[w], bounds[w + 1]),
            after=after.part(bounds[w], bounds[w + 1]),
            copies=rows[~is_drop[rows]],
            drops=rows[is_drop[rows]],
            elects=(),
        )
    yield from _leader_steps(found, history)


def _leader_steps(found: Cut, history: "_History") -> Iterator[Step]:
    """Yield the waves that set the final order of lists."""
    now, target = history.at_last(), history.target
    pending = _only_out_of_order(now, target)
    for k, begin in enumerate(range(0, len(pending), MOST_LEADERS)):
        rows = pending[begin : begin + MOST_LEADERS]
        before, after = now.of(rows), target.of(rows)
        # Leader after all copies, without an election.
        leader = history.leader[rows]
        is_there = before.slots_of(np.arange(len(rows)), leader) != ABSENT
        leader = np.where(is_there, leader, before.first)
        is_elected = np.not_equal(leader, after.first)
        yield Step(
            number=found.num_waves + 1 + k,
            has_copies=False,
            before=before,
            after=after,
            copies=np.zeros(0, dtype=np.int64),
            drops=np.zeros(0, dtype=np.int64),
            elects=tuple(before.partition_idx[is_elected].tolist()),
        )


def _only_out_of_order(now: Lists, target: Lists) -> RowArray:
    """Return the lists with the final brokers in another order."""
    rows = np.repeat(np.arange(len(now)), now.counts)
    wanted = target.slots_of(rows, now.broker_idx)
    own = np.arange(len(rows)) - np.repeat(now.start[:-1], now.counts)
    # A list that lacks a copy keeps its order.
    is_short = np.not_equal(now.counts, target.counts)
    is_short[rows[wanted == ABSENT]] = True
    is_astray = np.zeros(len(now), dtype=np.bool_)
    is_astray[rows[wanted != own]] = True
    return np.nonzero(is_astray & ~is_short)[0]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Turns:
    """
    Changes of one partition in one wave, sorted by wave, then by partition.

    Parameters
    ----------
    wave, partition_idx
        ``(T,)`` wave and partition row of each change.
    turn
        ``(T,)`` number of earlier changes of the same partition.
    of
        ``(E,)`` index of the change of each copy; -1 for copies without a wave.
    """

    wave: RowArray
    partition_idx: RowArray
    turn: RowArray
    of: RowArray


def _turns(found: Cut) -> _Turns:
    partition = found.copies.partition_idx
    run = np.nonzero(found.wave >= 0)[0]
    # Rows are sorted by partition already.
    order = run[stable_order(found.wave[run])]
    wave, partition = found.wave[order], partition[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (wave[1:] != wave[:-1]) | (partition[1:] != partition[:-1])
    of = np.full(len(found.wave), -1, dtype=np.int64)
    of[order] = np.cumsum(is_first) - 1
    wave, partition = wave[is_first], partition[is_first]
    by_partition = stable_order(partition)
    begins = np.ones(len(partition), dtype=np.bool_)
    begins[1:] = partition[by_partition[1:]] != partition[by_partition[:-1]]
    place = np.arange(len(partition))
    turn = np.empty(len(partition), dtype=np.int64)
    turn[by_partition] = place - np.maximum.accumulate(np.where(begins, place, 0))
    return _Turns(wave=wave, partition_idx=partition, turn=turn, of=of)


class _History:
    """
    All lists of each partition over time, with those before and after each change.

    Changes are applied in rounds: the first of every partition, then the second.
    """

    def __init__(self, found: Cut, turns: _Turns) -> None:
        self.found, self.turns = found, turns
        start, self.target = changed_lists(found)
        self.is_live = found.reassignment.before.brokers.is_live
        self.changed = start.partition_idx
        self.broker = start.broker_idx
        self.leader = sent_by(found.reassignment.before)[self.changed]
        # Start and length of the current list of each changed partition.
        self.begin, self.count = start.start[:-1].copy(), start.counts
        shape = (2, len(turns.wave))
        self.begins, self.counts = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.row = np.searchsorted(self.changed, turns.partition_idx)
        # A move between log dirs does not change the list.
        stays = found.copies.is_inside
        gone, come = found.removals.broker_idx, found.copies.target_idx
        self.gone = _brokers_by_turn(turns, np.where(stays, ABSENT, gone))
        self.come = _brokers_by_turn(turns, np.where(stays, ABSENT, come))
        for k in range(int(turns.turn.max(initial=-1)) + 1):
            self._play(np.nonzero(turns.turn == k)[0])

    def lists_by_wave(self) -> tuple[Lists, Lists]:
        """Return the lists before and after every change."""
        before, after = (
            self._lists(self.turns.partition_idx, begin, count)
            for begin, count in zip(self.begins, self.counts, strict=True)
        )
        return before, after

    def at_last(self) -> Lists:
        """Return the lists after all copies."""
        return self._lists(self.changed, self.begin, self.count)

    def _lists(self, partition: RowArray, begin: RowArray, count: RowArray) -> Lists:
        return Lists(partition, starts_of(count), self.broker[ragged(begin, count)])

    def _play(self, turns: RowArray) -> None:
        """Apply one change to each of several partitions."""
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
        self._elect(rows)

    def _elect(self, rows: RowArray) -> None:
        """Set the first in-sync replica, new ones included, as missing leader."""
        before = self.found.reassignment.before
        replicas = before.replicas
        for row in rows[np.equal(self.leader[rows], ABSENT)].tolist():
            start, stop = replicas.start[self.changed[row] :][:2].tolist()
            was = replicas.broker_idx[start:stop]
            behind = set(was[~replicas.is_in_sync[start:stop]].tolist())
            began = self.begin[row]
            now = self.broker[began : began + self.count[row]].tolist()
            in_sync = [b for b in now if b not in behind and self.is_live[b]]
            self.leader[row] = in_sync[0] if in_sync else ABSENT

    def _members(self, turns: RowArray, rows: RowArray) -> tuple[RowArray, RowArray]:
        """Return the lists after each change, as flat columns of index and broker."""
        stood = self._lists(rows, self.begin[rows], self.count[rows])
        come = self.come.of(turns)
        counts = stood.counts, come.counts
        turn = np.concatenate([np.repeat(np.arange(len(turns)), n) for n in counts])
        broker = np.concatenate([stood.broker_idx, come.broker_idx])
        # Current positions; temporary replicas come last, by broker.
        slot = np.arange(len(stood.broker_idx)) - np.repeat(stood.start[:-1], counts[0])
        most = int(counts[0].max(initial=0))
        later = np.concatenate([slot, most + come.broker_idx])
        stays = self.gone.slots_of(turns[turn], broker) == ABSENT
        turn, broker, later = turn[stays], broker[stays], later[stays]
        slot = self.target.slots_of(rows[turn], broker)
        # No list may name a broker that is not live: it is removed with the first copy.
        stays = self.is_live[broker] | (slot != ABSENT)
        turn, broker, later, slot = (
            turn[stays],
            broker[stays],
            later[stays],
            slot[stays],
        )
        rank = self._ranks(rows[turn], broker, slot, later)
        # An election does not disturb moves inside brokers, so the order stays.
        is_inside = (come.counts == 0) & (self.gone.counts[turns] == 0)
        rank = np.where(is_inside[turn], later, rank)
        order = stable_order(turn * (int(rank.max(initial=0)) + 1) + rank)
        return turn[order], broker[order]

    def _ranks(
        self, rows: RowArray, broker: RowArray, slot: RowArray, later: RowArray
    ) -> RowArray:
        """Return ranks: the leader, the final list in order, replicas that go later."""
        after_all = int(self.target.counts.max(initial=0))
        rank = np.where(slot == ABSENT, after_all + later, slot) + 1
        return np.where(np.equal(broker, self.leader[rows]), 0, rank)


def _brokers_by_turn(turns: _Turns, broker: RowArray) -> Lists:
    """Return the brokers of the copies of each change, without absent ones."""
    rows = np.nonzero((turns.of >= 0) & np.not_equal(broker, ABSENT))[0]
    rows = rows[stable_order(turns.of[rows])]
    counts = np.bincount(turns.of[rows], minlength=len(turns.wave)).astype(np.int64)
    return Lists(np.arange(len(counts)), starts_of(counts), broker[rows])
