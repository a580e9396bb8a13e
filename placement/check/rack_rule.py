"""The rack rule: no rack holds more of a partition than it must."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from placement.check.case import Case
from placement.check.finding import Finding
from placement.check.placed import BoolArray
from placement.check.target import Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """One row per partition and rack that holds any of it, by partition."""

    partition: Int64Array
    rack: Int64Array
    count: Int64Array
    count_in_use: Int64Array


def most_per_rack(replication_factor: int, brokers_per_rack: list[int]) -> int:
    """
    Return the least κ with Σ min(κ, n_k) ≥ RF: what the fullest rack must hold.

    Where all brokers together are too few, as many as there are replicas.

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
    """Find partitions with more replicas in a rack than κ, or unevenly spread ones."""
    is_used = _is_used(case)
    brokers = case.state.brokers
    in_rack = np.bincount(brokers.rack_idx[is_used], minlength=len(brokers.racks))
    is_settled = _is_settled(case)
    held = _held(case, is_settled, is_used)
    factor = np.bincount(
        case.after.partition_idx[is_settled], minlength=case.state.num_partitions
    )
    limit = _limits(factor, in_rack.tolist())
    most_of, fullest = _fullest(held, case.state.num_partitions)
    least_open = _least_open(held, in_rack, case.state.num_partitions)
    is_over, is_uneven = most_of > limit, most_of >= least_open + 2
    is_broken = is_over | is_uneven
    if case.settings.asks_racks_of_changed:
        is_broken &= _changes_racks(case)
    for partition in np.flatnonzero(is_broken).tolist():
        count, name = most_of[partition], brokers.racks[fullest[partition]]
        why = (
            f"{limit[partition]} at most at replication factor {factor[partition]}"
            if is_over[partition]
            else f"another rack with a free broker holds {least_open[partition]}"
        )
        message = f"rack {name} holds {count} replicas; {why}"
        yield case.finding("rack", partition, message, rack=name)


def _changes_racks(case: Case) -> BoolArray:
    """Return ``(P,)`` true where a replica goes from one rack to another."""
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


def _is_used(case: Case) -> BoolArray:
    """Return ``(B,)`` true for the brokers that stay: live, and not being emptied."""
    is_leaving = case.rows_of(case.settings.leaving_brokers)
    used: BoolArray = case.state.brokers.is_live & ~is_leaving
    return used


def _is_settled(case: Case) -> BoolArray:
    """Return ``(R,)`` false for replicas that an ongoing reassignment takes away."""
    goes = np.append(case.state.replicas.is_removing, False)
    is_touched = case.is_touched[case.after.partition_idx]
    settled: BoolArray = ~goes[case.after.from_idx] | is_touched
    return settled


def _held(case: Case, is_settled: BoolArray, is_used: BoolArray) -> _Held:
    brokers, rows = case.state.brokers, case.after.broker_idx[is_settled]
    num_racks = max(len(brokers.racks), 1)
    key = case.after.partition_idx[is_settled] * num_racks + brokers.rack_idx[rows]
    found, group = np.unique(key, return_inverse=True)
    return _Held(
        partition=found // num_racks,
        rack=found % num_racks,
        count=np.bincount(group, minlength=len(found)),
        count_in_use=np.bincount(group[is_used[rows]], minlength=len(found)),
    )


def _limits(factor: Int64Array, brokers_per_rack: list[int]) -> Int64Array:
    """Return ``(P,)`` κ of each partition; it depends on its factor alone."""
    limits = [most_per_rack(rf, brokers_per_rack) for rf in range(_top(factor) + 1)]
    found: Int64Array = np.array(limits, dtype=np.int64)[factor]
    return found


def _top(values: Int64Array) -> int:
    return int(values.max()) if len(values) else 0


def _fullest(held: _Held, num_partitions: int) -> tuple[Int64Array, Int64Array]:
    """Return ``(P,)`` what the fullest rack holds, and which it is (the first)."""
    most = np.zeros(num_partitions, dtype=np.int64)
    np.maximum.at(most, held.partition, held.count)
    fullest = np.zeros(num_partitions, dtype=np.int64)
    is_top = np.flatnonzero(np.equal(held.count, most[held.partition]))[::-1]
    fullest[held.partition[is_top]] = held.rack[is_top]
    return most, fullest


def _least_open(held: _Held, in_rack: Int64Array, num_partitions: int) -> Int64Array:
    """
    Return ``(P,)`` the least that a rack with a free broker holds.

    A rack that holds nothing has all its brokers free; those that hold something are
    looked at one by one. Without a free broker anywhere: more than any rack holds.
    """
    has_brokers = in_rack[held.rack] > 0
    num_held = np.bincount(held.partition[has_brokers], minlength=num_partitions)
    is_open = held.count_in_use < in_rack[held.rack]
    nothing_open = _top(held.count) + 1
    least = np.full(num_partitions, nothing_open, dtype=np.int64)
    np.minimum.at(least, held.partition[is_open], held.count[is_open])
    return np.where(num_held < np.count_nonzero(in_rack), 0, least)
