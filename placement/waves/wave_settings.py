"""Settings of waves: caps, bandwidth, thresholds and order of copies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from placement.model.load import Resource
from placement.waves.copy_pace import WAYS

DEFAULT_CAP = 5
DEFAULT_PARTITION_CAP = 1
NO_CAP = 2**31


class Order(StrEnum):
    """Order of copies, among those that caps and disks allow."""

    SHORTEST = "shortest"
    UNDER_REPLICATED = "under-replicated"
    SMALL = "small"
    LARGE = "large"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveSettings:
    """
    Settings of waves.

    Parameters
    ----------
    max_in, max_out
        Maximum number of copies that a broker receives, and sends, in one wave. At
        least 1.
    max_shared
        Maximum number of copies that a broker receives and sends together. At least 1;
        `None`: no such cap.
    max_per_partition
        Maximum number of new replicas of a partition in one wave, all copied from its
        leader. At least 1.
    bandwidth_bytes_per_s
        Bytes/s at which a broker may send, and receive, copies. Positive.
    order
        Order of the copies.
    thresholds
        Usable fraction of each capacity while copies run: of disks, and of networks in
        and out; 1 where not named.

    Raises
    ------
    ValueError
        If a cap is below 1, or the bandwidth is not positive.
    """

    max_in: int = DEFAULT_CAP
    max_out: int = DEFAULT_CAP
    max_shared: int | None = None
    max_per_partition: int = DEFAULT_PARTITION_CAP
    bandwidth_bytes_per_s: float = 50_000_000
    order: Order = Order.SHORTEST
    thresholds: Mapping[Resource, float] = field(
        default_factory=lambda: {Resource.DISK: 0.8}
    )

    @property
    def network_thresholds(self) -> tuple[float, float]:
        """Usable fractions of the network capacities in and out."""
        inward, outward = (self.thresholds.get(way, 1.0) for way in WAYS)
        return inward, outward

    def __post_init__(self) -> None:
        shared = 1 if self.max_shared is None else self.max_shared
        if min(self.max_in, self.max_out, shared) < 1:
            msg = "a broker must be allowed at least 1 copy at a time"
            raise ValueError(msg)
        if self.max_per_partition < 1:
            msg = "a partition must be allowed at least 1 new replica at a time"
            raise ValueError(msg)
        if self.bandwidth_bytes_per_s <= 0:
            msg = f"bandwidth must be positive, got {self.bandwidth_bytes_per_s}"
            raise ValueError(msg)

    @property
    def caps(self) -> tuple[int, int, int]:
        """Maximum copies of a broker in a wave: sent, received, and both together."""
        shared = NO_CAP if self.max_shared is None else self.max_shared
        return self.max_out, self.max_in, shared
