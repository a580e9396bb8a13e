"""What waves were cut under, and the log dirs that their files name."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from placement.check.waves.log_dirs_over_time import Dirs


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveLimits:
    """
    What waves were cut under.

    Parameters
    ----------
    max_in, max_out
        Copies that a broker may get, and send, in one wave.
    max_shared
        Copies that it may get and send together, or `None`.
    max_per_partition
        New replicas that a partition may get in one wave; `None`: any number.
    disk_threshold, in_threshold, out_threshold
        Fraction of a disk, and of a network each way, that may be used while copies
        run.
    bandwidth_bytes_per_s
        Bytes/s that pass inside a broker; `None`: as between brokers.
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
    The log dirs that files name, one for each broker of a list, `None` for any.

    Parameters
    ----------
    waves
        Of each wave; none at all where no file names any.
    final
        Of the plan.
    """

    waves: Sequence[Dirs] = ()
    final: Dirs = field(default_factory=dict)
