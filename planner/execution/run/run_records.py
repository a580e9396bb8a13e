"""Events of a run: lines of JSON, and what Python code receives."""

from typing import Literal

from planner.execution.apply_records import BlockerRecord
from planner.execution.stages import StageKind
from planner.io.records import Int32, Record

RunStatus = Literal[
    "completed", "paused", "cancelled", "rolled-back", "stopped", "unknown"
]


class PartitionRecord(Record):
    """A partition, and the list that it gets."""

    topic: str
    partition: int
    replicas: tuple[Int32, ...]


class CopyRecord(Record):
    """A copy under way; null where its bytes are unknown."""

    topic: str
    partition: int
    broker: Int32
    bytes: int | None
    of_bytes: int | None


class BrokerProgressRecord(Record):
    """Copies that a broker receives now, and the bytes that they lack."""

    broker: Int32
    copies: int
    left_bytes: int


class EventRecord(Record):
    """Base of events."""

    time: str


class StartedEvent(EventRecord):
    """The run begins; nothing has been changed before."""

    event: Literal["started"] = "started"
    plan_id: str
    cluster_id: str | None
    is_resumed: bool
    stages: list[StageKind]
    partitions: int
    bytes: int
    throttle_bytes_per_s: int | None


class ThrottleEvent(EventRecord):
    """Rate of copies of a broker, as it is from now on; null: none."""

    event: Literal["throttle"] = "throttle"
    bytes_per_s: int | None
    reason: str


class AdmittedEvent(EventRecord):
    """Partitions whose next step was requested."""

    event: Literal["admitted"] = "admitted"
    stage: StageKind
    partitions: list[PartitionRecord]
    bytes: int


class FinishedEvent(EventRecord):
    """Partitions whose step has ended as planned."""

    event: Literal["finished"] = "finished"
    stage: StageKind
    partitions: list[PartitionRecord]


class ProgressEvent(EventRecord):
    """
    Progress of a stage.

    Bytes are those of copies with a known size; the rate is that since the last look,
    and null before the second one.
    """

    event: Literal["progress"] = "progress"
    stage: StageKind
    done: int
    active: int
    waiting: int
    set_aside: int
    copied_bytes: int
    left_bytes: int
    bytes_per_s: float | None
    eta_s: float | None
    brokers: list[BrokerProgressRecord]
    copies: list[CopyRecord]


class StuckEvent(EventRecord):
    """Something that does not go on, and why; it is looked at again."""

    event: Literal["stuck"] = "stuck"
    topic: str | None
    partition: int | None
    reason: str


class SetAsideEvent(EventRecord):
    """Partitions that this run gives up; everything else goes on."""

    event: Literal["set-aside"] = "set-aside"
    partitions: list[PartitionRecord]
    reason: str
    is_cancelled: bool


class PausedEvent(EventRecord):
    """No copy begins for now; those that run go on."""

    event: Literal["paused"] = "paused"
    reason: str


class ResumedEvent(EventRecord):
    """Copies begin again."""

    event: Literal["resumed"] = "resumed"


class ElectionEvent(EventRecord):
    """Preferred leaders that were elected, or not."""

    event: Literal["election"] = "election"
    elected: int
    refused: list[str]


class CleanedEvent(EventRecord):
    """Throttles taken off; those that are left, each with the reason."""

    event: Literal["cleaned"] = "cleaned"
    left: list[str]


class CancelPreviewEvent(EventRecord):
    """Reassignments that a cancel would take back, and places with our throttles."""

    event: Literal["preview"] = "preview"
    partitions: list[PartitionRecord]
    throttles: list[str]


class CancelledEvent(EventRecord):
    """Reassignments that were taken back."""

    event: Literal["cancelled"] = "cancelled"
    partitions: list[PartitionRecord]


class DoneEvent(EventRecord):
    """
    The last line of a run.

    `reason` is why the run has stopped early, or null. `still_running` counts
    partitions that Kafka goes on moving by itself. `next` is the command that goes on,
    or null.
    """

    event: Literal["done"] = "done"
    status: RunStatus
    reason: str | None
    completed: int
    not_completed: int
    still_running: int
    set_aside: list[str]
    throttles_left: list[str]
    findings: list[str]
    seconds: float
    next: str | None


class FailedEvent(EventRecord):
    """The last line of a run that could not begin, or lost the cluster."""

    event: Literal["failed"] = "failed"
    status: RunStatus
    message: str
    blockers: list[BlockerRecord]
    next: str | None


Event = (
    StartedEvent
    | ThrottleEvent
    | AdmittedEvent
    | FinishedEvent
    | ProgressEvent
    | StuckEvent
    | SetAsideEvent
    | PausedEvent
    | ResumedEvent
    | ElectionEvent
    | CleanedEvent
    | CancelPreviewEvent
    | CancelledEvent
    | DoneEvent
    | FailedEvent
)
