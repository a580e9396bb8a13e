"""
Sums of partitions in one pass: by place of the replicas, by topic, by factor.

Plain Python over arrays. A few partitions run it directly; many run the same functions
compiled by numba. `placement.model.load.weigh` and `placement.score.rule_violations`
define the quantities; tests compare the kernel with them.
"""

import functools
from collections.abc import Callable
from typing import Any

from placement.core.search.kernels import jit
from planner.spark.scoring.kernels import load_sums, violation_rows
from planner.spark.scoring.kernels.load_sums import put, spread, total_up, weigh
from planner.spark.scoring.kernels.tally import BLOCK, NUM_LISTED, NUM_PARTITIONS, Table
from planner.spark.scoring.kernels.violation_rows import (
    factor_of,
    find_brokers,
    follow_numbers,
    is_odd,
    is_sound,
    judge,
    leader_of,
)


def add_partitions(rows: Table, ground: Table, sums: Table, scratch: Table) -> None:
    """
    Add partitions to sums.

    Parameters
    ----------
    rows
        `planner.spark.scoring.sums.sum_arrays.RowArrays`.
    ground
        `planner.spark.scoring.sums.sum_arrays.GroundArrays`.
    sums
        `planner.spark.scoring.sums.sum_arrays.SumArrays`: added to in place.
    scratch
        `planner.spark.scoring.sums.sum_arrays.ScratchArrays`.
    """
    count = len(rows.topic)
    for begin in range(0, count, BLOCK):
        stop = min(begin + BLOCK, count)
        for p in range(begin, stop):
            at = rows.start[p] - rows.start[begin]
            _add(rows, ground, sums, scratch, p, p - begin, at)
        put(rows, sums, scratch, begin, stop)


def _add(
    rows: Table, ground: Table, sums: Table, scratch: Table, p: int, q: int, at: int
) -> None:
    """Add a partition, number `q` of its block, to all sums except those by place."""
    t = rows.topic[p]
    snapshot = ground.snapshot[t]
    low = rows.start[p]
    size = rows.start[p + 1] - low
    sums.counts[t, NUM_PARTITIONS] += 1
    sums.counts[t, NUM_LISTED] += size
    follow_numbers(rows, sums, p, t)
    find_brokers(rows, ground, scratch, low, size)
    scratch.is_sound[q] = is_sound(rows, sums, scratch, p, t, snapshot, size)
    if not scratch.is_sound[q]:
        sums.suspects[p] = True
    else:
        factor = factor_of(rows, p, low, size)
        leader = leader_of(rows, ground, scratch, p, low, size)
        weigh(rows, ground, sums, scratch, p, q, t, factor)
        in_sync = judge(rows, ground, sums, scratch, p, t, low, size, factor, leader)
        disk = spread(rows, ground, scratch, q, t, low, at, size, leader)
        if is_odd(rows, scratch, p, q, leader, in_sync):
            sums.suspects[p] = True
        total_up(sums, scratch, q, t, snapshot, size, disk, leader)


@functools.cache
def compiled() -> Callable[..., None]:
    """
    Return `add_partitions` compiled, with the machine code cached on disk if possible.

    Without the cache, each process compiles once, which takes some seconds.
    """
    from numba import njit
    from numba.extending import register_jitable

    # Inlined, since each call would copy the named tuples of thirty arrays.
    for function in (_add, *violation_rows.INNER, *load_sums.INNER):
        register_jitable(forceinline=True)(function)
    # The kernel allocates nothing. Reference counting of arguments, which this
    # option turns off, would take ten times as long as the rest.
    options: dict[str, Any] = {"_nrt": False}
    kept = jit.compiled(add_partitions, **options)
    here: Callable[..., None] = njit(nogil=True, **options)(add_partitions)

    def add(*arrays: Table) -> None:
        try:
            kept(*arrays)
        except (AttributeError, ImportError):
            # Code that another version cached refers to names that no longer exist.
            here(*arrays)

    return add
