"""Waves filled copy by copy, as far as caps, disks and their growth allow."""

import numpy as np
import numpy.typing as npt

from placement.waves.colouring import run_kernel
from placement.waves.copies import Copies
from placement.waves.growth import Growth
from placement.waves.kernels.pack import pack_waves

RowArray = npt.NDArray[np.int64]


def pack(
    copies: Copies,
    order: RowArray,
    caps: tuple[int, int, int],
    rooms: tuple[RowArray, RowArray],
    growth: Growth,
    pace: float,
    wave: RowArray,
    began: int,
) -> int:
    """
    Fill waves with the copies that fit; return how many waves there are then.

    Parameters
    ----------
    copies, order
        The copies, and the rows to be filled in, first ones first.
    caps
        Copies out, in, and both together, of a broker in a wave.
    rooms
        ``(B,)`` and ``(D,)`` bytes that brokers and log dirs have left; changed.
    growth
        How fast disks fill; what is written to each broker is changed.
    pace
        Bytes/s that pass at each end.
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
            wave,
            began,
        )
    )
