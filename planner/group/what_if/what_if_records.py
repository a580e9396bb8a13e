"""Records of an events file and of the document of `group what-if`."""

from typing import Annotated, Any, Literal

from pydantic import Field

from planner.group.group_answers import GroupFindingRecord, Named, UnevenTopicRecord
from planner.group.group_records import Capacity, Name
from planner.io.records import Record

Seconds = Annotated[float, Field(ge=0, le=1e9)]
Span = Annotated[float, Field(gt=0, le=1e9)]
Milliseconds = Annotated[int, Field(gt=0, le=10**12)]
Rate = Annotated[float, Field(ge=0, le=1e15)]
Speed = Annotated[float, Field(gt=0, le=1e15)]
Count = Annotated[int, Field(gt=0, le=1_000_000)]


class JoinRecord(Record):
    """A new member starts; fields that are left out are those of the member `like`."""

    event: Literal["join"]
    at_s: Seconds
    member: Name
    like: Name | None = None
    topics: list[Name] | None = None
    pattern: str | None = None
    group_instance_id: Name | None = None
    rack: str | None = None
    capacity: Capacity | None = None


class LeaveRecord(Record):
    """A member shuts down and leaves the group."""

    event: Literal["leave"]
    at_s: Seconds
    member: Name


class ReturnRecord(Record):
    """A member that left or crashed starts again."""

    event: Literal["return"]
    at_s: Seconds
    member: Name


class StopHeartbeatingRecord(Record):
    """A member stops its heartbeats: a crash or a lost network; `for_s` limits it."""

    event: Literal["stop-heartbeating"]
    at_s: Seconds
    member: Name
    for_s: Span | None = None


class StopPollingRecord(Record):
    """A member stops polling but sends heartbeats; for good without `for_s`."""

    event: Literal["stop-polling"]
    at_s: Seconds
    member: Name
    for_s: Span | None = None


class SlowRecord(Record):
    """A member polls less often, or reads fewer messages/s, from this time on."""

    event: Literal["slow"]
    at_s: Seconds
    member: Name
    poll_ms: Milliseconds | None = None
    reads_per_s: Speed | None = None


class GrowRecord(Record):
    """A topic gets more partitions; `partitions` is the new number."""

    event: Literal["grow"]
    at_s: Seconds
    topic: Name
    partitions: Count


class NewTopicRecord(Record):
    """A topic is created."""

    event: Literal["new-topic"]
    at_s: Seconds
    topic: Name
    partitions: Count


class RollingRestartRecord(Record):
    """Members leave and return one after the other; all of them without `members`."""

    event: Literal["rolling-restart"]
    at_s: Seconds
    members: list[Name] | None = None
    down_s: Span = 30.0
    pause_s: Seconds = 30.0


AnyEvent = (
    JoinRecord
    | LeaveRecord
    | ReturnRecord
    | StopHeartbeatingRecord
    | StopPollingRecord
    | SlowRecord
    | GrowRecord
    | NewTopicRecord
    | RollingRestartRecord
)


class RunRecord(Record):
    """A protocol and an assignor to simulate; `static` defaults to the group file's."""

    protocol: Literal["eager", "cooperative", "consumer"]
    assignor: Name | None = None
    static: bool | None = None


class EventsRecord(Record):
    """Events of a group; `settings` are Kafka's, by Kafka's names, in milliseconds."""

    events: list[Annotated[AnyEvent, Field(discriminator="event")]] = Field(
        min_length=1
    )
    runs: list[RunRecord] = Field(default_factory=list)
    settings: dict[str, int] = Field(default_factory=dict)
    rates: dict[str, Rate | list[Rate]] | None = None
    reads_per_s: Speed | None = None
    poll_ms: Milliseconds = 100
    until_s: Span | None = None


class RevokedStepRecord(Record):
    """One rebalance: a generation, or a group epoch of the new protocol."""

    number: int
    cause: str
    started_s: float
    assigned_s: float
    ended_s: float
    members: int
    revoked: Named
    moved: int
    given_back: int
    idle_members: list[str]
    findings: list[GroupFindingRecord]


class StillRecord(Record):
    """Times in which partitions had no reader."""

    partition_s: float
    longest_s: float
    partitions: int
    at_end: int


class PileRecord(Record):
    """Lag in messages; `caught_up_s` is null where the group does not catch up."""

    peak: float
    end: float
    caught_up_s: float | None


class PutOutRecord(Record):
    """A member that the coordinator removed, with the reason."""

    member: str
    why: str


class PartitionRecord(Record):
    """Times without a reader and changes of the reader of one partition."""

    topic: str
    partition: int
    still_s: float
    longest_s: float
    changed_hands: int
    peak_lag: float | None


class SayingRecord(Record):
    """One line of the history, with its time."""

    at_s: float
    text: str


class WhatIfRunRecord(Record):
    """Result of one run: rebalances, moved partitions, times without a reader, lag."""

    protocol: str
    assignor: str
    static: bool | None
    rebalances: int
    revoked: int
    moved: int
    given_back: int
    still: StillRecord
    lag: PileRecord | None
    put_out: list[PutOutRecord]
    idle_members: list[str]
    uneven_topics: list[UnevenTopicRecord]
    starts_differently: int
    steps: list[RevokedStepRecord]
    num_partitions: int
    partitions: list[PartitionRecord]
    story: list[SayingRecord]
    assignment: Named


class WhatIfRecord(Record):
    """The document of `group what-if --format json`."""

    group_id: str
    until_s: float
    settings: dict[str, int]
    runs: list[WhatIfRunRecord]
    notes: list[str]
    seconds: dict[str, Any]
