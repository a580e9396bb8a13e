"""Greedy packing of copies into waves within caps, disk room and disk growth."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import RowArray
from placement.model.copies import Copies
from placement.waves.disk_growth import Growth
from placement.waves.edge_colouring import run_kernel
from placement.waves.kernels.pack_copies import pack_waves


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Claims:
    """
    Log dirs that keep room for copies without a named log dir.

    Parameters
    ----------
    start, log_dir_idx
        ``(B + 1,)`` start of the log dirs of each broker, and ``(N,)`` their rows.
    most
        ``(D,)`` maximum number of copies, the largest ones, that need room in each.
    claimed, least
        ``(D,)`` number of copies with room in each so far, and bytes of the smallest.
    """

    start: RowArray
    log_dir_idx: RowArray
    most: RowArray
    claimed: RowArray
    least: RowArray

    def lacks(self, broker: int, size: int, dir_room: RowArray) -> int:
        """
        Return the bytes that a broker's log dirs lack for an unnamed copy.

        Parameters
        ----------
        broker, size
            Row of the broker, and bytes of the copy.
        dir_room
            ``(D,)`` bytes of room left in each log dir.
        """
        rows = self.log_dir_idx[self.start[broker] : self.start[broker + 1]]
        is_counted = (self.claimed[rows] < self.most[rows]) | (size > self.least[rows])
        return int((size - dir_room[rows[is_counted]]).max(initial=0))


def pack(
    copies: Copies,
    order: RowArray,
    caps: tuple[int, int, int],
    rooms: tuple[RowArray, RowArray],
    growth: Growth,
    pace: float,
    claims: Claims,
    wave: RowArray,
    began: int,
) -> int:
    """
    Fill waves with the copies that fit, and return the number of waves so far.

    Parameters
    ----------
    copies, order
        Copies, and the rows to pack, by descending priority.
    caps
        Maximum copies out, in, and both together, of a broker in a wave.
    rooms
        ``(B,)`` and ``(D,)`` bytes of room on brokers and in log dirs; changed.
    growth
        Growth of disks; its `written` is changed.
    pace
        Copy rate at each end, in bytes/s.
    claims
        Log dirs that keep room for copies without a named log dir; changed.
    wave
        ``(E,)`` wave of each copy, below 0: none yet; changed.
    began
        Number of the first wave.
    """
    room, dir_room = rooms
    nothing = np.zeros(len(room), dtype=np.int64)
    return int(
        run_kernel(
            pack_waves,
            len(order),
            order.astype(np.int64),
            copies.source_idx,
            copies.target_idx,
            copies.size_bytes,
            copies.drops_idx,
            copies.freed_bytes,
            copies.target_dir,
            copies.drops_dir,
            copies.previous,
            np.array(caps, dtype=np.int64),
            room,
            dir_room,
            nothing,
            nothing.copy(),
            growth.written,
            growth.of_copy,
            growth.within,
            growth.spare,
            np.zeros(len(room)),
            np.zeros(len(room)),
            float(pace),
            claims.most,
            claims.start,
            claims.log_dir_idx,
            claims.claimed,
            claims.least,
            wave,
            began,
        )
    )
