"""Loads of partitions, summed by topic, by factor and by place of the replicas."""

import numpy as np

from placement.model.cluster import ABSENT, UNKNOWN
from planner.spark.scoring.kernels.tally import (
    CPU,
    DISK,
    HELD_COPIED,
    HELD_CPU,
    HELD_DISK,
    HELD_IN,
    HELD_MOST_CPU,
    HELD_MOST_DISK,
    HELD_MOST_IN,
    HELD_REPLICAS,
    IN,
    LEADERS,
    LED_LEADERS,
    LED_MOST_OUT,
    LED_OUT,
    LED_TARGETS,
    MILLI,
    MOST,
    NANO,
    NUM_KNOWS_CPU,
    NUM_KNOWS_DISK,
    NUM_KNOWS_IN,
    NUM_KNOWS_OUT,
    OUT,
    REPLICAS,
    Table,
)


def weigh(
    rows: Table,
    ground: Table,
    sums: Table,
    scratch: Table,
    p: int,
    q: int,
    t: int,
    factor: int,
) -> None:
    """Compute the load of each replica, and the extra load of the leader."""
    each, extra, counts = scratch.each, scratch.extra, sums.counts
    inbound = rows.inbound[p]
    served = rows.outbound[p]
    follows = 0.0
    if factor > 1:
        served = served + (factor - 1) * inbound
        follows = rows.follower_cpu[p]
    both = rows.leader_cpu[p] + 0 * follows
    each[q, DISK] = 0 if ground.is_shared[t] else max(rows.size[p], 0)
    each[q, IN] = _scaled(inbound, MILLI)
    extra[q, OUT] = _scaled(served, MILLI)
    each[q, CPU] = _scaled(follows, NANO) if np.isfinite(both) else 0
    extra[q, CPU] = max(_scaled(both, NANO) - each[q, CPU], 0)
    each[q, REPLICAS] = 1
    extra[q, LEADERS] = 1
    counts[t, NUM_KNOWS_DISK] += rows.size[p] != UNKNOWN
    counts[t, NUM_KNOWS_IN] += np.isfinite(inbound)
    counts[t, NUM_KNOWS_OUT] += np.isfinite(served)
    counts[t, NUM_KNOWS_CPU] += np.isfinite(both)
    firsts = sums.firsts[ground.snapshot[t]]
    firsts[factor, 0] += each[q, DISK]
    firsts[factor, 1] += each[q, IN]
    firsts[factor, 2] += each[q, CPU]
    firsts[factor, 3] += 1
    firsts[factor, 4] += extra[q, CPU]


def _scaled(rate: float, unit: float) -> int:
    """Convert a rate to an integer, rounded up, as `weigh` does."""
    if not np.isfinite(rate):
        return 0
    return int(np.ceil(min(rate * unit, MOST) * (1 - 1e-12)))


def spread(
    rows: Table,
    ground: Table,
    scratch: Table,
    q: int,
    t: int,
    low: int,
    at: int,
    size: int,
    leader: int,
) -> int:
    """Set the place and the loads of each replica; return their bytes in total."""
    each, whole = scratch.each[q, DISK], 0
    is_own = rows.has_own and not ground.is_shared[t]
    scratch.leads[q] = ABSENT
    for k in range(size):
        base = scratch.broker[k] * ground.stride
        scratch.place[at + k] = base + rows.path[low + k]
        scratch.disk[at + k] = each
        if is_own and rows.own[low + k] != UNKNOWN:
            scratch.disk[at + k] = rows.own[low + k]
        whole += scratch.disk[at + k]
        scratch.cpu[at + k] = scratch.each[q, CPU]
        if scratch.broker[k] == leader:
            scratch.leads[q] = at + k
            scratch.cpu[at + k] += scratch.extra[q, CPU]
        if rows.has_future:
            future = rows.future[low + k]
            scratch.future[at + k] = base + future if future >= 0 else ABSENT
    return whole


def total_up(
    sums: Table,
    scratch: Table,
    q: int,
    t: int,
    snapshot: int,
    size: int,
    disk: int,
    leader: int,
) -> None:
    """
    Add the load of a whole partition to its topic.

    Squares are of distances from the load of the topic's first partition. That load is
    no further from the mean of all than its own term in the sum of squares allows. The
    loss of precision against distances from the mean is therefore 1e-16 times the
    number of partitions.
    """
    is_led = leader != ABSENT
    is_first = not sums.is_loaded[t]
    sums.is_loaded[t] = True
    for r in range(scratch.each.shape[1]):
        load = scratch.each[q, r] * size
        # Floats do not overflow, so that they reveal sums that are too large.
        whole = float(scratch.each[q, r]) * size
        if r == DISK:
            whole += disk - load
            load = disk
        if is_led:
            load += scratch.extra[q, r]
            whole += scratch.extra[q, r]
        sums.whole[snapshot, r] += whole
        sums.total[t, r] += load
        if is_first:
            sums.origin[t, r] = load
            sums.largest[t, r] = load
            sums.least[t, r] = load
        else:
            sums.largest[t, r] = max(sums.largest[t, r], load)
            sums.least[t, r] = min(sums.least[t, r], load)
            away = float(load - sums.origin[t, r])
            sums.square[t, r] += away * away


def put(rows: Table, sums: Table, scratch: Table, begin: int, stop: int) -> None:
    """Add the partitions of a block to the places of their replicas."""
    first = rows.start[begin]
    for q in range(stop - begin):
        if scratch.is_sound[q]:
            low, high = rows.start[begin + q] - first, rows.start[begin + q + 1] - first
            _put_replicas(sums.held, scratch, q, low, high)
            if scratch.leads[q] >= 0:
                _put_leader(sums.led, scratch, q)
            if rows.has_future:
                _put_future(sums, scratch, low, high)


def _put_replicas(held: Table, scratch: Table, q: int, low: int, high: int) -> None:
    inbound = scratch.each[q, IN]
    for n in range(low, high):
        place, disk, cpu = scratch.place[n], scratch.disk[n], scratch.cpu[n]
        held[place, HELD_DISK] += disk
        held[place, HELD_IN] += inbound
        held[place, HELD_CPU] += cpu
        held[place, HELD_REPLICAS] += 1
        if disk > held[place, HELD_MOST_DISK]:
            held[place, HELD_MOST_DISK] = disk
        if inbound > held[place, HELD_MOST_IN]:
            held[place, HELD_MOST_IN] = inbound
        if cpu > held[place, HELD_MOST_CPU]:
            held[place, HELD_MOST_CPU] = cpu


def _put_leader(led: Table, scratch: Table, q: int) -> None:
    place, outbound = scratch.place[scratch.leads[q]], scratch.extra[q, OUT]
    led[place, LED_OUT] += outbound
    led[place, LED_LEADERS] += 1
    led[place, LED_MOST_OUT] = max(led[place, LED_MOST_OUT], outbound)


def _put_future(sums: Table, scratch: Table, low: int, high: int) -> None:
    for n in range(low, high):
        place = scratch.future[n]
        if place >= 0:
            sums.held[place, HELD_COPIED] += scratch.disk[n]
            sums.led[place, LED_TARGETS] += 1


INNER = (
    weigh,
    _scaled,
    spread,
    total_up,
    put,
    _put_replicas,
    _put_leader,
    _put_future,
)
"""Functions that are compiled inline with their callers."""
