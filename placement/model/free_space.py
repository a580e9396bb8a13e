"""Free bytes of log dirs after a reassignment."""

import numpy as np

from placement.array_types import BytesArray, RowArray
from placement.model.cluster import (
    UNKNOWN,
    ClusterState,
    LogDirState,
)
from placement.model.disk_bytes import bytes_by_place


def usable_after(before: ClusterState, after: ClusterState) -> BytesArray:
    """
    Return ``(D,)`` free bytes of the log dirs after a reassignment.

    A replica that leaves a log dir frees its bytes there. Replicas with an unknown log
    dir fill the serving log dirs of their broker, the emptiest first. The bytes besides
    replicas therefore stay the same.

    Parameters
    ----------
    before, after
        The same cluster before and after a reassignment.
    """
    usable = before.log_dirs.usable_bytes.copy()
    is_known = np.not_equal(usable, UNKNOWN) & np.not_equal(
        before.log_dirs.size_bytes, UNKNOWN
    )
    if not is_known.any():
        return usable
    located, elsewhere = bytes_by_place(after)
    located_before, elsewhere_before = bytes_by_place(before)
    most = np.maximum(before.log_dirs.size_bytes, usable).clip(min=0)
    freed = np.where(is_known, located_before - located, 0)
    usable = np.where(is_known, np.clip(usable + freed, 0, most), usable)
    more = elsewhere - elsewhere_before
    serves = is_known & np.not_equal(before.log_dirs.state, LogDirState.OFFLINE)
    # A replica known to be in a log dir cannot be among those that left it.
    room = before.log_dirs.size_bytes - located
    for broker in np.nonzero(more)[0]:
        dirs = np.nonzero(serves & np.equal(before.log_dirs.broker_idx, broker))[0]
        _fill(usable, room, dirs, int(more[broker]))
    return usable


def _fill(usable: BytesArray, most: BytesArray, dirs: RowArray, more: int) -> None:
    """Take bytes from the free space of a broker's dirs, or return up to `most`."""
    for log_dir in dirs[np.argsort(-usable[dirs], kind="stable")]:
        room = (
            int(usable[log_dir]) if more > 0 else int(most[log_dir] - usable[log_dir])
        )
        part = min(abs(more), max(room, 0))
        usable[log_dir] -= part if more > 0 else -part
        more -= part if more > 0 else -part
