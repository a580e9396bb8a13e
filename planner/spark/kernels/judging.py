"""What a partition is, and what it breaks; counted by topic."""

from placement.cluster import ABSENT
from planner.spark.kernels.tally import (
    NOBODY_SAYS,
    NUM_AT_MIN,
    NUM_LACKS,
    NUM_LEADERLESS,
    NUM_NOT_PREFERRED,
    NUM_OFFLINE,
    NUM_PARTITIONS,
    NUM_RACK,
    NUM_RF1,
    NUM_RF_MIN,
    NUM_TWICE,
    NUM_UNDER,
    NUM_UNDER_MIN,
    NUM_UNLIKE,
    NUM_UNNUMBERED,
    Table,
)


def follow_numbers(rows: Table, sums: Table, p: int, t: int) -> None:
    """See whether the numbers of a topic go up one by one."""
    number = rows.number[p]
    if sums.counts[t, NUM_PARTITIONS] == 1:
        sums.first[t] = number
    elif number != sums.last[t] + 1:
        sums.is_run[t] = False
    sums.last[t] = number


def _row_of(ground: Table, broker_id: int) -> int:
    """Return the row of a broker, or `ABSENT`."""
    if 0 <= broker_id < len(ground.row_of):
        return int(ground.row_of[broker_id])
    return ABSENT


def find_brokers(
    rows: Table, ground: Table, scratch: Table, low: int, size: int
) -> None:
    """Find the rows of the brokers of a partition."""
    for k in range(size):
        scratch.broker[k] = _row_of(ground, rows.replicas[low + k])


def is_sound(
    rows: Table, sums: Table, scratch: Table, p: int, t: int, size: int
) -> bool:
    """Tell whether a partition can be looked at; what is wrong with it is counted."""
    counts = sums.counts
    is_sound = True
    if size == 0:
        counts[t, NUM_LACKS] += 1
        is_sound = False
    if rows.number[p] < 0 or not rows.is_named[p]:
        counts[t, NUM_UNNUMBERED] += 1
        is_sound = False
    if _is_twice(scratch.broker, size):
        counts[t, NUM_TWICE] += 1
        is_sound = False
    if rows.is_unlike[p]:
        counts[t, NUM_UNLIKE] += 1
        is_sound = False
    for k in range(size):
        if scratch.broker[k] < 0:
            sums.strangers[0] += 1
            is_sound = False
    return is_sound


def _is_twice(broker: Table, size: int) -> bool:
    for second in range(1, size):
        for first in range(second):
            if broker[first] == broker[second] and broker[first] >= 0:
                return True
    return False


def factor_of(rows: Table, p: int, low: int, size: int) -> int:
    """Return how many replicas there are, less those that are being added."""
    factor = size
    if rows.has_adding:
        for n in range(low, low + size):
            if _is_member(rows.adding, rows.adding_start, p, rows.replicas[n]):
                factor -= 1
    return factor


def _is_member(members: Table, start: Table, p: int, broker_id: int) -> bool:
    for at in range(start[p], start[p + 1]):  # noqa: SIM110 - any() is not compiled
        if members[at] == broker_id:
            return True
    return False


def is_in_sync(
    rows: Table, ground: Table, scratch: Table, p: int, low: int, k: int
) -> bool:
    """Tell whether a replica is in sync; most stand in the same slot there."""
    if not rows.tells_isr[p]:
        return bool(ground.is_live[scratch.broker[k]])
    broker_id = rows.replicas[low + k]
    at = rows.isr_start[p] + k
    if at < rows.isr_start[p + 1] and rows.isr[at] == broker_id:
        return True
    return _is_member(rows.isr, rows.isr_start, p, broker_id)


def leader_of(
    rows: Table, ground: Table, scratch: Table, p: int, low: int, size: int
) -> int:
    """Return the row of the broker that leads, or `ABSENT`."""
    leader = rows.leader[p]
    if leader != NOBODY_SAYS:
        return _row_of(ground, leader)
    for k in range(size):
        broker = scratch.broker[k]
        if ground.is_live[broker] and is_in_sync(rows, ground, scratch, p, low, k):
            return int(broker)
    return ABSENT


def judge(
    rows: Table,
    ground: Table,
    sums: Table,
    scratch: Table,
    p: int,
    t: int,
    low: int,
    size: int,
    factor: int,
    leader: int,
) -> None:
    """Count what a partition breaks."""
    counts = sums.counts
    in_sync = 0
    for k in range(size):
        broker = scratch.broker[k]
        in_sync += is_in_sync(rows, ground, scratch, p, low, k)
        place = broker * ground.stride + rows.path[low + k]
        if not ground.is_live[broker] or (
            ground.has_offline and ground.is_offline[place]
        ):
            counts[t, NUM_OFFLINE] += 1
    least = ground.min_isr[t]
    counts[t, NUM_RACK] += _breaks_racks(ground, scratch, size, factor)
    counts[t, NUM_LEADERLESS] += leader == ABSENT
    counts[t, NUM_UNDER] += in_sync < factor
    counts[t, NUM_UNDER_MIN] += in_sync < least
    counts[t, NUM_AT_MIN] += in_sync == least
    counts[t, NUM_NOT_PREFERRED] += 0 <= leader != scratch.broker[0]
    counts[t, NUM_RF1] += factor == 1
    counts[t, NUM_RF_MIN] += factor == least


def _breaks_racks(ground: Table, scratch: Table, size: int, factor: int) -> bool:
    """Tell whether the rack rule is broken: `in_rack` is zero before and after."""
    held = scratch.in_rack
    fullest = 0
    for k in range(size):
        broker = scratch.broker[k]
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
    for k in range(size):
        held[ground.rack[scratch.broker[k]]] = 0
    return bool(is_broken)


INNER = (
    follow_numbers,
    _row_of,
    find_brokers,
    is_sound,
    _is_twice,
    factor_of,
    _is_member,
    is_in_sync,
    leader_of,
    judge,
    _breaks_racks,
)
"""What is compiled with those who call it."""
