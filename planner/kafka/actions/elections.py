"""
Leader elections: predicted and actual decisions of the controller.

The outcome of an election is predicted from one view of the cluster by Kafka's own
rules. The same list is shown and then executed; no election outside of the list is
requested.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from planner.io.records import Int32, Record
from planner.kafka.read.log_dirs import Partition


class ElectionType(StrEnum):
    """Type of election: only the preferred leader in sync, or any online replica."""

    PREFERRED = "preferred"
    UNCLEAN = "unclean"

    @property
    def code(self) -> int:
        """Number of the election type in Kafka's protocol."""
        return 0 if self is ElectionType.PREFERRED else 1


class Outcome(StrEnum):
    """Outcome of the election of one partition."""

    TO_ELECT = "to-elect"
    ELECTED = "elected"
    ALREADY_PREFERRED = "already-preferred"
    HAS_LEADER = "has-leader"
    PREFERRED_NOT_AVAILABLE = "preferred-not-available"
    NO_REPLICA_AVAILABLE = "no-replica-available"
    UNKNOWN_PARTITION = "unknown-partition"
    FAILED = "failed"

    @property
    def is_fine(self) -> bool:
        """Whether the partition has the requested leader, or will have it."""
        return self in {
            Outcome.TO_ELECT,
            Outcome.ELECTED,
            Outcome.ALREADY_PREFERRED,
            Outcome.HAS_LEADER,
        }

    @property
    def is_change(self) -> bool:
        """Whether the leader changes or has changed."""
        return self in {Outcome.TO_ELECT, Outcome.ELECTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    State of one partition as described by the brokers.

    Parameters
    ----------
    name
        Topic and number of the partition.
    leader
        Id of the leader; `None`: no leader.
    replicas
        Broker ids, preferred leader first.
    isr, elr, last_known_elr
        In-sync replicas, eligible leader replicas that are not in sync, and the last
        known leader.
    offline
        Replicas on a fenced broker or in a failed log dir.
    """

    name: Partition
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()

    @classmethod
    def from_answer(cls, topic: str, one: Mapping[str, Any]) -> Self:
        """Build the state from a partition in the description of a topic."""
        return cls(
            name=Partition(topic, one["partition_index"]),
            leader=one["leader_id"] if one["leader_id"] >= 0 else None,
            replicas=tuple(one["replica_nodes"]),
            isr=tuple(one["isr_nodes"]),
            elr=tuple(one.get("eligible_leader_replicas") or ()),
            last_known_elr=tuple(one.get("last_known_elr") or ()),
            offline=tuple(one.get("offline_replicas") or ()),
        )

    @property
    def online(self) -> list[int]:
        """Online replicas in assignment order."""
        return [one for one in self.replicas if one not in self.offline]

    @property
    def valid(self) -> list[int]:
        """Online replicas that can lead without data loss, in assignment order."""
        complete = self.isr or self.elr
        return [one for one in self.online if one in complete]

    @property
    def complete(self) -> tuple[int, ...]:
        """Replicas known to hold every acknowledged record."""
        return self.isr or self.elr or self.last_known_elr


class PartitionRecord(Record):
    """One partition."""

    topic: str
    partition: Int32

    @property
    def name(self) -> Partition:
        """Topic and number of the partition."""
        return Partition(self.topic, self.partition)


class ElectedPartitionRecord(PartitionRecord):
    """Outcome of the election of one partition; leaders are null where none exists."""

    outcome: Outcome
    leader: Int32 | None
    """Id of the leader before."""
    new_leader: Int32 | None
    """Id of the leader after."""
    unclean: bool
    """Whether the election loses records."""
    message: str
    """Reason why no election is possible, or another remark; may be empty."""


class LossRecord(PartitionRecord):
    """Records that an unclean election loses."""

    new_leader: Int32
    """Id of the new leader; the other replicas are truncated to its log."""
    kept_bytes: int | None
    """Size of the new leader's log in bytes; null where unknown."""
    complete_replicas: list[Int32]
    """Ids of offline brokers with more records; their return would avoid the loss."""
    message: str


class ElectRecord(Record):
    """The document of `elect --format json`."""

    election_type: ElectionType
    done: bool
    """Whether the elections were held; else they are predicted."""
    counts: dict[Outcome, int]
    """Number of partitions by outcome, without zeros."""
    partitions: list[ElectedPartitionRecord]
    losses: list[LossRecord]
    notes: list[str]

    @property
    def is_fine(self) -> bool:
        """Whether every partition has the requested leader, or will have it."""
        return all(one.outcome.is_fine for one in self.partitions)


def count_outcomes(partitions: Iterable[ElectedPartitionRecord]) -> dict[Outcome, int]:
    """Return the number of partitions by outcome, without zeros."""
    found = Counter(one.outcome for one in partitions)
    return {outcome: found[outcome] for outcome in Outcome if found[outcome]}


def loss_of(
    election: ElectedPartitionRecord, seen: Seen, kept_bytes: int | None
) -> LossRecord | None:
    """
    Return the records that an unclean election loses; `None` if none is elected.

    Parameters
    ----------
    election
        The election.
    seen
        State of the partition before.
    kept_bytes
        Size of the new leader's log in bytes; `None`: unknown.
    """
    leader = election.new_leader
    if leader is None:
        return None
    kept = "" if kept_bytes is None else f"; {kept_bytes} bytes stay"
    have = ", ".join(map(str, seen.complete)) or "replicas that are gone"
    return LossRecord(
        topic=election.topic,
        partition=election.partition,
        new_leader=leader,
        kept_bytes=kept_bytes,
        complete_replicas=list(seen.complete),
        message=f"{election.name}: lost: what only {have} had, and {leader} has "
        f"not{kept}",
    )


def predict_election(seen: Seen, election_type: ElectionType) -> ElectedPartitionRecord:
    """
    Predict the controller's decision about one partition.

    Parameters
    ----------
    seen
        Current state of the partition.
    election_type
        Type of election.

    Returns
    -------
    ElectedPartitionRecord
        `Outcome.TO_ELECT`, or the reason why no leader is elected.

    Notes
    -----
    A preferred election elects only the first replica, and never loses records. Where
    Kafka would lose records (no leader, and the last known leader is back), no election
    is held.

    References
    ----------
    KIP-460 (elections by operators), KIP-966 (eligible leader replicas).
    """
    if election_type is ElectionType.PREFERRED:
        return _predict_preferred(seen)
    return _predict_unclean(seen)


def _predict_preferred(seen: Seen) -> ElectedPartitionRecord:
    preferred = seen.replicas[0]
    if seen.leader == preferred:
        return _stays(seen, Outcome.ALREADY_PREFERRED)
    if preferred in seen.valid:
        return _election(seen, Outcome.TO_ELECT, preferred)
    is_online = preferred in seen.online
    state = "not in sync" if is_online else "offline"
    message = f"preferred replica {preferred} is {state}"
    if seen.leader is None:
        message += "; the partition has no leader"
    return _stays(seen, Outcome.PREFERRED_NOT_AVAILABLE, message)


def _predict_unclean(seen: Seen) -> ElectedPartitionRecord:
    if seen.leader is not None:
        return _stays(seen, Outcome.HAS_LEADER)
    if not seen.online:
        offline = ", ".join(map(str, seen.replicas))
        message = f"every replica is offline: {offline}"
        return _stays(seen, Outcome.NO_REPLICA_AVAILABLE, message)
    is_unclean = not seen.valid
    candidates = seen.valid or _last_leader(seen) or seen.online
    return _election(seen, Outcome.TO_ELECT, candidates[0], is_unclean=is_unclean)


def _last_leader(seen: Seen) -> list[int]:
    """Return the last known leader if Kafka prefers it to the first online replica."""
    is_known = not seen.isr and not seen.elr and len(seen.last_known_elr) == 1
    return [one for one in seen.online if is_known and one in seen.last_known_elr]


def _stays(seen: Seen, outcome: Outcome, message: str = "") -> ElectedPartitionRecord:
    return _election(seen, outcome, seen.leader, message=message)


def _election(
    seen: Seen,
    outcome: Outcome,
    new_leader: int | None,
    *,
    message: str = "",
    is_unclean: bool = False,
) -> ElectedPartitionRecord:
    return ElectedPartitionRecord(
        topic=seen.name.topic,
        partition=seen.name.partition,
        outcome=outcome,
        leader=seen.leader,
        new_leader=new_leader,
        unclean=is_unclean,
        message=message,
    )


def unknown(name: Partition) -> ElectedPartitionRecord:
    """Return the election of a partition that does not exist or is hidden."""
    return _stays(
        Seen(name=name, leader=None, replicas=(), isr=()),
        Outcome.UNKNOWN_PARTITION,
        "there is no such partition, or the user may not describe its topic",
    )


def predict_elections(
    seen: Mapping[Partition, Seen],
    wanted: Iterable[Partition] | None,
    election_type: ElectionType,
) -> list[ElectedPartitionRecord]:
    """
    Predict the controller's decisions about partitions.

    Parameters
    ----------
    seen
        Current state of the cluster's partitions.
    wanted
        Partitions to elect leaders of; `None`: all, by topic and number.
    election_type
        Type of election.
    """
    names = sorted(seen) if wanted is None else list(wanted)
    return [
        predict_election(seen[name], election_type) if name in seen else unknown(name)
        for name in names
    ]
