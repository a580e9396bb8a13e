"""Partitions of a simulated cluster: columns until one changes, then an object."""

import base64
import uuid
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import ABSENT, ClusterState
from planner.execution.simulation.simulated_configs import Configs
from planner.execution.simulation.simulated_partition import SimulatedPartition
from planner.verify.state_rows import Brokers, Key


@dataclass(slots=True, eq=False, kw_only=True)
class SimulatedTopic:
    """
    A topic.

    Parameters
    ----------
    name, topic_id
        Name and id.
    configs
        Configs of the topic itself.
    rows
        Rows of its partitions in the snapshot, by number.
    added
        Numbers of its other partitions.
    """

    name: str
    topic_id: str | None
    configs: Configs
    rows: range = range(0)
    added: list[int] = field(default_factory=list)


class PartitionTable:
    """
    Topics and partitions by name.

    Parameters
    ----------
    state
        The cluster at first. A partition is read from it when it is looked at, and an
        object while it is changed; between changes it takes a few bytes.

    Attributes
    ----------
    topics
        Topics by name.
    changed
        Partitions under change, and those that the snapshot does not have.
    """

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._numbers = state.partitions.partition
        self.topics = {one.name: one for one in _topics(state)}
        self.changed: dict[Key, SimulatedPartition] = {}
        # Leader, replicas and numbers of their paths of partitions at rest.
        self._resting: dict[Key, bytes] = {}
        self._paths: list[str | None] = []
        self._number_of: dict[str | None, int] = {}
        self._made = 0

    def row_of(self, key: Key) -> int | None:
        """Return the row of a partition of the snapshot that still exists."""
        topic = self.topics.get(key[0])
        rows = range(0) if topic is None else topic.rows
        numbers = self._numbers[rows.start : rows.stop]
        at = int(np.searchsorted(numbers, key[1]))
        return rows[at] if at < len(rows) and numbers[at] == key[1] else None

    def find(self, key: Key) -> SimulatedPartition | None:
        """Return a partition to look at; `None`: there is none."""
        if found := self.changed.get(key):
            return found
        row = self.row_of(key)
        if row is None:
            return None
        found, packed = self._read(key, row), self._resting.get(key)
        if packed is not None:
            self._unpack(found, packed)
        return found

    def keep(self, one: SimulatedPartition) -> None:
        """Keep a partition that is about to change."""
        self.changed[one.key] = one
        self._resting.pop(one.key, None)

    def rest(self, one: SimulatedPartition) -> None:
        """Keep a partition in a few bytes, if it is at rest."""
        if one.row is None or not one.is_at_rest:
            return
        paths = [self._number(one.paths[broker]) for broker in one.replicas]
        self._resting[one.key] = array(
            "i", [one.leader or 0, *one.replicas, *paths]
        ).tobytes()
        self.changed.pop(one.key, None)

    def _number(self, path: str | None) -> int:
        number = self._number_of.setdefault(path, len(self._paths))
        if number == len(self._paths):
            self._paths.append(path)
        return number

    def _unpack(self, found: SimulatedPartition, packed: bytes) -> None:
        found.leader, *numbers = array("i", packed)
        half = len(numbers) // 2
        found.replicas = found.in_sync = tuple(numbers[:half])
        paths = (self._paths[number] for number in numbers[half:])
        found.paths = dict(zip(found.replicas, paths, strict=True))
        found.adding = found.removing = found.eligible = found.last_leader = ()
        found.failed, found.missing, found.future = (), {}, {}
        found.future_missing = {}

    def other_than_first(self) -> Iterator[SimulatedPartition]:
        """Yield the partitions that have changed since the snapshot."""
        yield from self.changed.values()
        for key in self._resting:
            if (one := self.find(key)) is not None:
                yield one

    def touch(self, key: Key) -> SimulatedPartition | None:
        """Return a partition to change; `None`: there is none."""
        found = self.find(key)
        if found is not None:
            self.keep(found)
        return found

    def on_broker(self, broker: int) -> list[SimulatedPartition]:
        """Return the partitions with a replica on a broker, to change them."""
        state = self._state
        is_here = state.brokers.ids[state.replicas.broker_idx] == broker
        for row in state.replicas.partition_idx[is_here].tolist():
            key = state.key_of(row)
            if self.row_of(key) == row:
                self.touch(key)
        for one in [one for one in self.other_than_first() if broker in one.replicas]:
            self.keep(one)
        return [one for one in self.changed.values() if broker in one.replicas]

    def unsettled(self) -> Iterator[SimulatedPartition]:
        """Yield the partitions of the snapshot that are reassigned, moved or behind."""
        replicas = self._state.replicas
        is_busy = replicas.is_adding | replicas.is_removing | ~replicas.is_in_sync
        is_busy |= replicas.future_log_dir_idx != ABSENT
        rows = _rows_with(is_busy, self._state)
        rows |= np.equal(self._state.partitions.leader_idx, ABSENT)
        for row in np.flatnonzero(rows).tolist():
            found = self.touch(self._state.key_of(row))
            if found is not None:
                yield found

    def _read(self, key: Key, row: int) -> SimulatedPartition:
        state = self._state
        slots = slice(*state.replicas.start[row : row + 2].tolist())
        brokers = state.brokers.ids[state.replicas.broker_idx[slots]].tolist()
        replicas = tuple(brokers)

        def flagged(column: BoolArray) -> Brokers:
            flags = column[slots].tolist()
            return replicas if all(flags) else _chosen(replicas, flags)

        leader = int(state.partitions.leader_idx[row])
        rate = float(state.partitions.in_bytes_per_s[row])
        found = SimulatedPartition(
            key=key,
            size_bytes=max(float(state.partitions.size_bytes[row]), 0.0),
            in_bytes_per_s=0.0 if np.isnan(rate) else rate,
            replicas=replicas,
            in_sync=flagged(state.replicas.is_in_sync),
            leader=None if leader == ABSENT else int(state.brokers.ids[leader]),
            row=row,
            adding=tuple(sorted(flagged(state.replicas.is_adding))),
            removing=tuple(sorted(flagged(state.replicas.is_removing))),
            eligible=flagged(state.replicas.is_eligible),
            last_leader=flagged(state.replicas.is_last_known_eligible),
        )
        self._read_dirs(found, slots)
        return found

    def _read_dirs(self, found: SimulatedPartition, slots: slice) -> None:
        replicas, paths = self._state.replicas, self._state.log_dirs.paths
        failed = replicas.is_failed[slots].tolist()
        found.failed = _chosen(found.replicas, failed)
        dirs = replicas.log_dir_idx[slots].tolist()
        future = replicas.future_log_dir_idx[slots].tolist()
        own = replicas.own_bytes[slots].tolist()
        for broker, at, to, held in zip(found.replicas, dirs, future, own, strict=True):
            found.paths[broker] = None if at < 0 else paths[at]
            if to >= 0:
                found.future[broker] = paths[to]
                found.future_missing[broker] = found.size_bytes
            if broker not in found.in_sync:
                is_new = broker in found.adding
                default = 0.0 if is_new else found.size_bytes
                known = default if held < 0 else float(held)
                found.missing[broker] = max(found.size_bytes - known, 0.0)

    def keys_of(self, topic: SimulatedTopic) -> list[Key]:
        """Return the partitions of a topic."""
        numbers = self._numbers[topic.rows.start : topic.rows.stop].tolist()
        return [(topic.name, number) for number in [*numbers, *topic.added]]

    def create_topic(self, name: str) -> SimulatedTopic:
        """Create a topic without partitions, with a new id."""
        self._made += 1
        number = uuid.uuid5(uuid.NAMESPACE_OID, f"{name} {self._made}")
        topic_id = base64.urlsafe_b64encode(number.bytes).decode().rstrip("=")
        topic = SimulatedTopic(name=name, topic_id=topic_id, configs=Configs({}))
        self.topics[name] = topic
        return topic

    def delete_topic(self, name: str) -> None:
        """Delete a topic with its partitions."""
        topic = self.topics[name]
        for key in self.keys_of(topic):
            self.changed.pop(key, None)
            self._resting.pop(key, None)
        del self.topics[name]

    def create_partition(self, found: SimulatedPartition) -> None:
        """Add a partition to its topic."""
        topic, number = found.key
        self.topics[topic].added.append(number)
        self.changed[found.key] = found


def _chosen(replicas: Brokers, flags: Iterable[bool]) -> Brokers:
    return tuple(b for b, is_in in zip(replicas, flags, strict=True) if is_in)


def _rows_with(is_wanted: BoolArray, state: ClusterState) -> BoolArray:
    """Return ``(P,)`` true for partitions with a wanted replica."""
    running = np.append(0, np.cumsum(is_wanted))
    start = state.replicas.start
    found: BoolArray = np.greater(running[start[1:]], running[start[:-1]])
    return found


def _topics(state: ClusterState) -> Iterator[SimulatedTopic]:
    names = state.topics.names
    topic_idx = state.partitions.topic_idx
    low = np.searchsorted(topic_idx, np.arange(len(names)), side="left").tolist()
    high = np.searchsorted(topic_idx, np.arange(len(names)), side="right").tolist()
    for at, name in enumerate(names):
        yield SimulatedTopic(
            name=name,
            topic_id=state.topics.topic_ids[at],
            configs=Configs(state.topics.configs[at]),
            rows=range(low[at], high[at]),
        )
