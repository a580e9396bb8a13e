"""A running cluster as a run sees it: the real one, or a simulated one."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from planner.kafka.actions.config_changes import ConfigChanges, Place
from planner.kafka.read.log_dirs import BrokerDirs
from planner.kafka_files.creation import Creation
from planner.snapshot import Snapshot
from planner.verify.state_rows import Brokers, Key

ReplicaKey = tuple[Key, int]
"""A replica: its partition, and the id of its broker."""


@dataclass(frozen=True, slots=True)
class Reassigned:
    """
    A reassignment under way.

    Parameters
    ----------
    target
        Broker ids that the partition gets, preferred leader first.
    adding, removing
        Brokers that receive a new replica, and that lose theirs.
    """

    target: Brokers
    adding: Brokers
    removing: Brokers


@dataclass(frozen=True, slots=True)
class Seen:
    """
    A partition as brokers describe it.

    Parameters
    ----------
    replicas
        Broker ids in the order of Kafka's list.
    in_sync
        Brokers in sync.
    leader
        Leader; `None`: the partition has none.
    topic_id
        Id of its topic; `None`: unknown.
    """

    replicas: Brokers
    in_sync: Brokers
    leader: int | None
    topic_id: str | None


@dataclass(frozen=True, slots=True)
class Health:
    """
    Number of partitions in trouble.

    Parameters
    ----------
    offline
        Partitions without a leader.
    under_min_isr
        Partitions with fewer replicas in sync than ``min.insync.replicas``.
    under_replicated
        Partitions with a replica out of sync that no reassignment adds.
    """

    offline: int = 0
    under_min_isr: int = 0
    under_replicated: int = 0


class RunningCluster(Protocol):
    """
    Requests of a run.

    Each may raise `ClusterUnavailableError` if the cluster does not answer in time;
    those that change it raise `AnswerUnknownError` once they may have been sent.
    """

    def now_s(self) -> float:
        """Return seconds on a monotonic clock."""

    def sleep(self, seconds: float) -> None:
        """Wait for some seconds."""

    def snapshot(self, sample_s: float = 0.0) -> Snapshot:
        """Return the whole cluster; rates are sampled for some seconds, 0: none."""

    def live_brokers(self) -> frozenset[int]:
        """Return the brokers that are registered and not fenced."""

    def reassignments(self) -> dict[Key, Reassigned]:
        """Return every reassignment under way."""

    def partitions(self, keys: Collection[Key]) -> dict[Key, Seen]:
        """Return partitions as brokers describe them; those that are gone lack."""

    def log_dirs(self, replicas: Collection[ReplicaKey]) -> dict[int, BrokerDirs]:
        """Return the log dirs of the brokers of some replicas, with these replicas."""

    def health(self) -> Health:
        """Return the number of partitions in trouble."""

    def reassign(self, targets: Mapping[Key, Brokers | None]) -> dict[Key, str]:
        """Start reassignments, or cancel those with `None`; return the refusals."""

    def move_replicas(self, paths: Mapping[ReplicaKey, str]) -> dict[ReplicaKey, str]:
        """
        Move replicas to log dirs of their brokers; return the refusals.

        A broker remembers the log dir of a replica that it does not have yet.
        """

    def create(self, wanted: Creation, *, is_trial: bool = False) -> str | None:
        """Create partitions, or validate the request only; return the refusal."""

    def elect(self, keys: Collection[Key]) -> dict[Key, str]:
        """Elect the preferred leaders of partitions; return the refusals."""

    def configs(self, places: Collection[Place]) -> dict[Place, dict[str, str]]:
        """Return the dynamic configs of live brokers and of topics that exist."""

    def set_configs(self, changes: Mapping[Place, ConfigChanges]) -> dict[Place, str]:
        """Change configs; return the refusals, also of brokers that are down."""
