"""
Growth of disks by regular writes while a wave runs, beside old and new replicas.

The bytes that retention deletes during a wave are unknown, so all bytes written during
the wave count. A broker that is no fuller than before or after the plan would fill up
as fast in any wave: its limit is the whole disk, not the threshold.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, RateArray, RowArray
from placement.model.cluster import UNKNOWN, ClusterState, Storage
from placement.model.copies import Copies
from placement.waves.copy_pace import written_to
from placement.waves.disk_space import NO_LIMIT, Space, peaks


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Growth:
    """
    Write rates of disks, and the room for writes.

    Parameters
    ----------
    rates
        ``(P,)`` bytes/s written to each replica of a partition.
    written
        ``(B,)`` bytes/s written to the replicas of each broker, before the waves.
    of_copy
        ``(E,)`` bytes/s written to the replica of each copy.
    within
        ``(B,)`` bytes. A broker with at least this room left is no fuller than before
        or after the plan.
    spare
        ``(B,)`` bytes that such a broker may fill beyond the room left; `NO_LIMIT`: any
        amount.
    """

    rates: RateArray
    written: RateArray
    of_copy: RateArray
    within: RowArray
    spare: RowArray

    def seconds_left(self, left: RowArray, written: RateArray) -> RateArray:
        """Return the seconds until brokers with `left` bytes of room fill up."""
        endless = np.full(np.broadcast(left, written).shape, np.inf)
        allowed, fills = self._allowed(left, self.within, self.spare)
        fills &= written > 0
        found: RateArray = np.divide(allowed, written, out=endless, where=fills)
        return found

    def lacks(self, copies: Copies, room: RowArray, pace: float) -> RowArray:
        """Return ``(E,)`` bytes by which each copy alone overfills its target."""
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
        Return bytes by which writes during a single copy overfill each broker.

        Parameters
        ----------
        target
            ``(n,)`` broker rows.
        size, rate
            Bytes of each copy, or of every copy, and bytes/s written to the copy.
        room
            ``(B,)`` bytes of room on each broker.
        pace
            Lower bound on the copy rate, in bytes/s.
        """
        within, spare = self.within[target], self.spare[target]
        allowed, fills = self._allowed(room[target] - size, within, spare)
        grown = (self.written[target] + rate) * size / pace
        lacks = np.maximum(np.ceil(grown - np.maximum(allowed, 0)), 0)
        return np.where(fills, lacks, 0).astype(np.int64)

    def _allowed(
        self, left: RowArray, within: RowArray, spare: RowArray
    ) -> tuple[RowArray, BoolArray]:
        """Return the bytes that may be written, and true where that is a limit."""
        is_within = left >= within
        fills: BoolArray = ~is_within | (spare < NO_LIMIT)
        return left + np.where(is_within & fills, spare, 0), fills


def growth_of(
    state: ClusterState, copies: Copies, space: Space, written: RateArray
) -> Growth | None:
    """
    Return the growth of disks, or `None` where no rate or no disk size is known.

    `written` is the result of `written_to`, topics on shared storage included.
    """
    rate = np.nan_to_num(state.partitions.in_bytes_per_s)
    if not rate.any() or np.equal(state.brokers.disk_bytes, UNKNOWN).all():
        return None
    is_shared = np.equal(state.topics.storage, Storage.SHARED)
    if is_shared.any():
        rate = np.where(is_shared[state.partitions.topic_idx], 0.0, rate)
        written = written_to(state, rate)
    # A disk that is full already, or is full in the end, has no meaningful rest.
    is_past = space.disk_room <= space.ends_room
    return Growth(
        rates=rate,
        written=written,
        of_copy=rate[copies.partition_idx],
        within=space.room - space.ends_room,
        spare=np.where(is_past, NO_LIMIT, space.disk_room - space.room),
    )


def no_growth(state: ClusterState, copies: Copies) -> Growth:
    """Return a growth of zero, for unknown rates or disks."""
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
    Return whether some disk fills up before the end of a wave.

    Parameters
    ----------
    copies, wave
        Copies, and ``(E,)`` wave of each.
    drops
        ``(E,)`` broker that deletes a replica at the end of each copy's wave, and the
        bytes freed.
    space, growth
        Room on the disks, and their growth.
    seconds
        ``(W,)`` duration of each wave, in seconds.
    """
    count, target = len(space.room), copies.target_idx
    comes = target >= 0
    arrives = np.bincount(target[comes], copies.size_bytes[comes], count)
    more = growth.written + np.bincount(target[comes], growth.of_copy[comes], count)
    most = arrives + more * seconds.max(initial=0.0)
    # If all copies fit at once during the longest wave, they fit in every wave.
    if not (most[target[comes]] > space.room[target[comes]]).any():
        return False
    full = peaks(wave, (target, copies.size_bytes), drops, count)
    rate = growth.of_copy
    # Rates in thousandths, because `peaks` sums integers.
    fine = np.ceil(rate * 1000).astype(np.int64)
    more = growth.written + peaks(wave, (target, fine), (drops[0], fine), count) / 1000
    is_busy = np.zeros(full.shape, dtype=np.bool_)
    is_busy[wave[comes], target[comes]] = True
    longest = growth.seconds_left(space.room - full, more)
    return bool((is_busy & (seconds[:, None] > longest)).any())
