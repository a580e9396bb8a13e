"""
What is written to disks while a wave runs, on top of both copies.

Nobody knows what retention deletes meanwhile, so all that is written counts, for the
seconds of the wave. A broker that is no fuller than before, or after the plan, would
fill up as fast in any wave: there the disk itself is the limit, not its threshold.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.model.cluster import UNKNOWN, BoolArray, ClusterState, Storage
from placement.model.copies import Copies
from placement.waves.copy_pace import written_to
from placement.waves.disk_space import NO_LIMIT, Space, peaks

RowArray = npt.NDArray[np.int64]
RateArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Growth:
    """
    How fast disks fill, and what they have left for that.

    Parameters
    ----------
    rates
        ``(P,)`` bytes/s that are written to each replica of a partition.
    written
        ``(B,)`` bytes/s that are written to the replicas of each broker, before.
    of_copy
        ``(E,)`` bytes/s that are written to the replica of each copy.
    within
        ``(B,)`` bytes. With so much of its room left, a broker is no fuller than
        before or after the plan,
    spare
        ``(B,)`` bytes. and may then fill by so much more than what is left, or by any
        amount where that is `NO_LIMIT`.
    """

    rates: RateArray
    written: RateArray
    of_copy: RateArray
    within: RowArray
    spare: RowArray

    def seconds_left(self, left: RowArray, written: RateArray) -> RateArray:
        """Return for how long brokers may fill, so much room left."""
        endless = np.full(np.broadcast(left, written).shape, np.inf)
        allowed, fills = self._allowed(left, self.within, self.spare)
        fills &= written > 0
        found: RateArray = np.divide(allowed, written, out=endless, where=fills)
        return found

    def lacks(self, copies: Copies, room: RowArray, pace: float) -> RowArray:
        """Return ``(E,)`` bytes by which targets fill up too fast for a copy alone."""
        found = self.lacks_at(
            copies.target_idx, copies.size_bytes, self.of_copy, room, pace
        )
        return np.where(copies.is_drop, 0, found)

    def lacks_at(
        self,
        target: RowArray,
        size: RowArray | int,
        rate: RateArray | float,
        room: RowArray,
        pace: float,
    ) -> RowArray:
        """
        Return bytes by which brokers fill up too fast for a copy alone.

        Parameters
        ----------
        target
            ``(n,)`` rows of the brokers.
        size, rate
            Bytes of each copy, or of all of them, and bytes/s that are written to it.
        room
            ``(B,)`` bytes that brokers have room for.
        pace
            Bytes/s of a copy at the least.
        """
        within, spare = self.within[target], self.spare[target]
        allowed, fills = self._allowed(room[target] - size, within, spare)
        grown = (self.written[target] + rate) * size / pace
        lacks = np.maximum(np.ceil(grown - np.maximum(allowed, 0)), 0)
        return np.where(fills, lacks, 0).astype(np.int64)

    def _allowed(
        self, left: RowArray, within: RowArray, spare: RowArray
    ) -> tuple[RowArray, BoolArray]:
        """Return the bytes that may be written, and where there is such a limit."""
        is_within = left >= within
        fills: BoolArray = ~is_within | (spare < NO_LIMIT)
        return left + np.where(is_within & fills, spare, 0), fills


def growth_of(
    state: ClusterState, copies: Copies, space: Space, written: RateArray
) -> Growth | None:
    """
    Return how fast disks fill; `None` where no rate, or no disk, is known.

    `written` is as `written_to` has it, topics on shared storage included.
    """
    rate = np.nan_to_num(state.partitions.in_bytes_per_s)
    if not rate.any() or np.equal(state.brokers.disk_bytes, UNKNOWN).all():
        return None
    is_shared = np.equal(state.topics.storage, Storage.SHARED)
    if is_shared.any():
        rate = np.where(is_shared[state.partitions.topic_idx], 0.0, rate)
        written = written_to(state, rate)
    # Past its end already, or in the end: nothing can be said of what is left.
    is_past = space.disk_room <= space.ends_room
    return Growth(
        rates=rate,
        written=written,
        of_copy=rate[copies.partition_idx],
        within=space.room - space.ends_room,
        spare=np.where(is_past, NO_LIMIT, space.disk_room - space.room),
    )


def no_growth(state: ClusterState, copies: Copies) -> Growth:
    """Return that nothing is written, or nobody knows what."""
    nothing = np.zeros(state.num_brokers, dtype=np.int64)
    return Growth(
        rates=np.zeros(state.num_partitions),
        written=nothing.astype(np.float64),
        of_copy=np.zeros(len(copies)),
        within=nothing,
        spare=nothing,
    )


def fills_up(
    copies: Copies,
    wave: RowArray,
    drops: tuple[RowArray, RowArray],
    space: Space,
    growth: Growth,
    seconds: RateArray,
) -> bool:
    """
    Return whether some disk fills up too fast for a wave.

    Parameters
    ----------
    copies, wave
        The copies, and the wave of each.
    drops
        ``(E,)`` the broker that loses a replica when the wave of each copy is over,
        and the bytes that frees.
    space, growth
        What there is room for, and how fast that fills.
    seconds
        ``(W,)`` how long each wave takes.
    """
    count, target = len(space.room), copies.target_idx
    comes = target >= 0
    arrives = np.bincount(target[comes], copies.size_bytes[comes], count)
    more = growth.written + np.bincount(target[comes], growth.of_copy[comes], count)
    most = arrives + more * seconds.max(initial=0.0)
    # Where all that ever comes fits at once, for the longest wave, it fits in any.
    if not (most[target[comes]] > space.room[target[comes]]).any():
        return False
    full = peaks(wave, (target, copies.size_bytes), drops, count)
    rate = growth.of_copy
    # A rate at a time, to a thousandth: the sums are of integers.
    fine = np.ceil(rate * 1000).astype(np.int64)
    more = growth.written + peaks(wave, (target, fine), (drops[0], fine), count) / 1000
    is_busy = np.zeros(full.shape, dtype=np.bool_)
    is_busy[wave[comes], target[comes]] = True
    longest = growth.seconds_left(space.room - full, more)
    return bool((is_busy & (seconds[:, None] > longest)).any())
