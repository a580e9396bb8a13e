"""Rack rule: no rack holds more replicas of a partition than necessary."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.check.case.finding import Finding
from placement.check.case.placed_replicas import Placed
from placement.check.case.plan_case import Case, stays


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """One row per partition and rack with a replica of it, ordered by partition."""

    partition: IntArray
    rack: IntArray
    count: IntArray
    count_in_use: IntArray


def most_per_rack(replication_factor: int, brokers_per_rack: list[int]) -> int:
    """
    Return the least κ with Σ min(κ, n_k) ≥ RF: the minimum in the fullest rack.

    With fewer brokers than replicas, κ is the replication factor.

    Examples
    --------
    >>> most_per_rack(3, [4, 4]), most_per_rack(3, [1, 5]), most_per_rack(3, [1, 1])
    (2, 2, 3)
    """
    for most in range(1, replication_factor):
        if sum(min(most, n) for n in brokers_per_rack) >= replication_factor:
            return most
    return replication_factor


def rack(case: Case) -> Iterator[Finding]:
    """
    Yield the partitions with more than κ replicas in a rack, or spread unevenly.

    A violation is existing if it is no worse than before: no more replicas above κ, and
    no larger difference between racks. A change of order alone is never worse.
    """
    is_used = stays(case)
    brokers = case.state.brokers
    in_rack = np.bincount(brokers.rack_idx[is_used], minlength=len(brokers.racks))
    new = _spread(case, case.after, is_used, in_rack)
    is_broken = new.is_over | new.is_uneven
    if case.settings.asks_racks_of_changed:
        is_broken &= _changes_racks(case)
    if not is_broken.any():
        return
    old = _spread(case, case.before, is_used, in_rack)
    is_worse = (new.excess > old.excess) | (new.unevenness > old.unevenness)
    is_worse &= case.is_touched & _differs(case)
    for partition in np.flatnonzero(is_broken).tolist():
        name, count = brokers.racks[new.fullest[partition]], new.most[partition]
        limit = new.limit[partition]
        why = (
            f"{limit} at most at replication factor {new.factor[partition]}"
            if new.is_over[partition]
            else f"another rack with a free broker holds {new.least_open[partition]}"
        )
        had = "" if is_worse[partition] else f" (before: {old.most[partition]})"
        message = f"rack {name} holds {count} replicas{had}; {why}"
        finding = case.finding("rack", partition, message, rack=name)
        yield replace(finding, existing=not is_worse[partition])


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """
    Spread of each partition over the racks.

    Parameters
    ----------
    limit
        ``(P,)`` κ, the maximum number of replicas in a rack.
    factor
        ``(P,)`` number of replicas, without those that a reassignment removes.
    most, fullest
        ``(P,)`` number of replicas in the fullest rack, and the row of that rack.
    least_open
        ``(P,)`` number of replicas in the emptiest rack with a free broker.
    excess
        ``(P,)`` number of replicas above κ, summed over the racks.
    """

    limit: IntArray
    factor: IntArray
    most: IntArray
    fullest: IntArray
    least_open: IntArray
    excess: IntArray

    @property
    def is_over(self) -> BoolArray:
        """``(P,)`` true where a rack holds more than κ."""
        over: BoolArray = self.most > self.limit
        return over

    @property
    def is_uneven(self) -> BoolArray:
        """``(P,)`` true where a rack holds 2 more than a rack with a free broker."""
        uneven: BoolArray = self.most >= self.least_open + 2
        return uneven

    @property
    def unevenness(self) -> IntArray:
        """``(P,)`` difference between racks in replicas, beyond the allowed 1."""
        uneven: IntArray = np.maximum(self.most - self.least_open - 1, 0)
        return uneven


def _spread(
    case: Case, placed: Placed, is_used: BoolArray, in_rack: IntArray
) -> _Spread:
    count = case.state.num_partitions
    is_settled = _is_settled(case, placed)
    held = _held(case, placed, is_settled, is_used)
    factor = np.bincount(placed.partition_idx[is_settled], minlength=count)
    limit = _limits(factor, in_rack.tolist())
    most, fullest = _fullest(held, count)
    excess = np.zeros(count, dtype=np.int64)
    np.add.at(excess, held.partition, np.maximum(held.count - limit[held.partition], 0))
    return _Spread(
        limit=limit,
        factor=factor,
        most=most,
        fullest=fullest,
        least_open=_least_open(held, in_rack, count),
        excess=excess,
    )


def _differs(case: Case) -> BoolArray:
    """Return ``(P,)`` true where a replica is added or removed."""
    count = case.state.num_partitions
    stays = np.bincount(case.after.partition_idx[~case.is_new], minlength=count)
    had, has = np.diff(case.before.start), np.diff(case.after.start)
    differs: BoolArray = np.not_equal(stays, had) | np.not_equal(stays, has)
    return differs


def _changes_racks(case: Case) -> BoolArray:
    """Return ``(P,)`` true where a replica moves to another rack."""
    racks, replicas = case.state.brokers.rack_idx, case.state.replicas
    num_racks, count = max(len(case.state.brokers.racks), 1), case.state.num_partitions
    new = case.after.partition_idx * num_racks + racks[case.after.broker_idx]
    old = replicas.partition_idx.astype(np.int64) * num_racks
    old += racks[replicas.broker_idx]
    keys, cell = np.unique(np.concatenate([new, old]), return_inverse=True)
    sign = np.repeat([1, -1], [len(new), len(old)])
    gained = np.bincount(cell, weights=sign, minlength=len(keys))
    wins, loses = (
        np.bincount(keys[rows] // num_racks, minlength=count) > 0
        for rows in (gained > 0, gained < 0)
    )
    changes: BoolArray = wins & loses
    return changes


def _is_settled(case: Case, placed: Placed) -> BoolArray:
    """Return ``(R,)`` false for replicas that an ongoing reassignment removes."""
    goes = np.append(case.state.replicas.is_removing, False)
    settled: BoolArray = ~goes[placed.from_idx]
    if placed is case.after:
        settled |= case.is_touched[placed.partition_idx]
    return settled


def _held(
    case: Case, placed: Placed, is_settled: BoolArray, is_used: BoolArray
) -> _Held:
    brokers, rows = case.state.brokers, placed.broker_idx[is_settled]
    num_racks = max(len(brokers.racks), 1)
    key = placed.partition_idx[is_settled] * num_racks + brokers.rack_idx[rows]
    found, group = np.unique(key, return_inverse=True)
    return _Held(
        partition=found // num_racks,
        rack=found % num_racks,
        count=np.bincount(group, minlength=len(found)),
        count_in_use=np.bincount(group[is_used[rows]], minlength=len(found)),
    )


def _limits(factor: IntArray, brokers_per_rack: list[int]) -> IntArray:
    """Return ``(P,)`` κ of each partition, which depends on its factor alone."""
    limits = [most_per_rack(rf, brokers_per_rack) for rf in range(_top(factor) + 1)]
    found: IntArray = np.array(limits, dtype=np.int64)[factor]
    return found


def _top(values: IntArray) -> int:
    return int(values.max()) if len(values) else 0


def _fullest(held: _Held, num_partitions: int) -> tuple[IntArray, IntArray]:
    """Return ``(P,)`` the replicas in the fullest rack, and its row (the first)."""
    most = np.zeros(num_partitions, dtype=np.int64)
    np.maximum.at(most, held.partition, held.count)
    fullest = np.zeros(num_partitions, dtype=np.int64)
    is_top = np.flatnonzero(np.equal(held.count, most[held.partition]))[::-1]
    fullest[held.partition[is_top]] = held.rack[is_top]
    return most, fullest


def _least_open(held: _Held, in_rack: IntArray, num_partitions: int) -> IntArray:
    """
    Return ``(P,)`` the fewest replicas in a rack with a free broker.

    A rack without a replica of the partition counts as 0. Without a free broker in any
    rack, the result is more than any rack holds.
    """
    has_brokers = in_rack[held.rack] > 0
    num_held = np.bincount(held.partition[has_brokers], minlength=num_partitions)
    is_open = held.count_in_use < in_rack[held.rack]
    nothing_open = _top(held.count) + 1
    least = np.full(num_partitions, nothing_open, dtype=np.int64)
    np.minimum.at(least, held.partition[is_open], held.count[is_open])
    return np.where(num_held < np.count_nonzero(in_rack), 0, least)
