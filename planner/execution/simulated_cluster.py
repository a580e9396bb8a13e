"""
Simulation of a cluster that carries out requests: for previews, without a broker.

Every broker sends and receives at most at one rate, which its copies share evenly; the
slower side limits a copy. Requests take no time, and nothing fails.
"""

from collections.abc import Iterable

import numpy as np

from placement.array_types import FloatArray, RowArray
from planner.execution.admission import Admitted
from planner.verify.state_rows import Key


class SimulatedCluster:
    """
    Copies in progress, at rates that brokers share.

    Parameters
    ----------
    rate_bytes_per_s
        Rate at which a broker sends, and at which it receives.

    Attributes
    ----------
    now_s
        Simulated seconds since the start.
    """

    def __init__(self, rate_bytes_per_s: float) -> None:
        self.now_s = 0.0
        self._rate = rate_bytes_per_s
        self._keys: list[Key] = []
        self._left = np.zeros(0)
        self._source = np.zeros(0, dtype=np.int64)
        self._target = np.zeros(0, dtype=np.int64)

    def submit(self, admitted: Iterable[Admitted]) -> None:
        """Begin the copies of steps; a step without copies ends at once."""
        rows = [
            (one.change.key, float(one.new_bytes), source, target)
            for one in admitted
            for source, target in _transfers(one)
        ]
        keys, left, source, target = zip(*rows, strict=True) if rows else ((),) * 4
        self._keys += keys
        self._left = np.append(self._left, left)
        self._source = np.append(self._source, np.array(source, dtype=np.int64))
        self._target = np.append(self._target, np.array(target, dtype=np.int64))

    def wait(self) -> set[Key]:
        """Advance to the next copy that ends; return the partitions without a copy."""
        if not self._keys:
            return set()
        rates = self._rates()
        seconds = float((self._left / rates).min())
        self.now_s += seconds
        self._left = self._left - rates * seconds
        # Copies of equal bytes end together, up to errors of rounding.
        is_over = self._left <= rates * 1e-6
        ended = {key for key, over in zip(self._keys, is_over, strict=True) if over}
        self._keys = [
            k for k, over in zip(self._keys, is_over, strict=True) if not over
        ]
        for name in ("_left", "_source", "_target"):
            setattr(self, name, getattr(self, name)[~is_over])
        return ended - set(self._keys)

    def _rates(self) -> FloatArray:
        """Return the rate of each copy in bytes/s."""
        return np.minimum(
            self._rate / _users(self._source), self._rate / _users(self._target)
        )


def _users(brokers: RowArray) -> RowArray:
    """Return the number of copies that share the broker of each copy."""
    _, at, counts = np.unique(brokers, return_inverse=True, return_counts=True)
    users: RowArray = counts[at]
    return users


def _transfers(one: Admitted) -> list[tuple[int, int]]:
    """Return the source and the target of each copy of a step."""
    source = one.source
    between = [(b if source is None else source, b) for b in one.step.copies]
    return between + [(broker, broker) for broker, _ in one.step.inside]
