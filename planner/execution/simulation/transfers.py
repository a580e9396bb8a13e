"""Transfers of bytes that share the rates of brokers and the space of log dirs."""

from typing import NamedTuple

import numpy as np

from placement.array_types import FloatArray
from planner.verify.state_rows import Key

NUM_SHARED = 4
"""Most rates that one transfer shares with others."""
_TOLERANCE_S = 1e-6
_TOLERANCE_BYTES = 1e-6


class TransferName(NamedTuple):
    """
    Name of a transfer.

    Parameters
    ----------
    key
        Partition.
    broker
        Broker that receives the bytes.
    is_inside
        Whether the replica moves to another log dir of its broker.
    """

    key: Key
    broker: int
    is_inside: bool


class Transfers:
    """
    Transfers in progress, each at the least of its shares of the rates that it uses.

    All transfers that use a rate get an equal share of it. A transfer into a log dir
    takes its space.

    Parameters
    ----------
    rates
        ``(R,)`` bytes/s. Rates that transfers share; changed by `set_rate`.
    free_bytes
        ``(D,)`` free bytes of log dirs, infinite where unknown. Kept, not copied, and
        changed in place.
    """

    def __init__(self, rates: FloatArray, free_bytes: FloatArray) -> None:
        # The last rate and the last log dir have no limit: the default of a transfer.
        self._rates = np.append(rates, np.inf)
        self._free = free_bytes
        self._names: list[TransferName] = []
        self._at: dict[TransferName, int] = {}
        self._left, self._most = np.zeros(0), np.zeros(0)
        self._growth = np.zeros(0)
        self._used = np.zeros((NUM_SHARED, 0), dtype=np.intp)
        self._dir = np.zeros(0, dtype=np.intp)
        self._net: FloatArray | None = None
        self._grow(64)

    def _grow(self, size: int) -> None:
        more = size - len(self._left)
        for name in ("_left", "_most", "_growth", "_dir"):
            old = getattr(self, name)
            setattr(self, name, np.append(old, np.zeros(more, dtype=old.dtype)))
        self._used = np.hstack([self._used, np.zeros((NUM_SHARED, more), np.intp)])

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: TransferName) -> bool:
        return name in self._at

    def set_rate(self, number: int, rate: float) -> None:
        """Change a rate."""
        self._rates[number] = rate
        self._net = None

    def start(
        self,
        name: TransferName,
        left: float,
        *,
        most: float,
        growth: float,
        used: tuple[int, ...],
        log_dir: int,
    ) -> None:
        """
        Start a transfer.

        Parameters
        ----------
        name
            Name; not in progress yet.
        left, most
            Bytes left to transfer, and the most that can be left.
        growth
            Bytes/s by which the source grows meanwhile.
        used
            Numbers of the rates that it shares, at most `NUM_SHARED`.
        log_dir
            Number of the log dir that receives the bytes.
        """
        at = len(self._names)
        if at == len(self._left):
            self._grow(2 * at)
        self._names.append(name)
        self._at[name] = at
        self._left[at], self._most[at], self._growth[at] = left, most, growth
        self._used[:, at] = len(self._rates) - 1
        self._used[: len(used), at] = used
        self._dir[at] = log_dir
        self._net = None

    def stop(self, name: TransferName) -> float:
        """End a transfer; return the bytes left."""
        at, last = self._at.pop(name), len(self._names) - 1
        left = float(self._left[at])
        moved = self._names.pop()
        if at != last:
            self._names[at] = moved
            self._at[moved] = at
            for column in (self._left, self._most, self._growth, self._dir):
                column[at] = column[last]
            self._used[:, at] = self._used[:, last]
        self._net = None
        return left

    def left(self, name: TransferName) -> float | None:
        """Return the bytes left of a transfer; `None`: it is not in progress."""
        at = self._at.get(name)
        return None if at is None else float(self._left[at])

    def _net_rates(self) -> FloatArray:
        """Return the bytes/s by which each transfer shortens what is left."""
        if self._net is None:
            count = len(self._names)
            used = self._used[:, :count]
            users = np.bincount(used.ravel(), minlength=len(self._rates))
            shares = self._rates / np.maximum(users, 1)
            self._net = shares[used].min(axis=0) - self._growth[:count]
        return self._net

    def _filling(self) -> FloatArray:
        """Return the bytes/s that each log dir receives."""
        return self._by_dir(self._net_rates())

    def _by_dir(self, amount: FloatArray) -> FloatArray:
        """Sum an amount of each transfer by log dir."""
        dirs = self._dir[: len(amount)]
        found: FloatArray = np.bincount(dirs, amount, len(self._free)).astype(
            np.float64
        )
        return found

    def seconds_to_next(self) -> float:
        """Return the seconds until a transfer ends or a log dir is full."""
        count = len(self._names)
        if not count:
            return np.inf
        left = self._left[:count]
        if left.min() <= _TOLERANCE_BYTES:
            return 0.0
        return min(
            _seconds_until_gone(left, self._net_rates()),
            _seconds_until_gone(self._free, self._filling()),
        )

    def advance(self, seconds: float) -> None:
        """Transfer bytes for some seconds, in which none ends."""
        count = len(self._names)
        if not count or seconds <= 0:
            return
        before = self._left[:count].copy()
        after = (before - self._net_rates() * seconds).clip(0, self._most[:count])
        self._left[:count] = after
        self._free -= self._by_dir(before - after)

    def ended(self) -> list[TransferName]:
        """Return the transfers that have no bytes left."""
        left = self._left[: len(self._names)]
        return [self._names[at] for at in _exhausted(left, self._net_rates())]

    def full_dirs(self) -> list[int]:
        """Return the log dirs that are full and that a transfer still writes to."""
        filling = self._filling()
        return [at for at in _exhausted(self._free, filling) if filling[at] > 0]


def _seconds_until_gone(amount: FloatArray, rate: FloatArray) -> float:
    """Return the seconds until the first amount is used up; infinite if none is."""
    seconds = np.full(len(rate), np.inf)
    np.divide(amount, rate, out=seconds, where=rate > 0)
    return max(float(seconds.min(initial=np.inf)), 0.0)


def _exhausted(amount: FloatArray, rate: FloatArray) -> list[int]:
    # Transfers of equal bytes end together, up to errors of rounding.
    is_over = amount <= np.maximum(rate, 0) * _TOLERANCE_S + _TOLERANCE_BYTES
    found: list[int] = np.flatnonzero(is_over).tolist()
    return found
