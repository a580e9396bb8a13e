"""
The state of a cluster: replicas, leaders, loads and sizes.

It consists of columns only (see `placement.model.columns`), checked for consistency on
construction.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from placement.array_types import (
    BoolArray,
    IndexArray,
    OffsetArray,
)
from placement.errors import InvalidClusterError
from placement.model.columns import (
    ABSENT,
    UNKNOWN,
    Brokers,
    BrokerState,
    LogDirs,
    LogDirState,
    Partitions,
    Replicas,
    Storage,
    Topics,
    sum_rows,
)

__all__ = [
    "ABSENT",
    "UNKNOWN",
    "BrokerState",
    "Brokers",
    "ClusterState",
    "LogDirState",
    "LogDirs",
    "Partitions",
    "Replicas",
    "Storage",
    "Topics",
    "sum_rows",
    "twice_on_a_broker",
]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, weakref_slot=True)
class ClusterState:
    """
    Brokers, log dirs and replicas of a cluster, with leaders, loads and sizes.

    Parameters
    ----------
    cluster_id
        Kafka's cluster id, or `None`.
    brokers, log_dirs, topics, partitions, replicas
        The columns; see each class.
    caps_min_isr
        Whether brokers take the number of listed replicas where min.insync.replicas is
        larger, as Kafka 3.7 and later do. Older brokers refuse producers with acks=all
        there, however many replicas are in sync.

    Raises
    ------
    InvalidClusterError
        If a row index is out of range, rows are out of order, or a partition has no
        replica, or two on one broker.
    """

    cluster_id: str | None
    brokers: Brokers
    log_dirs: LogDirs
    topics: Topics
    partitions: Partitions
    replicas: Replicas
    caps_min_isr: bool = False

    def __post_init__(self) -> None:
        if problems := _problems(self):
            raise InvalidClusterError(problems)

    @property
    def num_partitions(self) -> int:
        """Number of partitions, ``P``."""
        return len(self.partitions)

    @property
    def num_brokers(self) -> int:
        """Number of brokers, ``B``."""
        return len(self.brokers)

    @property
    def num_racks(self) -> int:
        """Number of racks; each broker without a rack counts as one."""
        return len(self.brokers.racks)

    @property
    def num_replicas(self) -> npt.NDArray[np.int64]:
        """``(P,)`` number of listed replicas of each partition, with adding ones."""
        return np.diff(self.replicas.start)

    @property
    def replication_factor(self) -> npt.NDArray[np.int64]:
        """``(P,)`` number of replicas of each partition, without those being added."""
        return self.num_replicas - sum_rows(
            self.replicas.is_adding, self.replicas.start
        )

    @property
    def target_factor(self) -> npt.NDArray[np.int64]:
        """``(P,)`` number of replicas of each partition after its reassignment."""
        return self.num_replicas - sum_rows(
            self.replicas.is_removing, self.replicas.start
        )

    @property
    def min_isr(self) -> IndexArray:
        """``(P,)`` smallest ISR that accepts producers with acks=all."""
        least = self.topics.min_insync_replicas[self.partitions.topic_idx]
        if self.caps_min_isr:
            least = np.minimum(least, self.num_replicas).astype(np.int32)
        return least

    @property
    def is_min_isr_out_of_reach(self) -> BoolArray:
        """``(P,)`` true where min.insync.replicas is above the number of replicas."""
        least = self.topics.min_insync_replicas[self.partitions.topic_idx]
        return np.greater(least, self.num_replicas)

    @property
    def is_offline(self) -> BoolArray:
        """``(R,)`` true if broker or log dir is not live, or the replica failed."""
        replicas, dirs = self.replicas, self.log_dirs
        found: BoolArray = (
            ~self.brokers.is_live[replicas.broker_idx] | replicas.is_failed
        )
        if len(dirs):
            is_lost = np.equal(dirs.state, LogDirState.OFFLINE)
            found |= (replicas.log_dir_idx != ABSENT) & is_lost[replicas.log_dir_idx]
        return found

    @property
    def can_lead(self) -> BoolArray:
        """
        ``(R,)`` true for replicas that Kafka may elect without losing records.

        Those are replicas of the ISR that are not offline, and the leader. If a
        partition has none, those of the ELR that are not offline (KIP-966).
        """
        serves = ~self.is_offline
        in_sync: BoolArray = serves & self.replicas.is_in_sync
        if not in_sync.all():
            # Kafka has every leader in the ISR; a file may leave it out.
            leader = self.partitions.leader_idx[self.replicas.partition_idx]
            in_sync |= serves & np.equal(self.replicas.broker_idx, leader)
        eligible = serves & self.replicas.is_eligible
        if not eligible.any():
            return in_sync
        is_led = sum_rows(in_sync, self.replicas.start) > 0
        return in_sync | (eligible & ~is_led[self.replicas.partition_idx])

    @property
    def has_source(self) -> BoolArray:
        """``(P,)`` true if a partition has a source for copies: a replica can lead."""
        can_lead = self.can_lead
        if can_lead.all():
            return np.ones(self.num_partitions, dtype=np.bool_)
        return np.greater(sum_rows(can_lead, self.replicas.start), 0)

    @property
    def is_reassigning(self) -> BoolArray:
        """``(P,)`` true while a reassignment of the partition runs."""
        changing = self.replicas.is_adding | self.replicas.is_removing
        return np.greater(sum_rows(changing, self.replicas.start), 0)

    def key_of(self, partition_idx: int) -> tuple[str, int]:
        """Return the topic and the number of one partition."""
        topic = self.topics.names[self.partitions.topic_idx[partition_idx]]
        return topic, int(self.partitions.partition[partition_idx])

    def place_of(self, partition_idx: int) -> dict[str, Any]:
        """Return the topic and the number of one partition, as in documents."""
        topic, number = self.key_of(partition_idx)
        return {"topic": topic, "partition": number}

    def name_of(self, partition_idx: int) -> str:
        """Return ``topic-partition`` of one row, as Kafka's tools print it."""
        topic, number = self.key_of(partition_idx)
        return f"{topic}-{number}"

    def brokers_of(self, partition_idx: int) -> list[int]:
        """Return the broker ids of one partition's replicas, in order."""
        start, stop = self.replicas.start[partition_idx : partition_idx + 2]
        rows = self.replicas.broker_idx[start:stop]
        return [int(broker) for broker in self.brokers.ids[rows]]

    def with_brokers(self, **columns: object) -> Self:
        """Return this cluster with some columns of its brokers replaced."""
        return replace(self, brokers=replace(self.brokers, **columns))  # type: ignore[arg-type]


def _problems(state: ClusterState) -> list[str]:
    shape = [*_order_problems(state), *_reference_problems(state)]
    return shape or [*_empty_problems(state), *_twice_problems(state)]


def _order_problems(state: ClusterState) -> list[str]:
    brokers, log_dirs, partitions = state.brokers, state.log_dirs, state.partitions
    topic, number = partitions.topic_idx, partitions.partition
    same_topic = np.equal(topic[1:], topic[:-1])
    is_ascending = np.where(same_topic, np.diff(number) > 0, np.diff(topic) > 0)
    start = state.replicas.start
    rules = [
        ("broker ids must ascend", np.all(np.diff(brokers.ids) > 0)),
        (
            "log dirs must be sorted by broker",
            np.all(np.diff(log_dirs.broker_idx) >= 0),
        ),
        ("partitions must be sorted by topic and number", np.all(is_ascending)),
        (
            "replicas.start must ascend from 0 to the number of replicas",
            len(start) == len(partitions) + 1
            and start[0] == 0
            and start[-1] == len(state.replicas)
            and np.all(np.diff(start) >= 0),
        ),
    ]
    return [message for message, is_kept in rules if not is_kept]


def _reference_problems(state: ClusterState) -> list[str]:
    num_brokers, num_dirs = len(state.brokers), len(state.log_dirs)
    references = [
        ("brokers.rack_idx", state.brokers.rack_idx, 0, len(state.brokers.racks)),
        ("brokers.host_idx", state.brokers.host_idx, 0, len(state.brokers.hosts)),
        (
            "brokers.broker_set_idx",
            state.brokers.broker_set_idx,
            ABSENT,
            len(state.brokers.broker_sets),
        ),
        ("log_dirs.broker_idx", state.log_dirs.broker_idx, 0, num_brokers),
        ("partitions.topic_idx", state.partitions.topic_idx, 0, len(state.topics)),
        ("partitions.leader_idx", state.partitions.leader_idx, ABSENT, num_brokers),
        ("replicas.broker_idx", state.replicas.broker_idx, 0, num_brokers),
        ("replicas.log_dir_idx", state.replicas.log_dir_idx, ABSENT, num_dirs),
        (
            "replicas.future_log_dir_idx",
            state.replicas.future_log_dir_idx,
            ABSENT,
            num_dirs,
        ),
    ]
    return [
        f"{name} must lie in {low}..{high - 1}, got {rows.min()}..{rows.max()}"
        for name, rows, low, high in references
        if len(rows) and (rows.min() < low or rows.max() >= high)
    ]


def _empty_problems(state: ClusterState) -> list[str]:
    return [
        f"{state.name_of(int(p))} has no replicas; a partition has at least one"
        for p in np.nonzero(np.equal(state.num_replicas, 0))[0]
    ]


def _twice_problems(state: ClusterState) -> list[str]:
    return [
        f"{state.name_of(p)} has two replicas on broker {state.brokers.ids[b]}; "
        "replicas of a partition are on distinct brokers"
        for p, b in twice_on_a_broker(state.replicas.broker_idx, state.replicas.start)
    ]


def twice_on_a_broker(
    broker_idx: IndexArray, start: OffsetArray
) -> list[tuple[int, int]]:
    """
    Find partitions that have two replicas on one broker.

    Parameters
    ----------
    broker_idx
        ``(R,)`` broker of each replica.
    start
        ``(P + 1,)`` start of the replicas of each partition.

    Returns
    -------
    (partition, broker) rows, ascending, each pair once.
    """
    if not len(broker_idx):
        return []
    counts = np.diff(start)
    partition = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    key = partition * (int(broker_idx.max()) + 1) + broker_idx
    if counts.max() > 8:
        key.sort()
        twice = key[1:][np.equal(key[1:], key[:-1])]
    else:
        # Replicas of a partition are neighbours: those `step` rows apart cover all
        # pairs without sorting a million keys.
        twice = np.concatenate(
            [
                key[step:][np.equal(key[step:], key[:-step])]
                for step in range(1, int(counts.max()))
            ]
            or [key[:0]]
        )
    width = int(broker_idx.max()) + 1
    return [divmod(int(k), width) for k in np.unique(twice)]
