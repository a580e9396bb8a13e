"""
Brokers and log dirs as rows that can be added, removed and resized.

Clusters have thousands of brokers at most, so each row is an object here. Replicas
stay columns, and only their references are renumbered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from placement.array_types import IndexArray
from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    Brokers,
    BrokerState,
    ClusterState,
    LogDirs,
    LogDirState,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRow:
    """
    One broker; units and unknown values as in `placement.model.columns.Brokers`.

    Parameters
    ----------
    broker_id
        Kafka's broker id.
    rack, host, broker_set
        Names, or `None`.
    state
        State of the broker.
    disk_bytes, in_bytes_per_s, out_bytes_per_s, cpu_cores, max_replicas
        Capacities.
    """

    broker_id: int
    rack: str | None
    host: str | None
    broker_set: str | None
    state: BrokerState
    disk_bytes: int
    in_bytes_per_s: float
    out_bytes_per_s: float
    cpu_cores: float
    max_replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DirRow:
    """
    One log dir; units and unknown values as in `placement.model.columns.LogDirs`.

    Parameters
    ----------
    broker_id, path
        Broker id and path of the log dir.
    size_bytes, usable_bytes
        Total and free bytes of the file system.
    state
        State of the log dir.
    old_row
        Row of the log dir in the original cluster; `ABSENT` for a new one.
    """

    broker_id: int
    path: str
    size_bytes: int = UNKNOWN
    usable_bytes: int = UNKNOWN
    state: LogDirState = LogDirState.ONLINE
    old_row: int = ABSENT


def broker_rows(state: ClusterState) -> list[BrokerRow]:
    """Return the brokers of a cluster, by id."""
    brokers = state.brokers
    return [
        BrokerRow(
            broker_id=int(brokers.ids[b]),
            rack=brokers.racks[brokers.rack_idx[b]],
            host=brokers.hosts[brokers.host_idx[b]],
            broker_set=_name_at(brokers.broker_sets, int(brokers.broker_set_idx[b])),
            state=BrokerState(int(brokers.state[b])),
            disk_bytes=int(brokers.disk_bytes[b]),
            in_bytes_per_s=float(brokers.in_bytes_per_s[b]),
            out_bytes_per_s=float(brokers.out_bytes_per_s[b]),
            cpu_cores=float(brokers.cpu_cores[b]),
            max_replicas=int(brokers.max_replicas[b]),
        )
        for b in range(len(brokers))
    ]


def _name_at(names: Sequence[str], row: int) -> str | None:
    return None if row == ABSENT else names[row]


def dir_rows(state: ClusterState) -> list[DirRow]:
    """Return the log dirs of a cluster."""
    dirs = state.log_dirs
    owners = state.brokers.ids[dirs.broker_idx].tolist()
    return [
        DirRow(
            broker_id=owners[d],
            path=dirs.paths[d],
            size_bytes=int(dirs.size_bytes[d]),
            usable_bytes=int(dirs.usable_bytes[d]),
            state=LogDirState(int(dirs.state[d])),
            old_row=d,
        )
        for d in range(len(dirs))
    ]


def rebuilt(
    state: ClusterState,
    brokers: Iterable[BrokerRow],
    dirs: Iterable[DirRow],
    *,
    renamed: Mapping[int, int] | None = None,
) -> ClusterState:
    """
    Return a cluster with other brokers and log dirs, and all else unchanged.

    Parameters
    ----------
    state
        Original cluster.
    brokers
        New brokers, which must include all brokers with replicas.
    dirs
        New log dirs; replicas of a removed log dir are in an unknown one.
    renamed
        New ids by old ids of renamed brokers, which `brokers` lists by the new id.
    """
    by_id = sorted(brokers, key=lambda broker: broker.broker_id)
    columns = _broker_columns(by_id)
    ordered = sorted(dirs, key=lambda each: (each.broker_id, each.path))
    owner = columns.rows_of([each.broker_id for each in ordered])
    new_row = np.full(len(state.log_dirs) + 1, ABSENT, dtype=np.int32)
    for row, each in enumerate(ordered):
        if each.old_row != ABSENT:
            new_row[each.old_row] = row
    names = renamed or {}
    ids_now = [names.get(old, old) for old in state.brokers.ids.tolist()]
    moved = np.append(columns.rows_of(ids_now), ABSENT).astype(np.int32)
    replicas, partitions = state.replicas, state.partitions
    return replace(
        state,
        brokers=columns,
        log_dirs=_dir_columns(ordered, owner),
        partitions=replace(partitions, leader_idx=moved[partitions.leader_idx]),
        replicas=replace(
            replicas,
            broker_idx=moved[replicas.broker_idx],
            log_dir_idx=new_row[replicas.log_dir_idx],
            future_log_dir_idx=new_row[replicas.future_log_dir_idx],
        ),
    )


def _broker_columns(rows: Sequence[BrokerRow]) -> Brokers:
    rack_idx, racks = _own_where_none([row.rack for row in rows])
    host_idx, hosts = _own_where_none([row.host for row in rows])
    sets = sorted({row.broker_set for row in rows if row.broker_set is not None})

    def column(name: str, dtype: Any) -> Any:  # noqa: ANN401 - an array of that type
        return np.array([getattr(row, name) for row in rows], dtype=dtype)

    return Brokers(
        ids=column("broker_id", np.int32),
        rack_idx=rack_idx,
        racks=racks,
        host_idx=host_idx,
        hosts=hosts,
        broker_set_idx=np.array(
            [
                ABSENT if r.broker_set is None else sets.index(r.broker_set)
                for r in rows
            ],
            dtype=np.int32,
        ),
        broker_sets=tuple(sets),
        state=column("state", np.int8),
        disk_bytes=column("disk_bytes", np.int64),
        in_bytes_per_s=column("in_bytes_per_s", np.float64),
        out_bytes_per_s=column("out_bytes_per_s", np.float64),
        cpu_cores=column("cpu_cores", np.float64),
        max_replicas=column("max_replicas", np.int64),
    )


def _own_where_none(
    values: Sequence[str | None],
) -> tuple[IndexArray, tuple[str | None, ...]]:
    """Return codes and sorted names; each `None` gets a code of its own at the end."""
    names = sorted({value for value in values if value is not None})
    row_of = {name: row for row, name in enumerate(names)}
    codes, num_own = [], 0
    for value in values:
        codes.append(len(names) + num_own if value is None else row_of[value])
        num_own += value is None
    return np.array(codes, dtype=np.int32), (*names, *[None] * num_own)


def _dir_columns(rows: Sequence[DirRow], owner: IndexArray) -> LogDirs:
    return LogDirs(
        broker_idx=owner,
        paths=tuple(row.path for row in rows),
        size_bytes=np.array([row.size_bytes for row in rows], dtype=np.int64),
        usable_bytes=np.array([row.usable_bytes for row in rows], dtype=np.int64),
        state=np.array([row.state for row in rows], dtype=np.int8),
    )


def disk_of(dirs: Iterable[DirRow], otherwise: int) -> int:
    """Return the bytes of serving log dirs, or `otherwise` where a size is unknown."""
    sizes = [each.size_bytes for each in dirs if each.state != LogDirState.OFFLINE]
    if not sizes or UNKNOWN in sizes:
        return otherwise
    return sum(sizes)
