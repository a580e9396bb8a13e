"""Waves filled copy by copy, as far as caps and disks allow."""

from typing import Any

from placement.core.kernels.jit import inner

Table = Any
NONE = -1


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
    wave: Table,
    number: int,
) -> int:
    """
    Fill wave after wave with the copies that fit, in order, from wave `number` on.

    A copy fits where its source may send and its target may get one more (`caps`: out,
    in, both together), its target has room for it besides what it holds, and the copy
    of the same partition before it is done. What a copy replaces is deleted when its
    wave is over; what has no target is only deleted. Returns the number of the wave
    that nothing fits into: all are done then, or the rest waits for room.
    """
    while True:
        for b in range(len(room)):
            sent[b] = 0
            received[b] = 0
        has_any = False
        for e in order:
            if wave[e] != NONE:
                continue
            before = previous[e]
            if before != NONE and (wave[before] == NONE or wave[before] == number):
                continue
            s, t, d = source[e], target[e], target_dir[e]
            if t == NONE or not _fits(caps, sent, received, s, t):
                continue
            if room[t] < size[e] or (d != NONE and dir_room[d] < size[e]):
                continue
            wave[e] = number
            has_any = True
            room[t] -= size[e]
            received[t] += 1
            if s != NONE:
                sent[s] += 1
            if d != NONE:
                dir_room[d] -= size[e]
        for e in order:
            # What is only dropped takes nothing, and goes with the last copy.
            before = previous[e]
            is_due = before == NONE or wave[before] != NONE
            if wave[e] == NONE and target[e] == NONE and is_due:
                wave[e] = number
                has_any = True
        if not has_any:
            return number
        for e in order:
            if wave[e] == number and frees[e] != NONE:
                room[frees[e]] += freed[e]
                if frees_dir[e] != NONE:
                    dir_room[frees_dir[e]] += freed[e]
        number += 1


@inner
def _fits(caps: Table, sent: Table, received: Table, s: int, t: int) -> bool:
    if received[t] >= caps[1] or sent[t] + received[t] >= caps[2]:
        return False
    return s == NONE or (sent[s] < caps[0] and sent[s] + received[s] < caps[2])
