"""Conversion of the tables of a snapshot to the columns that planning uses."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

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
    UNKNOWN,
    Brokers,
    BrokerState,
    ClusterState,
    LogDirs,
    LogDirState,
    Partitions,
    Replicas,
    Storage,
    Topics,
)
from planner.snapshot.failed_replicas import locate_failed
from planner.snapshot.tables.snapshot_columns import (
    BROKER_STATES,
    LOG_DIR_STATES,
    STORAGES,
    TABLES,
    ArrowArray,
    ArrowTable,
)
from planner.snapshot.tables.table_facts import (
    MIN_ISR,
    Facts,
    config_values,
    dir_totals,
)
from planner.snapshot.tables.table_rows import Rows, as_array, find_in_rows

_DIR_COLUMNS = ("log_dirs", "future_log_dirs")
"""Columns of partitions that name log dirs."""
_NO_CONFIGS: Mapping[str, str] = {}
"""Configs of topics without any; a plain dict, since proxies cannot be pickled."""


def state_of(facts: Facts, cluster_id: str | None = None) -> ClusterState:
    """
    Build the cluster of a snapshot.

    Absent values get the defaults of the model. A broker without a rack or a host gets
    its own. An absent ISR is all live replicas, and an absent leader the first live
    replica in the ISR. A log dir that only replicas name, on a broker that lists none,
    is online and of unknown size.

    Parameters
    ----------
    facts
        Tables of a checked snapshot, with rows in canonical order.
    cluster_id
        Kafka's id of the cluster, if it is known.
    """
    tables = facts.tables
    brokers = _brokers(tables["brokers"], dir_totals(facts, facts.broker_ids))
    rows = facts.replicas
    broker_idx = _rows_of(brokers, rows.values)
    named = {name: facts.column("partitions", name) for name in _DIR_COLUMNS}
    dirs = _Dirs(tables["log_dirs"], brokers, named, rows, broker_idx)
    log_dirs = dirs.log_dirs()
    is_listed = _flags(facts.members("offline_replicas"), rows)
    replicas = locate_failed(
        _replicas(facts, brokers, broker_idx, dirs, is_listed),
        brokers,
        log_dirs,
        is_listed=is_listed,
        is_leaderless=_is_leaderless(facts),
    )
    return ClusterState(
        cluster_id=cluster_id,
        brokers=brokers,
        log_dirs=log_dirs,
        topics=_topics(facts),
        partitions=_partitions(
            tables, _leader_idx(facts, brokers, replicas, is_listed)
        ),
        replicas=replicas,
    )


def brokers_state_of(brokers: ArrowTable, log_dirs: ArrowTable) -> ClusterState:
    """
    Build a cluster of brokers and log dirs without topics, as `state_of` does.

    Parameters
    ----------
    brokers, log_dirs
        Tables of a snapshot, with rows in canonical order.
    """
    empty = _empty_state()
    facts = Facts({}, (), {"brokers": brokers, "log_dirs": log_dirs})
    found = _brokers(brokers, dir_totals(facts, facts.broker_ids))
    none = Rows.of_ids(pa.array([], pa.list_(pa.int32())))
    dirs = _Dirs(log_dirs, found, {}, none, empty.replicas.broker_idx)
    return replace(empty, brokers=found, log_dirs=dirs.log_dirs())


@cache
def _empty_state() -> ClusterState:
    """Return an empty cluster, cached since its partitions take most of the time."""
    return state_of(Facts({}, (), {table.name: table.empty() for table in TABLES}))


def _rows_of(brokers: Brokers, ids: npt.NDArray[Any]) -> IndexArray:
    """Return the row of each broker id, from a lookup table if ids are small."""
    if not len(brokers) or brokers.ids[-1] > max(len(ids), 1 << 16):
        return brokers.rows_of(ids)
    row_of = np.full(int(brokers.ids[-1]) + 2, ABSENT, dtype=np.int32)
    row_of[brokers.ids] = np.arange(len(brokers), dtype=np.int32)
    found: IndexArray = row_of[np.clip(ids, -1, len(row_of) - 1)]
    return found


def _integers(column: ArrowArray) -> BytesArray:
    filled = as_array(column).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    return np.array(filled, dtype=np.int64)


def _rates(column: ArrowArray) -> RateArray:
    filled = as_array(column).fill_null(np.nan).to_numpy(zero_copy_only=False)
    return np.array(filled, dtype=np.float64)


def _codes(column: ArrowArray, names: tuple[str, ...], absent: int) -> CodeArray:
    codes = pc.index_in(as_array(column), value_set=pa.array(names))
    return codes.fill_null(absent).to_numpy(zero_copy_only=False).astype(np.int8)  # type: ignore[no-any-return]


def _codes_or_own(column: ArrowArray) -> tuple[IndexArray, tuple[str | None, ...]]:
    """Return codes and sorted names; each null gets a name of its own at the end."""
    values = as_array(column)
    names = pa.array(sorted(values.drop_null().unique().to_pylist()), pa.string())
    codes = pc.index_in(values.drop_null(), value_set=names)
    is_named = values.is_valid().to_numpy(zero_copy_only=False)
    idx = np.empty(len(values), dtype=np.int32)
    idx[is_named] = codes.to_numpy(zero_copy_only=False)
    num_own = int((~is_named).sum())
    idx[~is_named] = len(names) + np.arange(num_own)
    return idx, (*names.to_pylist(), *[None] * num_own)


def _brokers(table: ArrowTable, dir_bytes: npt.NDArray[np.int64]) -> Brokers:
    rack_idx, racks = _codes_or_own(table.column("rack"))
    host_idx, hosts = _codes_or_own(table.column("host"))
    sets = as_array(table.column("broker_set"))
    set_names = sorted(sets.drop_null().unique().to_pylist())
    set_idx = pc.index_in(sets, value_set=pa.array(set_names, pa.string()))
    has_set = sets.is_valid().to_numpy(zero_copy_only=False)
    disk_bytes = _integers(table.column("disk_bytes"))
    return Brokers(
        ids=_integers(table.column("id")).astype(np.int32),
        rack_idx=rack_idx,
        racks=racks,
        host_idx=host_idx,
        hosts=hosts,
        broker_set_idx=np.where(
            has_set, set_idx.fill_null(0).to_numpy(zero_copy_only=False), ABSENT
        ).astype(np.int32),
        broker_sets=tuple(set_names),
        state=_codes(table.column("state"), BROKER_STATES, BrokerState.ALIVE),
        disk_bytes=np.where(disk_bytes >= 0, disk_bytes, dir_bytes),
        in_bytes_per_s=_rates(table.column("in_bytes_per_s")),
        out_bytes_per_s=_rates(table.column("out_bytes_per_s")),
        cpu_cores=_rates(table.column("cpu_cores")),
        max_replicas=_integers(table.column("max_replicas")),
    )


def _topics(facts: Facts) -> Topics:
    table = facts.tables["topics"]
    default = int(facts.configs.get(MIN_ISR, "1"))
    min_isr = np.full(len(table), default, dtype=np.int32)
    rows, values = config_values(table.column("configs"), MIN_ISR)
    min_isr[rows] = [int(value) for value in values]
    return Topics(
        names=tuple(table.column("topic").to_pylist()),
        topic_ids=tuple(table.column("topic_id").to_pylist()),
        storage=_codes(table.column("storage"), STORAGES, Storage.LOCAL),
        min_insync_replicas=min_isr,
        configs=_configs(as_array(table.column("configs"))),
    )


def _configs(maps: ArrowArray) -> tuple[Mapping[str, str], ...]:
    """Return a mapping per topic; those without configs share one."""
    rows = Rows.from_arrow(maps.cast(pa.list_(maps.type.field(0))))
    pairs = list(
        zip(
            rows.values.field(0).to_pylist(),
            rows.values.field(1).to_pylist(),
            strict=True,
        )
    )
    start = rows.start.tolist()
    return tuple(
        dict(pairs[low:high]) if high > low else _NO_CONFIGS
        for low, high in pairwise(start)
    )


def _partitions(tables: Mapping[str, ArrowTable], leader_idx: IndexArray) -> Partitions:
    table = tables["partitions"]
    topics = as_array(tables["topics"].column("topic"))
    topic_idx = pc.index_in(as_array(table.column("topic")), value_set=topics)
    return Partitions(
        topic_idx=topic_idx.to_numpy(zero_copy_only=False).astype(np.int32),
        partition=_integers(table.column("partition")).astype(np.int32),
        leader_idx=leader_idx,
        size_bytes=_integers(table.column("size_bytes")),
        remote_bytes=_integers(table.column("remote_bytes")),
        in_bytes_per_s=_rates(table.column("in_bytes_per_s")),
        out_bytes_per_s=_rates(table.column("out_bytes_per_s")),
        leader_cpu_cores=_rates(table.column("leader_cpu_cores")),
        follower_cpu_cores=_rates(table.column("follower_cpu_cores")),
    )


def _is_leaderless(facts: Facts) -> BoolArray:
    """Return ``(P,)`` true for partitions that the snapshot lists without a leader."""
    column = facts.column("partitions", "leader")
    found: BoolArray = (
        pc.equal(column, -1).fill_null(False).to_numpy(zero_copy_only=False)
    )
    return found


def _leader_idx(
    facts: Facts, brokers: Brokers, replicas: Replicas, is_listed: BoolArray
) -> IndexArray:
    column = facts.column("partitions", "leader")
    leader_idx = _rows_of(brokers, facts.numbers("partitions", "leader"))
    is_absent = column.is_null().to_numpy(zero_copy_only=False)
    if is_absent.any():
        can_lead = replicas.is_in_sync & brokers.is_live[replicas.broker_idx]
        can_lead &= ~is_listed
        first = first_in_rows(can_lead, replicas.start)[is_absent]
        leader_idx[is_absent] = _at(replicas.broker_idx, first)
    return leader_idx


def _at(values: IndexArray, at: OffsetArray) -> IndexArray:
    if not len(values):
        return np.full(len(at), ABSENT, dtype=np.int32)
    return np.where(at >= 0, values[at], ABSENT).astype(np.int32)


def first_in_rows(is_wanted: BoolArray, start: OffsetArray) -> OffsetArray:
    """
    Find the first wanted position of each compressed row.

    Parameters
    ----------
    is_wanted
        ``(R,)`` true for wanted positions.
    start
        ``(P + 1,)`` start of each row.

    Returns
    -------
    ``(P,)`` positions, `ABSENT` for a row without any.
    """
    wanted = np.flatnonzero(is_wanted)
    at = np.searchsorted(wanted, start[:-1])
    first = np.append(wanted, np.iinfo(np.int64).max)[at]
    return np.where(first < start[1:], first, ABSENT)


def _replicas(
    facts: Facts,
    brokers: Brokers,
    broker_idx: IndexArray,
    dirs: "_Dirs",
    is_listed: BoolArray,
) -> Replicas:
    rows = facts.replicas
    isr = facts.members("isr")
    is_in_sync = _flags(isr, rows)
    if isr.is_absent.any():
        is_open = np.repeat(isr.is_absent, rows.lengths)
        serves = brokers.is_live[broker_idx] & ~is_listed
        is_in_sync |= is_open & serves
    own = Rows.from_arrow(facts.column("partitions", "replica_bytes"))
    return Replicas(
        start=rows.start,
        broker_idx=broker_idx,
        is_in_sync=is_in_sync,
        is_adding=_flags(facts.members("adding_replicas"), rows),
        is_removing=_flags(facts.members("removing_replicas"), rows),
        is_eligible=_flags(facts.members("elr"), rows),
        is_last_known_eligible=_flags(facts.members("last_known_elr"), rows),
        is_failed=np.zeros(len(rows.values), dtype=np.bool_),
        log_dir_idx=dirs.idx_of("log_dirs"),
        future_log_dir_idx=dirs.idx_of("future_log_dirs"),
        own_bytes=_spread(own, _integers(own.values), rows),
    )


def _flags(members: Rows, rows: Rows) -> BoolArray:
    """Return ``(R,)`` true for replicas that a column of members names."""
    flags = np.zeros(len(rows.values), dtype=np.bool_)
    if len(members.values):
        flags[find_in_rows(members, rows)] = True
    return flags


def _spread(rows: Rows, values: npt.NDArray[Any], replicas: Rows) -> npt.NDArray[Any]:
    """Align a column of optional lists, with one element per replica, to replicas."""
    if len(values) == len(replicas.values):
        return values
    spread = np.full(len(replicas.values), UNKNOWN, dtype=values.dtype)
    spread[np.repeat(~rows.is_absent, replicas.lengths)] = values
    return spread


class _Dirs:
    """
    Log dirs that brokers list, and those that only replicas name.

    The key of a log dir is one number, broker row × number of paths + path. Paths are
    numbered in sorted order, so that ascending keys are the order of `LogDirs`.
    """

    def __init__(
        self,
        table: ArrowTable,
        brokers: Brokers,
        named: Mapping[str, ArrowArray],
        replicas: Rows,
        broker_idx: IndexArray,
    ) -> None:
        self._replicas = replicas
        self._broker_idx = broker_idx
        self._table = table
        self._named = {name: Rows.from_arrow(lists) for name, lists in named.items()}
        encoded = {
            name: rows.values.dictionary_encode() for name, rows in self._named.items()
        }
        listed = as_array(self._table.column("path"))
        names = pa.concat_arrays([listed, *(e.dictionary for e in encoded.values())])
        self._paths = sorted(names.unique().drop_null().to_pylist())
        self._width = np.int64(len(self._paths) + 1)
        owner = _rows_of(brokers, _integers(self._table.column("broker_id")))
        self._listed_keys = owner * self._width + self._numbers(listed)
        self._replica_keys = {
            name: self._keys_of(name, array) for name, array in encoded.items()
        }
        # Log dirs that brokers list or replicas name, each once.
        used = [distinct(keys[keys >= 0]) for keys in self._replica_keys.values()]
        self._keys = np.unique(np.concatenate([self._listed_keys, *used]))

    def _numbers(self, paths: ArrowArray) -> OffsetArray:
        numbers = pc.index_in(paths, value_set=pa.array(self._paths, pa.string()))
        return numbers.to_numpy(zero_copy_only=False).astype(np.int64)  # type: ignore[no-any-return]

    def _keys_of(self, name: str, encoded: ArrowArray) -> OffsetArray:
        """Return ``(R,)`` the key of the log dir that each replica names, or -1."""
        numbers = np.append(self._numbers(encoded.dictionary), -1)
        code = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        path = _spread(self._named[name], numbers[code], self._replicas)
        return np.where(path >= 0, self._broker_idx * self._width + path, ABSENT)

    def idx_of(self, name: str) -> IndexArray:
        """Return ``(R,)`` the row of the log dir that each replica names."""
        keys = self._replica_keys[name]
        if not len(self._keys) or not np.any(keys >= 0):
            return np.full(len(keys), ABSENT, dtype=np.int32)
        rows = np.searchsorted(self._keys, keys)
        return np.where(keys >= 0, rows, ABSENT).astype(np.int32)

    def log_dirs(self) -> LogDirs:
        """Return all log dirs."""
        at = np.searchsorted(self._keys, self._listed_keys)
        paths = np.array(self._paths, dtype=np.object_)

        def spread(values: npt.NDArray[Any], absent: int) -> npt.NDArray[Any]:
            column = np.full(len(self._keys), absent, dtype=values.dtype)
            column[at] = values
            return column

        state = _codes(self._table.column("state"), LOG_DIR_STATES, LogDirState.ONLINE)
        return LogDirs(
            broker_idx=(self._keys // self._width).astype(np.int32),
            paths=tuple(paths[self._keys % self._width]),
            size_bytes=spread(_integers(self._table.column("size_bytes")), UNKNOWN),
            usable_bytes=spread(_integers(self._table.column("usable_bytes")), UNKNOWN),
            state=spread(state, LogDirState.ONLINE),
        )


def distinct(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the distinct numbers in order of appearance, by hashing."""
    found: npt.NDArray[np.int64] = pa.array(keys).unique().to_numpy()
    return found
