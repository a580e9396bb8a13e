"""Limits of waves, and the log dirs that the wave files name."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from placement.check.waves.log_dirs_over_time import Dirs


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveLimits:
    """
    Limits of waves.

    Parameters
    ----------
    max_in, max_out
        Maximum number of copies that a broker receives, and sends, in one wave.
    max_shared
        Maximum number of copies that a broker receives and sends together, or `None`.
    max_per_partition
        Maximum number of new replicas of a partition in one wave; `None`: any number.
    disk_threshold, in_threshold, out_threshold
        Usable fraction of a disk, and of a network each way, while copies run.
    bandwidth_bytes_per_s
        Bytes/s of moves inside a broker; `None`: as between brokers.
    """

    max_in: int
    max_out: int
    max_shared: int | None = None
    max_per_partition: int | None = None
    disk_threshold: float = 0.8
    bandwidth_bytes_per_s: float | None = None
    in_threshold: float = 1.0
    out_threshold: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveDirs:
    """
    Log dirs that files name: one path per broker of a list, `None` for any.

    Parameters
    ----------
    waves
        Log dirs of each wave; empty where no file names any.
    final
        Log dirs of the plan.
    """

    waves: Sequence[Dirs] = ()
    final: Dirs = field(default_factory=dict)
