"""The part of a plan that has not started, as its commands need it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.verify.lists_before import ListsBefore
from planner.verify.partition_status import Status
from planner.verify.state_rows import ClusterRows, Entry, entries_of


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstartedPart:
    """
    The part of a plan that has not started.

    Parameters
    ----------
    num_partitions
        Number of partitions that are as before the plan.
    copies_between, copies_inside
        Whether replicas are still to be copied between brokers, and inside brokers.
    dead
        Brokers that are not live and have replicas of partitions still to change.
    fenced
        Fenced brokers of the plan, whose throttles cannot be read.
    """

    num_partitions: int
    copies_between: bool
    copies_inside: bool
    dead: tuple[int, ...]
    fenced: tuple[int, ...]


def unstarted_part(
    rows: ClusterRows,
    reassignment: ReassignmentFile,
    statuses: Sequence[Status],
    before: ListsBefore,
) -> UnstartedPart:
    """
    Return the part of a plan that has not started.

    Parameters
    ----------
    rows
        The cluster now.
    reassignment, statuses
        Lists of the plan, and the status of each entry.
    before
        Lists before the plan, where known.
    """
    is_open = [
        (entry, rows.row_of[entry.key])
        for entry, status in zip(entries_of(reassignment), statuses, strict=True)
        if status is not Status.COMPLETED and _is_at_rest(rows, entry)
    ]
    named = {b for replicas in reassignment.replicas for b in replicas}
    named.update(before.brokers())
    return UnstartedPart(
        num_partitions=sum(status is Status.NOT_STARTED for status in statuses),
        copies_between=any(
            set(entry.replicas) - set(rows.replicas(row)) for entry, row in is_open
        ),
        copies_inside=any(_is_to_move(rows, row, entry) for entry, row in is_open),
        dead=_not_live(rows, (b for _, row in is_open for b in rows.replicas(row))),
        fenced=tuple(b for b in sorted(named) if rows.is_fenced(b)),
    )


def _is_at_rest(rows: ClusterRows, entry: Entry) -> bool:
    row = rows.row_of.get(entry.key)
    return row is not None and not rows.is_reassigning[row]


def _is_to_move(rows: ClusterRows, row: int, entry: Entry) -> bool:
    """Return whether a replica still has to change its log dir inside its broker."""
    now = rows.replicas(row)
    return any(
        path is not None
        and broker in now
        and rows.log_dir(row, now.index(broker)) not in {path, None}
        for broker, path in zip(entry.replicas, entry.log_dirs or (), strict=False)
    )


def _not_live(rows: ClusterRows, brokers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({b for b in brokers if not rows.is_live(b)}))
