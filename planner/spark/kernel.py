"""
Partitions added up in one pass: by the place of their replicas, by topic, by factor.

Plain Python over arrays. A few partitions run it as it is, many run the same functions
compiled by numba. What it counts is what `placement.load.weigh` and
`placement.score.violations` define; the tests hold it against them.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from placement.cluster import ABSENT, UNKNOWN
from placement.load import MOST_LOAD, RESOURCES, UNITS, Resource

DISK, IN, OUT, CPU, REPLICAS, LEADERS = range(len(RESOURCES))
MILLI = float(UNITS[Resource.IN])

Table = Any
"""An array, or a named tuple of them: what is compiled has no types of its own."""
NANO = float(UNITS[Resource.CPU])
MOST = float(MOST_LOAD)
NOBODY_SAYS = -2
"""A leader that is not told: the first live replica in sync leads."""

COUNTED = (
    "partitions",
    "replicas",
    "knows_disk",
    "knows_in",
    "knows_out",
    "knows_cpu",
    "rack_broken",
    "offline_replicas",
    "offline_partitions",
    "under_replicated",
    "under_min_isr",
    "at_min_isr",
    "leader_not_preferred",
    "rf1",
    "rf_equals_min_isr",
    "lacks_replicas",
    "is_twice",
    "unnumbered",
    "unlike",
)
"""What is counted per topic, in the order of the columns of `counts`."""
(_PARTITIONS, _LISTED, _KNOWS_DISK, _KNOWS_IN, _KNOWS_OUT, _KNOWS_CPU, _RACK,
 _OFFLINE, _LEADERLESS, _UNDER, _UNDER_MIN, _AT_MIN, _NOT_PREFERRED, _RF1, _RF_MIN,
 _LACKS, _TWICE, _UNNUMBERED, _UNLIKE) = range(len(COUNTED))  # fmt: skip
FIRSTS = ("first_disk", "first_in", "first_cpu", "first_replicas", "lead_cpu")
"""What weighs once per partition, by factor: for the most that a rack can hold."""


def add_partitions(rows: Table, ground: Table, sums: Table, scratch: Table) -> None:
    """
    Add partitions up.

    Parameters
    ----------
    rows
        `planner.spark.arrays.RowArrays`.
    ground
        `planner.spark.arrays.GroundArrays`.
    sums
        `planner.spark.arrays.SumArrays`, zeros that are added to.
    scratch
        `planner.spark.arrays.ScratchArrays`.
    """
    for p in range(len(rows.topic)):
        t = rows.topic[p]
        low, high = rows.start[p], rows.start[p + 1]
        sums.counts[t, _PARTITIONS] += 1
        sums.counts[t, _LISTED] += high - low
        _follow_numbers(rows, sums, p, t)
        if _is_sound(rows, sums.counts, p, t, low, high):
            factor = _factor(rows, p, low, high)
            leader = _leader(rows, ground, p, low, high)
            _weigh(rows, ground, sums, scratch, p, t, factor)
            _judge(rows, ground, sums, scratch, p, t, low, high, factor, leader)
            _place(rows, sums, scratch, low, high, leader, ground.is_shared[t])
            _total(sums, scratch, p, t, high - low, leader)
    _add_squares(rows, sums, scratch)


def _follow_numbers(rows: Table, sums: Table, p: int, t: int) -> None:
    """See whether the numbers of a topic go up one by one."""
    number = rows.number[p]
    if sums.counts[t, _PARTITIONS] == 1:
        sums.first[t] = number
    elif number != sums.last[t] + 1:
        sums.is_run[t] = False
    sums.last[t] = number


def _is_sound(rows: Table, counts: Table, p: int, t: int, low: int, high: int) -> bool:
    """Tell whether a partition can be looked at; what is wrong with it is counted."""
    is_sound = True
    if low == high:
        counts[t, _LACKS] += 1
        is_sound = False
    if rows.number[p] < 0 or not rows.is_named[p]:
        counts[t, _UNNUMBERED] += 1
        is_sound = False
    if _is_twice(rows.broker, low, high):
        counts[t, _TWICE] += 1
        is_sound = False
    if rows.is_unlike[p]:
        counts[t, _UNLIKE] += 1
        is_sound = False
    for n in range(low, high):
        if rows.broker[n] < 0:
            is_sound = False
    return is_sound


def _is_twice(broker: Table, low: int, high: int) -> bool:
    for second in range(low + 1, high):
        for first in range(low, second):
            if broker[first] == broker[second] and broker[first] >= 0:
                return True
    return False


def _factor(rows: Table, p: int, low: int, high: int) -> int:
    """Return how many replicas there are, less those that are being added."""
    factor = high - low
    for n in range(low, high):
        if _is_member(rows.adding, rows.adding_start, p, rows.broker[n]):
            factor -= 1
    return factor


def _is_member(members: Table, start: Table, p: int, broker: int) -> bool:
    for at in range(start[p], start[p + 1]):  # noqa: SIM110 - any() is not compiled
        if members[at] == broker:
            return True
    return False


def _is_in_sync(
    isr: Table,
    start: Table,
    tells: Table,
    is_live: Table,
    p: int,
    broker: int,
    slot: int,
) -> bool:
    """Tell whether a replica is in sync; most stand in the same slot there."""
    if not tells[p]:
        return bool(is_live[broker])
    at = start[p] + slot
    if at < start[p + 1] and isr[at] == broker:
        return True
    return _is_member(isr, start, p, broker)


def _leader(rows: Table, ground: Table, p: int, low: int, high: int) -> int:
    """Return the row of the broker that leads, or `ABSENT`."""
    leader = rows.leader[p]
    if leader != NOBODY_SAYS:
        return int(leader)
    for n in range(low, high):
        broker = rows.broker[n]
        if ground.is_live[broker] and _is_in_sync(
            rows.isr,
            rows.isr_start,
            rows.tells_isr,
            ground.is_live,
            p,
            broker,
            n - low,
        ):
            return int(broker)
    return ABSENT


def _weigh(
    rows: Table,
    ground: Table,
    sums: Table,
    scratch: Table,
    p: int,
    t: int,
    factor: int,
) -> None:
    """Weigh each replica, and what the leader takes besides."""
    each, extra, counts = scratch.each, scratch.extra, sums.counts
    inbound = rows.inbound[p]
    served = rows.outbound[p]
    follows = 0.0
    if factor > 1:
        served = served + (factor - 1) * inbound
        follows = rows.follower_cpu[p]
    both = rows.leader_cpu[p] + 0 * follows
    each[DISK] = 0 if ground.is_shared[t] else max(rows.size[p], 0)
    each[IN] = _scaled(inbound, MILLI)
    extra[OUT] = _scaled(served, MILLI)
    each[CPU] = _scaled(follows, NANO) if np.isfinite(both) else 0
    extra[CPU] = max(_scaled(both, NANO) - each[CPU], 0)
    each[REPLICAS] = 1
    extra[LEADERS] = 1
    counts[t, _KNOWS_DISK] += rows.size[p] != UNKNOWN
    counts[t, _KNOWS_IN] += np.isfinite(inbound)
    counts[t, _KNOWS_OUT] += np.isfinite(served)
    counts[t, _KNOWS_CPU] += np.isfinite(both)
    first = sums.firsts[factor]
    first[0] += each[DISK]
    first[1] += each[IN]
    first[2] += each[CPU]
    first[3] += 1
    first[4] += extra[CPU]


def _scaled(rate: float, unit: float) -> int:
    """Turn a rate into an integer, rounded up, as `weigh` does."""
    if not np.isfinite(rate):
        return 0
    return int(np.ceil(min(rate * unit, MOST) * (1 - 1e-12)))


def _judge(
    rows: Table,
    ground: Table,
    sums: Table,
    scratch: Table,
    p: int,
    t: int,
    low: int,
    high: int,
    factor: int,
    leader: int,
) -> None:
    """Count what a partition breaks."""
    counts = sums.counts[t]
    in_sync = 0
    for n in range(low, high):
        broker = rows.broker[n]
        in_sync += _is_in_sync(
            rows.isr,
            rows.isr_start,
            rows.tells_isr,
            ground.is_live,
            p,
            broker,
            n - low,
        )
        if not ground.is_live[broker] or ground.is_offline[rows.place[n]]:
            counts[_OFFLINE] += 1
    least = ground.min_isr[t]
    counts[_RACK] += _breaks_racks(rows, ground, scratch.held, low, high, factor)
    counts[_LEADERLESS] += leader == ABSENT
    counts[_UNDER] += in_sync < factor
    counts[_UNDER_MIN] += in_sync < least
    counts[_AT_MIN] += in_sync == least
    counts[_NOT_PREFERRED] += 0 <= leader != rows.broker[low]
    counts[_RF1] += factor == 1
    counts[_RF_MIN] += factor == least


def _breaks_racks(
    rows: Table,
    ground: Table,
    held: Table,
    low: int,
    high: int,
    factor: int,
) -> bool:
    """Tell whether the rack rule is broken: `held` is zero before and after."""
    fullest = 0
    for n in range(low, high):
        broker = rows.broker[n]
        if ground.is_live[broker]:
            rack = ground.rack[broker]
            held[rack] += 1
            fullest = max(fullest, held[rack])
    is_broken = fullest > ground.rack_limit[factor]
    if fullest > 1 and not is_broken:
        # With one each, no rack can hold two more than another.
        for rack in range(len(held)):
            if held[rack] < ground.in_rack[rack] and fullest - held[rack] > 1:
                is_broken = True
                break
    for n in range(low, high):
        held[ground.rack[rows.broker[n]]] = 0
    return bool(is_broken)


def _place(
    rows: Table,
    sums: Table,
    scratch: Table,
    low: int,
    high: int,
    leader: int,
    is_shared: bool,
) -> None:
    """Add a partition to where its replicas lie."""
    each, extra = scratch.each, scratch.extra
    is_own = rows.has_own and not is_shared
    scratch.own[0] = 0
    for n in range(low, high):
        place = rows.place[n]
        own = 0
        if is_own and rows.own[n] != UNKNOWN:
            own = rows.own[n] - each[DISK]
        scratch.own[0] += own
        leads = rows.broker[n] == leader
        loads, most = sums.loads[place], sums.most[place]
        disk = each[DISK] + own
        loads[DISK] += disk
        most[DISK] = max(most[DISK], disk)
        loads[IN] += each[IN]
        most[IN] = max(most[IN], each[IN])
        cpu = each[CPU]
        if leads:
            cpu += extra[CPU]
            loads[OUT] += extra[OUT]
            most[OUT] = max(most[OUT], extra[OUT])
            loads[LEADERS] += 1
        loads[CPU] += cpu
        most[CPU] = max(most[CPU], cpu)
        loads[REPLICAS] += 1
        if rows.has_future and rows.future[n] >= 0:
            sums.copied[rows.future[n]] += disk
            sums.is_target[rows.future[n]] = True


def _total(
    sums: Table,
    scratch: Table,
    p: int,
    t: int,
    num_replicas: int,
    leader: int,
) -> None:
    """Add what a whole partition weighs to its topic."""
    each, extra, loads = scratch.each, scratch.extra, scratch.loads
    is_led = leader != ABSENT
    is_first = not sums.is_loaded[t]
    sums.is_loaded[t] = True
    scratch.is_sound[p] = True
    for r in range(len(each)):
        load = each[r] * num_replicas
        # Floats do not overflow: sums that are too much show in them.
        whole = float(each[r]) * num_replicas
        if is_led:
            load += extra[r]
            whole += extra[r]
        if r == DISK:
            load += scratch.own[0]
            whole += scratch.own[0]
        loads[p, r] = load
        sums.total[t, r] += load
        sums.whole[t, r] += whole
        sums.largest[t, r] = load if is_first else max(sums.largest[t, r], load)
        sums.least[t, r] = load if is_first else min(sums.least[t, r], load)


def _add_squares(rows: Table, sums: Table, scratch: Table) -> None:
    """Add up squared distances from the mean of these partitions of each topic."""
    for p in range(len(rows.topic)):
        if scratch.is_sound[p]:
            t = rows.topic[p]
            count = sums.counts[t, _PARTITIONS]
            for r in range(sums.square.shape[1]):
                away = scratch.loads[p, r] - sums.whole[t, r] / count
                sums.square[t, r] += away * away


_INNER = (
    _follow_numbers,
    _is_sound,
    _is_twice,
    _factor,
    _is_member,
    _is_in_sync,
    _leader,
    _weigh,
    _scaled,
    _judge,
    _breaks_racks,
    _place,
    _total,
    _add_squares,
)


@functools.cache
def compiled() -> Callable[..., None]:
    """
    Return `add_partitions` as machine code, kept on disk where that is possible.

    Numba raises where it finds no place for that; then each process compiles for
    itself, some seconds once.
    """
    from numba import njit
    from numba.extending import register_jitable

    for function in _INNER:
        register_jitable(function)
    # It allocates nothing. Counting references to what is handed from function to
    # function, which this leaves out, would take ten times as long as the rest.
    options: dict[str, Table] = {"nogil": True, "_nrt": False}
    here: Callable[..., None] = njit(**options)(add_partitions)
    try:
        kept: Callable[..., None] = njit(cache=True, **options)(add_partitions)
    except RuntimeError:
        return here

    def add(*arrays: Table) -> None:
        try:
            kept(*arrays)
        except (AttributeError, ImportError):
            # What another version left on disk names what is there no longer.
            here(*arrays)

    return add
