"""Waves filled copy by copy, as far as caps and disks allow."""

from typing import Any

from placement.core.search.kernels.jit import inner

Table = Any
NONE = -1
NO_LIMIT = 2**62
LONGEST = 1e300
"""Seconds: for ever."""


def pack_waves(
    order: Table,
    source: Table,
    target: Table,
    size: Table,
    frees: Table,
    freed: Table,
    target_dir: Table,
    frees_dir: Table,
    previous: Table,
    caps: Table,
    room: Table,
    dir_room: Table,
    sent: Table,
    received: Table,
    written: Table,
    of_copy: Table,
    within: Table,
    spare: Table,
    sends: Table,
    gets: Table,
    pace: float,
    claims: Table,
    claim_start: Table,
    claim_dirs: Table,
    claimed: Table,
    least: Table,
    wave: Table,
    number: int,
) -> int:
    """
    Fill wave after wave with the copies that fit, in order, from wave `number` on.

    A copy fits where its source may send and its target may get one more (`caps`: out,
    in, both together), its target has room for it besides what it holds, and the copy
    of the same partition before it is done. And no target fills up before the wave is
    over: by `written` bytes/s, and `of_copy` for each copy, into the room that is left
    and, as long as that is `within`, `spare` bytes more, or any amount from `NO_LIMIT`
    on. `pace` bytes/s pass at each end; `sends` and `gets` have room for what passes.
    A copy that names no log dir keeps room in each of the log dirs of its target, from
    `claim_start` on in `claim_dirs`. Only so many as `claims` says can come to one of
    them: `claimed` counts them and `least` has the smallest, nothing at first.
    What a copy replaces is deleted when its wave is over; what has no target is only
    deleted. Returns the number of the wave that nothing fits into: all are done then,
    or the rest waits for room.
    """
    tables = (claims, claim_start, claim_dirs, claimed, least)
    while True:
        _clear(sent, received, sends, gets)
        has_any = False
        # How long the wave takes, and how long it may.
        seconds, most = 0.0, LONGEST
        for e in order:
            if wave[e] != NONE:
                continue
            before = previous[e]
            if before != NONE and (wave[before] == NONE or wave[before] == number):
                continue
            s, t, d = source[e], target[e], target_dir[e]
            if t == NONE or not _fits(caps, sent, received, s, t):
                continue
            if room[t] < size[e] or not _has_room(
                tables, dir_room, d, t, frees[e], size[e]
            ):
                continue
            longest = max(seconds, (gets[t] + size[e]) / pace)
            if s != NONE:
                longest = max(longest, (sends[s] + size[e]) / pace)
            left = room[t] - size[e]
            may = _seconds_left(left, written[t] + of_copy[e], within[t], spare[t])
            if longest > min(may, most):
                continue
            seconds, most = longest, min(may, most)
            wave[e] = number
            has_any = True
            room[t] = left
            written[t] += of_copy[e]
            gets[t] += size[e]
            received[t] += 1
            if s != NONE:
                sent[s] += 1
                sends[s] += size[e]
            _claim(tables, dir_room, d, t, frees[e], size[e])
        if _drop(order, target, previous, wave, number):
            has_any = True
        if not has_any:
            return number
        _settle(
            order,
            wave,
            number,
            (frees, freed, frees_dir, of_copy),
            room,
            dir_room,
            written,
        )
        number += 1


@inner
def _fits(caps: Table, sent: Table, received: Table, s: int, t: int) -> bool:
    if received[t] >= caps[1] or sent[t] + received[t] >= caps[2]:
        return False
    return s == NONE or (sent[s] < caps[0] and sent[s] + received[s] < caps[2])


@inner
def _has_room(
    tables: Table, dir_room: Table, named: int, t: int, off: int, size: int
) -> bool:
    """Return whether a copy fits into its log dir, or each that its broker may choose."""
    claims, claim_start, claim_dirs, claimed, least = tables
    if named != NONE:
        return dir_room[named] >= size
    if t == off:
        return True
    for k in range(claim_start[t], claim_start[t + 1]):
        d = claim_dirs[k]
        is_counted = claimed[d] < claims[d] or size > least[d]
        if is_counted and dir_room[d] < size:
            return False
    return True


@inner
def _claim(
    tables: Table, dir_room: Table, named: int, t: int, off: int, size: int
) -> None:
    """Keep room for a copy in its log dir, or in each that its broker may choose."""
    claims, claim_start, claim_dirs, claimed, least = tables
    if named != NONE:
        dir_room[named] -= size
        return
    if t == off:
        return
    for k in range(claim_start[t], claim_start[t + 1]):
        d = claim_dirs[k]
        if claimed[d] < claims[d] or size > least[d]:
            dir_room[d] -= size
            if claimed[d] == 0 or size < least[d]:
                least[d] = size
            claimed[d] += 1


@inner
def _seconds_left(left: int, written: float, within: int, spare: int) -> float:
    if written <= 0.0:
        return LONGEST
    if left < within:
        return left / written
    return LONGEST if spare >= NO_LIMIT else (left + spare) / written


@inner
def _clear(sent: Table, received: Table, sends: Table, gets: Table) -> None:
    for b in range(len(sent)):
        sent[b] = 0
        received[b] = 0
        sends[b] = 0.0
        gets[b] = 0.0


@inner
def _drop(
    order: Table, target: Table, previous: Table, wave: Table, number: int
) -> bool:
    """Have what is only dropped go with the last copy; tell whether anything goes."""
    has_any = False
    for e in order:
        before = previous[e]
        is_due = before == NONE or wave[before] != NONE
        if wave[e] == NONE and target[e] == NONE and is_due:
            wave[e] = number
            has_any = True
    return has_any


@inner
def _settle(
    order: Table,
    wave: Table,
    number: int,
    goes: Table,
    room: Table,
    dir_room: Table,
    written: Table,
) -> None:
    """Delete what the copies of a wave replace."""
    frees, freed, frees_dir, of_copy = goes
    for e in order:
        if wave[e] == number and frees[e] != NONE:
            room[frees[e]] += freed[e]
            written[frees[e]] -= of_copy[e]
            if frees_dir[e] != NONE:
                dir_room[frees_dir[e]] += freed[e]
