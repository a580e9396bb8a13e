"""Reasons why a reassignment or a copy between log dirs cannot finish by itself."""

from collections.abc import Iterator
from typing import NamedTuple

from planner.verify.partition_status import DirMove, dir_moves
from planner.verify.state_rows import Brokers, ClusterRows, Entry, listed


class Obstacle(NamedTuple):
    """
    One reason why a move cannot finish.

    Parameters
    ----------
    rule
        ``stuck`` (cannot end even if brokers return), ``no-source`` (no live replica in
        sync to copy from) or ``waits`` (a broker or log dir must return).
    cause
        Predicate for a number of partitions.
    detail
        Reason for one partition.
    broker, log_dir
        Broker, or log dir of the broker, that must come back.
    """

    rule: str
    cause: str
    detail: str
    broker: int | None = None
    log_dir: str | None = None


def obstacles(
    rows: ClusterRows, row: int, entry: Entry, *, has_source: bool
) -> Iterator[Obstacle]:
    """
    Yield the reasons why a moving partition cannot finish.

    Parameters
    ----------
    rows
        The cluster now.
    row
        Row of the partition.
    entry
        Entry of the partition in the plan.
    has_source
        Whether any replica can be copied from now.
    """
    if rows.is_reassigning[row]:
        yield from _of_reassignment(rows, row, entry, has_source=has_source)
    else:
        yield from _of_log_dirs(rows, row, entry)


def _of_reassignment(
    rows: ClusterRows, row: int, entry: Entry, *, has_source: bool
) -> Iterator[Obstacle]:
    adding = rows.flagged(row, "adding")
    in_sync = rows.flagged(row, "in_sync")
    missing = tuple(b for b in adding if b not in in_sync)
    both = rows.stuck_brokers(row)
    if both:
        detail = f"adds and removes brokers {listed(both)}: it never ends"
        yield Obstacle("stuck", "add and remove the same brokers", detail)
        return
    if missing and not has_source:
        last = _last_copies(rows, row)
        yield Obstacle(
            "no-source",
            f"have no live replica in sync to copy from (last copies: {last})",
            f"no live replica in sync to copy from; last copies: {last}",
        )
    for broker in missing:
        if not rows.is_live(broker):
            who = rows.broker_text(broker)
            yield Obstacle("waits", f"wait for {who}", f"waits for {who}", broker)
        elif broker in rows.flagged(row, "failed"):
            where = f"a log dir of broker {broker} that has failed"
            yield Obstacle("waits", f"wait for {where}", f"waits for {where}", broker)
        else:
            yield from _of_target_dir(rows, row, entry, broker)
    if not missing and not any(rows.is_live(b) for b in _staying(rows, row)):
        who = "; ".join(rows.broker_text(b) for b in rows.moving_to(row))
        yield Obstacle(
            "waits",
            f"wait for a replica that stays to be in sync ({who})",
            f"waits for a replica that stays to be in sync: {who}",
        )


def _staying(rows: ClusterRows, row: int) -> Brokers:
    """Return the in-sync brokers that a reassignment keeps; it needs one of them."""
    in_sync = rows.flagged(row, "in_sync")
    return tuple(b for b in rows.moving_to(row) if b in in_sync)


def _last_copies(rows: ClusterRows, row: int) -> str:
    """Return the brokers with the last complete copies known to Kafka, as text."""
    for flag in ("in_sync", "eligible", "last_eligible"):
        if found := rows.flagged(row, flag):
            return "; ".join(map(rows.broker_text, found))
    return "not known"


def _of_target_dir(
    rows: ClusterRows, row: int, entry: Entry, broker: int
) -> Iterator[Obstacle]:
    """Yield the offline log dirs that are current or planned for a new replica."""
    paths = {rows.log_dir(row, slot) for slot in [rows.replicas(row).index(broker)]}
    if entry.log_dirs is not None and broker in entry.replicas:
        paths.add(entry.log_dirs[entry.replicas.index(broker)])
    for path in sorted(path for path in paths if path is not None):
        if rows.is_dir_offline(broker, path):
            yield _offline(broker, path)


def _of_log_dirs(rows: ClusterRows, row: int, entry: Entry) -> Iterator[Obstacle]:
    for slot, move in enumerate(dir_moves(rows, row, entry)):
        if move in {None, DirMove.DONE, DirMove.OFFLINE, DirMove.UNKNOWN}:
            continue
        broker, now = entry.replicas[slot], rows.log_dir(row, slot)
        to = entry.log_dirs[slot] if entry.log_dirs else None
        if not rows.is_live(broker):
            who = rows.broker_text(broker)
            yield Obstacle("waits", f"wait for {who}", f"waits for {who}", broker)
            continue
        for path in (now, to):
            if path is not None and rows.is_dir_offline(broker, path):
                yield _offline(broker, path)


def _offline(broker: int, path: str) -> Obstacle:
    where = f"log dir {path} of broker {broker}, offline"
    return Obstacle("waits", f"wait for {where}", f"waits for {where}", broker, path)
