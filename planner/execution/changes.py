"""Changes that a plan still has to make to each partition of a cluster."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from placement.model.cluster import UNKNOWN, ClusterState, Storage
from placement.model.copies import INTERNAL
from planner.kafka_files.reassignment_file import LogDirs
from planner.verify.partition_status import Status
from planner.verify.state_rows import Brokers, ClusterRows, Entry, Key
from planner.verify.wave_progress import WaveLists


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    One request for one partition.

    Parameters
    ----------
    replicas
        Target list of the request: broker ids, preferred leader first.
    log_dirs
        Path per replica, `None` for any; `None` instead of a list: any for all.
    copies
        Brokers that receive a new replica.
    inside
        Brokers whose replica moves to another log dir, with the path.
    is_running
        Whether the cluster carries it out already.
    copied_bytes
        Bytes that a new replica has already.
    """

    replicas: Brokers
    log_dirs: LogDirs | None
    copies: Brokers
    inside: tuple[tuple[int, str], ...]
    is_running: bool = False
    copied_bytes: int = 0

    @property
    def paths(self) -> dict[int, str]:
        """Log dir of each new or moved replica that has to be in a certain one."""
        named = dict(zip(self.replicas, self.log_dirs or (), strict=False))
        new = {b: path for b in self.copies if (path := named.get(b)) is not None}
        return new | dict(self.inside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    Everything that a plan changes of one partition, step by step.

    Parameters
    ----------
    key
        Topic and number of the partition.
    before
        Broker ids now, preferred leader first, without replicas that are being added.
    steps
        Requests in their order; each adds at most as many replicas as a wave allows.
    leader
        Id of the broker that sends the copies; `None`: there is none.
    has_source
        Whether a live replica can be copied from.
    copy_bytes
        Bytes of one copy; `None`: unknown.
    is_internal
        Whether the topic is one of Kafka's own.
    in_bytes_per_s
        Rate that producers write; NaN: unknown.
    """

    key: Key
    before: Brokers
    steps: tuple[Step, ...]
    leader: int | None
    has_source: bool
    copy_bytes: int | None
    is_internal: bool
    in_bytes_per_s: float = nan

    @property
    def name(self) -> str:
        """Topic and number, as Kafka writes them."""
        return f"{self.key[0]}-{self.key[1]}"

    @property
    def num_copies(self) -> int:
        """Number of new replicas in all steps."""
        return sum(len(step.copies) for step in self.steps)


class ChangeReader:
    """
    Reader of the changes that are left, for one view of a cluster.

    Parameters
    ----------
    state, rows
        The cluster now.
    waves
        Lists of each partition in the waves of the plan; without any, a partition has
        one step.
    """

    def __init__(
        self, state: ClusterState, rows: ClusterRows, waves: WaveLists
    ) -> None:
        self.rows, self._waves, self._state = rows, waves, state
        self._in_bytes_per_s: list[float] = state.partitions.in_bytes_per_s.tolist()
        self._size, self._has_source = _copy_bytes(state), state.has_source.tolist()

    def changes(
        self, entries: Iterable[Entry], statuses: Iterable[Status]
    ) -> Iterator[Change]:
        """Yield the changes that are left of the partitions that are as planned."""
        for entry, status in zip(entries, statuses, strict=True):
            row = self.rows.row_of.get(entry.key)
            if row is None or status not in {Status.NOT_STARTED, Status.IN_PROGRESS}:
                continue
            yield self._change(entry, row)

    def _change(self, entry: Entry, row: int) -> Change:
        steps = self._steps(entry, row, self.rows.moving_to(row))
        return replace(self.unchanged(entry, row), steps=tuple(steps))

    def unchanged(self, entry: Entry, row: int) -> Change:
        """Return a partition without a step."""
        leader = self.rows.leaders[row]
        adding = self.rows.flagged(row, "adding")
        return Change(
            key=entry.key,
            before=tuple(b for b in self.rows.replicas(row) if b not in adding),
            steps=(),
            leader=leader if leader >= 0 else None,
            has_source=self._has_source[row],
            copy_bytes=self._size[row],
            is_internal=entry.key[0] in INTERNAL,
            in_bytes_per_s=self._in_bytes_per_s[row],
        )

    def _steps(self, entry: Entry, row: int, now: Brokers) -> Iterator[Step]:
        if self.rows.is_reassigning[row]:
            yield self._running(row, now)
        lists = self._waves.entries(entry.key)
        # After a cancel the brokers of a wave are there in another order.
        reached = [n for n, one in enumerate(lists) if one.replicas == now] or [
            n for n, one in enumerate(lists) if sorted(one.replicas) == sorted(now)
        ]
        # Waves before the last one with the present list are done; that one may still
        # have to move a replica between log dirs.
        for one in [*lists[max(reached, default=0) :], entry]:
            step = self._step(one, row, now)
            if step.replicas != now or step.inside:
                yield step
            now = one.replicas

    def _running(self, row: int, now: Brokers) -> Step:
        """Return the step that the cluster carries out already."""
        return Step(
            replicas=now,
            log_dirs=None,
            copies=self.rows.flagged(row, "adding"),
            inside=(),
            is_running=True,
            copied_bytes=self._copied_bytes(row),
        )

    def _copied_bytes(self, row: int) -> int:
        """Return the bytes of the largest replica that is being added."""
        replicas = self._state.replicas
        slots = slice(*replicas.start[row : row + 2].tolist())
        own = replicas.own_bytes[slots][replicas.is_adding[slots]]
        return max(int(own.max(initial=0)), 0)

    def _step(self, entry: Entry, row: int, now: Brokers) -> Step:
        paths = entry.log_dirs or (None,) * len(entry.replicas)
        present = self.rows.replicas(row)
        inside = [
            (broker, path)
            for broker, path in zip(entry.replicas, paths, strict=True)
            if path is not None
            and broker in now
            and broker in present
            and self.rows.log_dir(row, present.index(broker)) not in {path, None}
        ]
        copies = tuple(b for b in entry.replicas if b not in now)
        return Step(
            replicas=entry.replicas,
            log_dirs=entry.log_dirs,
            copies=copies,
            inside=tuple(inside),
        )


def after_cancel(before: Brokers, target: Brokers) -> Brokers:
    """
    Return the list that Kafka leaves after it has cancelled a reassignment.

    The list of a running reassignment is the target, and then what it removes; a cancel
    only takes out the brokers that were being added.
    """
    kept = tuple(broker for broker in target if broker in before)
    return kept + tuple(broker for broker in before if broker not in target)


def _copy_bytes(state: ClusterState) -> list[int | None]:
    """Return the bytes that a new replica of each partition copies; `None`: unknown."""
    size = state.partitions.size_bytes
    shared = np.equal(state.topics.storage, Storage.SHARED)[state.partitions.topic_idx]
    size = np.where(shared, 0, size)
    return [None if one == UNKNOWN else one for one in size.tolist()]
