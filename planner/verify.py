"""
What has become of a plan: per partition, and what was left behind.

::

    completed     nothing adding or removing, replicas equal in order
    in_progress   moving towards this target
    superseded    moving towards another
    not_started   equals rollback.json
    differs       otherwise

A function of columns alone: it serves a snapshot and a running cluster alike.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum

import numpy as np

from placement.check import Where
from placement.cluster import ABSENT, ClusterState, LogDirState
from planner.plan.reassignment_file import LogDirs, ReassignmentFile
from planner.throttles import LOG_DIR_RATE, Throttle


class Status(StrEnum):
    """What has become of one partition."""

    COMPLETED = "completed"
    IN_PROGRESS = "in_progress"
    NOT_STARTED = "not_started"
    SUPERSEDED = "superseded"
    DIFFERS = "differs"


class Overall(StrEnum):
    """What has become of a plan."""

    COMPLETED = "completed"
    IN_PROGRESS = "in-progress"
    NOT_STARTED = "not-started"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyFinding:
    """
    One thing to know: its `rule`, the place and one sentence.

    Of these ``leader-not-preferred``, ``in-progress`` and ``not-started`` do not speak
    against a completed plan; ``throttle-left`` and ``log-dir`` do.
    """

    rule: str
    where: Where
    message: str

    def to_dict(self) -> dict[str, object]:
        """Return the finding as it stands in `--format json`."""
        return asdict(self)


MAX_FINDINGS_SHOWN = 10
UNMENDED = frozenset({"throttle-left", "log-dir"})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification:
    """
    The outcome for a whole plan.

    Parameters
    ----------
    statuses
        Of each entry of the reassignment, in its order.
    findings
        What is not as planned, and what was left behind.
    """

    statuses: tuple[Status, ...]
    findings: tuple[VerifyFinding, ...]

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {status}" for status, n in self.counts.items() if n)
        lines = [f"{finding.rule}: {finding.message}" for finding in self.findings]
        shown = lines[:MAX_FINDINGS_SHOWN]
        if len(lines) > len(shown):
            shown.append(f"… and {len(lines) - len(shown)} more")
        told = counts or "the plan moves nothing"
        return "\n".join([f"{self.overall.value}: {told}", *shown])

    @property
    def counts(self) -> dict[str, int]:
        """Number of partitions by status."""
        found = Counter(self.statuses)
        return {status.value: found[status] for status in Status}

    @property
    def overall(self) -> Overall:
        """`DIFFERS` if any does or is superseded; else as all are, if all agree."""
        found = set(self.statuses)
        if found & {Status.DIFFERS, Status.SUPERSEDED}:
            return Overall.DIFFERS
        if found <= {Status.COMPLETED}:
            return Overall.COMPLETED
        if found == {Status.NOT_STARTED}:
            return Overall.NOT_STARTED
        return Overall.IN_PROGRESS

    @property
    def is_done(self) -> bool:
        """True if completed, with nothing left behind and every log dir as planned."""
        rules = {finding.rule for finding in self.findings}
        return self.overall is Overall.COMPLETED and not rules & UNMENDED

    def to_dict(self) -> dict[str, object]:
        """Return the document of `verify --format json`."""
        return {
            "status": self.overall.value,
            "partitions": self.counts,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def verify(
    state: ClusterState,
    reassignment: ReassignmentFile,
    *,
    rollback: ReassignmentFile | None = None,
    throttles: Iterable[Throttle] = (),
) -> Verification:
    """
    Tell what has become of a plan.

    Parameters
    ----------
    state
        The cluster now.
    reassignment
        What the plan asks for.
    rollback
        The lists before; without them nothing is known to be not started.
    throttles
        The limits on copies that are set now.
    """
    cluster, before = _Cluster(state), _lists(rollback)
    statuses: list[Status] = []
    findings: list[VerifyFinding] = []
    for key, target, log_dirs in _entries(reassignment):
        row = cluster.row_of.get(key)
        status = _status(cluster, row, target, before.get(key))
        statuses.append(status)
        if status is not Status.COMPLETED:
            findings.append(_not_completed(cluster, key, row, status, target))
        elif row is not None:
            findings += _completed(cluster, key, row, target, log_dirs)
    findings += _throttles_left(state, set(reassignment.topics), throttles)
    return Verification(statuses=tuple(statuses), findings=tuple(findings))


Key = tuple[str, int]
Brokers = tuple[int, ...]


def _entries(
    file: ReassignmentFile,
) -> Iterator[tuple[Key, Brokers, LogDirs | None]]:
    keys = zip(file.topics, file.partitions, strict=True)
    return zip(keys, file.replicas, file.log_dirs, strict=True)


def _lists(rollback: ReassignmentFile | None) -> dict[Key, Brokers]:
    if rollback is None:
        return {}
    return {key: replicas for key, replicas, _ in _entries(rollback)}


class _Cluster:
    """The columns of a cluster as plain lists: numpy is slow one row at a time."""

    def __init__(self, state: ClusterState) -> None:
        names = state.topics.names
        topics = [names[topic] for topic in state.partitions.topic_idx.tolist()]
        keys = zip(topics, state.partitions.partition.tolist(), strict=True)
        self.row_of: dict[Key, int] = {key: row for row, key in enumerate(keys)}
        ids = np.append(state.brokers.ids, ABSENT)
        self._start: list[int] = state.replicas.start.tolist()
        self._brokers = ids[state.replicas.broker_idx].tolist()
        self._is_adding = state.replicas.is_adding.tolist()
        self._is_removing = state.replicas.is_removing.tolist()
        self._log_dirs: list[int] = state.replicas.log_dir_idx.tolist()
        self._future_log_dirs: list[int] = state.replicas.future_log_dir_idx.tolist()
        self._paths: tuple[str | None, ...] = (*state.log_dirs.paths, None)
        self._dir_states = (*state.log_dirs.state.tolist(), LogDirState.ONLINE)
        self.is_reassigning = state.is_reassigning.tolist()
        self.leaders = ids[state.partitions.leader_idx].tolist()

    def _slots(self, row: int) -> range:
        return range(self._start[row], self._start[row + 1])

    def replicas(self, row: int) -> Brokers:
        return tuple(self._brokers[self._start[row] : self._start[row + 1]])

    def moving_to(self, row: int) -> Brokers:
        # Kafka lists the target first, then those that it removes.
        slots = self._slots(row)
        return tuple(self._brokers[s] for s in slots if not self._is_removing[s])

    def adding(self, row: int) -> Brokers:
        return tuple(self._brokers[s] for s in self._slots(row) if self._is_adding[s])

    def removing(self, row: int) -> Brokers:
        return tuple(self._brokers[s] for s in self._slots(row) if self._is_removing[s])

    def log_dir(self, row: int, slot: int) -> str | None:
        return self._paths[self._log_dirs[self._start[row] + slot]]

    def future_log_dir(self, row: int, slot: int) -> str | None:
        return self._paths[self._future_log_dirs[self._start[row] + slot]]

    def is_offline(self, row: int, slot: int) -> bool:
        state = self._dir_states[self._log_dirs[self._start[row] + slot]]
        return bool(state == LogDirState.OFFLINE)


def _status(
    cluster: _Cluster, row: int | None, target: Brokers, before: Brokers | None
) -> Status:
    if row is None:
        return Status.DIFFERS
    if cluster.is_reassigning[row]:
        is_ours = cluster.moving_to(row) == target
        return Status.IN_PROGRESS if is_ours else Status.SUPERSEDED
    now = cluster.replicas(row)
    if now == target:
        return Status.COMPLETED
    return Status.NOT_STARTED if now == before else Status.DIFFERS


def _finding(rule: str, key: Key, message: str, **where: object) -> VerifyFinding:
    topic, partition = key
    place = Where(topic=topic, partition=partition, **where)  # type: ignore[arg-type] # fields of Where
    message = f"{topic}-{partition}: {message}"
    return VerifyFinding(rule=rule, where=place, message=message)


def _not_completed(
    cluster: _Cluster, key: Key, row: int | None, status: Status, target: Brokers
) -> VerifyFinding:
    rule = status.value.replace("_", "-")
    if row is None:
        return _finding(rule, key, "there is no such partition")
    if status is Status.IN_PROGRESS:
        adding, removing = _listed(cluster.adding(row)), _listed(cluster.removing(row))
        return _finding(rule, key, f"adding {adding}; removing {removing}")
    if status is Status.SUPERSEDED:
        other = _listed(cluster.moving_to(row))
        return _finding(rule, key, f"moves to {other}, not to {_listed(target)}")
    now = _listed(cluster.replicas(row))
    return _finding(rule, key, f"replicas are {now}, not {_listed(target)}")


def _listed(brokers: Brokers) -> str:
    return ",".join(map(str, brokers)) or "none"


def _completed(
    cluster: _Cluster, key: Key, row: int, target: Brokers, log_dirs: LogDirs | None
) -> Iterator[VerifyFinding]:
    leader = cluster.leaders[row]
    if target and leader != target[0]:
        now = "no broker" if leader == ABSENT else f"broker {leader}"
        message = f"led by {now}, preferred is broker {target[0]}"
        yield _finding("leader-not-preferred", key, message, broker=target[0])
    for slot, path in enumerate(log_dirs or ()):
        wrong = None if path is None else _wrong_dir(cluster, row, slot, path)
        if wrong:
            message = f"on broker {target[slot]}: {wrong}"
            yield _finding("log-dir", key, message, broker=target[slot], log_dir=path)


def _wrong_dir(cluster: _Cluster, row: int, slot: int, path: str) -> str | None:
    now, future = cluster.log_dir(row, slot), cluster.future_log_dir(row, slot)
    if future == path:
        return f"still being moved from log dir {now} to {path}"
    if future is not None:
        return f"being moved to log dir {future} instead of {path}"
    if now is None:
        return f"nothing tells which log dir it lies in; {path} is planned"
    if now != path:
        return f"lies in log dir {now}, and is not being moved to {path}"
    return f"log dir {path} is offline" if cluster.is_offline(row, slot) else None


def _throttles_left(
    state: ClusterState, topics: set[str], throttles: Iterable[Throttle]
) -> Iterator[VerifyFinding]:
    """
    Find limits that serve no copy any more, as Kafka's own tool would clear them.

    Those of brokers while nothing is copied anywhere (within brokers, for the rate of
    log dirs); those of the plan's topics while none of their partitions is moved.
    """
    moving = state.is_reassigning
    busy = {
        state.topics.names[t] for t in set(state.partitions.topic_idx[moving].tolist())
    }
    is_copying_dirs = bool((state.replicas.future_log_dir_idx != ABSENT).any())
    for scope, name, key, value in throttles:
        is_topic = scope == "topic"
        if is_topic and (name not in topics or name in busy):
            continue
        is_used = is_copying_dirs if key == LOG_DIR_RATE else bool(busy)
        if is_used and not is_topic:
            continue
        where = Where(topic=name) if is_topic else Where(broker=_broker_id(name))
        yield VerifyFinding(
            rule="throttle-left",
            where=where,
            message=f"{scope} {name}: {key} is still set, to {_cut(value)}",
        )


def _broker_id(name: str) -> int | None:
    # An empty name is the default of all brokers.
    return int(name) if name.isdecimal() else None


def _cut(value: str) -> str:
    return value if len(value) <= 60 else f"{value[:57]}…"
