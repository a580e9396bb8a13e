"""
Limits of brokers of Amazon MSK by their instance type.

References
----------
.. [1] Best practices for Standard brokers: partitions per broker.
       https://docs.aws.amazon.com/msk/latest/developerguide/bestpractices.html
.. [2] Amazon MSK quota: Express broker partition quota.
       https://docs.aws.amazon.com/msk/latest/developerguide/limits.html
.. [3] Best practices for Express brokers: throughput per broker.
       https://docs.aws.amazon.com/msk/latest/developerguide/bestpractices-express.html
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

EXPRESS_FACTOR = 3
"""Replication factor of every topic on Express brokers."""
MSK_TYPES = "kafka.t3.small, kafka.m5, kafka.m7g or express.m7g, large or larger"
_STANDARD = re.compile(
    r"(?:kafka\.)?(?:m5|m7g)\.(?P<size>large|(?P<times>[0-9]{0,3})xlarge)"
)
_SMALL = re.compile(r"(?:kafka\.)?t3\.small")
_MB = 1e6
_EXPRESS: Mapping[str, tuple[int, float, float]] = {
    "express.m7g.large": (1_500, 15.6, 31.2),
    "express.m7g.xlarge": (2_000, 31.2, 62.5),
    "express.m7g.2xlarge": (4_000, 62.5, 125.0),
    "express.m7g.4xlarge": (8_000, 124.9, 249.8),
    "express.m7g.8xlarge": (16_000, 250.0, 500.0),
    "express.m7g.12xlarge": (24_000, 375.0, 750.0),
    "express.m7g.16xlarge": (32_000, 500.0, 1000.0),
}
"""Largest number of replicas, and MB/s of producers and of consumers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MskType:
    """
    Limits of a type of broker.

    Parameters
    ----------
    replicas
        Replicas with which a Standard broker can still be updated [1]_, or that an
        Express broker may have at most [2]_.
    written, read
        Bytes/s of producers and of consumers that Amazon recommends at most [3]_; NaN
        where it names none, as for Standard brokers.
    """

    replicas: int
    written: float = nan
    read: float = nan

    @property
    def in_rate(self) -> float:
        """Bytes/s into the broker with even leaders, those of followers included."""
        return EXPRESS_FACTOR * self.written

    @property
    def out_rate(self) -> float:
        """Bytes/s out of the broker, those to followers included."""
        return self.read + (EXPRESS_FACTOR - 1) * self.written


def msk_type(name: str) -> MskType | None:
    """
    Return the limits of a type of broker; `None` for an unknown one.

    Examples
    --------
    >>> msk_type("kafka.m5.large").replicas, msk_type("m7g.4xlarge").replicas
    (1500, 6000)
    >>> msk_type("kafka.t3.small").replicas, msk_type("express.m7g.large").read
    (300, 31200000.0)
    """
    if name in _EXPRESS:
        replicas, written, read = _EXPRESS[name]
        return MskType(replicas=replicas, written=written * _MB, read=read * _MB)
    if _SMALL.fullmatch(name):
        return MskType(replicas=300)
    found = _STANDARD.fullmatch(name)
    if found is None:
        return None
    times = 0 if found["size"] == "large" else int(found["times"] or 1)
    return MskType(replicas=1500 if times < 2 else 3000 if times < 4 else 6000)
