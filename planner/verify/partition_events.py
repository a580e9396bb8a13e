"""Events of each partition: deviations from the plan, and moves under way."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from placement.model.cluster import ABSENT
from planner.plan.documents.check_records import MoveRecord
from planner.verify.lists_before import ListsBefore
from planner.verify.move_obstacles import Obstacle, obstacles
from planner.verify.partition_status import (
    DirMove,
    Status,
    dir_moves,
    status_of,
)
from planner.verify.state_rows import Brokers, ClusterRows, Entry, listed
from planner.verify.verify_findings import Event
from planner.verify.wave_progress import WaveLists


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionVerifier:
    """
    Status, move and events of single partitions.

    Parameters
    ----------
    rows
        The cluster now.
    has_source
        For each partition of the cluster, whether a replica can be copied from now.
    before
        Lists before the plan, where known.
    waves
        Lists of the partitions in the waves of the plan.
    creates
        Whether the plan creates partitions.
    """

    rows: ClusterRows
    has_source: Sequence[bool]
    before: ListsBefore
    waves: WaveLists
    creates: bool = False

    def status(self, entry: Entry) -> Status:
        """Return the status of a partition of the plan."""
        row = self.rows.row_of.get(entry.key)
        if row is None and self.creates:
            return Status.NOT_STARTED
        before, lists = self.before.get(entry.key), self.waves.lists(entry.key)
        return status_of(self.rows, row, entry, before=before, wave_lists=lists)

    def move(self, entry: Entry) -> MoveRecord | None:
        """Return the move of a partition that is under way, or `None`."""
        row = self.rows.row_of.get(entry.key)
        if row is None:
            return None
        slots = range(len(self.rows.replicas(row)))
        future = [self.rows.future_log_dir(row, slot) for slot in slots]
        paths = tuple(path for path in future if path is not None)
        if not self.rows.is_reassigning[row] and not paths:
            return None
        why = dict.fromkeys(one.detail for one in self._obstacles(row, entry))
        return MoveRecord(
            topic=entry.key[0],
            partition=entry.key[1],
            adding=self.rows.flagged(row, "adding"),
            removing=self.rows.flagged(row, "removing"),
            log_dirs=paths,
            can_finish=not why,
            why=tuple(why),
        )

    def events(self, entry: Entry, status: Status) -> Iterator[Event]:
        """Yield the deviations of a partition from the plan."""
        row = self.rows.row_of.get(entry.key)
        if row is None:
            yield self._missing(entry)
        elif self.rows.is_reassigning[row]:
            yield from self._reassigned(entry, row, status)
        elif self.rows.replicas(row) == entry.replicas:
            yield from self._arrived(entry, row, status)
        else:
            yield self._elsewhere(entry, row, status)

    def _missing(self, entry: Entry) -> Event:
        if self.creates:
            return _event("not-started", "are not there yet", entry, "is not there yet")
        return _event("differs", "do not exist", entry, "there is no such partition")

    def _obstacles(self, row: int, entry: Entry) -> list[Obstacle]:
        return list(obstacles(self.rows, row, entry, has_source=self.has_source[row]))

    def _reassigned(self, entry: Entry, row: int, status: Status) -> Iterator[Event]:
        found = self._obstacles(row, entry)
        yield from (_obstacle_event(entry, one) for one in found)
        if any(one.rule == "stuck" for one in found):
            return
        if status is Status.SUPERSEDED:
            other = listed(self.rows.moving_to(row))
            detail = f"moves to {other}, not to {listed(entry.replicas)}"
            yield _event("superseded", "move elsewhere than planned", entry, detail)
        elif not found:
            adding = listed(self.rows.flagged(row, "adding"))
            removing = listed(self.rows.flagged(row, "removing"))
            detail = f"adding {adding}; removing {removing}"
            yield _event("in-progress", "are being reassigned", entry, detail)

    def _arrived(self, entry: Entry, row: int, status: Status) -> Iterator[Event]:
        """Yield the deviations of a partition whose replica list is as planned."""
        leader = self.rows.leaders[row]
        if entry.replicas and leader != entry.replicas[0] and status in _LED:
            first = entry.replicas[0]
            now = "no broker" if leader == ABSENT else f"broker {leader}"
            detail = f"led by {now}, preferred is broker {first}"
            rule, cause = "leader-not-preferred", "are not led by their first replica"
            yield _event(rule, cause, entry, detail, first)
        yield from self._log_dirs(entry, row)
        yield from (_obstacle_event(entry, one) for one in self._obstacles(row, entry))

    def _log_dirs(self, entry: Entry, row: int) -> Iterator[Event]:
        for slot, move in enumerate(dir_moves(self.rows, row, entry)):
            if move is None or move is DirMove.DONE or entry.log_dirs is None:
                continue
            broker, path = entry.replicas[slot], entry.log_dirs[slot]
            cause, words = _DIR_WORDS[move]
            now = self.rows.log_dir(row, slot)
            future = self.rows.future_log_dir(row, slot)
            text = words.format(now=now, future=future, path=path)
            detail = f"on broker {broker}: {text}"
            yield _event("log-dir", cause, entry, detail, broker, path)

    def _elsewhere(self, entry: Entry, row: int, status: Status) -> Event:
        """Return the event of an unplanned list without a reassignment."""
        now = self.rows.replicas(row)
        detail = f"replicas are {listed(now)}, not {listed(entry.replicas)}"
        if status is Status.NOT_STARTED:
            return _event("not-started", "are as before the plan", entry, detail)
        if status is Status.IN_PROGRESS:
            return _event("in-progress", "are between two waves", entry, detail)
        if sorted(now) == sorted(entry.replicas):
            cause = "have the planned replicas in another order"
            return _event("other-order", cause, entry, detail)
        for whose, brokers in self._left_by_a_cancel(entry):
            if sorted(now) == sorted(brokers):
                cause = f"have the replicas of {whose} in another order, as after a "
                detail = (
                    f"replicas are {listed(now)}, those of {whose} in another order "
                    f"({listed(brokers)}), as after a cancel"
                )
                return _event("other-order", f"{cause}cancel", entry, detail)
        return _event("differs", "are not as planned", entry, detail)

    def _left_by_a_cancel(self, entry: Entry) -> Iterator[tuple[str, Brokers]]:
        """Yield the lists whose replicas a cancelled reassignment leaves, by name."""
        if (before := self.before.get(entry.key)) is not None:
            yield "before", before.replicas
        for brokers in self.waves.lists(entry.key):
            yield "a wave", brokers


_LED = {Status.COMPLETED, Status.IN_PROGRESS}
_DIR_WORDS = {
    DirMove.COPYING: (
        "are still being moved to their log dirs",
        "still being moved from log dir {now} to {path}",
    ),
    DirMove.GOING_ELSEWHERE: (
        "are being moved to other log dirs than planned",
        "being moved to log dir {future} instead of {path}",
    ),
    DirMove.UNKNOWN: (
        "are in log dirs that are not known",
        "its log dir is not known; {path} is planned",
    ),
    DirMove.NOT_COPYING: (
        "are in other log dirs than planned, and are not being moved",
        "in log dir {now}, and is not being moved to {path}",
    ),
    DirMove.OFFLINE: ("are in log dirs that are offline", "log dir {path} is offline"),
}


def _event(
    rule: str,
    cause: str,
    entry: Entry,
    detail: str,
    broker: int | None = None,
    log_dir: str | None = None,
) -> Event:
    return Event(
        rule=rule,
        cause=cause,
        key=entry.key,
        detail=detail,
        broker=broker,
        log_dir=log_dir,
    )


def _obstacle_event(entry: Entry, one: Obstacle) -> Event:
    return _event(one.rule, one.cause, entry, one.detail, one.broker, one.log_dir)
