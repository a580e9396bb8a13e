"""
Replicas in failed log dirs, in some partitions of one snapshot.

The rule is that of a snapshot's cluster (`planner.snapshot.failed_replicas`). The few
partitions that it may concern are built as a small cluster, whose result is written
back into their columns.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from placement.array_types import BoolArray
from placement.model.cluster import (
    ABSENT,
    ClusterState,
    LogDirState,
    sum_rows,
    twice_on_a_broker,
)
from planner.snapshot.tables.snapshot_columns import (
    BROKERS,
    LOG_DIRS,
    PARTITIONS,
    TOPICS,
    ArrowTable,
)
from planner.snapshot.tables.table_rows import Rows, as_array
from planner.spark.common.cell_casts import one_chunk, without_codes
from planner.spark.scoring.sums.replica_lists import (
    BrokerRows,
    filled,
    numbers_of,
    rows_of,
)
from planner.spark.scoring.sums.snapshot_grounds import Ground
from planner.spark.scoring.sums.sum_arrays import Ints

_WRITTEN = ("leader", "isr", "log_dirs")
"""Columns that failed replicas change."""
_LISTS = ("replicas", "isr", "adding_replicas", "log_dirs", "offline_replicas")


@dataclass(frozen=True, slots=True, eq=False)
class FailedReplicas:
    """
    Partitions with the log dirs of failed replicas, and failed replicas without one.

    Parameters
    ----------
    rows
        The partitions, with `leader`, `isr` and `log_dirs` corrected for the failures.
    is_failed
        ``(N,)`` true for replicas that their live broker cannot serve; empty if there
        is none.
    """

    rows: ArrowTable
    is_failed: BoolArray


def mark_failed(
    rows: ArrowTable, first_row: Ints, listed: Rows, ground: Ground
) -> FailedReplicas:
    """
    Find failed replicas as `to_state` does for a whole snapshot.

    Parameters
    ----------
    rows
        Partitions, in the types of snapshots, one snapshot after the other.
    first_row
        ``(S + 1,)`` first row of each snapshot.
    listed
        Replicas of the partitions.
    ground
        Brokers and log dirs of the snapshots.
    """
    snapshots = _with_failures(rows, first_row, ground)
    if not len(snapshots):
        return FailedReplicas(rows, np.zeros(0, dtype=np.bool_))
    # Rare: each snapshot is marked by itself.
    is_failed = np.zeros(len(listed.values), dtype=np.bool_)
    pieces, done = [], 0
    for n in snapshots.tolist():
        low, high = first_row[n : n + 2].tolist()
        own, alone = rows.slice(low, high - low), ground.alone(n)
        marked = _marked(
            own, rows_of(own.column("replicas")), alone.broker_rows, alone.state
        )
        if len(marked.is_failed):
            is_failed[listed.start[low] : listed.start[high]] = marked.is_failed
        pieces += [rows.slice(done, low - done), marked.rows]
        done = high
    together = one_chunk([*pieces, rows.slice(done)])
    return FailedReplicas(together, is_failed if is_failed.any() else is_failed[:0])


def _with_failures(rows: ArrowTable, first_row: Ints, ground: Ground) -> Ints:
    """Return the snapshots that may have failed replicas."""
    may_fail = np.zeros(len(ground), dtype=np.bool_)
    dirs = ground.state.log_dirs
    is_lost = np.equal(dirs.state, LogDirState.OFFLINE)
    may_fail[ground.snapshot_of[dirs.broker_idx[is_lost]]] = True
    offline = rows.column("offline_replicas")
    if offline.null_count < len(offline):
        may_fail |= np.diff(rows_of(offline).start[first_row]) > 0
    return np.flatnonzero(may_fail)


def _marked(
    rows: ArrowTable, listed: Rows, brokers: BrokerRows, state: ClusterState
) -> FailedReplicas:
    """Find the failed replicas of one snapshot."""
    at = _concerned(rows, listed, brokers, state)
    if not len(at):
        return FailedReplicas(rows, np.zeros(0, dtype=np.bool_))
    found = _cluster_of(rows.take(pa.array(at)), state)
    is_failed = np.zeros(len(listed.values), dtype=np.bool_)
    places = np.repeat(listed.start[at], listed.lengths[at])
    offsets = np.arange(len(found.replicas)) - np.repeat(
        found.replicas.start[:-1], listed.lengths[at]
    )
    is_failed[places + offsets] = found.replicas.is_failed
    return FailedReplicas(_rewritten(rows, at, found), is_failed)


def _concerned(
    rows: ArrowTable, listed: Rows, brokers: BrokerRows, state: ClusterState
) -> npt.NDArray[np.int64]:
    """Return the sound partitions that may have failed replicas."""
    offline = rows_of(rows.column("offline_replicas"))
    is_lost = np.equal(state.log_dirs.state, LogDirState.OFFLINE)
    nothing = np.zeros(0, dtype=np.int64)
    if not is_lost.any() and not len(offline.values):
        return nothing
    ids = numbers_of(listed.values, ABSENT)
    broker = brokers.rows(ids, np.array([0, len(ids)]))
    has_lost = np.zeros(state.num_brokers + 1, dtype=np.bool_)
    has_lost[state.log_dirs.broker_idx[is_lost]] = True
    may_fail = sum_rows(has_lost[broker], listed.start) > 0
    may_fail |= offline.lengths > 0
    is_sound = (listed.lengths > 0) & (
        sum_rows(np.equal(broker, ABSENT), listed.start) == 0
    )
    for p, _ in twice_on_a_broker(broker.astype(np.int32), listed.start):
        is_sound[p] = False
    dirs = rows_of(rows.column("log_dirs"))
    is_sound &= dirs.is_absent | np.equal(dirs.lengths, listed.lengths)
    concerned: npt.NDArray[np.int64] = np.flatnonzero(may_fail & is_sound)
    return concerned


def _cluster_of(rows: ArrowTable, state: ClusterState) -> ClusterState:
    """Return partitions as a cluster with one topic, on the brokers of a snapshot."""
    from planner.snapshot.from_state import tables_of
    from planner.snapshot.snapshot_document import Snapshot

    count, tables, rows = len(rows), tables_of(state), without_codes(rows)
    columns = {
        "topic": ["t"] * count,
        "partition": np.arange(count),
        "leader": rows.column("leader"),
        **{name: rows.column(name) for name in _LISTS},
    }
    return Snapshot(
        brokers=filled(tables["brokers"], BROKERS.schema),
        log_dirs=filled(tables["log_dirs"], LOG_DIRS.schema),
        topics=filled(pa.table({"topic": ["t"]}), TOPICS.schema),
        partitions=filled(pa.table(columns), PARTITIONS.schema),
    ).to_state()


def _rewritten(
    rows: ArrowTable, at: npt.NDArray[np.int64], found: ClusterState
) -> ArrowTable:
    """Return partitions with the columns of some of them replaced from a cluster."""
    others = np.delete(np.arange(len(rows)), at)
    order = np.argsort(np.concatenate([others, at]), kind="stable")
    rest = rows.take(pa.array(others))
    values = dict(zip(_WRITTEN, _columns_of(found), strict=True))
    for name in _WRITTEN:
        index = rows.schema.get_field_index(name)
        kept = as_array(without_codes(rest.select([name])).column(name))
        new = pa.array(values[name], PARTITIONS.schema.field(name).type)
        both = pa.concat_arrays([kept.cast(new.type), new]).take(pa.array(order))
        rows = rows.set_column(index, name, both)
    return rows


def _columns_of(state: ClusterState) -> tuple[list[Any], ...]:
    """Return leader, ISR and log dirs of every partition, by id and path."""
    replicas, paths = state.replicas, (*state.log_dirs.paths, None)
    ids = state.brokers.ids[replicas.broker_idx].tolist()
    spans = list(pairwise(replicas.start.tolist()))
    leaders = np.append(state.brokers.ids, -1)[state.partitions.leader_idx].tolist()
    in_sync, dirs = replicas.is_in_sync.tolist(), replicas.log_dir_idx.tolist()
    return (
        leaders,
        [[ids[k] for k in range(low, high) if in_sync[k]] for low, high in spans],
        [[paths[dirs[k]] for k in range(low, high)] for low, high in spans],
    )
