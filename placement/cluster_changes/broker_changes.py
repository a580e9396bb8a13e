"""Additions, removals, replacements and resizes of brokers, existing or not."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from placement.cluster_changes.hardware_rows import (
    BrokerRow,
    DirRow,
    broker_rows,
    dir_rows,
    disk_of,
    rebuilt,
)
from placement.cluster_changes.variant import Data, Variant
from placement.model.cluster import UNKNOWN, BrokerState, ClusterState


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacities:
    """
    Capacities of a broker; `None` keeps the present value.

    Parameters
    ----------
    disk_bytes
        Bytes of all log dirs together.
    in_bytes_per_s, out_bytes_per_s
        Bytes/s of the network in and out.
    cpu_cores
        Number of cores.
    max_replicas
        Maximum number of replicas.
    """

    disk_bytes: int | None = None
    in_bytes_per_s: float | None = None
    out_bytes_per_s: float | None = None
    cpu_cores: float | None = None
    max_replicas: int | None = None

    def given(self) -> dict[str, Any]:
        """Return the given capacities, by column name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in found.items() if value is not None}

    def columns(self) -> dict[str, Any]:
        """Return the given capacities except the disk, by column name."""
        return {k: value for k, value in self.given().items() if k != "disk_bytes"}


def usual_broker(state: ClusterState) -> int:
    """Return the id of the first live broker of the most frequent kind."""
    rows = [row for row in broker_rows(state) if row.state <= BrokerState.DEMOTED]
    if not rows:
        rows = broker_rows(state)
    kinds = Counter(map(_kind, rows))
    most = max(kinds.values())
    return next(row.broker_id for row in rows if kinds[_kind(row)] == most)


def _kind(row: BrokerRow) -> tuple[str, ...]:
    # As strings, so that unknown values (NaN) of two brokers are equal.
    values = (row.disk_bytes, row.in_bytes_per_s, row.out_bytes_per_s)
    return tuple(map(str, (*values, row.cpu_cores, row.max_replicas)))


def add_brokers(
    variant: Variant,
    broker_ids: Sequence[int],
    *,
    like: int,
    racks: Sequence[str | None] = (),
    capacities: Capacities | None = None,
    type_name: str | None = None,
) -> Variant:
    """
    Add empty brokers.

    Parameters
    ----------
    variant
        Cluster to change.
    broker_ids
        Ids of the new brokers, which no broker has.
    like
        Id of the model broker, whose capacities and log dirs the new brokers have.
    racks
        Racks of the new brokers, in turn; by default the rack with the fewest live
        brokers for each.
    capacities
        Capacities that differ from the model's.
    type_name
        Type of the new brokers; by default the model's.
    """
    state = variant.state
    model = _row_of(state, like)
    brokers, dirs = broker_rows(state), dir_rows(state)
    own = [each for each in dirs if each.broker_id == like]
    for n, broker_id in enumerate(broker_ids):
        rack = racks[n % len(racks)] if racks else _emptiest_rack(brokers)
        comes = replace(model, broker_id=broker_id, rack=rack, host=None)
        fresh = [_fresh_dir(each, broker_id) for each in own]
        added, fresh = resized(
            replace(comes, state=BrokerState.NEW), fresh, capacities or Capacities()
        )
        brokers.append(added)
        dirs += fresh
    named = typed(variant, broker_ids, type_name or variant.types.get(like))
    return replace(named, state=rebuilt(state, brokers, dirs))


def typed(
    variant: Variant, broker_ids: Iterable[int], type_name: str | None
) -> Variant:
    """Return the variant with a type for some brokers; `None`: unchanged."""
    if type_name is None:
        return variant
    return replace(
        variant, types={**variant.types, **dict.fromkeys(broker_ids, type_name)}
    )


def _row_of(state: ClusterState, broker_id: int) -> BrokerRow:
    return next(row for row in broker_rows(state) if row.broker_id == broker_id)


def _fresh_dir(model: DirRow, broker_id: int) -> DirRow:
    usable = model.size_bytes if model.usable_bytes != UNKNOWN else UNKNOWN
    return DirRow(
        broker_id=broker_id,
        path=model.path,
        size_bytes=model.size_bytes,
        usable_bytes=usable,
    )


def _emptiest_rack(brokers: Iterable[BrokerRow]) -> str | None:
    live = [row for row in brokers if row.state <= BrokerState.DEMOTED]
    count = Counter(row.rack for row in live if row.rack is not None)
    return min(sorted(count), key=lambda rack: count[rack]) if count else None


def next_ids(state: ClusterState, count: int) -> list[int]:
    """Return the lowest ids above all ids in use."""
    first = int(state.brokers.ids.max(initial=0)) + 1
    return list(range(first, first + count))


def remove_brokers(variant: Variant, broker_ids: Collection[int]) -> Variant:
    """Mark live brokers as leaving: a plan empties them, and empty ones go at once."""
    return replace(variant, leaving=variant.leaving | frozenset(broker_ids))


def resize_brokers(
    variant: Variant,
    broker_ids: Collection[int],
    capacities: Capacities,
    factors: Mapping[str, float] | None = None,
) -> Variant:
    """
    Change the capacities of brokers.

    Parameters
    ----------
    variant, broker_ids
        Cluster to change, and ids of the brokers.
    capacities
        New capacities.
    factors
        Factors of the present capacities, by the names of `Capacities`; unknown
        capacities stay unknown.
    """
    state = variant.state
    brokers, dirs = [], [d for d in dir_rows(state) if d.broker_id not in broker_ids]
    for row in broker_rows(state):
        if row.broker_id not in broker_ids:
            brokers.append(row)
            continue
        own = [d for d in dir_rows(state) if d.broker_id == row.broker_id]
        given = _multiplied(row, capacities, factors or {})
        changed, own = resized(row, own, given)
        brokers.append(changed)
        dirs += own
    return replace(variant, state=rebuilt(state, brokers, dirs))


def _multiplied(
    row: BrokerRow, given: Capacities, factors: Mapping[str, float]
) -> Capacities:
    for name, factor in factors.items():
        value = getattr(row, name)
        if value == UNKNOWN or np.isnan(value):
            continue
        integer = name in {"disk_bytes", "max_replicas"}
        changed = round(value * factor) if integer else value * factor
        given = replace(given, **{name: changed})
    return given


def resized(
    row: BrokerRow, dirs: Sequence[DirRow], capacities: Capacities
) -> tuple[BrokerRow, list[DirRow]]:
    """Return a broker with other capacities, and its log dirs in proportion."""
    row = replace(row, **capacities.columns())
    disk = capacities.disk_bytes
    if disk is None:
        return row, list(dirs)
    old = disk_of(dirs, UNKNOWN)
    if old <= 0:
        # Sizes of single log dirs would contradict the size of the disk.
        unsized = [replace(d, size_bytes=UNKNOWN, usable_bytes=UNKNOWN) for d in dirs]
        return replace(row, disk_bytes=disk), unsized
    grown = [_grown_dir(each, disk / old) for each in dirs]
    return replace(row, disk_bytes=disk_of(grown, disk)), grown


def _grown_dir(row: DirRow, factor: float) -> DirRow:
    if row.size_bytes == UNKNOWN:
        return row
    return sized_dir(row, round(row.size_bytes * factor))


def sized_dir(row: DirRow, size_bytes: int) -> DirRow:
    """Return a log dir of another size, with the same used bytes."""
    if row.usable_bytes == UNKNOWN or row.size_bytes == UNKNOWN:
        return replace(row, size_bytes=size_bytes)
    left = size_bytes - row.size_bytes + row.usable_bytes
    return replace(row, size_bytes=size_bytes, usable_bytes=max(left, 0))


def replace_brokers(
    variant: Variant, successors: Mapping[int, int], capacities: Capacities
) -> Variant:
    """
    Replace the machines of brokers; the new ones copy all replicas of the old ones.

    Parameters
    ----------
    variant
        Cluster to change.
    successors
        Id of the new broker by the id of the old one: the same id, or one that no
        broker has.
    capacities
        Capacities that differ from the old broker's.
    """
    state = variant.state
    is_copied = np.isin(state.brokers.ids, sorted(successors))
    brokers, dirs = [], []
    for row in broker_rows(state):
        new_id = successors.get(row.broker_id, row.broker_id)
        own = [d for d in dir_rows(state) if d.broker_id == row.broker_id]
        comes = row
        if row.broker_id in successors:
            fresh = replace(row, state=BrokerState.ALIVE, broker_id=new_id)
            comes, own = resized(fresh, own, capacities)
        brokers.append(comes)
        dirs += [replace(each, broker_id=new_id) for each in own]
    data = variant.data.copy()
    on = is_copied[state.replicas.broker_idx] & np.equal(data, Data.THERE)
    data[on] = Data.COPIED
    changed = rebuilt(state, brokers, dirs, renamed=successors)
    # A successor keeps the type unless another one is given.
    handed = {
        new: variant.types[old]
        for old, new in successors.items()
        if old in variant.types
    }
    types = {**variant.types, **handed}
    return replace(variant, state=changed, data=data, types=types)


def with_count(variant: Variant, count: int, *, like: int | None) -> Variant:
    """
    Return the cluster with a given number of live brokers.

    New brokers go one by one to the rack with the fewest brokers. Brokers leave from
    the rack with the most brokers, highest ids first.
    """
    state = variant.state
    stays = state.brokers.is_live
    stays = stays & ~np.isin(state.brokers.ids, sorted(variant.leaving))
    now = int(stays.sum())
    if count >= now:
        model = usual_broker(state) if like is None else like
        if model not in state.brokers.ids:
            return variant
        return add_brokers(variant, next_ids(state, count - now), like=model)
    ids = state.brokers.ids[stays].tolist()
    racks = state.brokers.rack_idx[stays].tolist()
    left: Mapping[int, list[int]] = {rack: [] for rack in sorted(set(racks))}
    for broker_id, rack in zip(ids, racks, strict=True):
        left[rack].append(broker_id)
    gone = []
    for _ in range(now - count):
        largest = max(left, key=lambda rack: (len(left[rack]), rack))
        gone.append(left[largest].pop())
    return remove_brokers(variant, gone)
