"""Conversion of the tables of a snapshot to the columns that planning uses."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import (
    BoolArray,
    IndexArray,
    OffsetArray,
)
from placement.model.cluster import (
    ABSENT,
    Brokers,
    BrokerState,
    ClusterState,
    Partitions,
    Replicas,
    Storage,
    Topics,
)
from planner.snapshot.column_arrays import (
    codes,
    codes_or_own,
    integers,
    rates,
    rows_of,
    spread_values,
)
from planner.snapshot.failed_replicas import locate_failed
from planner.snapshot.log_dir_rows import LOG_DIR_COLUMNS, LogDirRows
from planner.snapshot.tables.snapshot_columns import (
    BROKER_STATES,
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

_NO_CONFIGS: Mapping[str, str] = {}
"""Configs of topics without any; a plain dict, since proxies cannot be pickled."""


def state_of(
    facts: Facts, cluster_id: str | None = None, *, caps_min_isr: bool = False
) -> ClusterState:
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
    caps_min_isr
        Whether its brokers are of Kafka 3.7 or later, as in `ClusterState`.
    """
    tables = facts.tables
    brokers = _brokers(tables["brokers"], dir_totals(facts, facts.broker_ids))
    rows = facts.replicas
    broker_idx = rows_of(brokers, rows.values)
    named = {name: facts.column("partitions", name) for name in LOG_DIR_COLUMNS}
    dirs = LogDirRows(tables["log_dirs"], brokers, named, rows, broker_idx)
    log_dirs = dirs.log_dirs()
    is_listed = _flags(facts.members("offline_replicas"), rows)
    listed = _replicas(facts, brokers, broker_idx, dirs, is_listed)
    leader_idx = _leader_idx(facts, brokers, listed, is_listed)
    replicas = locate_failed(
        listed,
        brokers,
        log_dirs,
        is_listed=is_listed,
        is_leaderless=np.equal(leader_idx, ABSENT),
    )
    return ClusterState(
        cluster_id=cluster_id,
        brokers=brokers,
        log_dirs=log_dirs,
        topics=_topics(facts),
        partitions=_partitions(tables, leader_idx),
        replicas=replicas,
        caps_min_isr=caps_min_isr,
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
    dirs = LogDirRows(log_dirs, found, {}, none, empty.replicas.broker_idx)
    return replace(empty, brokers=found, log_dirs=dirs.log_dirs())


@cache
def _empty_state() -> ClusterState:
    """Return an empty cluster, cached since its partitions take most of the time."""
    return state_of(Facts({}, (), {table.name: table.empty() for table in TABLES}))


def _brokers(table: ArrowTable, dir_bytes: npt.NDArray[np.int64]) -> Brokers:
    rack_idx, racks = codes_or_own(table.column("rack"))
    host_idx, hosts = codes_or_own(table.column("host"))
    sets = as_array(table.column("broker_set"))
    set_names = sorted(sets.drop_null().unique().to_pylist())
    set_idx = pc.index_in(sets, value_set=pa.array(set_names, pa.string()))
    has_set = sets.is_valid().to_numpy(zero_copy_only=False)
    disk_bytes = integers(table.column("disk_bytes"))
    return Brokers(
        ids=integers(table.column("id")).astype(np.int32),
        rack_idx=rack_idx,
        racks=racks,
        host_idx=host_idx,
        hosts=hosts,
        broker_set_idx=np.where(
            has_set, set_idx.fill_null(0).to_numpy(zero_copy_only=False), ABSENT
        ).astype(np.int32),
        broker_sets=tuple(set_names),
        state=codes(table.column("state"), BROKER_STATES, BrokerState.ALIVE),
        disk_bytes=np.where(disk_bytes >= 0, disk_bytes, dir_bytes),
        in_bytes_per_s=rates(table.column("in_bytes_per_s")),
        out_bytes_per_s=rates(table.column("out_bytes_per_s")),
        cpu_cores=rates(table.column("cpu_cores")),
        max_replicas=integers(table.column("max_replicas")),
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
        storage=codes(table.column("storage"), STORAGES, Storage.LOCAL),
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
        partition=integers(table.column("partition")).astype(np.int32),
        leader_idx=leader_idx,
        size_bytes=integers(table.column("size_bytes")),
        remote_bytes=integers(table.column("remote_bytes")),
        in_bytes_per_s=rates(table.column("in_bytes_per_s")),
        out_bytes_per_s=rates(table.column("out_bytes_per_s")),
        leader_cpu_cores=rates(table.column("leader_cpu_cores")),
        follower_cpu_cores=rates(table.column("follower_cpu_cores")),
    )


def _leader_idx(
    facts: Facts, brokers: Brokers, replicas: Replicas, is_listed: BoolArray
) -> IndexArray:
    column = facts.column("partitions", "leader")
    leader_idx = rows_of(brokers, facts.numbers("partitions", "leader"))
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
    dirs: "LogDirRows",
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
        own_bytes=spread_values(own, integers(own.values), rows),
    )


def _flags(members: Rows, rows: Rows) -> BoolArray:
    """Return ``(R,)`` true for replicas that a column of members names."""
    flags = np.zeros(len(rows.values), dtype=np.bool_)
    if len(members.values):
        found = find_in_rows(members, rows)
        # The ELR may name former replicas.
        flags[found[found != ABSENT]] = True
    return flags
