"""
A reassignment: the difference between two placements of one cluster.

Both placements have the same partitions. They differ in the broker of a replica, the
order of a partition's list and, if a replication factor changes, its length.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    ClusterState,
    Replicas,
    sum_rows,
)
from placement.model.columns import rows_of_starts
from placement.model.free_space import usable_after
from placement.model.load import (
    Weights,
    first_live_replica,
    first_true,
    preferred_leaders,
)

_Table = TypeVar("_Table", bound=npt.NDArray[Any])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reassignment:
    """
    Target lists of a reassignment, with ``M`` replicas, and the cluster before it.

    Parameters
    ----------
    before
        The present cluster.
    broker_idx
        ``(M,)`` row of the broker in each place of the target lists, by partition.
    origin
        ``(M,)`` the replica row of `before` that each place keeps or replaces; `ABSENT`
        if it replaces none: the list has grown.
    target_start
        ``(P + 1,)`` start of the target list of each partition; `None` if no list
        changes its length, so that the starts are those of `before`.
    log_dir_idx
        ``(M,)`` row of the new log dir of each place; `ABSENT` for any log dir, or the
        present one; `None` if that applies to all places.
    """

    before: ClusterState
    broker_idx: IndexArray
    origin: RowArray
    target_start: RowArray | None = None
    log_dir_idx: IndexArray | None = None
    _after: ClusterState | None = field(init=False, default=None, repr=False)
    _known: dict[str, npt.NDArray[Any]] = field(
        init=False, default_factory=dict, repr=False
    )

    def _once(self, name: str, find: Callable[[], _Table]) -> _Table:
        """Return a table that is computed once and is read-only."""
        if name not in self._known:
            table = find()
            table.setflags(write=False)
            self._known[name] = table
        return cast("_Table", self._known[name])

    @property
    def start(self) -> RowArray:
        """``(P + 1,)`` start of the target list of each partition."""
        own = self.target_start
        return self.before.replicas.start if own is None else own

    @property
    def partition_idx(self) -> IndexArray:
        """``(M,)`` the partition of each place of the target lists."""
        return self._once("partition_idx", self._find_partitions)

    def _find_partitions(self) -> IndexArray:
        return rows_of_starts(self.start)

    @property
    def is_copied(self) -> BoolArray:
        """``(M,)`` true for places of the target that need a new copy."""
        return self._once("is_copied", self._find_copied)

    def _find_copied(self) -> BoolArray:
        old = self.before.replicas.broker_idx_at(self.origin)
        return np.not_equal(self.broker_idx, old)

    @property
    def is_dropped(self) -> BoolArray:
        """``(R,)`` true for replicas that are removed without a replacement."""
        dropped = np.ones(len(self.before.replicas), dtype=np.bool_)
        dropped[self.origin[np.not_equal(self.origin, ABSENT)]] = False
        return dropped

    @property
    def is_changed(self) -> BoolArray:
        """``(P,)`` true for partitions whose list changes, or a log dir in it."""
        return self._once("is_changed", self._find_changed)

    def _find_changed(self) -> BoolArray:
        replicas = self.before.replicas
        if self.target_start is None:
            differs = np.not_equal(self.broker_idx, replicas.broker_idx)
            differs |= self.is_moved_inside
            return np.not_equal(first_true(differs, replicas.start), ABSENT)
        counts, of = np.diff(self.start), self.partition_idx
        slot = np.arange(len(of)) - self.start[of]
        is_there = slot < np.diff(replicas.start)[of]
        same = np.where(is_there, replicas.start[of] + slot, ABSENT)
        equal = np.equal(replicas.broker_idx_at(same), self.broker_idx)
        equal &= ~self.is_moved_inside
        is_same = np.equal(sum_rows(equal, self.start), counts)
        return ~(is_same & np.equal(counts, np.diff(replicas.start)))

    @property
    def is_moved_inside(self) -> BoolArray:
        """``(M,)`` true for places that stay on their broker, in another log dir."""
        if self.log_dir_idx is None:
            return np.zeros(len(self.broker_idx), dtype=np.bool_)
        was = self.before.replicas.log_dir_idx[self.origin]
        is_named = np.not_equal(self.log_dir_idx, ABSENT)
        return is_named & np.not_equal(self.log_dir_idx, was) & ~self.is_copied

    @property
    def _has_source(self) -> BoolArray:
        return self._once("has_source", lambda: self.before.has_source)

    @property
    def is_led_anew(self) -> BoolArray:
        """``(P,)`` true for partitions whose first replica changes."""
        if not len(self.broker_idx):
            return np.zeros(0, dtype=np.bool_)
        replicas = self.before.replicas
        return np.not_equal(
            self.broker_idx[self.start[:-1]], replicas.broker_idx[replicas.start[:-1]]
        )

    @property
    def is_resized(self) -> BoolArray:
        """``(P,)`` true for partitions whose replication factor changes."""
        return np.not_equal(np.diff(self.start), np.diff(self.before.replicas.start))

    def copied_bytes(self, weights: Weights) -> int:
        """Return the sum of the bytes of all copies."""
        return int(weights.copy_bytes[self.partition_idx[self.is_copied]].sum())

    def after(self) -> ClusterState:
        """
        Return the cluster after all reassignments and preferred elections.

        Changed partitions: replicas := target, in sync if live, with no replica being
        added, removed or moved between log dirs. All partitions: the first live replica
        leads; without a live replica in sync there is no leader, and no copy is made.
        """
        if self._after is None:
            object.__setattr__(self, "_after", self._made())
        assert self._after is not None  # noqa: S101 - made just now
        return self._after

    def _made(self) -> ClusterState:
        before = self.before
        state = replace(before, replicas=self._replicas_after())
        leader = preferred_leaders(state).astype(np.int32)
        return replace(
            state,
            partitions=replace(before.partitions, leader_idx=leader),
            log_dirs=replace(before.log_dirs, usable_bytes=usable_after(before, state)),
        )

    def _replicas_after(self) -> Replicas:
        replicas, brokers = self.before.replicas, self.before.brokers
        changed = self.is_changed[self.partition_idx]
        # Places that replace nothing are copies in changed partitions: the values at
        # their origin are not used.
        copied, origin = self.is_copied, self.origin
        # A replica that stays in a failed log dir stays offline.
        is_failed = self.before.is_offline[origin] & ~copied
        is_live = brokers.is_live[self.broker_idx] & ~is_failed
        catches_up = changed & self._has_source[self.partition_idx]
        kept = replicas.is_in_sync[origin] & ~copied
        kept_dir = np.where(copied, ABSENT, replicas.log_dir_idx[origin])
        if self.log_dir_idx is not None:
            is_named = np.not_equal(self.log_dir_idx, ABSENT)
            kept_dir = np.where(is_named, self.log_dir_idx, kept_dir)
        future = np.where(changed, ABSENT, replicas.future_log_dir_idx[origin])
        own = np.where(copied, UNKNOWN, replicas.own_bytes[origin])
        return Replicas(
            start=self.start,
            broker_idx=self.broker_idx,
            is_in_sync=np.where(catches_up, is_live, kept),
            is_failed=replicas.is_failed[origin] & ~copied,
            is_adding=replicas.is_adding[origin] & ~changed,
            is_removing=replicas.is_removing[origin] & ~changed,
            is_eligible=replicas.is_eligible[origin] & ~changed,
            is_last_known_eligible=replicas.is_last_known_eligible[origin] & ~changed,
            log_dir_idx=kept_dir.astype(np.int32),
            future_log_dir_idx=future.astype(np.int32),
            own_bytes=own,
        )

    def then(self, second: "Reassignment") -> Self:
        """
        Return this reassignment and a second one after it as one.

        A replica that the first removes from a broker and the second brings back stays
        there.

        Parameters
        ----------
        second
            Reassignment of the cluster after this one.
        """
        origin = np.where(
            np.equal(second.origin, ABSENT), ABSENT, self.origin[second.origin]
        )
        both = replace(
            self,
            broker_idx=second.broker_idx,
            origin=origin,
            target_start=_unless_same(self.before, second.start),
        )
        return replace(both, origin=_origin_by_stayers(both))

    def without(self, is_dropped: BoolArray) -> Self:
        """
        Return the lists without some of their places.

        Parameters
        ----------
        is_dropped
            ``(M,)`` true for the places to remove; at least one of each partition
            stays.
        """
        counts = np.diff(self.start) - sum_rows(is_dropped, self.start)
        return replace(
            self,
            broker_idx=self.broker_idx[~is_dropped],
            origin=self.origin[~is_dropped],
            target_start=_unless_same(self.before, _starts(counts)),
        )

    def grown(self, partition_idx: RowArray, broker_idx: IndexArray) -> Self:
        """
        Return the lists with further copies at their ends that replace nothing.

        Parameters
        ----------
        partition_idx, broker_idx
            ``(X,)`` partition and broker of each copy.
        """
        of = np.concatenate([self.partition_idx, partition_idx])
        order = np.argsort(of, kind="stable")
        new = np.full(len(partition_idx), ABSENT, dtype=np.int64)
        counts = np.bincount(of, minlength=len(self.start) - 1)
        return replace(
            self,
            broker_idx=np.concatenate([self.broker_idx, broker_idx])[order].astype(
                np.int32
            ),
            origin=np.concatenate([self.origin, new])[order],
            target_start=_unless_same(self.before, _starts(counts)),
        )

    def reverted(self, is_reverted: BoolArray) -> Self:
        """
        Return the lists with those of some partitions as before.

        Parameters
        ----------
        is_reverted
            ``(P,)`` true for partitions that do not change.
        """
        if not is_reverted.any():
            return self
        replicas = self.before.replicas
        stays = np.nonzero(~is_reverted[self.partition_idx])[0]
        back = np.nonzero(is_reverted[replicas.partition_idx])[0]
        of = np.concatenate([self.partition_idx[stays], replicas.partition_idx[back]])
        order = np.argsort(of, kind="stable")
        brokers = [self.broker_idx[stays], replicas.broker_idx[back]]
        counts = np.bincount(of, minlength=len(self.start) - 1)
        return replace(
            self,
            broker_idx=np.concatenate(brokers)[order],
            origin=np.concatenate([self.origin[stays], back])[order],
            target_start=_unless_same(self.before, _starts(counts)),
        )


def unchanged(before: ClusterState) -> Reassignment:
    """Return the reassignment that changes nothing."""
    rows = np.arange(len(before.replicas), dtype=np.int64)
    return Reassignment(
        before=before, broker_idx=before.replicas.broker_idx, origin=rows
    )


def _starts(counts: RowArray) -> RowArray:
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def _unless_same(before: ClusterState, start: RowArray) -> RowArray | None:
    """Return the starts of lists; `None` if no list changes its length."""
    return None if np.array_equal(start, before.replicas.start) else start


def led_by(state: ClusterState) -> RowArray:
    """
    Return ``(P,)`` the replica that an election now would make the leader.

    The first live one in sync, else the first live one, else `ABSENT`.
    """
    replicas = state.replicas
    in_sync = first_true(~state.is_offline & replicas.is_in_sync, replicas.start)
    return np.where(in_sync == ABSENT, first_live_replica(state), in_sync)


def _origin_by_stayers(found: Reassignment) -> RowArray:
    """
    Return ``(M,)`` origins such that no broker with a replica gets a copy.

    That replica stays, and the copy replaces the replica whose place it would take.
    """
    replicas, of = found.before.replicas, found.partition_idx
    origin = found.origin.copy()
    places = np.nonzero(found.is_copied)[0]
    # A single copy, with no replica dropped, goes to a broker without a replica.
    has_more = np.bincount(of[places], minlength=found.before.num_partitions) > 1
    has_more |= np.diff(found.start) < found.before.num_replicas
    places = places[has_more[of[places]]]
    rows = np.nonzero(has_more[replicas.partition_idx])[0]
    is_there = np.isin(
        _pairs(found, of[places], found.broker_idx[places]),
        _pairs(found, replicas.partition_idx[rows], replicas.broker_idx[rows]),
    )
    for place in places[is_there].tolist():
        p = int(of[place])
        old = slice(*replicas.start[p : p + 2].tolist())
        here = replicas.broker_idx[old] == found.broker_idx[place]
        stays = old.start + int(np.argmax(here))
        new = slice(*found.start[p : p + 2].tolist())
        # A place with that origin, if any, gets the origin of this place instead.
        taker = np.nonzero(origin[new] == stays)[0] + new.start
        origin[taker], origin[place] = origin[place], stays
    return origin


def _pairs(found: Reassignment, of: IndexArray, broker: IndexArray) -> RowArray:
    """Return each partition and broker as one number."""
    return of.astype(np.int64) * found.before.num_brokers + broker


def reassign(
    before: ClusterState, broker_of: IndexArray, leading: RowArray
) -> Reassignment:
    """
    Return lists from the new broker of each replica and the leaders.

    A copy takes the place of the replica that it replaces. Then the leader moves to the
    front, and the rest keep their order. If no replica of a partition moves and its
    leader is unchanged, its list is unchanged.

    Parameters
    ----------
    before
        The present cluster.
    broker_of
        ``(R,)`` new broker of each replica.
    leading
        ``(P,)`` replica row of the leader after the reassignment, or `ABSENT`.
    """
    replicas = before.replicas
    rows = np.arange(len(replicas), dtype=np.int64)
    of = replicas.partition_idx
    moved = np.not_equal(broker_of, replicas.broker_idx)
    has_moved = first_true(moved, replicas.start) != ABSENT
    touched = has_moved | (leading != first_live_replica(before))
    touched &= leading != ABSENT
    leads = np.equal(rows, leading[of]) & touched[of]
    # Stable sort by (partition, not the leader): the leader first, the rest in order.
    origin = np.lexsort((rows, ~leads, of)).astype(np.int64)
    found = Reassignment(before=before, broker_idx=broker_of[origin], origin=origin)
    return replace(found, origin=_origin_by_stayers(found))
