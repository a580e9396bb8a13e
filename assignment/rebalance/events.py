"""Events of a simulated group; times are in milliseconds."""

from dataclasses import dataclass

from assignment.make_group import MemberSpec

FOREVER = None
"""Duration of an absence without return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """Start of a new member; later events refer to `spec.member_id`."""

    at_ms: int
    spec: MemberSpec
    reads_per_s: float = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """Clean shutdown of a member; a static member sends no leave request."""

    at_ms: int
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """Restart of a member that left."""

    at_ms: int
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """Crash, hang or disconnection of a member: no heartbeats, and no reading."""

    at_ms: int
    member: str
    for_ms: int | None = FOREVER


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPolling:
    """Hang of a member in its own code: heartbeats continue, polls stop."""

    at_ms: int
    member: str
    for_ms: int | None = FOREVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """
    Permanent slowdown of a member.

    Parameters
    ----------
    poll_ms
        Time between polls in milliseconds; `None` keeps the current one. If it exceeds
        ``max.poll.interval.ms``, the member is removed whenever it has partitions.
    reads_per_s
        Largest number of messages read per second; `None` keeps the current one.
    """

    at_ms: int
    member: str
    poll_ms: int | None = None
    reads_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPartitions:
    """Growth of a topic to a number of partitions, or creation of a topic."""

    at_ms: int
    topic: str
    num_partitions: int


Event = Join | Leave | Return | Freeze | StopPolling | Slow | SetPartitions
