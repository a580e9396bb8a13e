"""Brokers of a simulated cluster, and their log dirs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from placement.array_types import FloatArray
from placement.model.cluster import BrokerState, ClusterState, LogDirState
from planner.execution.simulation.simulated_configs import Configs
from planner.kafka.read.log_dirs import BrokerDirs, Copy, Partition
from planner.verify.state_rows import Key

_KAFKA_STORAGE_ERROR = 56


@dataclass(slots=True, eq=False, kw_only=True)
class SimulatedDir:
    """
    A log dir.

    Parameters
    ----------
    number
        Row of the log dir in the columns of the cluster.
    path
        Absolute path.
    size_bytes
        Bytes of the disk; negative where unknown.
    is_online, is_cordoned
        Whether it works, and whether brokers choose it for no new replica.
    num_logs
        Number of replicas in it, future ones included.
    """

    number: int
    path: str
    size_bytes: int
    is_online: bool
    is_cordoned: bool
    num_logs: int


@dataclass(slots=True, eq=False, kw_only=True)
class SimulatedBroker:
    """
    A registered broker.

    Parameters
    ----------
    broker
        Broker id.
    number
        Row of the broker in the columns of the cluster.
    is_live
        Whether it is neither fenced nor down.
    configs
        Configs of the broker itself.
    dirs
        Log dirs by path; none where unknown.
    remembered
        Log dirs for replicas that it does not have yet.
    down_s
        Time at which it went down.
    """

    broker: int
    number: int
    is_live: bool
    configs: Configs
    dirs: dict[str, SimulatedDir] = field(default_factory=dict)
    remembered: dict[Key, str] = field(default_factory=dict)
    down_s: float = 0.0

    @property
    def can_run(self) -> bool:
        """Whether a log dir works; without any a broker ends."""
        return not self.dirs or any(one.is_online for one in self.dirs.values())

    def is_online(self, path: str | None) -> bool:
        """Return whether replicas in a log dir are online; `None`: any log dir."""
        found = None if path is None else self.dirs.get(path)
        return self.is_live and (found is None or found.is_online)

    def choose_dir(self, key: Key) -> str | None:
        """
        Return the log dir of a new replica: the remembered one, or that with fewest.

        `None`: the log dirs are unknown.
        """
        path = self.remembered.pop(key, None)
        if path is not None and self.is_online(path):
            return path
        online = [one for one in self.dirs.values() if one.is_online]
        chosen = [one for one in online if not one.is_cordoned] or online
        least = min(chosen, key=lambda one: (one.num_logs, one.path), default=None)
        return None if least is None else least.path

    def count(self, path: str | None, by: int) -> int | None:
        """Count logs of a log dir; return its number, `None` if it is unknown."""
        found = None if path is None else self.dirs.get(path)
        if found is None:
            return None
        found.num_logs += by
        return found.number

    def described(
        self,
        current: Mapping[Partition, Copy],
        future: Mapping[Partition, Copy],
        free_bytes: FloatArray,
        at_s: float,
    ) -> BrokerDirs:
        """Return the log dirs as the broker describes them."""
        dirs = tuple(_described(one, free_bytes) for one in self.dirs.values())
        return BrokerDirs(dirs, current, future, at_s)


def _described(one: SimulatedDir, free_bytes: FloatArray) -> Mapping[str, Any]:
    free = float(free_bytes[one.number])
    is_known = one.is_online and np.isfinite(free)
    return {
        "error_code": 0 if one.is_online else _KAFKA_STORAGE_ERROR,
        "log_dir": one.path,
        "total_bytes": one.size_bytes if one.is_online else -1,
        "usable_bytes": max(int(free), 0) if is_known else -1,
        "is_cordoned": one.is_cordoned,
    }


def brokers_of(
    state: ClusterState, configs: Iterable[Mapping[str, str] | None]
) -> dict[int, SimulatedBroker]:
    """
    Return the registered brokers of a cluster by id.

    Parameters
    ----------
    state
        The cluster.
    configs
        Configs of each broker.
    """
    dirs = _dirs_by_broker(state)
    live = state.brokers.is_live.tolist()
    return {
        broker: SimulatedBroker(
            broker=broker,
            number=number,
            is_live=live[number],
            configs=Configs(own or {}),
            dirs=dirs[number],
        )
        for number, (broker, of_broker, own) in enumerate(
            zip(
                state.brokers.ids.tolist(),
                state.brokers.state.tolist(),
                configs,
                strict=True,
            )
        )
        if of_broker != BrokerState.DEAD
    }


def _dirs_by_broker(state: ClusterState) -> dict[int, dict[str, SimulatedDir]]:
    found: dict[int, dict[str, SimulatedDir]] = defaultdict(dict)
    rows = state.log_dirs
    logs = np.zeros(len(rows.paths), dtype=np.int64)
    for column in (state.replicas.log_dir_idx, state.replicas.future_log_dir_idx):
        logs += np.bincount(column[column >= 0], minlength=len(logs))
    for number, path in enumerate(rows.paths):
        found[int(rows.broker_idx[number])][path] = SimulatedDir(
            number=number,
            path=path,
            size_bytes=int(rows.size_bytes[number]),
            is_online=bool(rows.state[number] != LogDirState.OFFLINE),
            is_cordoned=bool(rows.state[number] == LogDirState.CORDONED),
            num_logs=int(logs[number]),
        )
    return found


def free_bytes_of(state: ClusterState) -> FloatArray:
    """Return ``(D,)`` the free bytes of log dirs, infinite where unknown."""
    usable = state.log_dirs.usable_bytes.astype(np.float64)
    return np.where(usable < 0, np.inf, usable)
