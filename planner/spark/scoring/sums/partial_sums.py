"""
Sums of some partitions of snapshots, by place, by factor and by topic.

The size of the sums grows with brokers, log dirs and topics. This module needs no
Spark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planner.snapshot.checks.broker_checks import total_of
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.snapshot.tables.table_rows import as_array
from planner.spark.common.problem_rows import FOUND, Row, found_table
from planner.spark.scoring.kernels.add_partitions import add_partitions, compiled
from planner.spark.scoring.kernels.tally import COUNTED, FIRSTS
from planner.spark.scoring.sums.failed_log_dirs import mark_failed
from planner.spark.scoring.sums.kernel_inputs import (
    BrokerLists,
    RowTopics,
    ground_arrays,
    row_arrays,
    topics_of,
)
from planner.spark.scoring.sums.place_sums import PlaceSums
from planner.spark.scoring.sums.replica_lists import Spots, numbers_of, rows_of
from planner.spark.scoring.sums.snapshot_grounds import Ground
from planner.spark.scoring.sums.sum_arrays import (
    LOADS,
    Ints,
    RowArrays,
    SumArrays,
    empty_sums,
    scratch_of,
    uniform,
)
from planner.spark.scoring.sums.suspect_partitions import suspects_of

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
    first_row: Ints,
    ground: Ground,
    said: Sequence[ArrowTable],
    places: PlaceSums,
    *,
    is_compiled: bool = False,
) -> list[Sums]:
    """
    Sum some partitions of ``S`` snapshots.

    Parameters
    ----------
    rows
        The columns `READ`, in the types of snapshots, one snapshot after the other;
        texts may be dictionaries.
    first_row
        ``(S + 1,)`` first row of each snapshot.
    ground
        Brokers, log dirs and min ISR of the snapshots.
    said
        Per snapshot, settings of at least the topics of its rows: `topic`, `is_shared`,
        `min_isr`.
    places
        Sums by place, which are added to.
    is_compiled
        Whether the compiled kernel is used; the sums are the same.

    Returns
    -------
    The sums of each snapshot.

    Notes
    -----
    Unsound partitions are counted by topic, and excluded from all other sums. The pass
    marks partitions that may violate a rule; only these are checked as those of files
    are.
    """
    topics = topics_of(rows, first_row)
    listed = rows_of(rows.column("replicas"))
    marked = mark_failed(rows, first_row, listed, ground)
    lists = BrokerLists(first_row, ground.broker_rows)
    spots = Spots(
        marked.rows, listed, partial(lists.rows, listed), ground.state, places.paths
    )
    arrays = row_arrays(marked, topics.of_rows, listed, spots, lists)
    longest = int(listed.lengths.max(initial=0))
    sums = empty_sums(
        len(ground), len(topics.names), len(rows), longest, *places.arrays(spots)
    )
    add = compiled() if is_compiled else add_partitions
    # Sums that overflow are rejected later, by the sums in floats.
    with np.errstate(over="ignore", invalid="ignore"):
        add(
            uniform(arrays),
            uniform(ground_arrays(ground, said, topics, spots, longest)),
            sums,
            scratch_of(len(listed.values), longest, ground.state.num_racks),
        )
    return _by_snapshot(
        topics,
        {
            "topics": _topic_table(topics.names, sums),
            "numbers": _number_table(topics.names, sums, arrays),
        },
        _factor_table(sums),
        _count_table(sums, topics, rows, first_row),
        suspects_of(rows, first_row, ground, sums),
    )


def _by_snapshot(
    topics: RowTopics,
    tables: Mapping[str, ArrowTable],
    factors: tuple[ArrowTable, Ints],
    counts: ArrowTable,
    found: Mapping[int, Sequence[Row]],
) -> list[Sums]:
    """Cut tables by snapshot: those by topic, those by factor, and the counts."""
    by_topic, by_factor = pairwise(topics.first.tolist()), pairwise(factors[1].tolist())
    return [
        Sums(
            factors=factors[0].slice(least, most - least),
            counts=counts.slice(n, 1),
            found=found_table(found[n]) if n in found else FOUND.empty_table(),
            **{name: each.slice(low, high - low) for name, each in tables.items()},
        )
        for n, ((low, high), (least, most)) in enumerate(
            zip(by_topic, by_factor, strict=True)
        )
    ]


def _factor_table(sums: SumArrays) -> tuple[ArrowTable, Ints]:
    """Return the sums by snapshot and factor, and the first row of each snapshot."""
    snapshot, factor = np.nonzero(sums.firsts.any(axis=2))
    used = sums.firsts[snapshot, factor]
    columns = [factor, *(used[:, n] for n in range(len(FIRSTS)))]
    arrays = [pa.array(each) for each in columns]
    first = np.searchsorted(snapshot, np.arange(len(sums.firsts) + 1))
    return pa.Table.from_arrays(arrays, schema=FACTORS), first


def _count_table(
    sums: SumArrays, topics: RowTopics, rows: ArrowTable, first_row: Ints
) -> ArrowTable:
    """Return the counts over all topics of each snapshot."""
    running = np.zeros((len(topics.names) + 1, len(COUNTED)), dtype=np.int64)
    np.cumsum(sums.counts, axis=0, out=running[1:])
    counts = running[topics.first[1:]] - running[topics.first[:-1]]
    summed = rows.select(["replicas", *TOTALS])
    totals = np.array(
        [
            _totals(summed.slice(low, high - low))
            for low, high in pairwise(first_row.tolist())
        ]
    )
    columns = [*counts.T, *sums.whole.T, *totals.T]
    return pa.Table.from_arrays([*map(pa.array, columns)], schema=COUNTS)


def _totals(rows: ArrowTable) -> list[float]:
    """Return the sums of `TOTALS` in floats, which do not overflow."""
    own = as_array(rows.column("replica_bytes"))
    return [
        _total_size(rows),
        total_of(own.flatten()) if own.null_count < len(own) else 0.0,
        total_of(rows.column("remote_bytes")),
    ]


def _total_size(rows: ArrowTable) -> float:
    column = rows.column("size_bytes")
    if column.null_count == len(column):
        return 0.0
    size, lengths = numbers_of(column, 0), rows_of(rows.column("replicas")).lengths
    first = int(lengths[0])
    if (lengths == first).all():
        return first * float(size.sum(dtype=np.float64))
    return float(size.astype(np.float64) @ lengths)


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
