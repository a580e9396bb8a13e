"""Additions, removals, resizes and replacements of log dirs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from placement.cluster_changes.broker_changes import sized_dir
from placement.cluster_changes.hardware_rows import (
    BrokerRow,
    DirRow,
    broker_rows,
    dir_rows,
    disk_of,
    rebuilt,
)
from placement.cluster_changes.variant import Data, Variant
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState
from placement.model.disk_bytes import bytes_by_place

Place = tuple[int, str]
"""Broker id and path."""


def add_log_dirs(variant: Variant, places: Sequence[Place], size_bytes: int) -> Variant:
    """Add empty log dirs of one size."""
    added = [
        DirRow(broker_id=b, path=path, size_bytes=size_bytes, usable_bytes=size_bytes)
        for b, path in places
    ]
    more = {b: 0 for b, _ in places}
    for broker_id, _ in places:
        more[broker_id] += size_bytes
    dirs = [*dir_rows(variant.state), *added]
    return _with_dirs(variant, variant.state, dirs, more)


def remove_log_dirs(variant: Variant, places: Sequence[Place]) -> Variant:
    """Remove log dirs; their replicas go to the other log dirs of the broker."""
    state, chosen = variant.state, set(places)
    gone = [d for d in dir_rows(state) if (d.broker_id, d.path) in chosen]
    kept = [d for d in dir_rows(state) if (d.broker_id, d.path) not in chosen]
    less = {d.broker_id: 0 for d in gone}
    for each in gone:
        less[each.broker_id] -= max(each.size_bytes, 0)
    return _with_dirs(variant, state, _refilled(state, gone, kept), less)


def _refilled(
    state: ClusterState, gone: Sequence[DirRow], kept: Sequence[DirRow]
) -> list[DirRow]:
    """Return the kept log dirs, with the bytes of removed ones as used space."""
    located, _ = bytes_by_place(state)
    moves = {d.broker_id: 0 for d in gone}
    for each in gone:
        moves[each.broker_id] += int(located[each.old_row])
    filled = []
    for each in sorted(kept, key=lambda d: -d.usable_bytes):
        part = min(max(each.usable_bytes, 0), moves.get(each.broker_id, 0))
        if each.usable_bytes != UNKNOWN and part:
            moves[each.broker_id] -= part
            each = replace(each, usable_bytes=each.usable_bytes - part)  # noqa: PLW2901
        filled.append(each)
    return filled


def resize_log_dirs(variant: Variant, sizes: Mapping[Place, int]) -> Variant:
    """Change the sizes of log dirs, in bytes."""
    dirs, more = [], {b: 0 for b, _ in sizes}
    for each in dir_rows(variant.state):
        size = sizes.get((each.broker_id, each.path))
        if size is None:
            dirs.append(each)
            continue
        more[each.broker_id] += size - max(each.size_bytes, 0)
        dirs.append(sized_dir(each, size))
    return _with_dirs(variant, variant.state, dirs, more)


def replace_log_dirs(
    variant: Variant, places: Sequence[Place], size_bytes: int | None
) -> Variant:
    """
    Replace the disks of log dirs; the new ones copy all replicas of the old ones.

    Parameters
    ----------
    variant, places
        Cluster to change, and log dirs as broker id and path.
    size_bytes
        Bytes of each new disk; `None`: the old size.
    """
    state = variant.state
    owner = state.log_dirs.broker_idx
    pairs = zip(state.brokers.ids[owner].tolist(), state.log_dirs.paths, strict=True)
    chosen = np.array([pair in set(places) for pair in pairs], dtype=np.bool_)
    left = np.bincount(owner[~chosen], minlength=state.num_brokers)
    is_whole = np.zeros(state.num_brokers, dtype=np.bool_)
    is_whole[owner[chosen]] = left[owner[chosen]] == 0
    # Row -1 stands for an unknown log dir: copied if all of the broker's are replaced.
    on = np.append(chosen, False)[state.replicas.log_dir_idx]
    on |= is_whole[state.replicas.broker_idx]
    data = variant.data.copy()
    data[on & np.equal(data, Data.THERE)] = Data.COPIED
    dirs, more = [], {b: 0 for b, _ in places}
    for each in dir_rows(state):
        if (each.broker_id, each.path) not in set(places):
            dirs.append(each)
            continue
        size = each.size_bytes if size_bytes is None else size_bytes
        is_lost = each.state == LogDirState.OFFLINE
        now = 0 if is_lost else max(each.size_bytes, 0)
        more[each.broker_id] += max(size, 0) - now
        serves = replace(each, state=LogDirState.ONLINE)
        dirs.append(serves if size == each.size_bytes else sized_dir(serves, size))
    return _with_dirs(replace(variant, data=data), state, dirs, more)


def _with_dirs(
    variant: Variant,
    state: ClusterState,
    dirs: Sequence[DirRow],
    more: Mapping[int, int],
) -> Variant:
    """Return the variant with new log dirs, and disks of their total size."""
    brokers = [
        _with_disk(row, [d for d in dirs if d.broker_id == row.broker_id], more)
        for row in broker_rows(state)
    ]
    return replace(variant, state=rebuilt(state, brokers, dirs))


def _with_disk(
    row: BrokerRow, dirs: Sequence[DirRow], more: Mapping[int, int]
) -> BrokerRow:
    if row.broker_id not in more:
        return row
    known = row.disk_bytes if row.disk_bytes != UNKNOWN else ABSENT
    changed = UNKNOWN if known == ABSENT else max(known + more[row.broker_id], 0)
    return replace(row, disk_bytes=disk_of(dirs, changed))


def shrink_lost_disks(state: ClusterState) -> ClusterState:
    """Return the cluster with disks of the total size of the serving log dirs."""
    dirs = dir_rows(state)
    owners = set(state.brokers.ids[np.unique(state.log_dirs.broker_idx)].tolist())
    brokers = [
        replace(
            row,
            disk_bytes=disk_of(
                [d for d in dirs if d.broker_id == row.broker_id], row.disk_bytes
            ),
        )
        if row.broker_id in owners
        else row
        for row in broker_rows(state)
    ]
    return rebuilt(state, brokers, dirs)
