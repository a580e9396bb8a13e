"""
Brokers and log dirs of snapshots whose partitions are summed together.

A task sums the partitions of many small snapshots in one pass, as if they were one
cluster: brokers are rows of all of them, and racks are numbered snapshot by snapshot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    Brokers,
    ClusterState,
    LogDirs,
)
from planner.snapshot.tables.snapshot_columns import BROKERS, LOG_DIRS, ArrowTable
from planner.snapshot.tables.table_rows import as_array
from planner.spark.scoring.sums.replica_lists import (
    BrokerRows,
    filled,
    numbers_of,
    snapshot_of_rows,
    with_columns,
)
from planner.spark.scoring.sums.sum_arrays import Ints

_WIDTH = 8
"""Digits before the name of a rack, so that racks are sorted by snapshot and name."""
_UNUSED = ("host", "broker_set")
"""Columns of brokers that scores do not use, and that need names across snapshots."""

Columns = TypeVar("Columns", Brokers, LogDirs)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """
    Data of ``S`` snapshots that their partitions depend on.

    Parameters
    ----------
    min_isr
        ``(S,)`` default min ISR of the clusters.
    caps_min_isr
        ``(S,)`` whether brokers cap the min ISR, as in `ClusterState`.
    brokers, log_dirs
        Tables of the snapshots, one after the other; columns may be absent. Each broker
        of a snapshot occurs once, brokers are ordered by id.
    first_broker, first_dir
        ``(S + 1,)`` first row of each snapshot in these tables.
    """

    min_isr: Sequence[int]
    caps_min_isr: Sequence[bool]
    brokers: ArrowTable
    log_dirs: ArrowTable
    first_broker: Ints
    first_dir: Ints

    @classmethod
    def of_one(
        cls,
        min_isr: int,
        brokers: ArrowTable,
        log_dirs: ArrowTable,
        *,
        caps_min_isr: bool,
    ) -> Self:
        """Return the data of one snapshot."""
        return cls(
            min_isr=[min_isr],
            caps_min_isr=[caps_min_isr],
            brokers=brokers,
            log_dirs=log_dirs,
            first_broker=np.array([0, len(brokers)]),
            first_dir=np.array([0, len(log_dirs)]),
        )

    def __len__(self) -> int:
        """Return the number of snapshots."""
        return len(self.min_isr)

    def alone(self, snapshot: int) -> "Ground":
        """Return the data of one of the snapshots."""
        if len(self) == 1:
            return self
        low, high = self.first_broker[snapshot : snapshot + 2].tolist()
        start, stop = self.first_dir[snapshot : snapshot + 2].tolist()
        ground = Ground.of_one(
            self.min_isr[snapshot],
            self.brokers.slice(low, high - low),
            self.log_dirs.slice(start, stop - start),
            caps_min_isr=self.caps_min_isr[snapshot],
        )
        # Cut out of the cluster of all snapshots, in a fifth of the time.
        racks = slice(*self.first_rack[snapshot : snapshot + 2].tolist())
        ground.__dict__["state"] = _cut(self, slice(low, high), racks)
        return ground

    @cached_property
    def ids(self) -> Ints:
        """``(B,)`` ids of the brokers."""
        ids: Ints = numbers_of(self.brokers.column("id"), UNKNOWN)
        return ids

    @cached_property
    def snapshot_of(self) -> Ints:
        """``(B,)`` index of the snapshot of each broker."""
        return snapshot_of_rows(self.first_broker)

    @cached_property
    def state(self) -> ClusterState:
        """
        Cluster of the brokers and log dirs, without partitions.

        Brokers of several snapshots have their rows as ids.
        """
        if len(self) == 1:
            return bare_state(self.brokers, self.log_dirs)
        return _joint_state(self)

    @cached_property
    def broker_rows(self) -> BrokerRows:
        """Rows of the brokers by id and snapshot."""
        return BrokerRows(self.ids, self.first_broker)

    @cached_property
    def first_rack(self) -> Ints:
        """``(S + 1,)`` first rack of each snapshot."""
        owner = np.zeros(self.state.num_racks, dtype=np.int64)
        owner[self.state.brokers.rack_idx] = self.snapshot_of
        return np.searchsorted(owner, np.arange(len(self) + 1))

    @cached_property
    def in_rack(self) -> Ints:
        """``(K,)`` number of live brokers in each rack."""
        brokers = self.state.brokers
        racks = brokers.rack_idx[brokers.is_live]
        return np.bincount(racks, minlength=self.state.num_racks).astype(np.int64)


def bare_state(brokers: ArrowTable, log_dirs: ArrowTable) -> ClusterState:
    """Return a cluster without partitions; log dirs of unknown brokers are left out."""
    from planner.snapshot.to_state import brokers_state_of

    owned = pc.is_in(log_dirs.column("broker_id"), as_array(brokers.column("id")))
    dirs = filled(log_dirs.filter(owned), LOG_DIRS.schema)
    order = [("broker_id", "ascending"), ("path", "ascending")]
    return brokers_state_of(
        filled(brokers, BROKERS.schema).sort_by("id").combine_chunks(),
        dirs.sort_by(order).combine_chunks(),
    )


def _joint_state(ground: Ground) -> ClusterState:
    """Return one cluster of the brokers of several snapshots."""
    of = ground.snapshot_of
    brokers = ground.brokers.select(
        [name for name in ground.brokers.column_names if name not in _UNUSED]
    )
    names = brokers.column("rack").to_pylist()
    # Racks of equal names are different racks in different snapshots.
    racks = [
        None if name is None else f"{snapshot:0{_WIDTH}}{name}"
        for snapshot, name in zip(of.tolist(), names, strict=True)
    ]
    dirs = ground.log_dirs
    owner = ground.broker_rows.rows(
        numbers_of(dirs.column("broker_id"), UNKNOWN), ground.first_dir
    )
    state = bare_state(
        with_columns(
            brokers,
            {
                "id": pa.array(np.arange(len(of)), pa.int32()),
                "rack": pa.array(racks, pa.string()),
            },
        ),
        with_columns(
            dirs, {"broker_id": pa.array(owner, pa.int32(), mask=owner == ABSENT)}
        ),
    )
    return _by_snapshot(state, of)


def _by_snapshot(state: ClusterState, of: Ints) -> ClusterState:
    """Return a cluster whose racks are numbered snapshot by snapshot."""
    brokers = state.brokers
    owner = np.zeros(state.num_racks, dtype=np.int64)
    owner[brokers.rack_idx] = of
    order = np.argsort(owner, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return state.with_brokers(
        rack_idx=place[brokers.rack_idx],
        racks=tuple(_own_name(brokers.racks[rack]) for rack in order.tolist()),
    )


def _own_name(rack: str | None) -> str | None:
    return None if rack is None else rack[_WIDTH:]


def _cut(ground: Ground, rows: slice, racks: slice) -> ClusterState:
    """Return the cluster of one of several snapshots, without partitions."""
    state = ground.state
    found = np.searchsorted(state.log_dirs.broker_idx, [rows.start, rows.stop])
    dirs = slice(*found.tolist())
    brokers, log_dirs = _rows(state.brokers, rows), _rows(state.log_dirs, dirs)
    return replace(
        state,
        brokers=replace(
            brokers,
            ids=ground.ids[rows].astype(np.int32),
            rack_idx=brokers.rack_idx - np.int32(racks.start),
            racks=state.brokers.racks[racks],
        ),
        log_dirs=replace(
            log_dirs,
            broker_idx=log_dirs.broker_idx - np.int32(rows.start),
            paths=state.log_dirs.paths[dirs],
        ),
    )


def _rows(columns: Columns, rows: slice) -> Columns:
    """Return some rows of the arrays of brokers or log dirs."""
    values = {each.name: getattr(columns, each.name) for each in fields(columns)}
    arrays = {n: of[rows] for n, of in values.items() if isinstance(of, np.ndarray)}
    return replace(columns, **arrays)  # type: ignore[arg-type]
