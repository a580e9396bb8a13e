"""The copies of a reassignment: source, target and replaced replica of each."""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import Weights, first_true
from placement.model.reassignment import Reassignment

INTERNAL = frozenset(
    {
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__remote_log_metadata",
        "__cluster_metadata",
    }
)
"""Kafka's internal topics, which move last."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Copies:
    """
    One row per copy, by partition; replicas that are only dropped have own rows.

    A copy replaces a replica, or none if a list grows, or is the same replica in
    another log dir of its broker. The rows of one partition have this order: copies
    inside brokers; copies that replace dead replicas; other copies, the one that
    replaces the leader last; then replicas that are only dropped.

    Parameters
    ----------
    partition_idx
        ``(E,)`` ascending.
    source_idx
        ``(E,)`` row of the broker that leads, from which Kafka copies (`sent_by`);
        `ABSENT` if there is no source, or if nothing is copied between brokers.
    target_idx
        ``(E,)`` row of the broker that gets the copy; `ABSENT` for dropped replicas.
    drops_idx
        ``(E,)`` row of the broker that deletes a replica after the copy; `ABSENT` if no
        broker does.
    size_bytes
        ``(E,)`` bytes of the copy.
    freed_bytes
        ``(E,)`` bytes of the deleted replica.
    target_dir, drops_dir
        ``(E,)`` row of the log dir of the copy, and of the deleted replica; `ABSENT` if
        unknown.
    """

    partition_idx: RowArray
    source_idx: RowArray
    target_idx: RowArray
    drops_idx: RowArray
    size_bytes: RowArray
    freed_bytes: RowArray
    target_dir: RowArray
    drops_dir: RowArray

    def __len__(self) -> int:
        return len(self.partition_idx)

    def of(self, rows: RowArray) -> Self:
        """Return the copies in the given rows."""
        columns = {c.name: getattr(self, c.name)[rows] for c in fields(self)}
        return replace(self, **columns)

    @property
    def is_drop(self) -> BoolArray:
        """``(E,)`` true for replicas that are dropped without a replacement."""
        return np.equal(self.target_idx, ABSENT)

    @property
    def is_inside(self) -> BoolArray:
        """``(E,)`` true for replicas that only change their log dir."""
        return np.equal(self.target_idx, self.drops_idx)

    @property
    def passes(self) -> BoolArray:
        """``(E,)`` true for copies from one broker to another."""
        return ~self.is_drop & ~self.is_inside

    @property
    def removed_idx(self) -> RowArray:
        """``(E,)`` row of the broker that leaves the list with it, or `ABSENT`."""
        return np.where(self.is_inside, ABSENT, self.drops_idx)

    @property
    def previous(self) -> RowArray:
        """``(E,)`` the preceding copy of the same partition, -1 for the first."""
        rows = np.arange(len(self))
        before = np.full(len(self), -1, dtype=np.int64)
        # A dropped replica follows the last copy, not other dropped replicas.
        last = np.maximum.accumulate(np.where(self.is_drop, -1, rows))
        before[1:] = last[:-1]
        same = np.equal(self.partition_idx[before], self.partition_idx) & (before >= 0)
        return np.where(same, before, -1)


def copies_apart(copies: Copies, most: int) -> RowArray:
    """
    Return ``(E,)`` groups of copies; no two copies of a group may share a wave.

    The copies of a partition from other brokers are dealt to `most` groups; every other
    row is a group of its own.

    Parameters
    ----------
    copies
        The copies.
    most
        Maximum number of new replicas of a partition in one wave.
    """
    count = len(copies)
    group = np.arange(count, dtype=np.int64)
    rows = np.nonzero(copies.passes)[0]
    of = copies.partition_idx[rows]
    turn = np.arange(len(rows)) - np.searchsorted(of, of)
    # A group has the number of its first copy.
    group[rows] = rows[np.searchsorted(of, of) + turn % most]
    return group


def is_internal(state: ClusterState) -> BoolArray:
    """Return ``(P,)`` true for partitions of Kafka's internal topics."""
    own = np.array([name in INTERNAL for name in state.topics.names], dtype=np.bool_)
    if not len(own):
        return np.zeros(state.num_partitions, dtype=np.bool_)
    found: BoolArray = own[state.partitions.topic_idx]
    return found


def sent_by(state: ClusterState) -> RowArray:
    """
    Return ``(P,)`` the broker that copies come from; `ABSENT` without a source.

    That is the leader. Without a leader it is the broker that must lead before any copy
    completes: the first live replica in sync, else the first live replica.
    """
    replicas, leader = state.replicas, state.partitions.leader_idx.astype(np.int64)
    is_live = np.append(state.brokers.is_live, False)
    found = np.where(is_live[leader], leader, ABSENT)
    if not np.equal(found, ABSENT).any():
        return found
    holds = is_live[replicas.broker_idx]
    for could in (holds & replicas.is_in_sync, holds):
        successor = replicas.broker_idx_at(first_true(could, replicas.start))
        found = np.where(found == ABSENT, successor, found)
    return found


def copies_of(reassignment: Reassignment, weights: Weights) -> Copies:
    """
    Return the copies of a reassignment, and the replicas that it only drops.

    Parameters
    ----------
    reassignment
        Replica lists before and after.
    weights
        Weights of the replicas.
    """
    reassignment = as_members(reassignment)
    places = np.nonzero(reassignment.is_copied | reassignment.is_moved_inside)[0]
    of = reassignment.partition_idx[places].astype(np.int64)
    dropped = np.nonzero(reassignment.is_dropped)[0]
    replicas = reassignment.before.replicas
    none = np.full(len(dropped), ABSENT, dtype=np.int64)
    table = _Table(
        reassignment=reassignment,
        weights=weights,
        partition=np.concatenate([of, replicas.partition_idx[dropped]]),
        place=np.concatenate([places, none]),
        origin=np.concatenate([reassignment.origin[places], dropped]),
    )
    return table.ordered().copies()


def as_members(reassignment: Reassignment) -> Reassignment:
    """
    Return the same lists, with the replica that each place replaces in Kafka's view.

    A broker in the lists before and after gets no copy. In a chain, where one replica
    takes the place of a second one and the second that of a third, the copy of the
    first therefore replaces the third.
    """
    replicas = reassignment.before.replicas
    copied = np.nonzero(reassignment.is_copied)[0]
    of, broker = reassignment.partition_idx[copied], reassignment.broker_idx[copied]
    start, counts = replicas.start[of], np.diff(replicas.start)[of]
    is_member = np.zeros(len(copied), dtype=np.bool_)
    for slot in range(int(counts.max(initial=0))):
        member = replicas.broker_idx_at(np.where(slot < counts, start + slot, ABSENT))
        is_member |= np.equal(member, broker)
    chained = np.unique(of[is_member])
    if not len(chained):
        return reassignment
    origin = reassignment.origin.copy()
    for p in chained.tolist():
        places = range(*reassignment.start[p : p + 2].tolist())
        rows = range(*replicas.start[p : p + 2].tolist())
        row_of = {int(replicas.broker_idx[row]): row for row in rows}
        own = [row_of.get(int(reassignment.broker_idx[place])) for place in places]
        free = [row for row in rows if row not in own]
        for place, row in zip(places, own, strict=True):
            kept = row if row is not None else ABSENT
            # Free replicas are assigned to the first places that replace a replica.
            if row is None and origin[place] != ABSENT and free:
                kept = free.pop(0)
            origin[place] = kept
    return replace(reassignment, origin=origin)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Table:
    """
    Rows of copies and dropped replicas.

    Parameters
    ----------
    reassignment, weights
        Replica lists before and after, and the weights of the replicas.
    partition
        ``(E,)`` partition of each row.
    place
        ``(E,)`` place in the target lists; `ABSENT` for dropped replicas.
    origin
        ``(E,)`` replica that is replaced or dropped; `ABSENT` if none is.
    """

    reassignment: Reassignment
    weights: Weights
    partition: RowArray
    place: RowArray
    origin: RowArray

    @property
    def drops(self) -> RowArray:
        """``(E,)`` the broker that deletes a replica, or `ABSENT`."""
        replicas = self.reassignment.before.replicas
        return replicas.broker_idx_at(self.origin).astype(np.int64)

    @property
    def target(self) -> RowArray:
        """``(E,)`` the broker that gets a copy, or `ABSENT`."""
        return _at(self.reassignment.broker_idx, self.place)

    def ordered(self) -> Self:
        """Return the rows by partition, in the order defined by `Copies`."""
        before = self.reassignment.before
        drops, is_dropped = self.drops, np.equal(self.place, ABSENT)
        drops_leader = np.equal(drops, sent_by(before)[self.partition])
        # Moves inside a broker delete neither a leader nor a dead replica.
        drops_leader &= np.not_equal(drops, self.target)
        drops_live = np.append(before.brokers.is_live, True)[drops]
        order = np.lexsort(
            (
                self.origin,
                self.place,
                drops_live,
                drops_leader,
                ~np.equal(drops, self.target),
                is_dropped,
                self.partition,
            )
        )
        rows = {
            name: getattr(self, name)[order]
            for name in ("partition", "place", "origin")
        }
        return replace(self, **rows)

    def copies(self) -> Copies:
        before, weights = self.reassignment.before, self.weights
        drops, target = self.drops, self.target
        is_dropped = np.equal(target, ABSENT)
        is_inside = np.equal(target, drops)
        size = weights.copy_bytes[self.partition]
        own = _at(weights.own, self.origin, 0) if len(weights.own) else 0
        held = np.where(np.equal(drops, ABSENT), 0, size + own)
        # A copy inside a broker has the size of the replica itself.
        size = np.where(is_inside, held, np.where(is_dropped, 0, size))
        passes = ~is_dropped & ~is_inside
        goes = self.reassignment.log_dir_idx
        return Copies(
            partition_idx=self.partition.astype(np.int64),
            source_idx=np.where(passes, sent_by(before)[self.partition], ABSENT),
            target_idx=target,
            drops_idx=drops,
            size_bytes=size.astype(np.int64),
            freed_bytes=held.astype(np.int64),
            target_dir=_at(goes, self.place)
            if goes is not None
            else np.full(len(target), ABSENT, dtype=np.int64),
            drops_dir=_at(before.replicas.log_dir_idx, self.origin),
        )


def _at(
    column: npt.NDArray[np.integer[Any]], rows: RowArray, absent: int = ABSENT
) -> RowArray:
    """Return the values of some rows, and `absent` for rows that are `ABSENT`."""
    if not len(column):
        return np.full(len(rows), absent, dtype=np.int64)
    # Few of a million replicas are looked up: the column is not copied.
    found: RowArray = column[rows].astype(np.int64)
    found[np.equal(rows, ABSENT)] = absent
    return found
