"""Whether two clusters say the same."""

from dataclasses import fields

import numpy as np

from placement.model.cluster import ClusterState


def differences(left: ClusterState, right: ClusterState) -> list[str]:
    """Return the names of all columns that differ, in type or in value."""
    found = [] if left.cluster_id == right.cluster_id else ["cluster_id"]
    for part in ("brokers", "log_dirs", "topics", "partitions", "replicas"):
        one, other = getattr(left, part), getattr(right, part)
        found += [
            f"{part}.{column.name}"
            for column in fields(one)
            if not _is_same(getattr(one, column.name), getattr(other, column.name))
        ]
    return found


def _is_same(one: object, other: object) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return one == other
    return one.dtype == other.dtype and np.array_equal(
        one, other, equal_nan=one.dtype.kind == "f"
    )
