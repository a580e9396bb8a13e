"""Greedy packing of copies into waves within caps and disk room."""

from typing import Any

from placement.core.search.kernels.jit import inner

Table = Any
NONE = -1
NO_LIMIT = 2**62
LONGEST = 1e300
"""Seconds that stand for no limit."""


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

    A copy fits if its source may send and its target may receive one more (`caps`: out,
    in, both together), its target has room for it, and the previous copy of the same
    partition is done. Furthermore, no target may fill up before the end of the wave.
    Targets grow by `written` bytes/s, and by `of_copy` for each copy, into the room
    left; while that is at least `within`, into `spare` bytes more, or without limit
    from `NO_LIMIT` on. Each end copies at `pace` bytes/s; `sends` and `gets` are
    buffers for the bytes of each end.

    A copy without a named log dir keeps room in each log dir of its target, listed in
    `claim_dirs` from `claim_start` on. At most `claims` such copies can come to a log
    dir: `claimed` counts them and `least` holds the smallest, both initially 0.

    The replica that a copy replaces is deleted at the end of its wave; a row without a
    target only deletes. Returns the number of the first wave that nothing fits into:
    either all copies are done, or the others wait for room.
    """
    tables = (claims, claim_start, claim_dirs, claimed, least)
    while True:
        _clear(sent, received, sends, gets)
        has_any = False
        # Duration of the wave, and its limit.
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
    """Return whether a copy fits its log dir, or each that its broker may choose."""
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
    """Set the wave of rows that only delete; return whether there is any."""
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
    """Delete the replicas that the copies of a wave replace."""
    frees, freed, frees_dir, of_copy = goes
    for e in order:
        if wave[e] == number and frees[e] != NONE:
            room[frees[e]] += freed[e]
            written[frees[e]] -= of_copy[e]
            if frees_dir[e] != NONE:
                dir_room[frees_dir[e]] += freed[e]
