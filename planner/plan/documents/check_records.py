"""Records of `check`, `verify` and reassignment files, for their JSON Schema."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

LogDir = Annotated[str, Field(pattern=r"^(any$|/)")]
PlanStatus = Literal["completed", "in-progress", "not-started", "differs"]
Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class Record(BaseModel):
    """Base of what we print: every key is there, and no other."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class WhereRecord(Record):
    """The place of a finding; null where it does not apply."""

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
    """What `check --format json` prints."""

    ok: bool
    findings: list[CheckFindingRecord]


class VerifyFindingRecord(Record):
    """Something that is not as planned, or was left behind."""

    rule: str
    where: WhereRecord
    message: str
    count: int = 1


class CountsRecord(Record):
    """Number of partitions by what has become of them."""

    completed: int
    in_progress: int
    not_started: int
    superseded: int
    differs: int


class LoadRecord(Record):
    """One resource as foretold and as measured."""

    resource: str
    predicted: float
    measured: float
    broker: int
    broker_predicted: float
    broker_measured: float


class MoveRecord(Record):
    """A partition that moves now, and whether it can finish."""

    topic: str
    partition: int
    adding: list[int]
    removing: list[int]
    log_dirs: list[str]
    can_finish: bool
    why: list[str]


class WaveProgressRecord(Record):
    """A wave of the plan."""

    number: int
    status: PlanStatus


class StepRecord(Record):
    """One thing that is left to do, with the commands that do it."""

    message: str
    commands: list[str]


class VerifyRecord(Record):
    """What `verify --format json` prints."""

    status: PlanStatus
    partitions: CountsRecord
    findings: list[VerifyFindingRecord]
    moving: list[MoveRecord]
    waves: list[WaveProgressRecord]
    left: list[StepRecord]
    loads: list[LoadRecord]


class LenientRecord(BaseModel):
    """Base of what Kafka's tool reads, which ignores keys that it does not know."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class EntryRecord(LenientRecord):
    """The replicas that one partition is to have, preferred leader first."""

    topic: str
    partition: Int32
    replicas: list[Int32]
    log_dirs: list[LogDir] = Field(default_factory=list)


class ReassignmentRecord(LenientRecord):
    """A reassignment file, as Kafka's own tool takes it."""

    version: Literal[1] = 1
    partitions: list[EntryRecord]


class ProposedMovesRecord(Record):
    """What lies between the current and the proposed assignment."""

    replicas: int
    bytes: int
    leaders: int
    partitions: int


class GenerateRecord(Record):
    """What `generate --format json` prints."""

    current: ReassignmentRecord
    proposed: ReassignmentRecord
    moves: ProposedMovesRecord
    is_least: bool | None
    ignored_brokers: list[int]
    notes: list[str]
    findings: list[CheckFindingRecord]


DOCUMENTS: dict[str, type[BaseModel]] = {
    "check": CheckRecord,
    "generate": GenerateRecord,
    "reassignment": ReassignmentRecord,
    "verify": VerifyRecord,
}
