"""Columns of a cluster with quick access to single rows."""

from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from placement.array_types import IndexArray
from placement.model.cluster import ABSENT, BrokerState, ClusterState, LogDirState
from planner.kafka_files.reassignment_file import LogDirs, ReassignmentFile

Key = tuple[str, int]
Brokers = tuple[int, ...]

STATE_WORDS = {
    BrokerState.FENCED: "fenced",
    BrokerState.DEAD: "dead",
    BrokerState.SHUTTING_DOWN: "shutting down",
}


class Entry(NamedTuple):
    """One partition of a reassignment file."""

    key: Key
    replicas: Brokers
    log_dirs: LogDirs | None


def entries_of(file: ReassignmentFile | None) -> Iterator[Entry]:
    """Yield the entries of a file; none for `None`."""
    if file is None:
        return
    keys = zip(file.topics, file.partitions, strict=True)
    for key, replicas, log_dirs in zip(keys, file.replicas, file.log_dirs, strict=True):
        yield Entry(key, replicas, log_dirs)


class ClusterRows:
    """
    Access to partitions by topic and number, and to brokers by id.

    Columns are bytes and arrays of small numbers: lists of a large cluster take many
    times as much, and numpy is slow at single rows.
    """

    def __init__(self, state: ClusterState) -> None:
        names = state.topics.names
        topics = [names[topic] for topic in state.partitions.topic_idx.tolist()]
        keys = zip(topics, state.partitions.partition.tolist(), strict=True)
        self.row_of: dict[Key, int] = {key: row for row, key in enumerate(keys)}
        ids = np.append(state.brokers.ids, ABSENT)
        replicas = state.replicas
        self._start = array("q", replicas.start.astype(np.int64).tobytes())
        self._brokers = _numbers(ids[replicas.broker_idx])
        self._flags = {
            "adding": replicas.is_adding.tobytes(),
            "removing": replicas.is_removing.tobytes(),
            "in_sync": replicas.is_in_sync.tobytes(),
            "eligible": replicas.is_eligible.tobytes(),
            "last_eligible": replicas.is_last_known_eligible.tobytes(),
            "failed": replicas.is_failed.tobytes(),
        }
        self._log_dirs = _numbers(replicas.log_dir_idx)
        self._future_log_dirs = _numbers(replicas.future_log_dir_idx)
        self._paths: tuple[str | None, ...] = (*state.log_dirs.paths, None)
        self._broker_states = dict(
            zip(state.brokers.ids.tolist(), state.brokers.state.tolist(), strict=True)
        )
        self._live = set(state.brokers.ids[state.brokers.is_live].tolist())
        self._offline_dirs = _offline_dirs(state)
        self.is_reassigning = state.is_reassigning.tobytes()
        self.leaders = _numbers(ids[state.partitions.leader_idx])

    def _slots(self, row: int) -> range:
        return range(self._start[row], self._start[row + 1])

    def replicas(self, row: int) -> Brokers:
        """Return the broker ids of a partition, in the order of Kafka's list."""
        return tuple(self._brokers[self._start[row] : self._start[row + 1]])

    def moving_to(self, row: int) -> Brokers:
        """Return the target list of a reassignment."""
        # Kafka lists the target replicas first, then the removed ones.
        removing = self._flags["removing"]
        return tuple(self._brokers[s] for s in self._slots(row) if not removing[s])

    def flagged(self, row: int, flag: str) -> Brokers:
        """Return the brokers of replicas ``adding``, ``removing``, ``in_sync``, …."""
        flags = self._flags[flag]
        return tuple(self._brokers[s] for s in self._slots(row) if flags[s])

    def stuck_brokers(self, row: int) -> Brokers:
        """Return the brokers that a reassignment both adds and removes."""
        removing = self.flagged(row, "removing")
        return tuple(b for b in self.flagged(row, "adding") if b in removing)

    def log_dir(self, row: int, slot: int) -> str | None:
        """Return the log dir of a replica, where known."""
        return self._paths[self._log_dirs[self._start[row] + slot]]

    def future_log_dir(self, row: int, slot: int) -> str | None:
        """Return the log dir to which a replica is being copied, or `None`."""
        return self._paths[self._future_log_dirs[self._start[row] + slot]]

    def is_dir_offline(self, broker: int, path: str | None) -> bool:
        """Return whether a log dir of a broker is offline."""
        return (broker, path) in self._offline_dirs

    def is_live(self, broker: int) -> bool:
        """Return whether a broker is live."""
        return broker in self._live

    def is_fenced(self, broker: int) -> bool:
        """Return whether a broker is registered and fenced."""
        return self._broker_states.get(broker) == BrokerState.FENCED

    def broker_text(self, broker: int) -> str:
        """Return a broker as text, with its state if it is not live."""
        if self.is_live(broker):
            return f"broker {broker}"
        state = self._broker_states.get(broker)
        word = "unknown" if state is None else STATE_WORDS[BrokerState(state)]
        return f"broker {broker}, {word}"


def _numbers(column: IndexArray) -> "array[int]":
    """Return a column of broker ids or rows with quick access to single ones."""
    return array("i", column.astype(np.intc).tobytes())


def _offline_dirs(state: ClusterState) -> set[tuple[int, str]]:
    offline = np.equal(state.log_dirs.state, LogDirState.OFFLINE)
    brokers = state.brokers.ids[state.log_dirs.broker_idx[offline]].tolist()
    rows = np.nonzero(offline)[0].tolist()
    paths = [state.log_dirs.paths[row] for row in rows]
    return set(zip(brokers, paths, strict=True))


def listed(brokers: Brokers) -> str:
    """Return broker ids with commas between, or ``none``."""
    return ",".join(map(str, brokers)) or "none"
