"""Room on disks for old and new replicas while waves run."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import RowArray
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState
from placement.model.copies import Copies
from placement.model.load import Weights, add_to, disk_loads

NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Space:
    """
    Room on disks and log dirs.

    Parameters
    ----------
    room
        ``(B,)`` bytes that each broker may gain; `NO_LIMIT` where its disk is unknown.
    dir_room
        ``(D,)`` bytes that each log dir may gain: its free bytes, or its final gain if
        that is more; `NO_LIMIT` where unknown.
    ends_room
        ``(B,)`` bytes of the room that leave a broker no fuller than before or after.
    disk_room
        ``(B,)`` bytes until the disk is full, whatever the threshold.
    """

    room: RowArray
    dir_room: RowArray
    ends_room: RowArray
    disk_room: RowArray


def space_of(
    state: ClusterState, weights: Weights, copies: Copies, threshold: float
) -> Space:
    """
    Return the room that waves may use.

    A broker stays under the threshold of its disk. A broker over the threshold before
    or after the plan stays at or below the larger of its loads before and after.
    """
    load = disk_loads(state, weights)
    change = _change(copies.target_idx, copies.drops_idx, copies, state.num_brokers)
    capacity = state.brokers.disk_bytes
    limit = np.floor(np.where(capacity == UNKNOWN, 0, capacity) * threshold)
    ends = np.maximum(change, 0)
    most = np.maximum(limit.astype(np.int64), load + ends)
    is_unknown = capacity == UNKNOWN
    room = np.where(is_unknown, NO_LIMIT, most - load)
    usable = state.log_dirs.usable_bytes
    is_known = (usable != UNKNOWN) & (state.log_dirs.state == LogDirState.ONLINE)
    in_dirs = _change(copies.target_dir, copies.drops_dir, copies, len(usable))
    dir_room = np.where(is_known, np.maximum(usable, in_dirs), NO_LIMIT)
    return Space(
        room=room.astype(np.int64),
        dir_room=dir_room.astype(np.int64),
        ends_room=np.where(is_unknown, NO_LIMIT, ends),
        disk_room=np.where(is_unknown, NO_LIMIT, capacity - load),
    )


def _change(to: RowArray, off: RowArray, copies: Copies, count: int) -> RowArray:
    """Return the final gain of brokers, or log dirs, in bytes."""
    return _sums(to, copies.size_bytes, count) - _sums(off, copies.freed_bytes, count)


def _sums(rows: RowArray, values: RowArray, count: int) -> RowArray:
    """Return the sums of values by row, without rows that are `ABSENT`."""
    total = np.zeros(count, dtype=np.int64)
    known = np.nonzero(rows != ABSENT)[0]
    add_to(total, rows[known].astype(np.int32), values[known])
    return total


def peaks(
    wave: RowArray,
    comes_to: tuple[RowArray, RowArray],
    goes_off: tuple[RowArray, RowArray],
    count: int,
) -> RowArray:
    """
    Return ``(W, N)`` gain of each broker or log dir in each wave, in bytes.

    Parameters
    ----------
    wave
        ``(E,)`` wave of each copy.
    comes_to, goes_off
        ``(E,)`` row of a broker or log dir, or `ABSENT`, and bytes: those added during
        the wave, and those removed at its end.
    count
        ``N``, number of brokers or log dirs.
    """
    num = int(wave.max(initial=-1)) + 1
    comes, goes = (np.zeros((num, count + 1), dtype=np.int64) for _ in range(2))
    np.add.at(comes, (wave, comes_to[0]), comes_to[1])
    np.add.at(goes, (wave, goes_off[0]), goes_off[1])
    held = np.cumsum(comes - goes, axis=0) - (comes - goes)
    found: RowArray = (held + comes)[:, :-1]
    return found


def is_too_full(
    copies: Copies,
    wave: RowArray,
    drops: RowArray,
    freed: RowArray,
    space: Space,
) -> bool:
    """
    Return whether some broker or log dir exceeds its room.

    Parameters
    ----------
    copies, wave
        Copies, and ``(E,)`` wave of each.
    drops, freed
        ``(E,)`` broker that deletes a replica at the end of each copy's wave, and the
        bytes freed.
    space
        Room on disks and log dirs.
    """
    size, brokers = copies.size_bytes, len(space.room)
    # If all copies fit at once, they fit in any order.
    if (_sums(copies.target_idx, size, brokers) > space.room).any():
        full = peaks(wave, (copies.target_idx, size), (drops, freed), brokers)
        if (full > space.room).any():
            return True
    if np.equal(copies.target_dir, ABSENT).all():
        return False
    # Bytes freed by a removal that belongs to another copy are not counted.
    is_own = np.equal(drops, copies.drops_idx)
    off = np.where(is_own, copies.drops_dir, ABSENT)
    full = peaks(wave, (copies.target_dir, size), (off, freed), len(space.dir_room))
    return bool((full > space.dir_room).any())
