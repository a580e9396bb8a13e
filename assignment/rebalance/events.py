"""What may happen to a group."""

from dataclasses import dataclass

from assignment.make_group import MemberSpec

FOREVER = None
"""For so long does a member stay away that does not come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """A new member starts; `spec.member_id` is the name that later events use."""

    at_ms: int
    spec: MemberSpec
    reads_per_s: float = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """A member is shut down in order; a static one does not tell the coordinator."""

    at_ms: int
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A member that left is started again."""

    at_ms: int
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """A member crashes, hangs or is cut off: no heartbeats, and nothing is read."""

    at_ms: int
    member: str
    for_ms: int | None = FOREVER


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPolling:
    """A member hangs in its own code: heartbeats go on, polls do not."""

    at_ms: int
    member: str
    for_ms: int | None = FOREVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """
    A member takes longer from now on.

    Parameters
    ----------
    poll_ms
        Between its polls; `None`: as before. More than ``max.poll.interval.ms``, and
        it is put out whenever it has something to read.
    reads_per_s
        Messages per second that it reads at most; `None`: as before.
    """

    at_ms: int
    member: str
    poll_ms: int | None = None
    reads_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPartitions:
    """A topic gets partitions, or appears with them."""

    at_ms: int
    topic: str
    num_partitions: int


Event = Join | Leave | Return | Freeze | StopPolling | Slow | SetPartitions
