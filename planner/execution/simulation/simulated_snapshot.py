"""Snapshot of a simulated cluster: the first one, with the changed rows replaced."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from planner.execution.simulation.cluster_model import ClusterModel
from planner.execution.simulation.simulated_partition import SimulatedPartition
from planner.snapshot import Snapshot
from planner.snapshot.tables.snapshot_columns import (
    BROKERS,
    LOG_DIRS,
    PARTITIONS,
    TOPICS,
    ArrowTable,
    TableColumns,
)

_LOADS = (
    *("remote_bytes", "in_bytes_per_s", "out_bytes_per_s"),
    *("leader_cpu_cores", "follower_cpu_cores"),
)
"""Columns of a partition that no request changes."""
_ROWS_AT_ONCE = 1000
_Row = dict[str, Any]


def snapshot_of(model: ClusterModel, first: Snapshot) -> Snapshot:
    """
    Return the simulated cluster as a snapshot.

    As in a snapshot of a running cluster, a fenced broker has neither configs nor log
    dirs, since it does not describe them.

    Parameters
    ----------
    model
        The simulated cluster.
    first
        Snapshot that it was made from.
    """
    header = first.header()
    if first.taken_at is not None:
        header["taken_at"] = _later(first.taken_at, model.now_s)
    tables = {
        "brokers": _brokers(model, first.brokers),
        "log_dirs": _log_dirs(model, first.log_dirs),
        "topics": _topics(model, first.topics),
        "partitions": _partitions(model, first.partitions),
    }
    return Snapshot.from_tables(tables, header, file="simulated cluster")


def _later(taken_at: str, seconds: float) -> str:
    moment = datetime.fromisoformat(taken_at) + timedelta(seconds=int(seconds))
    return moment.isoformat().replace("+00:00", "Z")


def _brokers(model: ClusterModel, table: ArrowTable) -> ArrowTable:
    return _table(BROKERS, [_broker(model, row) for row in table.to_pylist()])


def _broker(model: ClusterModel, row: _Row) -> _Row:
    broker = model.brokers.get(row["id"])
    if broker is None:
        return row
    if not broker.is_live:
        is_served = row["state"] in {None, "alive", "new", "demoted"}
        state = "fenced" if is_served else row["state"]
        return row | {"state": state, "configs": None}
    is_back = row["state"] in {"fenced", "shutting-down"}
    values = broker.configs.values()
    was = dict(row["configs"] or ())
    return row | {
        "state": "alive" if is_back else row["state"],
        "configs": row["configs"] if values == was else list(values.items()),
    }


def _log_dirs(model: ClusterModel, table: ArrowTable) -> ArrowTable:
    return _table(LOG_DIRS, list(_log_dir_rows(model, table)))


def _log_dir_rows(model: ClusterModel, table: ArrowTable) -> Iterator[_Row]:
    for row in table.to_pylist():
        broker = model.brokers.get(row["broker_id"])
        if broker is None:
            yield row
        elif broker.is_live:
            log_dir = broker.dirs[row["path"]]
            if not log_dir.is_online:
                hidden = {"size_bytes": None, "usable_bytes": None}
                yield row | {"state": "offline"} | hidden
            elif row["usable_bytes"] is None:
                yield row
            else:
                free = max(int(model.copies.free_bytes[log_dir.number]), 0)
                yield row | {"usable_bytes": free}


def _topics(model: ClusterModel, table: ArrowTable) -> ArrowTable:
    known = {row["topic"]: row for row in table.to_pylist()}
    found = []
    for name, topic in model.table.topics.items():
        row = known.get(name)
        if row is None or row["topic_id"] != topic.topic_id:
            row = {"topic": name, "topic_id": topic.topic_id, "configs": []}
        values = topic.configs.values()
        if values != dict(row.get("configs") or ()):
            row = row | {"configs": list(values.items())}
        found.append(row)
    return _table(TOPICS, found)


def _partitions(model: ClusterModel, table: ArrowTable) -> ArrowTable:
    is_kept = np.zeros(len(table), dtype=np.bool_)
    for topic in model.table.topics.values():
        is_kept[topic.rows.start : topic.rows.stop] = True
    changed: list[ArrowTable] = []
    others = model.table.other_than_first()
    while some := list(islice(others, _ROWS_AT_ONCE)):
        is_kept[[one.row for one in some if one.row is not None]] = False
        changed.append(_changed(model, table, some))
    return pa.concat_tables([table.filter(pa.array(is_kept)), *changed])


def _changed(
    model: ClusterModel, table: ArrowTable, some: list[SimulatedPartition]
) -> ArrowTable:
    loads = zip(_loads_of(table, some), some, strict=True)
    return _table(PARTITIONS, [load | _partition(model, one) for load, one in loads])


def _loads_of(table: ArrowTable, changed: list[SimulatedPartition]) -> list[_Row]:
    """Return what no request changes of partitions; nothing for new ones."""
    rows = pa.array([one.row for one in changed], pa.int64())
    loads: list[_Row] = table.select([*_LOADS, "size_bytes"]).take(rows).to_pylist()
    return loads


def _partition(model: ClusterModel, one: SimulatedPartition) -> _Row:
    live = [model.copies.is_live(broker) for broker in one.replicas]
    replicas = list(zip(one.replicas, live, strict=True))
    found: _Row = {
        "topic": one.key[0],
        "partition": one.key[1],
        "replicas": one.replicas,
        "leader": -1 if one.leader is None else one.leader,
        "isr": one.in_sync,
        "elr": one.eligible,
        "last_known_elr": one.last_leader,
        "adding_replicas": one.adding,
        "removing_replicas": one.removing,
        "offline_replicas": [
            b for b in one.replicas if not model.copies.is_online(one, b)
        ],
        "log_dirs": [one.paths.get(b) if is_on else None for b, is_on in replicas],
    }
    if one.row is None:
        found["size_bytes"] = int(one.size_bytes)
    if one.future:
        found["future_log_dirs"] = [
            one.future.get(b) if is_on else None for b, is_on in replicas
        ]
    if one.missing:
        found["replica_bytes"] = [
            _held(model, one, b) if is_on else None for b, is_on in replicas
        ]
    return found


def _held(model: ClusterModel, one: SimulatedPartition, broker: int) -> int:
    return int(one.size_bytes - model.copies.missing(one, broker, inside=False))


def _table(columns: TableColumns, rows: list[_Row]) -> ArrowTable:
    arrays = [
        pa.array([row.get(column.name) for row in rows], column.type)
        for column in columns.columns
    ]
    return pa.Table.from_arrays(arrays, schema=columns.schema)
