"""Records of `check`, `verify` and reassignment files, for their JSON Schema."""

from typing import Annotated, Literal

from pydantic import Field

from planner.io.records import Int32, LenientRecord, Record

LogDir = Annotated[str, Field(pattern=r"^(any$|/)")]
PlanStatus = Literal["completed", "in-progress", "not-started", "differs"]


class WhereRecord(Record):
    """The place of a finding; fields that do not apply are null."""

    topic: str | None
    partition: int | None
    broker: int | None
    rack: str | None
    log_dir: str | None
    resource: str | None


class CheckFindingRecord(Record):
    """A rule that is broken at one place."""

    rule: str
    where: WhereRecord
    message: str
    existing: bool
    soft: bool = False
    remedy: str | None = None


class CheckRecord(Record):
    """The document of `check --format json`."""

    ok: bool
    findings: list[CheckFindingRecord]


class VerifyFindingRecord(Record):
    """A deviation from the plan, or leftover throttles."""

    rule: str
    """Name of the kind of finding."""
    where: WhereRecord
    """Place of the finding; for several places, their common fields."""
    message: str
    """The finding in one sentence, with the first examples."""
    count: int = 1
    """Number of places with this cause."""


class CountsRecord(Record):
    """Number of partitions by status."""

    completed: int
    in_progress: int
    not_started: int
    superseded: int
    differs: int


class LoadRecord(Record):
    """Predicted and measured load of one resource."""

    resource: str
    predicted: float
    """Load summed over the brokers in the plan's prediction."""
    measured: float
    """Load now, summed over the same brokers."""
    broker: int
    """Id of the broker whose load differs most from the prediction."""
    broker_predicted: float
    broker_measured: float


class MoveRecord(Record):
    """A partition that is being moved, and whether the move can finish."""

    topic: str
    partition: int
    adding: tuple[int, ...]
    """Ids of the brokers that the reassignment adds."""
    removing: tuple[int, ...]
    """Ids of the brokers that the reassignment removes."""
    log_dirs: tuple[str, ...]
    """Log dirs to which replicas are being copied inside their brokers."""
    can_finish: bool
    """Whether the move finishes without a change of the brokers' states."""
    why: tuple[str, ...]
    """Obstacles of a move that cannot finish."""


class WaveProgressRecord(Record):
    """Status of a wave of the plan."""

    number: int
    status: PlanStatus


class StepRecord(Record):
    """One remaining step, with its commands."""

    message: str
    """The step in one sentence."""
    commands: tuple[str, ...]
    """Commands of the step, in order; empty without any."""


class VerifyRecord(Record):
    """The document of `verify --format json`."""

    status: PlanStatus
    partitions: CountsRecord
    findings: tuple[VerifyFindingRecord, ...]
    moving: tuple[MoveRecord, ...]
    waves: list[WaveProgressRecord]
    left: tuple[StepRecord, ...]
    loads: list[LoadRecord]


class EntryRecord(LenientRecord):
    """The target replicas of one partition, preferred leader first."""

    topic: str
    partition: Int32
    replicas: list[Int32]
    log_dirs: list[LogDir] = Field(default_factory=list)


class ReassignmentRecord(LenientRecord):
    """A reassignment file in the format of Kafka's tool."""

    version: Literal[1] = 1
    partitions: list[EntryRecord]


class ProposedMovesRecord(Record):
    """Changes between the current and the proposed assignment."""

    replicas: int
    """Number of copied replicas."""
    bytes: int
    """Bytes of the copies, summed over known sizes."""
    leaders: int
    """Number of partitions whose first replica changes."""
    partitions: int
    """Number of partitions whose replica list changes."""


class GenerateRecord(Record):
    """The document of `generate --format json`."""

    current: ReassignmentRecord
    proposed: ReassignmentRecord
    moves: ProposedMovesRecord
    is_least: bool | None
    ignored_brokers: list[int]
    notes: list[str]
    findings: list[CheckFindingRecord]
