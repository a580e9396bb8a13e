"""
Table of all failures of one kind: damage, and load of the survivors.

Every column has a row per failure. A single failure is the loss of one domain, a pair
the loss of two.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import CountArray, IndexArray, RateArray
from placement.failures.failover import LED_COLUMNS
from placement.failures.failure_domains import Domains
from placement.failures.survivor_loads import HELD_COLUMNS, Peaks, Scale
from placement.model.load import RESOURCES, Resource


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Failures:
    """
    Failures of one kind, ``X`` of them.

    Parameters
    ----------
    domains
        Failure domains.
    first, second
        ``(X,)`` lost domains; `second` is `ABSENT` for single failures.
    damage
        ``(X,)`` number of partitions that the failure damages, per kind of
        `placement.failures.partition_damage.KINDS`.
    leaders_moved
        ``(X,)`` number of partitions led by another broker after the failure.
    peaks
        Busiest survivor in the loads of leadership: out, cpu and leaders during the
        loss, and out once all followers fetch again.
    levels
        ``(X, 2)`` lower bound on the disk and in load of the fullest survivor once all
        replicas with a source and a broker left are rebuilt. Fractions where
        `scale.is_use`, NaN without survivors.
    even_levels
        ``(X, 2)`` the same bound from the rebuilt total alone, without regard to
        survivors that are fuller before. NaN also where nothing is rebuilt.
    rebuilt_bytes
        ``(X,)`` bytes of the rebuilt replicas.
    unplaced
        ``(X,)`` number of lost replicas with a source that no broker is left to hold:
        their partitions have more replicas than brokers survive.
    rebuild_s
        ``(X,)`` lower bound on the seconds to rebuild, from the busiest sender and all
        receivers together; for pairs from the receivers alone. NaN without survivors.
    scale
        Units of loads, and usable fraction of each capacity.
    num_possible
        Number of possible failures of this kind; more than `X` where pairs are sampled.
    """

    domains: Domains
    first: IndexArray
    second: IndexArray
    damage: Mapping[str, CountArray]
    leaders_moved: CountArray
    peaks: Peaks
    levels: RateArray
    even_levels: RateArray
    rebuilt_bytes: CountArray
    unplaced: CountArray
    rebuild_s: RateArray
    scale: Scale
    num_possible: int

    def __len__(self) -> int:
        return len(self.first)

    @property
    def is_overfull(self) -> npt.NDArray[np.bool_]:
        """``(X,)`` true where rebuilt replicas push disk or in load over a limit."""
        most = self.scale.most[list(HELD_COLUMNS)]
        is_over: npt.NDArray[np.bool_] = np.greater(self.even_levels, most)
        return np.asarray(is_over.any(axis=1))

    @property
    def is_survived(self) -> npt.NDArray[np.bool_]:
        """
        ``(X,)`` true where no partition stops and no survivor is pushed over a limit.

        Lost followers fetch nothing during the loss; their return may push a survivor
        over a limit.
        """
        hurt = self.damage["offline"] + self.damage["under_min_isr"]
        lives = np.isfinite(self.peaks.value).all(axis=1)
        is_unhurt = np.equal(hurt + self.peaks.num_over, 0)
        found: npt.NDArray[np.bool_] = is_unhurt & lives
        return found

    def ranked(self) -> CountArray:
        """Return the rows, worst first; ties go to the lowest domains."""
        out = self.peaks.value[:, LED_COLUMNS.index(RESOURCES.index(Resource.OUT))]
        keys = [
            *(self.damage[name] for name in ("offline", "gone", "under_min_isr")),
            self.peaks.num_over,
            self.is_overfull,
            self.damage["at_min_isr"],
            out,
            self.rebuilt_bytes,
        ]
        worst = [-key.astype(np.float64) for key in reversed(keys)]
        order: CountArray = np.lexsort(worst)
        return order
