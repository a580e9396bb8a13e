"""Conversion of a cluster's columns to the tables of a snapshot."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from placement.array_types import (
    BoolArray,
    BytesArray,
    CodeArray,
    IndexArray,
    OffsetArray,
    RateArray,
)
from placement.model.cluster import (
    ABSENT,
    Brokers,
    ClusterState,
    LogDirs,
    Topics,
    sum_rows,
)
from planner.snapshot.tables.snapshot_columns import (
    BROKER_STATES,
    LOG_DIR_STATES,
    STORAGES,
    STRING_MAP,
    ArrowArray,
    ArrowTable,
)
from planner.snapshot.tables.table_facts import MIN_ISR


def tables_of(state: ClusterState, min_isr: str = "1") -> dict[str, ArrowTable]:
    """
    Build the tables of a cluster.

    Leaders and ISR are always written. Unknown values and empty lists of replicas are
    left out.

    Parameters
    ----------
    state
        The cluster.
    min_isr
        Default of min.insync.replicas; topics with another value get their own config.
    """
    return {
        "brokers": _brokers(state.brokers),
        "log_dirs": _log_dirs(state.log_dirs, state.brokers),
        "topics": _topics(state.topics, min_isr),
        "partitions": _partitions(state),
    }


def header_of(
    state: ClusterState, header: Mapping[str, object] | None = None
) -> dict[str, object]:
    """
    Return the header of a snapshot: the cluster's id and its min.insync.replicas.

    Parameters
    ----------
    state
        The cluster.
    header
        Further entries, which override those of the cluster.
    """
    own: dict[str, object] = {}
    if state.cluster_id is not None:
        own["cluster_id"] = state.cluster_id
    defaults = {
        least
        for config, least in _min_isr_of(state.topics)
        if MIN_ISR not in config and least != 1
    }
    if len(defaults) == 1:
        own["configs"] = {MIN_ISR: str(defaults.pop())}
    return {**own, **(header or {})}


def min_isr_in(header: Mapping[str, object]) -> str:
    """Return the min.insync.replicas of topics without their own, from a header."""
    configs = header.get("configs")
    return str(configs.get(MIN_ISR, "1")) if isinstance(configs, Mapping) else "1"


def _brokers(brokers: Brokers) -> ArrowTable:
    return pa.table(
        {
            "id": brokers.ids,
            "rack": _named(brokers.rack_idx, brokers.racks),
            "host": _named(brokers.host_idx, brokers.hosts),
            "state": _named(brokers.state, BROKER_STATES),
            "broker_set": _named(brokers.broker_set_idx, brokers.broker_sets),
            "disk_bytes": _known(brokers.disk_bytes),
            "in_bytes_per_s": _rates(brokers.in_bytes_per_s),
            "out_bytes_per_s": _rates(brokers.out_bytes_per_s),
            "cpu_cores": _rates(brokers.cpu_cores),
            "max_replicas": _known(brokers.max_replicas),
        }
    )


def _log_dirs(log_dirs: LogDirs, brokers: Brokers) -> ArrowTable:
    return pa.table(
        {
            "broker_id": brokers.ids[log_dirs.broker_idx],
            "path": pa.array(log_dirs.paths, pa.string()),
            "size_bytes": _known(log_dirs.size_bytes),
            "usable_bytes": _known(log_dirs.usable_bytes),
            "state": _named(log_dirs.state, LOG_DIR_STATES),
        }
    )


def _topics(topics: Topics, min_isr: str) -> ArrowTable:
    return pa.table(
        {
            "topic": pa.array(topics.names, pa.string()),
            "topic_id": pa.array(topics.topic_ids, pa.string()),
            "storage": _named(topics.storage, STORAGES),
            "configs": _configs(topics, min_isr),
        }
    )


def _configs(topics: Topics, min_isr: str) -> ArrowArray:
    """Return the configs of the topics, with the effective min.insync.replicas."""
    configs = [
        config
        if config.get(MIN_ISR, min_isr) == str(least)
        else {**config, MIN_ISR: str(least)}
        for config, least in _min_isr_of(topics)
    ]
    return pa.array([list(each.items()) for each in configs], STRING_MAP)


def _min_isr_of(topics: Topics) -> Iterator[tuple[Mapping[str, str], int]]:
    """Return the configs of each topic with its effective min.insync.replicas."""
    return zip(topics.configs, topics.min_insync_replicas.tolist(), strict=True)


def _partitions(state: ClusterState) -> ArrowTable:
    partitions, replicas = state.partitions, state.replicas
    ids, start = state.brokers.ids[replicas.broker_idx], replicas.start
    everywhere = np.ones(len(replicas), dtype=np.bool_)
    paths = pa.array(state.log_dirs.paths, pa.string())
    members = {
        "elr": replicas.is_eligible,
        "last_known_elr": replicas.is_last_known_eligible,
        "adding_replicas": replicas.is_adding,
        "removing_replicas": replicas.is_removing,
        "offline_replicas": replicas.is_failed,
    }
    dirs = {
        "log_dirs": replicas.log_dir_idx,
        "future_log_dirs": replicas.future_log_dir_idx,
    }
    topics = pa.array(state.topics.names, pa.string())
    columns = {
        "topic": topics.take(pa.array(partitions.topic_idx)),
        "partition": partitions.partition,
        "replicas": _members(ids, everywhere, start, is_always=True),
        "leader": _leaders(partitions.leader_idx, state.brokers),
        "isr": _members(ids, replicas.is_in_sync, start, is_always=True),
        **{name: _members(ids, flags, start) for name, flags in members.items()},
        **{
            name: _per_replica(paths.take(_rows(rows)), np.not_equal(rows, -1), start)
            for name, rows in dirs.items()
        },
        "size_bytes": _known(partitions.size_bytes),
        "replica_bytes": _per_replica(
            _known(replicas.own_bytes), replicas.own_bytes >= 0, start
        ),
        "remote_bytes": _known(partitions.remote_bytes),
        "in_bytes_per_s": _rates(partitions.in_bytes_per_s),
        "out_bytes_per_s": _rates(partitions.out_bytes_per_s),
        "leader_cpu_cores": _rates(partitions.leader_cpu_cores),
        "follower_cpu_cores": _rates(partitions.follower_cpu_cores),
    }
    return pa.table(columns)


def _leaders(leader_idx: IndexArray, brokers: Brokers) -> IndexArray:
    """Return ``(P,)`` broker ids, -1 without a leader."""
    return np.append(brokers.ids, np.int32(ABSENT))[leader_idx].astype(np.int32)


def _members(
    ids: IndexArray, is_in: BoolArray, start: OffsetArray, *, is_always: bool = False
) -> ArrowArray:
    """Return lists of the flagged ids; null if empty, unless `is_always`."""
    counts = sum_rows(is_in, start)
    return _lists(pa.array(ids[is_in]), counts, is_always | (counts > 0))


def _per_replica(
    values: ArrowArray, is_known: BoolArray, start: OffsetArray
) -> ArrowArray:
    """Return lists of one value per replica; null if no value is known."""
    has_list = sum_rows(is_known, start) > 0
    counts = np.diff(start)
    kept = values.filter(pa.array(np.repeat(has_list, counts)))
    return _lists(kept, np.where(has_list, counts, 0), has_list)


def _lists(
    values: ArrowArray, counts: npt.NDArray[np.int64], has_list: BoolArray
) -> ArrowArray:
    offsets = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=offsets[1:])
    mask = pa.array(np.logical_not(has_list))
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)


def _rows(rows: npt.NDArray[Any]) -> ArrowArray:
    """Return rows with null for `ABSENT`."""
    return pa.array(rows, mask=np.less(rows, 0))


def _named(
    rows: IndexArray | CodeArray, names: tuple[str, ...] | tuple[str | None, ...]
) -> ArrowArray:
    return pa.array(names, pa.string()).take(_rows(rows))


def _known(values: BytesArray) -> ArrowArray:
    return pa.array(values, mask=np.less(values, 0))


def _rates(values: RateArray) -> ArrowArray:
    return pa.array(values, mask=np.isnan(values))
