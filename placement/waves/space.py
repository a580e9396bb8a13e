"""Whether disks hold both copies while waves run."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState
from placement.load import Weights, disk_loads
from placement.waves.copies import Copies

RowArray = npt.NDArray[np.int64]
NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Space:
    """
    What disks have room for.

    Parameters
    ----------
    room
        ``(B,)`` bytes that each broker may take besides what it holds; `NO_LIMIT` where
        its disk is not known.
    dir_room
        ``(D,)`` the same for each log dir, by what is free of it.
    """

    room: RowArray
    dir_room: RowArray


def space_of(
    state: ClusterState, weights: Weights, copies: Copies, threshold: float
) -> Space:
    """
    Return the room that waves may use.

    A broker stays under the threshold of its disk; one that is over it, before or
    after, gets no fuller than the fuller of the two.
    """
    load = disk_loads(state, weights)
    change = np.zeros(state.num_brokers, dtype=np.int64)
    np.add.at(change, copies.target_idx, copies.size_bytes)
    np.subtract.at(change, copies.drops_idx, copies.freed_bytes)
    capacity = state.brokers.disk_bytes
    limit = np.floor(np.where(capacity == UNKNOWN, 0, capacity) * threshold)
    most = np.maximum(limit.astype(np.int64), np.maximum(load, load + change))
    room = np.where(capacity == UNKNOWN, NO_LIMIT, most - load)
    usable = state.log_dirs.usable_bytes
    is_known = (usable != UNKNOWN) & (state.log_dirs.state == LogDirState.ONLINE)
    return Space(
        room=room.astype(np.int64),
        dir_room=np.where(is_known, usable, NO_LIMIT).astype(np.int64),
    )


def peaks(
    copies: Copies, wave: RowArray, drops: RowArray, freed: RowArray, num_brokers: int
) -> RowArray:
    """
    Return ``(W, B)`` bytes by which each broker is fuller in each wave than at first.

    Parameters
    ----------
    copies
        The copies.
    wave
        ``(E,)`` wave of each.
    drops, freed
        ``(E,)`` the broker that loses a replica when the wave of each copy is over,
        and the bytes that frees.
    num_brokers
        ``B``.
    """
    num = int(wave.max(initial=-1)) + 1
    comes = np.zeros((num, num_brokers), dtype=np.int64)
    np.add.at(comes, (wave, copies.target_idx), copies.size_bytes)
    goes = np.zeros((num, num_brokers), dtype=np.int64)
    np.add.at(goes, (wave, drops), freed)
    held = np.cumsum(comes - goes, axis=0) - (comes - goes)
    found: RowArray = held + comes
    return found


def is_too_full(
    copies: Copies,
    wave: RowArray,
    drops: RowArray,
    freed: RowArray,
    space: Space,
) -> bool:
    """Tell whether some broker or log dir gets fuller than it may."""
    full = peaks(copies, wave, drops, freed, len(space.room))
    if (full > space.room).any():
        return True
    at = np.nonzero(copies.target_dir != ABSENT)[0]
    if not len(at):
        return False
    comes = np.bincount(
        copies.target_dir[at],
        weights=copies.size_bytes[at],
        minlength=len(space.dir_room),
    )
    # Nothing that is freed there counts: simple, and on the safe side.
    return bool((comes > space.dir_room).any())
