"""
Sums of some partitions of one snapshot, by place, by factor and by topic.

The size of the sums grows with brokers, log dirs and topics. This module needs no
Spark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.model.cluster import UNKNOWN, ClusterState, LogDirState
from placement.model.targets import rack_limit
from planner.snapshot.checks.broker_checks import total_of
from planner.snapshot.tables.snapshot_columns import BROKERS, LOG_DIRS, ArrowTable
from planner.snapshot.tables.table_rows import Rows, as_array
from planner.spark.common.problem_rows import FOUND, found_table
from planner.spark.scoring.kernels.add_partitions import add_partitions, compiled
from planner.spark.scoring.kernels.tally import COUNTED, FIRSTS, NOBODY_SAYS
from planner.spark.scoring.sums.failed_log_dirs import FailedReplicas, mark_failed
from planner.spark.scoring.sums.place_sums import PlaceSums
from planner.spark.scoring.sums.replica_lists import (
    BrokerRows,
    Spots,
    aligned,
    filled,
    numbers_of,
    rows_of,
)
from planner.spark.scoring.sums.sum_arrays import (
    LOADS,
    GroundArrays,
    Ints,
    RowArrays,
    SumArrays,
    empty_sums,
    scratch_of,
    uniform,
)
from planner.spark.scoring.sums.suspect_partitions import broken, strangers

READ = (
    "topic",
    "partition",
    "replicas",
    "leader",
    "isr",
    "elr",
    "last_known_elr",
    "adding_replicas",
    "offline_replicas",
    "removing_replicas",
    "log_dirs",
    "future_log_dirs",
    "size_bytes",
    "replica_bytes",
    "remote_bytes",
    "in_bytes_per_s",
    "out_bytes_per_s",
    "leader_cpu_cores",
    "follower_cpu_cores",
)
"""Columns of partitions that scores use, or that are checked."""
NO_NAME = "\0"
"""Topic of partitions without a topic; no topic has this name."""
TOTALS = ("size_bytes", "replica_bytes", "remote_bytes")
"""Columns whose bytes, summed over all replicas, must fit 64 bits."""
_INT, _FLOAT, _TEXT = pa.int64(), pa.float64(), pa.string()
FACTORS = pa.schema([("factor", _INT), *((name, _INT) for name in FIRSTS)])
COUNTS = pa.schema(
    [
        *((name, _INT) for name in COUNTED),
        *((f"whole_{name}", _FLOAT) for name in LOADS),
        *((f"total_{name}", _FLOAT) for name in TOTALS),
    ]
)
"""Columns of sums over all topics."""
TOPICS = pa.schema(
    [
        ("topic", _TEXT),
        *((name, _INT) for name in COUNTED),
        *((f"{end}_{name}", _INT) for name in LOADS for end in ("sum", "max", "min")),
        *((f"square_{name}", _FLOAT) for name in LOADS),
    ]
)
"""`square_…`: sum of squared distances from the mean of these partitions."""
WRONG = ("lacks_replicas", "is_twice", "unnumbered", "unlike")
"""Counts of partitions that are excluded from sums."""
NUMBERS = pa.schema(
    [
        ("topic", _TEXT),
        ("first", _INT),
        ("last", _INT),
        ("numbers", pa.list_(_INT)),
    ]
)
"""
Numbers of partitions, which show duplicates and gaps. `numbers`: numbers of the
partitions; null if they are first, first + 1 … last.
"""
WORTH_COMPILING = 2_000
"""Number of partitions from which on the compiled kernel pays off."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """
    Data of a snapshot that its partitions depend on.

    Parameters
    ----------
    min_isr
        Default min ISR of the cluster.
    brokers, log_dirs
        Tables of the snapshot; columns may be absent. Each broker occurs once.
    """

    min_isr: int
    brokers: ArrowTable
    log_dirs: ArrowTable

    @cached_property
    def state(self) -> ClusterState:
        """Cluster of the brokers and log dirs, without partitions."""
        return bare_state(self.brokers, self.log_dirs)

    @cached_property
    def broker_rows(self) -> BrokerRows:
        """Rows of the brokers by id."""
        return BrokerRows(self.state.brokers.ids)

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sums:
    """
    Sums of partitions.

    Parameters
    ----------
    factors, counts, topics, numbers, found
        Tables in the columns of `FACTORS`, `COUNTS`, `TOPICS`, `NUMBERS` and `FOUND`.
    """

    factors: ArrowTable
    counts: ArrowTable
    topics: ArrowTable
    numbers: ArrowTable
    found: ArrowTable


def sums_of(
    rows: ArrowTable,
    ground: Ground,
    said: ArrowTable,
    places: PlaceSums,
    *,
    is_compiled: bool = False,
) -> Sums:
    """
    Sum some partitions of one snapshot.

    Parameters
    ----------
    rows
        The columns `READ`, in the types of snapshots; texts may be dictionaries.
    ground
        Brokers, log dirs and min ISR of the snapshot.
    said
        Settings of at least the topics of the rows: `topic`, `is_shared`, `min_isr`.
    places
        Sums by place, which are added to.
    is_compiled
        Whether the compiled kernel is used; the sums are the same.

    Notes
    -----
    Unsound partitions are counted by topic, and excluded from all other sums. The pass
    marks partitions that may violate a rule; only these are checked as those of files
    are.
    """
    names, topic_idx = _topics_of(rows)
    listed = rows_of(rows.column("replicas"))
    marked = mark_failed(rows, listed, ground.broker_rows, ground.state)
    spots = Spots(marked.rows, listed, ground.broker_rows, ground.state, places.paths)
    arrays = _row_arrays(marked, topic_idx, listed, spots, ground.broker_rows)
    longest = int(listed.lengths.max(initial=0))
    sums = empty_sums(len(names), len(rows), longest, *places.arrays(spots))
    add = compiled() if is_compiled else add_partitions
    # Sums that overflow are rejected later, by the sums in floats.
    with np.errstate(over="ignore", invalid="ignore"):
        add(
            uniform(arrays),
            uniform(_ground_arrays(ground, said, names, spots, longest)),
            sums,
            scratch_of(len(listed.values), longest, ground.state.num_racks),
        )
    found = [*strangers(listed, ground.broker_rows, sums), *broken(rows, sums)]
    return Sums(
        factors=_factor_table(sums),
        counts=_count_table(sums, _totals(rows, listed)),
        topics=_topic_table(names, sums),
        numbers=_number_table(names, sums, arrays),
        found=found_table(found) if found else FOUND.empty_table(),
    )


def _topics_of(rows: ArrowTable) -> tuple[ArrowTable, Ints]:
    """Return the names of the topics, and the row of each partition's topic."""
    column = as_array(rows.column("topic"))
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    unnamed = pa.array([NO_NAME], _TEXT)
    texts = pa.concat_arrays([column.dictionary.cast(_TEXT), unnamed])
    codes = numbers_of(column.indices, len(texts) - 1)
    is_used = np.zeros(len(texts), dtype=np.bool_)
    is_used[codes] = True
    names = texts.filter(pa.array(is_used))
    place: Ints = np.cumsum(is_used, dtype=np.int32) - 1
    return names, np.take(place, codes)


def _row_arrays(
    marked: FailedReplicas,
    topic_idx: Ints,
    listed: Rows,
    spots: Spots,
    brokers: BrokerRows,
) -> RowArrays:
    rows = marked.rows
    members = ("isr", "adding_replicas", "removing_replicas")
    isr, adding, removing = (rows_of(rows.column(name)) for name in members)
    own, is_unlike = aligned(rows.column("replica_bytes"), listed)
    replicas, in_sync, added, removed = (
        brokers.numbers(numbers_of(each.values, UNKNOWN))
        for each in (listed, isr, adding, removing)
    )
    return RowArrays(
        topic=topic_idx,
        number=numbers_of(rows.column("partition"), UNKNOWN),
        is_named=rows.column("topic").is_valid().to_numpy(),
        is_unlike=is_unlike | spots.is_unlike,
        start=listed.start,
        replicas=replicas,
        path=spots.path,
        future=spots.future,
        own=own,
        leader=_leaders(rows.column("leader"), brokers),
        isr_start=isr.start,
        isr=in_sync,
        tells_isr=~isr.is_absent,
        adding_start=adding.start,
        adding=added,
        failed=marked.is_failed,
        removing_start=removing.start,
        removing=removed,
        size=numbers_of(rows.column("size_bytes"), UNKNOWN),
        inbound=numbers_of(rows.column("in_bytes_per_s"), np.nan),
        outbound=numbers_of(rows.column("out_bytes_per_s"), np.nan),
        leader_cpu=numbers_of(rows.column("leader_cpu_cores"), np.nan),
        follower_cpu=numbers_of(rows.column("follower_cpu_cores"), np.nan),
        has_future=len(spots.future) > 0,
        has_own=len(own) > 0,
        has_adding=len(added) > 0,
        has_failed=len(marked.is_failed) > 0,
        has_removing=len(removed) > 0,
    )


def _leaders(column: ArrowTable, brokers: BrokerRows) -> Ints:
    leaders = brokers.numbers(numbers_of(column, UNKNOWN))
    if column.null_count:
        leaders = np.where(column.is_null().to_numpy(), NOBODY_SAYS, leaders)
    return leaders


def _ground_arrays(
    ground: Ground, said: ArrowTable, names: ArrowTable, spots: Spots, longest: int
) -> GroundArrays:
    at = pc.index_in(names, value_set=as_array(said.column("topic")))
    is_shared = pc.fill_null(said.column("is_shared").take(at), fill_value=False)
    min_isr = said.column("min_isr").take(at).fill_null(ground.min_isr)
    brokers = ground.state.brokers
    is_offline = ground.state.log_dirs.state == LogDirState.OFFLINE
    return GroundArrays(
        row_of=ground.broker_rows.row_of,
        is_live=brokers.is_live,
        rack=brokers.rack_idx,
        in_rack=ground.in_rack,
        rack_limit=rack_limit(np.arange(longest + 1), ground.in_rack),
        is_shared=is_shared.to_numpy(),
        min_isr=min_isr.to_numpy(),
        is_offline=spots.flags(is_offline),
        has_offline=bool(is_offline.any()),
        stride=spots.stride,
    )


def _factor_table(sums: SumArrays) -> ArrowTable:
    used = np.nonzero(sums.firsts.any(axis=1))[0]
    columns = [used, *(sums.firsts[used, n] for n in range(len(FIRSTS)))]
    return pa.Table.from_arrays([pa.array(each) for each in columns], schema=FACTORS)


def _totals(rows: ArrowTable, listed: Rows) -> list[float]:
    """Return the sums of `TOTALS` in floats, which do not overflow."""
    own = as_array(rows.column("replica_bytes"))
    return [
        _total_size(rows.column("size_bytes"), listed.lengths),
        total_of(own.flatten()) if own.null_count < len(own) else 0.0,
        total_of(rows.column("remote_bytes")),
    ]


def _total_size(column: ArrowTable, lengths: Ints) -> float:
    if column.null_count == len(column):
        return 0.0
    size = numbers_of(column, 0)
    first = int(lengths[0])
    if (lengths == first).all():
        return first * float(size.sum(dtype=np.float64))
    return float(size.astype(np.float64) @ lengths)


def _count_table(sums: SumArrays, totals: Sequence[float]) -> ArrowTable:
    columns = [*sums.counts.sum(axis=0), *sums.whole, *totals]
    return pa.Table.from_arrays([pa.array([each]) for each in columns], schema=COUNTS)


def _topic_table(names: ArrowTable, sums: SumArrays) -> ArrowTable:
    ends = (sums.total, sums.largest, sums.least)
    columns = [
        *sums.counts.T,
        *(end[:, r] for r in range(len(LOADS)) for end in ends),
        *_squares(sums).T,
    ]
    return pa.Table.from_arrays([names, *map(pa.array, columns)], schema=TOPICS)


def _squares(sums: SumArrays) -> Any:  # noqa: ANN401 - (T, R) floats
    """Return sums of squared distances from the mean instead of from the first."""
    count = np.maximum(sums.counts[:, COUNTED.index("partitions")], 1)[:, None]
    away = (sums.total - count * sums.origin).astype(np.float64)
    return np.maximum(sums.square - away * (away / count), 0.0)


def _number_table(names: ArrowTable, sums: SumArrays, rows: RowArrays) -> ArrowTable:
    numbers = _listed_numbers(sums.is_run, rows)
    ends = (pa.array(sums.first), pa.array(sums.last))
    return pa.Table.from_arrays([names, *ends, numbers], schema=NUMBERS)


def _listed_numbers(is_run: npt.NDArray[np.bool_], rows: RowArrays) -> ArrowTable:
    """Return the numbers of topics whose numbers are not consecutive."""
    odd = np.nonzero(~is_run[rows.topic])[0]
    order = odd[np.argsort(rows.topic[odd], kind="stable")]
    lengths = np.bincount(rows.topic[odd], minlength=len(is_run))
    start = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(start), pa.array(rows.number[order]), mask=pa.array(is_run)
    )
