"""The part of a plan that has not started, as its commands need it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planner.verify.partition_status import Before, Status
from planner.verify.state_rows import ClusterRows, Entry, Key


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
    entry_statuses: Sequence[tuple[Entry, Status]],
    before: Mapping[Key, Before],
) -> UnstartedPart:
    """
    Return the part of a plan that has not started.

    Parameters
    ----------
    rows
        The cluster now.
    entry_statuses
        Partitions of the plan, with their status.
    before
        Replicas before the plan, where known.
    """
    is_open = [
        (entry, rows.row_of[entry.key])
        for entry, status in entry_statuses
        if status is not Status.COMPLETED and _is_at_rest(rows, entry)
    ]
    named = {b for entry, _ in entry_statuses for b in entry.replicas}
    named |= {b for one in before.values() for b in one.replicas}
    return UnstartedPart(
        num_partitions=sum(
            status is Status.NOT_STARTED for _, status in entry_statuses
        ),
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
