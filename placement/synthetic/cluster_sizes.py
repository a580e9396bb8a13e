"""Sizes of synthetic clusters, by name."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """
    Size of a cluster.

    Parameters
    ----------
    brokers, racks, replicas
        Number of each. Replicas are those of all partitions together.
    most_partitions
        Maximum number of partitions of a topic.
    """

    brokers: int
    racks: int
    replicas: int
    most_partitions: int = 512


SIZES: Mapping[str, Size] = {
    "XS": Size(6, 3, 300, 16),
    "S": Size(12, 3, 3_000, 64),
    "M": Size(100, 5, 60_000),
    "L": Size(1_000, 10, 1_000_000),
    "XL": Size(5_000, 20, 5_000_000),
}
