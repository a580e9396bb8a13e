"""Free bytes of brokers and log dirs, as far as they are known."""

import numpy as np

from placement.model.cluster import UNKNOWN, ClusterState, LogDirState
from placement.model.load import disk_loads, weigh
from planner.execution.admission import Disk


def usable_bytes(state: ClusterState) -> dict[Disk, int]:
    """
    Return free bytes of log dirs, and of brokers.

    Those of a broker are the sum of its log dirs; if one is unknown, its capacity less
    its load.
    """
    dirs = state.log_dirs
    found: dict[Disk, int] = {}
    unknown = set()
    # Offline and cordoned log dirs take no replica.
    is_open = np.equal(dirs.state, LogDirState.ONLINE)
    room = np.where(is_open, dirs.usable_bytes, 0).tolist()
    owners = state.brokers.ids[dirs.broker_idx].tolist()
    for broker, path, usable in zip(owners, dirs.paths, room, strict=True):
        if usable == UNKNOWN:
            unknown.add(broker)
            continue
        found[broker, path] = usable
        found[broker] = found.get(broker, 0) + usable
    known = {disk: free for disk, free in found.items() if disk not in unknown}
    return _left_of_capacities(state) | known


def _left_of_capacities(state: ClusterState) -> dict[Disk, int]:
    """Return the capacity of each broker less its load, where it is known."""
    capacity = state.brokers.disk_bytes
    left = np.maximum(capacity - disk_loads(state, weigh(state)), 0)
    rows = np.nonzero(np.not_equal(capacity, UNKNOWN))[0]
    return dict(zip(state.brokers.ids[rows].tolist(), left[rows].tolist(), strict=True))
