"""Reasons not to start a plan, by the state of the cluster before any change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from placement.array_types import BoolArray
from placement.failures.controller_decision import is_usable
from placement.model.cluster import ClusterState, LogDirState, sum_rows
from planner.execution.admission import Admitted, Disk, disks_of
from planner.execution.changes import Change
from planner.text.format import bytes_text, ids_text, plural
from planner.throttles import Throttle
from planner.verify.state_rows import ClusterRows, Key

MAX_EXAMPLES = 3
Ignorable = Literal[
    "reassigning", "under-min-isr", "leaderless", "throttled", "no-record"
]
IGNORABLE: tuple[str, ...] = get_args(Ignorable)
"""Rules that an operator may ignore: the plan itself can be carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """
    One reason not to start a plan.

    Parameters
    ----------
    rule
        Name of the rule.
    count
        Number of partitions, brokers or throttles that break it.
    message
        The problem, with examples.
    remedy
        The remedy.
    """

    rule: str
    count: int
    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """
    Checks of the changes of a plan against the cluster as it is now.

    Parameters
    ----------
    state, rows
        The cluster now.
    changes
        Changes that are left.
    throttles
        Every throttle in force.
    is_under_way
        Whether a partition of the plan is being moved: throttles may be the plan's.
    """

    state: ClusterState
    rows: ClusterRows
    changes: Sequence[Change]
    throttles: Sequence[Throttle]
    is_under_way: bool

    def blockers(self) -> Iterator[Blocker]:
        """Yield every reason not to start, those of the plan itself first."""
        yield from self.targets()
        yield from self._sources()
        yield from self._cordoned()
        yield from self._reassigning()
        yield from self._unhealthy()
        yield from self._throttled()

    def targets(self) -> Iterator[Blocker]:
        """Yield the brokers that are not live, if the plan needs any."""
        down = {
            broker
            for change in self.changes
            for step in change.steps
            for broker in step.replicas
            if not self.rows.is_live(broker)
        }
        if down:
            states = ", ".join(self.rows.broker_text(b) for b in sorted(down))
            yield Blocker(
                rule="broker-not-live",
                count=len(down),
                message=f"the plan needs {states}",
                remedy="start it, or plan again from a new snapshot",
            )

    def _sources(self) -> Iterator[Blocker]:
        found = [c for c in self.changes if c.num_copies and not c.has_source]
        if found:
            yield Blocker(
                rule="no-source",
                count=len(found),
                message=f"{_counted(found)} no live replica in sync to copy from",
                remedy="bring back a broker of theirs; see kafka-planner status",
            )

    def _cordoned(self) -> Iterator[Blocker]:
        """Yield the brokers all of whose log dirs take no new replicas."""
        dirs = self.state.log_dirs
        is_open = ~np.equal(dirs.state, LogDirState.CORDONED)
        ids = self.state.brokers.ids
        closed = set(ids[dirs.broker_idx].tolist()) - set(
            ids[dirs.broker_idx[is_open]].tolist()
        )
        targets = {b for c in self.changes for s in c.steps for b in s.copies}
        if hit := sorted(closed & targets):
            yield Blocker(
                rule="cordoned",
                count=len(hit),
                message=f"every log dir of brokers {ids_text(hit)} is cordoned: they "
                "take no new replicas",
                remedy="delete cordoned.log.dirs there, or plan without these brokers",
            )

    def _reassigning(self) -> Iterator[Blocker]:
        own = {self.rows.row_of[change.key] for change in self.changes}
        rows = set(np.nonzero(self.state.is_reassigning)[0].tolist()) - own
        if rows:
            yield Blocker(
                rule="reassigning",
                count=len(rows),
                message=f"{plural(len(rows), 'partition')} of other plans "
                f"{_is_are(len(rows))} being moved",
                remedy="wait for their end: kafka-planner status",
            )

    def _unhealthy(self) -> Iterator[Blocker]:
        leaderless = int(np.count_nonzero(self.state.partitions.leader_idx < 0))
        short = int(np.count_nonzero(self._is_short()))
        remedy = "repair the cluster first: kafka-planner status"
        for rule, count, what in (
            ("leaderless", leaderless, "no leader"),
            ("under-min-isr", short, "fewer replicas in sync than min.insync.replicas"),
        ):
            if count:
                message = f"{plural(count, 'partition')} {_has_have(count)} {what}"
                yield Blocker(rule=rule, count=count, message=message, remedy=remedy)

    def _is_short(self) -> BoolArray:
        """
        Return ``(P,)`` true under min ISR, with a leader, if no change repairs that.

        Kafka takes the replication factor where `min.insync.replicas` is above it (3.7
        and later), and no earlier repair brings more in sync.
        """
        state = self.state
        in_sync = is_usable(state) & state.replicas.is_in_sync
        topic = state.partitions.topic_idx
        least = state.topics.min_insync_replicas[topic]
        least = np.minimum(least, state.replication_factor)
        found: BoolArray = np.less(sum_rows(in_sync, state.replicas.start), least)
        found &= state.partitions.leader_idx >= 0
        for change in self.changes:
            row = self.rows.row_of[change.key]
            if found[row]:
                found[row] = self._in_sync_after(change, row, in_sync) < least[row]
        return found

    def _in_sync_after(self, change: Change, row: int, in_sync: BoolArray) -> int:
        """Return how many replicas are in sync once a partition is as planned."""
        slots = slice(*self.state.replicas.start[row : row + 2])
        replicas = np.array(self.rows.replicas(row), dtype=np.int64)
        good = set(replicas[in_sync[slots]].tolist())
        if change.has_source:
            good |= {broker for step in change.steps for broker in step.copies}
        wanted = change.steps[-1].replicas if change.steps else change.before
        return len(good & set(wanted))

    def _throttled(self) -> Iterator[Blocker]:
        if self.throttles and not self.is_under_way:
            places = list(dict.fromkeys(one.place for one in self.throttles))
            yield Blocker(
                rule="throttled",
                count=len(self.throttles),
                message=f"throttles are set already: {_some(places)}",
                remedy="remove them if no copy needs them: kafka-planner status",
            )


def drifted_blocker(keys: Sequence[Key], *, is_left_out: bool) -> Iterator[Blocker]:
    """Yield the partitions that are no longer as the plan expects, if any."""
    if keys:
        names = _some([f"{topic}-{number}" for topic, number in keys])
        fate = "; they are left out" if is_left_out else ""
        yield Blocker(
            rule="drifted",
            count=len(keys),
            message=f"{plural(len(keys), 'partition')} {_is_are(len(keys))} no longer "
            f"as planned: {names}{fate}",
            remedy="plan again from a new snapshot, or leave them out: --allow-drift",
        )


def rights_blocker(missing: Sequence[str]) -> Iterator[Blocker]:
    """Yield the rights that the user lacks, if any."""
    if missing:
        yield Blocker(
            rule="rights",
            count=len(missing),
            message=f"the user lacks {' and '.join(missing)}",
            remedy="add the ACLs with kafka-acls.sh, or connect as another user",
        )


def no_record_blocker(count: int) -> Blocker:
    """Return the reason that nothing says how the cluster was before the plan."""
    return Blocker(
        rule="no-record",
        count=count,
        message="the plan has no rollback.json: whether partitions have changed since "
        "it was made is unknown",
        remedy="name the folder of the plan",
    )


def several_copies_blocker(changes: Sequence[Change]) -> Iterator[Blocker]:
    """Yield the partitions that would get several new replicas at once, if any."""
    found = [c for c in changes if any(len(step.copies) > 1 for step in c.steps)]
    if found:
        yield Blocker(
            rule="needs-waves",
            count=len(found),
            message=f"{_counted(found)} several new replicas at once",
            remedy="plan again with --waves: each wave adds one replica",
        )


def disk_blocker(
    refused: Iterable[Admitted], free: Mapping[Disk, int]
) -> Iterator[Blocker]:
    """Yield the disks that never have room for the copies that wait, if any."""
    waiting: dict[Disk, int] = {}
    for one in refused:
        for disk in disks_of(one.step):
            waiting[disk] = waiting.get(disk, 0) + (one.change.copy_bytes or 0)
    texts = [
        f"{disk_text(disk)} has {bytes_text(free[disk])} free, and "
        f"{bytes_text(size)} wait for it"
        for disk, size in sorted(waiting.items(), key=lambda item: str(item[0]))
        if disk in free and size > free[disk]
    ]
    if waiting:
        yield Blocker(
            rule="disk-full",
            count=sum(isinstance(disk, int) for disk in waiting) or len(waiting),
            message=f"copies would fill a disk: {_some(texts)}",
            remedy="free space there, or plan again from a new snapshot",
        )


def disk_text(disk: Disk) -> str:
    """Return a broker or a log dir as text."""
    if isinstance(disk, int):
        return f"broker {disk}"
    return f"log dir {disk[1]} of broker {disk[0]}"


def partitions_text(names: Sequence[str]) -> str:
    """Return the number of partitions, with some of their names."""
    return f"{plural(len(names), 'partition')} ({_some(names)})"


def _counted(changes: Sequence[Change]) -> str:
    names = [change.name for change in changes]
    return f"{partitions_text(names)} {_has_have(len(names))}"


def _some(texts: Sequence[str]) -> str:
    rest = len(texts) - MAX_EXAMPLES
    return ", ".join(texts[:MAX_EXAMPLES]) + (f" and {rest} more" if rest > 0 else "")


def _is_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _has_have(count: int) -> str:
    return "has" if count == 1 else "have"
