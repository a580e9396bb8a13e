"""Records of plans, their parts and errors, for their JSON Schema."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from planner.io.records import Int32, Record
from planner.io.summary_lines import LineRecord
from planner.options.declared.types import ResourceName
from planner.plan.documents.check_records import CheckRecord, VerifyRecord
from planner.plan.documents.settings_records import option_fields, wave_fields

ProofKind = Literal[
    "forced",
    "count",
    "cover",
    "water-fill",
    "heaviest",
    "flow-dual",
    "lambda",
    "milp-dual",
    "wave-degree",
    "wave-bytes",
]


class ResourceScoreRecord(Record):
    """Balance of one resource over the brokers that count."""

    total: float | None
    mean_use: float | None
    max_use: float | None
    min_use: float | None
    max_deviation: float | None
    max_over_mean: float | None
    cv: float | None
    gini: float | None
    jain: float | None
    brokers_out_of_band: int | None
    brokers_over_threshold: int | None
    known_fraction: float


class ViolationsRecord(Record):
    """Number of partitions, replicas or brokers that break each rule."""

    rack: int
    offline_replicas: int
    offline_partitions: int
    under_replicated: int
    under_min_isr: int
    at_min_isr: int
    leader_not_preferred: int
    over_capacity: int
    rf1: int
    rf_equals_min_isr: int


class BrokerLoadRecord(Record):
    """One resource on one broker, in bytes, bytes/s, cores or counts; null: unknown."""

    load: float | None
    capacity: float | None
    use: float | None
    target: float | None
    deviation: float | None


class BrokerRecord(Record):
    """One broker with its load of every resource."""

    broker: Int32
    rack: str | None
    disk: BrokerLoadRecord
    in_: BrokerLoadRecord = Field(alias="in")
    out: BrokerLoadRecord
    cpu: BrokerLoadRecord
    replicas: BrokerLoadRecord
    leaders: BrokerLoadRecord


class ScorePartRecord(Record):
    """The part of a score that depends on the placement: `before` and `after`."""

    brokers: int
    partitions: int
    replicas: int
    resources: dict[ResourceName, ResourceScoreRecord]
    violations: ViolationsRecord
    by_broker: list[BrokerRecord]


class SnapshotIdentityRecord(Record):
    """Identity of the snapshot of a plan."""

    cluster_id: str | None
    taken_at: str | None
    fingerprint: str = Field(pattern="^[0-9a-f]{64}$")


class WaveSettingsRecord(wave_fields()):  # type: ignore[misc] # derived from the options
    """Settings of the waves."""


class SettingsRecord(option_fields()):  # type: ignore[misc] # derived from the options
    """Settings that affect a plan; paths and threads do not."""

    waves: WaveSettingsRecord | None
    partitions: int | None = None
    in_bytes_per_s: float | None = None
    out_bytes_per_s: float | None = None
    size_bytes: int | None = None
    replica_assignment: str | None = None
    topic_config: dict[str, str] | None = None
    min_insync_replicas: int | None = None


class MovesRecord(Record):
    """Numbers of changes; bytes are null where the size of a copy is unknown."""

    replicas: int
    bytes: int | None
    cross_rack_bytes: int | None = 0
    leaders: int
    log_dirs: int
    log_dir_bytes: int = 0
    partitions: int


class ProofRecord(BaseModel):
    """The kind of a bound, and the witness from which it can be computed again."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    kind: ProofKind


class BoundedRecord(Record):
    """
    A value and its lower bound over all plans that reach the same bands.

    `lower_bound` can be computed again from the proof. `solver_bound` is a bound that
    only the solver claims; with `solver_keeps_spread` it holds only for plans that
    bring no broker more replicas of a topic than its share and the topic slack.
    `checked_bound` is in plans of earlier versions, beside bounds of a solver.
    """

    value: float
    lower_bound: float
    checked_bound: float | None = None
    gap: float | None
    proof: ProofRecord | None
    solver_bound: float | None = None
    solver: str | None = None
    solver_keeps_spread: bool = False


class CertificateRecord(Record):
    """
    Bounds on copied bytes, on copied replicas and on the distance out of band.

    If only the order of replicas changes, also on the changed leaders and on the excess
    of the broker that leads most over its share.
    """

    bytes: BoundedRecord
    replicas: BoundedRecord
    deviation: BoundedRecord
    log_dir_bytes: BoundedRecord | None = None
    leaders: BoundedRecord | None = None
    most_led: BoundedRecord | None = None


class PlaceRecord(Record):
    """The place of a note or a shortfall, without fields that do not apply."""

    topic: str | None = None
    partition: int | None = None
    broker: Int32 | None = None
    rack: str | None = None
    host: str | None = None
    log_dir: str | None = None
    resource: ResourceName | None = None


class NoteRecord(Record):
    """A remark on a plan, or the missing quantity of a hard rule."""

    what: str
    have: float | None
    need: float | None
    where: PlaceRecord
    message: str
    existing: bool = False


class ShortfallRecord(NoteRecord):
    """The missing quantity of a hard rule; `proven` if no plan can avoid it."""

    proven: bool = False


class HardRuleRecord(Record):
    """A hard rule; `helps` if a plan was found that keeps all other rules."""

    rule: str
    message: str
    remedy: str
    helps: bool | None


class SuggestionRecord(Record):
    """A change with which a plan was found that keeps every hard rule."""

    what: Literal[
        "add-brokers", "keep-brokers", "start-brokers", "raise", "soft", "leave-out"
    ]
    racks: list[str | None] | None = None
    capacities: dict[str, float] | None = None
    brokers: list[Int32] | None = None
    rule: str | None = None
    value: float | None = None
    message: str


class ReasonRecord(Record):
    """Hard rules that cannot be kept together."""

    rules: list[HardRuleRecord]
    is_proven: bool
    is_irreducible: bool
    message: str
    suggestions: list[SuggestionRecord]


class LogDirLoadRecord(Record):
    """One log dir: bytes before and after, target and deviations."""

    broker: Int32
    log_dir: str
    state: Literal["online", "offline", "cordoned"]
    size_bytes: int | None
    before: int
    after: int
    target: float
    deviation_before: float
    deviation_after: float


class NewPartitionsRecord(Record):
    """Partitions to create, with the total number of their replicas."""

    topic: str
    first: int
    partitions: int
    replicas: int


class SecondsRecord(Record):
    """Wall-clock seconds by phase."""

    read: float
    solve: float
    bound: float
    write: float
    total: float


class WaveSummaryRecord(Record):
    """Summary of one wave; waves.json has the details."""

    number: int
    kind: Literal["copies", "drops", "leaders"]
    file: str
    partitions: int
    copies: int
    bytes: int
    log_dirs: int
    log_dir_bytes: int
    drops: int
    seconds: float


class ListBeforeRecord(Record):
    """Replicas before the plan of a partition that rollback.json leaves out."""

    topic: str
    partition: Int32
    replicas: list[Int32]


class PlanRecord(Record):
    """
    plan.json; on stdout with times and memory.

    `summary` has the lines of the screen on what is wrong: `Wrong` before the plan,
    and `Plan: wrong` and `Plan: as before` after it where anything is.
    """

    format: Literal["kafka-planner/plan"]
    version: Literal[1]
    goal: str
    status: Literal[
        "optimal", "feasible", "nothing-to-do", "left-alone", "partial", "infeasible"
    ]
    snapshot: SnapshotIdentityRecord
    topic_ids: dict[str, str]
    settings: SettingsRecord
    moves: MovesRecord
    certificate: CertificateRecord
    before: ScorePartRecord
    after: ScorePartRecord
    shortfalls: list[ShortfallRecord]
    reason: ReasonRecord | None = None
    notes: list[NoteRecord]
    waves: list[WaveSummaryRecord]
    not_in_rollback: list[ListBeforeRecord] = Field(default_factory=list)
    summary: list[LineRecord] = Field(default_factory=list)
    log_dirs: list[LogDirLoadRecord] | None = None
    new_partitions: NewPartitionsRecord | None = None
    seconds: SecondsRecord | None = None
    peak_memory_bytes: int | None = None


class DemoRecord(PlanRecord):
    """The document of `demo --format json`: a plan, its check and verification."""

    check: CheckRecord
    verify: VerifyRecord


class ElectedRecord(Record):
    """A partition whose first replica must be elected leader."""

    topic: str
    partition: Int32


class ElectionRecord(Record):
    """preferred-election.json, in the format of Kafka's election tool."""

    partitions: list[ElectedRecord]


class ProblemRecord(Record):
    """One problem of an input."""

    file: str
    place: str
    value: str
    rule: str
    remedy: str


class ErrorRecord(Record):
    """The document of exit codes 2 and 5, with the first hundred problems."""

    error: str
    problems: list[ProblemRecord]
    num_problems: int
