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

from placement.model.cluster import ABSENT
from placement.model.copies import sent_by
from placement.waves.broker_lists import (
    Lists,
    changed_lists,
    ragged,
    starts_of,
)
from placement.waves.edge_colouring import stable_order
from placement.waves.late_removals import MOST_LEADERS
from placement.waves.wave_cut import Cut

RowArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Step:
    """
    One wave.

    Parameters
    ----------
    number
        From 1.
    has_copies
        False for waves that only change orders and leaders; true also for those in
        which replicas are only dropped.
    before, after
        Rows of the brokers of each partition in it, by row of the partition.
    copies
        ``(E,)`` rows of the copies it makes, those inside brokers among them.
    drops
        ``(D,)`` rows of what goes and nothing replaces.
    elects
        Partitions that then are led by another than their first replica.
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
    """Yield the waves that bring lists into their final order."""
    now, target = history.at_last(), history.target
    pending = _only_out_of_order(now, target)
    for k, begin in enumerate(range(0, len(pending), MOST_LEADERS)):
        rows = pending[begin : begin + MOST_LEADERS]
        before, after = now.of(rows), target.of(rows)
        # Once the copies are done, and without an election.
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
    """Return the rows whose brokers are all as wanted, and not their order."""
    rows = np.repeat(np.arange(len(now)), now.counts)
    wanted = target.slots_of(rows, now.broker_idx)
    own = np.arange(len(rows)) - np.repeat(now.start[:-1], now.counts)
    # What could not be copied keeps its order too.
    is_short = np.not_equal(now.counts, target.counts)
    is_short[rows[wanted == ABSENT]] = True
    is_astray = np.zeros(len(now), dtype=np.bool_)
    is_astray[rows[wanted != own]] = True
    return np.nonzero(is_astray & ~is_short)[0]


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
    run = np.nonzero(found.wave >= 0)[0]
    # Rows are by partition already.
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
    Every list that a partition ever has, and where each turn begins and ends.

    Turns are played in rounds: the first one of every partition, then the second.
    """

    def __init__(self, found: Cut, turns: _Turns) -> None:
        self.found, self.turns = found, turns
        start, self.target = changed_lists(found)
        self.is_live = found.reassignment.before.brokers.is_live
        self.changed = start.partition_idx
        self.broker = start.broker_idx
        self.leader = sent_by(found.reassignment.before)[self.changed]
        # Where the list of each partition that changes begins now, and its length.
        self.begin, self.count = start.start[:-1].copy(), start.counts
        shape = (2, len(turns.wave))
        self.begins, self.counts = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.row = np.searchsorted(self.changed, turns.partition_idx)
        # What changes its log dir stays where it stands.
        stays = found.copies.is_inside
        gone, come = found.removals.broker_idx, found.copies.target_idx
        self.gone = _brokers_by_turn(turns, np.where(stays, ABSENT, gone))
        self.come = _brokers_by_turn(turns, np.where(stays, ABSENT, come))
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
        self._elect(rows)

    def _elect(self, rows: RowArray) -> None:
        """Let the first in sync lead where nobody did: what has come is in sync."""
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
        """Return who is in each list after a turn, as turns and brokers, in order."""
        stood = self._lists(rows, self.begin[rows], self.count[rows])
        come = self.come.of(turns)
        counts = stood.counts, come.counts
        turn = np.concatenate([np.repeat(np.arange(len(turns)), n) for n in counts])
        broker = np.concatenate([stood.broker_idx, come.broker_idx])
        # Slots now; what comes and is not wanted in the end stands last, by broker.
        slot = np.arange(len(stood.broker_idx)) - np.repeat(stood.start[:-1], counts[0])
        most = int(counts[0].max(initial=0))
        later = np.concatenate([slot, most + come.broker_idx])
        stays = self.gone.slots_of(turns[turn], broker) == ABSENT
        turn, broker, later = turn[stays], broker[stays], later[stays]
        slot = self.target.slots_of(rows[turn], broker)
        # No list may name a broker that is not live: it goes with the first copy.
        stays = self.is_live[broker] | (slot != ABSENT)
        turn, broker, later, slot = (
            turn[stays],
            broker[stays],
            later[stays],
            slot[stays],
        )
        rank = self._ranks(rows[turn], broker, slot, later)
        # Inside brokers nothing is copied that an election could disturb.
        is_inside = (come.counts == 0) & (self.gone.counts[turns] == 0)
        rank = np.where(is_inside[turn], later, rank)
        order = stable_order(turn * (int(rank.max(initial=0)) + 1) + rank)
        return turn[order], broker[order]

    def _ranks(
        self, rows: RowArray, broker: RowArray, slot: RowArray, later: RowArray
    ) -> RowArray:
        """Return 0 for the leader, then the final order, then what goes later."""
        after_all = int(self.target.counts.max(initial=0))
        rank = np.where(slot == ABSENT, after_all + later, slot) + 1
        return np.where(np.equal(broker, self.leader[rows]), 0, rank)


def _brokers_by_turn(turns: _Turns, broker: RowArray) -> Lists:
    """Return the brokers of the copies of each turn, but absent ones."""
    rows = np.nonzero((turns.of >= 0) & np.not_equal(broker, ABSENT))[0]
    rows = rows[stable_order(turns.of[rows])]
    counts = np.bincount(turns.of[rows], minlength=len(turns.wave)).astype(np.int64)
    return Lists(np.arange(len(counts)), starts_of(counts), broker[rows])
