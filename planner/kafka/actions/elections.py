"""
Elections of leaders: what the controller would decide, and what it decided.

What an election does is foreseen by Kafka's own rules from one look at the cluster; the
same list is shown, and then held. Nobody is elected whom the list does not name.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from planner.kafka.read.log_dirs import Partition


class ElectionType(StrEnum):
    """Who may be elected: the first replica if it is in sync, or whoever is there."""

    PREFERRED = "preferred"
    UNCLEAN = "unclean"

    @property
    def code(self) -> int:
        """The type in Kafka's protocol."""
        return 0 if self is ElectionType.PREFERRED else 1


class Outcome(StrEnum):
    """What becomes of one partition."""

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
        """Whether the partition is led as was asked for, or will be."""
        return self in {
            Outcome.TO_ELECT,
            Outcome.ELECTED,
            Outcome.ALREADY_PREFERRED,
            Outcome.HAS_LEADER,
        }

    @property
    def is_change(self) -> bool:
        """Whether another broker leads, or will."""
        return self in {Outcome.TO_ELECT, Outcome.ELECTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    One partition as the brokers describe it.

    Parameters
    ----------
    name
        Topic and number.
    leader
        Broker that leads; `None`: nobody.
    replicas
        Brokers, preferred leader first.
    isr, elr, last_known_elr
        Brokers in sync, those that may lead though they are not, and the last leader of
        all.
    offline
        Replicas whose broker is fenced, or whose log dir has failed.
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
        """Read a partition of a topic's description."""
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
        """Replicas that could lead at all, in order."""
        return [one for one in self.replicas if one not in self.offline]

    @property
    def valid(self) -> list[int]:
        """Replicas that could lead without a loss, in order."""
        complete = self.isr or self.elr
        return [one for one in self.online if one in complete]

    @property
    def complete(self) -> tuple[int, ...]:
        """Replicas that hold every record that was acknowledged, as far as is known."""
        return self.isr or self.elr or self.last_known_elr


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """
    What an unclean election loses: what only others have.

    Parameters
    ----------
    name
        The partition.
    new_leader
        Broker that leads after; the others are cut back to what it has.
    kept_bytes
        Bytes in its log, which stay; `None`: not known.
    complete
        Brokers that have more, and are offline: while they may come back, waiting for
        them loses nothing.
    """

    name: Partition
    new_leader: int
    kept_bytes: int | None
    complete: tuple[int, ...]

    def __str__(self) -> str:
        kept = "" if self.kept_bytes is None else f"; {self.kept_bytes} bytes stay"
        have = ", ".join(map(str, self.complete)) or "replicas that are gone"
        return (
            f"{self.name}: lost: what only {have} had, and {self.new_leader} has "
            f"not{kept}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """
    One partition before and after an election.

    Parameters
    ----------
    name
        The partition.
    outcome
        What becomes of it.
    leader
        Broker that led before; `None`: nobody.
    new_leader
        Broker that leads after; `None`: nobody.
    message
        Why it is not electable, or what else is to be known; may be empty.
    is_unclean
        Whether records are lost.
    """

    name: Partition
    outcome: Outcome
    leader: int | None = None
    new_leader: int | None = None
    message: str = ""
    is_unclean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Elections:
    """
    Elections foreseen or held.

    Parameters
    ----------
    election_type
        Who may be elected.
    is_done
        Whether they were held.
    elections
        One for each partition.
    losses
        What unclean ones lose.
    notes
        What else is to be known.
    """

    election_type: ElectionType
    is_done: bool
    elections: Sequence[Election]
    losses: Sequence[Loss] = ()
    notes: Sequence[str] = field(default=())

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many partitions have each outcome that there is."""
        found = Counter(one.outcome for one in self.elections)
        return {outcome: found[outcome] for outcome in Outcome if found[outcome]}

    @property
    def is_fine(self) -> bool:
        """Whether every partition is led as was asked for, or will be."""
        return all(one.outcome.is_fine for one in self.elections)

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `elect --format json` prints."""
        return {
            "election_type": self.election_type.value,
            "done": self.is_done,
            "counts": {outcome.value: n for outcome, n in self.counts.items()},
            "partitions": [
                {
                    "topic": one.name.topic,
                    "partition": one.name.partition,
                    "outcome": one.outcome.value,
                    "leader": one.leader,
                    "new_leader": one.new_leader,
                    "unclean": one.is_unclean,
                    "message": one.message,
                }
                for one in self.elections
            ],
            "losses": [
                {
                    "topic": one.name.topic,
                    "partition": one.name.partition,
                    "new_leader": one.new_leader,
                    "kept_bytes": one.kept_bytes,
                    "complete_replicas": list(one.complete),
                    "message": str(one),
                }
                for one in self.losses
            ],
            "notes": list(self.notes),
        }


def foresee(seen: Seen, election_type: ElectionType) -> Election:
    """
    Tell what the controller would decide about one partition.

    Parameters
    ----------
    seen
        The partition now.
    election_type
        Who may be elected.

    Returns
    -------
    Election
        `Outcome.TO_ELECT`, or why nobody is elected.

    Notes
    -----
    A preferred election never makes a leader other than the first replica, and never
    loses records: where Kafka's would (no leader, and one last known leader that is
    back) none is held.

    References
    ----------
    KIP-460 (elections by operators), KIP-966 (eligible leader replicas).
    """
    if election_type is ElectionType.PREFERRED:
        return _foresee_preferred(seen)
    return _foresee_unclean(seen)


def _foresee_preferred(seen: Seen) -> Election:
    preferred = seen.replicas[0]
    if seen.leader == preferred:
        return _stays(seen, Outcome.ALREADY_PREFERRED)
    if preferred in seen.valid:
        return Election(
            name=seen.name,
            outcome=Outcome.TO_ELECT,
            leader=seen.leader,
            new_leader=preferred,
        )
    is_online = preferred in seen.online
    state = "not in sync" if is_online else "offline"
    message = f"preferred replica {preferred} is {state}"
    if seen.leader is None:
        message += "; the partition has no leader"
    return _stays(seen, Outcome.PREFERRED_NOT_AVAILABLE, message)


def _foresee_unclean(seen: Seen) -> Election:
    if seen.leader is not None:
        return _stays(seen, Outcome.HAS_LEADER)
    if not seen.online:
        offline = ", ".join(map(str, seen.replicas))
        message = f"every replica is offline: {offline}"
        return _stays(seen, Outcome.NO_REPLICA_AVAILABLE, message)
    is_unclean = not seen.valid
    candidates = seen.valid or _last_leader(seen) or seen.online
    return Election(
        name=seen.name,
        outcome=Outcome.TO_ELECT,
        new_leader=candidates[0],
        is_unclean=is_unclean,
    )


def _last_leader(seen: Seen) -> list[int]:
    """Return the last known leader where Kafka would prefer it to the first one."""
    is_known = not seen.isr and not seen.elr and len(seen.last_known_elr) == 1
    return [one for one in seen.online if is_known and one in seen.last_known_elr]


def _stays(seen: Seen, outcome: Outcome, message: str = "") -> Election:
    return Election(
        name=seen.name,
        outcome=outcome,
        leader=seen.leader,
        new_leader=seen.leader,
        message=message,
    )


def unknown(name: Partition) -> Election:
    """Return the outcome of a partition that the cluster does not have, or hides."""
    message = "there is no such partition, or the user may not describe its topic"
    return Election(name=name, outcome=Outcome.UNKNOWN_PARTITION, message=message)


def foresee_all(
    seen: Mapping[Partition, Seen],
    wanted: Iterable[Partition] | None,
    election_type: ElectionType,
) -> list[Election]:
    """
    Tell what the controller would decide about partitions.

    Parameters
    ----------
    seen
        Partitions of the cluster.
    wanted
        Those asked for; `None`: all, by topic and number.
    election_type
        Who may be elected.
    """
    names = sorted(seen) if wanted is None else list(wanted)
    return [
        foresee(seen[name], election_type) if name in seen else unknown(name)
        for name in names
    ]
