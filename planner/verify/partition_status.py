"""
Status of each partition of a plan.

::

    completed     nothing adding or removing, replicas equal in order, in the log
                  dirs that the plan names
    in_progress   moving towards this target, or towards a wave of this plan
    superseded    moving towards another
    not_started   equals the lists before, log dirs included
    differs       otherwise
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

from planner.kafka_files.reassignment_file import LogDirs
from planner.verify.state_rows import Brokers, ClusterRows, Entry


class Status(StrEnum):
    """Status of one partition."""

    COMPLETED = "completed"
    IN_PROGRESS = "in_progress"
    NOT_STARTED = "not_started"
    SUPERSEDED = "superseded"
    DIFFERS = "differs"


class Overall(StrEnum):
    """Status of a plan."""

    COMPLETED = "completed"
    IN_PROGRESS = "in-progress"
    NOT_STARTED = "not-started"
    DIFFERS = "differs"


class DirMove(StrEnum):
    """Status of a replica whose log dir the plan names."""

    DONE = "done"
    UNKNOWN = "unknown"
    OFFLINE = "offline"
    COPYING = "copying"
    NOT_COPYING = "not-copying"
    GOING_ELSEWHERE = "going-elsewhere"


class Before(NamedTuple):
    """Replicas and log dirs of a partition before the plan."""

    replicas: Brokers
    log_dirs: LogDirs | None


def status_of(
    rows: ClusterRows,
    row: int | None,
    entry: Entry,
    *,
    before: Before | None = None,
    wave_lists: Collection[Brokers] = (),
) -> Status:
    """
    Return the status of one partition.

    Parameters
    ----------
    rows
        The cluster now.
    row
        Row of the partition; `None` where the cluster has none of this name.
    entry
        Entry of the partition in the plan.
    before
        Replicas and log dirs before the plan, where known.
    wave_lists
        Lists of this partition in waves of the plan.
    """
    if row is None:
        return Status.DIFFERS
    if rows.is_reassigning[row]:
        is_ours = rows.moving_to(row) in {entry.replicas, *wave_lists}
        return Status.IN_PROGRESS if is_ours else Status.SUPERSEDED
    now = rows.replicas(row)
    if now == entry.replicas:
        return _status_of_dirs(rows, row, entry, before)
    if before is not None and now == before.replicas:
        return Status.NOT_STARTED
    return Status.IN_PROGRESS if now in wave_lists else Status.DIFFERS


def dir_moves(rows: ClusterRows, row: int, entry: Entry) -> list[DirMove | None]:
    """Return the status of each replica; `None` for one without a planned log dir."""
    return [
        None if path is None else _dir_move(rows, row, slot, path, entry.replicas[slot])
        for slot, path in enumerate(entry.log_dirs or ())
    ]


def _dir_move(
    rows: ClusterRows, row: int, slot: int, path: str, broker: int
) -> DirMove:
    now, future = rows.log_dir(row, slot), rows.future_log_dir(row, slot)
    if future is not None:
        return DirMove.COPYING if future == path else DirMove.GOING_ELSEWHERE
    if now is None:
        return DirMove.UNKNOWN
    if now != path:
        return DirMove.NOT_COPYING
    return DirMove.OFFLINE if rows.is_dir_offline(broker, path) else DirMove.DONE


def _status_of_dirs(
    rows: ClusterRows, row: int, entry: Entry, before: Before | None
) -> Status:
    """Return the status of a partition whose list is as planned."""
    moves = dir_moves(rows, row, entry)
    pending = [slot for slot, move in enumerate(moves) if move in _PENDING]
    if not pending:
        return Status.COMPLETED
    found = {moves[slot] for slot in pending}
    if DirMove.GOING_ELSEWHERE in found:
        return Status.SUPERSEDED
    if not all(
        moves[slot] is DirMove.COPYING or _is_as_before(rows, row, slot, entry, before)
        for slot in pending
    ):
        return Status.DIFFERS
    is_begun = DirMove.COPYING in found or _some_moved(rows, row, moves, entry, before)
    return Status.IN_PROGRESS if is_begun else Status.NOT_STARTED


_PENDING = {DirMove.COPYING, DirMove.NOT_COPYING, DirMove.GOING_ELSEWHERE}


def _dir_before(before: Before | None, broker: int) -> str | None:
    """Return the log dir of the replica on a broker before the plan, where known."""
    if before is None or before.log_dirs is None or broker not in before.replicas:
        return None
    return before.log_dirs[before.replicas.index(broker)]


def _is_as_before(
    rows: ClusterRows, row: int, slot: int, entry: Entry, before: Before | None
) -> bool:
    was = _dir_before(before, entry.replicas[slot])
    return was is not None and rows.log_dir(row, slot) == was


def _some_moved(
    rows: ClusterRows,
    row: int,
    moves: Sequence[DirMove | None],
    entry: Entry,
    before: Before | None,
) -> bool:
    """Return whether the plan has already changed the list or a log dir."""
    if before is None or before.replicas != entry.replicas:
        return True
    return any(
        move is DirMove.DONE and not _is_as_before(rows, row, slot, entry, before)
        for slot, move in enumerate(moves)
    )


def overall_of(statuses: Collection[Status]) -> Overall:
    """Return the status of a plan from those of its partitions."""
    found = set(statuses)
    if found & {Status.DIFFERS, Status.SUPERSEDED}:
        return Overall.DIFFERS
    if found <= {Status.COMPLETED}:
        return Overall.COMPLETED
    if found == {Status.NOT_STARTED}:
        return Overall.NOT_STARTED
    return Overall.IN_PROGRESS
