"""
All failures of one kind at once: what each damages, and what it asks of the survivors.

Columns throughout, a row per failure. A single failure is one domain, a pair two.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.failures.failover import LED_COLUMNS
from placement.failures.failure_domains import Domains
from placement.failures.survivor_loads import HELD_COLUMNS, Peaks, Scale
from placement.model.cluster import IndexArray, RateArray
from placement.model.load import RESOURCES, Resource

CountArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Failures:
    """
    Failures of one kind, ``X`` of them.

    Parameters
    ----------
    domains
        What can fail.
    first, second
        ``(X,)`` the domains lost; `second` is `ABSENT` for single failures.
    damage
        Per kind of `placement.failures.partition_damage.KINDS` ``(X,)`` partitions that
        are so because of the failure.
    leaders_moved
        ``(X,)`` partitions led by another broker afterwards.
    peaks
        The busiest survivor in what leaders bring: out, cpu, leaders while what is lost
        is gone, and out once all followers fetch again.
    levels
        ``(X, 2)`` disk and in of the fullest survivor, at least, once everything that
        can be is rebuilt; fractions where `scale.is_use`, NaN where nobody survives.
    even_levels
        ``(X, 2)`` the same without those that are fuller before anything is rebuilt.
    rebuilt_bytes
        ``(X,)`` bytes of the replicas that are copied anew.
    rebuild_s
        ``(X,)`` seconds that takes at least: the busiest sender, or all receivers
        together; for pairs the receivers alone. NaN where nobody survives.
    scale
        In what loads are told.
    num_possible
        How many failures there are of this kind; more than `X` where pairs are sampled.
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
    rebuild_s: RateArray
    scale: Scale
    num_possible: int

    def __len__(self) -> int:
        return len(self.first)

    @property
    def is_overfull(self) -> npt.NDArray[np.bool_]:
        """``(X,)`` true where what is rebuilt pushes disks or network over a limit."""
        most = self.scale.most[list(HELD_COLUMNS)]
        is_over: npt.NDArray[np.bool_] = np.greater(self.even_levels, most)
        return np.asarray(is_over.any(axis=1))

    @property
    def is_survived(self) -> npt.NDArray[np.bool_]:
        """
        ``(X,)`` true where all partitions go on, and nobody is pushed over.

        What is lost fetches nothing meanwhile: its return may push somebody over.
        """
        hurt = self.damage["offline"] + self.damage["under_min_isr"]
        lives = np.isfinite(self.peaks.value).all(axis=1)
        is_unhurt = np.equal(hurt + self.peaks.num_over, 0)
        found: npt.NDArray[np.bool_] = is_unhurt & lives
        return found

    def ranked(self) -> CountArray:
        """Return the rows, worst first; ties by the lowest domains."""
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
