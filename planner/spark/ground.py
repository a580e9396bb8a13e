"""What the partitions of a snapshot must know of its brokers: one row per snapshot."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from placement.targets import rack_limit
from planner.snapshot.columns import ArrowTable
from planner.snapshot.facts import MIN_ISR
from planner.spark.fleet import KEY, Fleet

NOT_LIVE = -1
LIVE_STATES = ("alive", "new", "demoted")
DIR_SEPARATOR = "\x1f"
"""Between a broker and a path: no path has it."""
SMALL_IDS = 1 << 17
MOST_SLOTS = 1 << 24
BROADCAST_BROKERS = 200_000
"""Up to so many brokers in all, what is known of them goes to every executor."""

_SCHEMA = (
    "cluster_id string, taken_at timestamp, num_slots int, rack_at array<int>, "
    "in_rack array<int>, rack_limit array<int>, min_isr int, offline_dirs array<string>"
)


def ground_of(fleet: Fleet) -> DataFrame:
    """
    Return, per snapshot, tables that expressions on partitions look into.

    Returns
    -------
    DataFrame
        ``num_slots``: broker ids of a snapshot differ modulo this. ``rack_at[id %
        num_slots]``: number of the broker's rack, -1 where it is not live.
        ``in_rack``: live brokers per rack. ``rack_limit[RF]``: the most replicas of a
        partition in one rack. ``min_isr``: of the cluster. ``offline_dirs``: broker and
        path of each.
    """
    min_isr = F.col("configs")[MIN_ISR].cast("int").alias("min_isr")
    offline = fleet.log_dirs.where(F.col("state") == "offline")
    parts = [
        fleet.brokers.select(*KEY, F.struct("id", "rack", "state").alias("broker")),
        offline.select(*KEY, F.struct("broker_id", "path").alias("dir")),
        fleet.clusters.select(*KEY, F.struct(min_isr).alias("cluster")),
    ]
    return union_of(parts).groupBy(*KEY).applyInArrow(_rack_tables, _SCHEMA)


def union_of(parts: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all parts; a column that one of them lacks is null there."""
    together = parts[0]
    for more in parts[1:]:
        together = together.unionByName(more, allowMissingColumns=True)
    return together


def part_of(rows: ArrowTable, tag: str) -> ArrowTable:
    """Return the rows of one part of a union as a table of their own."""
    column = rows.column(tag).combine_chunks()
    return pa.Table.from_struct_array(column.filter(column.is_valid()))


def _rack_tables(rows: pa.Table) -> pa.Table:
    """Return the row of one snapshot; few brokers a time, never replicas."""
    brokers, dirs = part_of(rows, "broker"), part_of(rows, "dir")
    ids = brokers.column("id").to_numpy()
    states = brokers.column("state").to_pylist()
    is_live = np.array([s in {None, *LIVE_STATES} for s in states], dtype=np.bool_)
    racks = rack_numbers(brokers.column("rack").to_pylist(), ids)
    in_rack = np.bincount(racks[is_live], minlength=racks.max(initial=0) + 1)
    factors = np.arange(int(is_live.sum()) + 1)
    slots = num_slots(ids)
    rack_at = np.full(slots, NOT_LIVE, dtype=np.int32)
    rack_at[ids % slots] = np.where(is_live, racks, NOT_LIVE)
    offline = [
        f"{broker}{DIR_SEPARATOR}{path}"
        for broker, path in zip(*(c.to_pylist() for c in dirs.columns), strict=True)
    ]
    said = [m for m in part_of(rows, "cluster").column(0).to_pylist() if m is not None]
    return pa.table(
        {
            "cluster_id": rows.column("cluster_id")[:1],
            "taken_at": rows.column("taken_at")[:1],
            "num_slots": pa.array([slots], pa.int32()),
            "rack_at": pa.array([rack_at], pa.list_(pa.int32())),
            "in_rack": pa.array([in_rack], pa.list_(pa.int32())),
            "rack_limit": pa.array(
                [rack_limit(factors, in_rack)], pa.list_(pa.int32())
            ),
            "min_isr": pa.array([said[0] if said else 1], pa.int32()),
            "offline_dirs": pa.array([offline], pa.list_(pa.string())),
        }
    )


def rack_numbers(names: list[str | None], ids: Any) -> Any:  # noqa: ANN401 - (B,) ints
    """Return the number of each rack; a broker without one has one of its own."""
    labels = [
        (0, name) if name is not None else (1, str(broker))
        for name, broker in zip(names, ids.tolist(), strict=True)
    ]
    number = {label: k for k, label in enumerate(sorted(set(labels)))}
    return np.array([number[label] for label in labels], dtype=np.int32)


def num_slots(ids: Any) -> int:  # noqa: ANN401 - (B,) ints
    """
    Return a modulus under which no two broker ids are the same.

    Small ids stand for themselves; others are tried at growing sizes, so that a look-up
    is one step whatever the ids.

    Raises
    ------
    ValueError
        If ids are scattered so widely that there is none of a reasonable size.
    """
    largest = int(ids.max(initial=0))
    if largest < SMALL_IDS:
        return largest + 1
    for slots in _sizes(len(ids)):
        if len(np.unique(ids % slots)) == len(ids):
            return slots
    msg = f"{len(ids)} broker ids up to {largest} are too scattered"
    raise ValueError(msg)


def _sizes(count: int) -> Iterator[int]:
    size = max(count, 2)
    while size <= MOST_SLOTS:
        yield size
        # Odd steps: sizes share no factor with ids that are multiples of something.
        size = max(size + 1, size * 21 // 20) | 1
