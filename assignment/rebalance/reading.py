"""Current reader of each partition, time without a reader, and consumer lag."""

from collections.abc import Sequence

import numpy as np

from assignment.group import ABSENT
from placement.array_types import BoolArray, IndexArray, RateArray, RowArray


class Reading:
    """
    State of all ``U`` partitions of the simulation at one time.

    Between two times messages arrive at constant rates. A member with less throughput
    than the arrival rate falls behind on all its partitions in proportion to their
    rates. A member with more throughput reduces the lag of its partitions by its spare
    throughput, in proportion to the lags.

    Parameters
    ----------
    exists
        ``(U,)`` true for partitions that exist at the start.
    is_wanted
        ``(U,)`` true for partitions with a subscriber at any time; the others never
        count as unread.
    rate
        ``(U,)`` arrival rate in messages per second.
    lag
        ``(U,)`` consumer lag at the start in messages.
    """

    def __init__(
        self, exists: BoolArray, is_wanted: BoolArray, rate: RateArray, lag: RateArray
    ) -> None:
        size = len(exists)
        self.now_ms = 0
        self.exists, self.is_wanted = exists.copy(), is_wanted
        self.rate, self.lag = rate, lag.astype(np.float64)
        self.holder: IndexArray = np.full(size, ABSENT, dtype=np.int32)
        self.last: IndexArray = np.full(size, ABSENT, dtype=np.int32)
        self.still_ms = np.zeros(size, dtype=np.int64)
        self.longest_ms = np.zeros(size, dtype=np.int64)
        self.changes = np.zeros(size, dtype=np.int64)
        self.peak = self.lag.copy()
        self.total_peak = float(self.lag.sum())
        self.behind_until_ms = 0.0
        self._stretch_ms = np.zeros(size, dtype=np.int64)
        self._is_running: list[bool] = []
        self._reads_per_s: list[float] = []

    def add_client(self, reads_per_s: float) -> None:
        """Add a member with its largest number of messages read per second."""
        self._is_running.append(True)
        self._reads_per_s.append(reads_per_s)

    def set_running(self, client: int, *, is_running: bool) -> None:
        """Start or stop the reading of a member."""
        self._is_running[client] = is_running

    def set_speed(self, client: int, reads_per_s: float) -> None:
        """Set the largest number of messages per second that a member reads."""
        self._reads_per_s[client] = reads_per_s

    def speed(self, client: int) -> float:
        """Return the largest number of messages per second that a member reads."""
        return self._reads_per_s[client]

    def held(self, client: int) -> RowArray:
        """Return the rows of the partitions that a member holds."""
        return np.nonzero(np.equal(self.holder, client))[0]

    def release(self, rows: RowArray) -> None:
        """Remove the holder of partitions."""
        self.holder[rows] = ABSENT

    def take(self, client: int, rows: RowArray) -> tuple[int, int]:
        """
        Set the holder of partitions.

        Returns
        -------
        Number of partitions that another member read before, and number that the same
        member read before.
        """
        was = self.last[rows]
        is_back = np.equal(was, client)
        is_moved = ~is_back & np.not_equal(was, ABSENT)
        self.changes[rows[is_moved]] += 1
        self.holder[rows] = client
        self.last[rows] = client
        return int(is_moved.sum()), int(is_back.sum())

    def is_read(self) -> BoolArray:
        """Return ``(U,)`` true where the holder of the partition is running."""
        running = np.array([*self._is_running, False], dtype=np.bool_)
        found: BoolArray = running[self.holder] & self.exists
        return found

    def is_still(self) -> BoolArray:
        """Return ``(U,)`` true where a partition with subscribers has no reader."""
        found: BoolArray = self.exists & self.is_wanted & ~self.is_read()
        return found

    def advance(self, now_ms: int) -> None:
        """Advance the clock."""
        elapsed = now_ms - self.now_ms
        if elapsed <= 0:
            return
        is_still = self.is_still()
        self.still_ms[is_still] += elapsed
        self._stretch_ms = np.where(is_still, self._stretch_ms + elapsed, 0)
        np.maximum(self.longest_ms, self._stretch_ms, out=self.longest_ms)
        self._flow(self.is_read(), is_still, elapsed / 1000)
        self.now_ms = now_ms

    def _flow(self, is_read: BoolArray, is_still: BoolArray, seconds: float) -> None:
        """Update the lag by the messages that arrive and are read."""
        done_s = self.drained_s()
        self.lag[is_still] += self.rate[is_still] * seconds
        rows = np.nonzero(is_read)[0]
        at = self.holder[rows]
        spare, demand, behind = self._spare(rows, at)
        is_over = spare < 0
        growth = np.divide(-spare, demand, out=np.zeros(len(spare)), where=is_over)
        worked_off = np.divide(
            np.where(is_over, 0.0, spare) * seconds,
            behind,
            out=np.zeros(len(spare)),
            where=behind > 0,
        )
        left = np.maximum(0.0, 1.0 - worked_off)
        self.lag[rows] = (
            self.lag[rows] * left[at] + self.rate[rows] * growth[at] * seconds
        )
        np.maximum(self.peak, self.lag, out=self.peak)
        self.total_peak = max(self.total_peak, float(self.lag.sum()))
        if done_s > 0:
            self.behind_until_ms = self.now_ms + 1000 * min(done_s, seconds)
        elif self.lag.any():
            self.behind_until_ms = self.now_ms + 1000 * seconds

    def _spare(
        self, rows: RowArray, at: IndexArray
    ) -> tuple[RateArray, RateArray, RateArray]:
        """Return ``(C,)`` spare throughput, arrival rate and lag of each member."""
        size = len(self._is_running)
        demand = np.bincount(at, self.rate[rows], size).astype(np.float64)
        behind = np.bincount(at, self.lag[rows], size).astype(np.float64)
        return np.array(self._reads_per_s) - demand, demand, behind

    def drained_s(self) -> float:
        """Return the seconds until the lag is 0; ``inf`` if it never is."""
        if not self.lag.any():
            return 0.0
        if (self.is_still() & ((self.lag > 0) | (self.rate > 0))).any():
            return float("inf")
        rows = np.nonzero(self.is_read())[0]
        spare, _, behind = self._spare(rows, self.holder[rows])
        if ((behind > 0) & (spare <= 0)).any() or (spare < 0).any():
            return float("inf")
        needed = np.divide(behind, spare, out=np.zeros(len(behind)), where=behind > 0)
        return float(needed.max(initial=0.0))

    def appear(self, rows: Sequence[int] | RowArray) -> None:
        """Mark partitions as existing from now on."""
        self.exists[rows] = True
