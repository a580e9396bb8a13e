"""Replicas, leaders and rule violations of partitions, counted by topic."""

from placement.model.cluster import ABSENT
from planner.spark.scoring.kernels.tally import (
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
    """Record whether the partition numbers of a topic are consecutive."""
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
    rows: Table,
    sums: Table,
    scratch: Table,
    p: int,
    t: int,
    snapshot: int,
    size: int,
) -> bool:
    """
    Return whether a partition can be scored; count its faults.

    A partition is unsound without replicas, number or name, with duplicate or unknown
    brokers, or with lists of other lengths.
    """
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
            sums.strangers[snapshot] += 1
            is_sound = False
    return is_sound


def _is_twice(broker: Table, size: int) -> bool:
    for second in range(1, size):
        for first in range(second):
            if broker[first] == broker[second] and broker[first] >= 0:
                return True
    return False


def factor_of(rows: Table, p: int, low: int, size: int) -> int:
    """Return the number of replicas without those that are being added."""
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
    """Return whether a replica is in sync; the ISR mostly has it at the same index."""
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
    """Return the row of the leading broker, or `ABSENT`."""
    leader = rows.leader[p]
    if leader != NOBODY_SAYS:
        return _row_of(ground, leader)
    for k in range(size):
        broker = scratch.broker[k]
        if ground.is_live[broker] and is_in_sync(rows, ground, scratch, p, low, k):
            return int(broker)
    return ABSENT


def is_odd(
    rows: Table, scratch: Table, p: int, q: int, leader: int, in_sync: int
) -> bool:
    """
    Return whether the leader or a member of the ISR may not be a replica.

    `ScratchArrays.leads` has the index of the replica that leads.
    """
    # If as many replicas are in the ISR as it has members, each member is a replica.
    if rows.tells_isr[p] and in_sync != rows.isr_start[p + 1] - rows.isr_start[p]:
        return True
    if leader != ABSENT:
        return bool(scratch.leads[q] == ABSENT)
    # The leader is a broker that no table lists, rather than none.
    return bool(rows.leader[p] != NOBODY_SAYS and rows.leader[p] != ABSENT)


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
) -> int:
    """Count the rules that a partition violates; return its in-sync replicas."""
    counts = sums.counts
    in_sync = 0
    for k in range(size):
        broker = scratch.broker[k]
        in_sync += is_in_sync(rows, ground, scratch, p, low, k)
        is_off = not ground.is_live[broker]
        if ground.has_offline:
            place = broker * ground.stride + rows.path[low + k]
            is_off = is_off or ground.is_offline[place]
        if rows.has_failed:
            is_off = is_off or rows.failed[low + k]
        if is_off:
            counts[t, NUM_OFFLINE] += 1
    listed = _target_size(rows, ground, scratch, p, low, size)
    if _breaks_racks(ground, scratch, ground.snapshot[t], size, listed):
        counts[t, NUM_RACK] += 1
    if leader == ABSENT:
        counts[t, NUM_LEADERLESS] += 1
    elif leader != scratch.broker[0]:
        counts[t, NUM_NOT_PREFERRED] += 1
    _judge_copies(counts, t, in_sync, factor, _min_isr(ground, t, size))
    return in_sync


def _min_isr(ground: Table, t: int, size: int) -> int:
    """Return the smallest ISR that accepts producers with acks=all."""
    is_capped = ground.caps_min_isr[ground.snapshot[t]]
    return int(min(ground.min_isr[t], size) if is_capped else ground.min_isr[t])


def _judge_copies(counts: Table, t: int, in_sync: int, factor: int, least: int) -> None:
    """Count the rules on the number of copies that a partition violates."""
    if in_sync < factor:
        counts[t, NUM_UNDER] += 1
    if in_sync < least:
        counts[t, NUM_UNDER_MIN] += 1
    elif in_sync == least:
        counts[t, NUM_AT_MIN] += 1
    if factor == 1:
        counts[t, NUM_RF1] += 1
    if factor == least:
        counts[t, NUM_RF_MIN] += 1


def _target_size(
    rows: Table, ground: Table, scratch: Table, p: int, low: int, size: int
) -> int:
    """Return the size of the target list; mark its live replicas in `counts`."""
    listed = 0
    for k in range(size):
        stays = not rows.has_removing or not _is_member(
            rows.removing, rows.removing_start, p, rows.replicas[low + k]
        )
        listed += stays
        scratch.counts[k] = stays and ground.is_live[scratch.broker[k]]
    return listed


def _breaks_racks(
    ground: Table, scratch: Table, snapshot: int, size: int, listed: int
) -> bool:
    """Return whether the target list violates the rack rule."""
    fullest = _fullest(ground, scratch, size)
    if fullest > ground.rack_limit[snapshot, listed]:
        return True
    # With one replica per rack, no rack holds two more than another.
    return bool(fullest > 1 and _is_uneven(ground, scratch, snapshot, size, fullest))


def _fullest(ground: Table, scratch: Table, size: int) -> int:
    """Return the largest number of marked replicas in one rack."""
    fullest = 0
    for k in range(size):
        if scratch.counts[k]:
            rack = ground.rack[scratch.broker[k]]
            held = 1
            for other in range(k):
                is_here = ground.rack[scratch.broker[other]] == rack
                held += scratch.counts[other] and is_here
            fullest = max(fullest, held)
    return fullest


def _is_uneven(
    ground: Table, scratch: Table, snapshot: int, size: int, fullest: int
) -> bool:
    """
    Return whether a rack with room holds two or more replicas less than the fullest.

    `ScratchArrays.in_rack` is zero before and after.
    """
    held = scratch.in_rack
    for k in range(size):
        held[ground.rack[scratch.broker[k]]] += scratch.counts[k]
    is_uneven = False
    for rack in range(ground.first_rack[snapshot], ground.first_rack[snapshot + 1]):
        if held[rack] < ground.in_rack[rack] and fullest - held[rack] > 1:
            is_uneven = True
            break
    for k in range(size):
        held[ground.rack[scratch.broker[k]]] = 0
    return is_uneven


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
    is_odd,
    judge,
    _min_isr,
    _judge_copies,
    _target_size,
    _breaks_racks,
    _fullest,
    _is_uneven,
)
"""Functions that are compiled inline with their callers."""
