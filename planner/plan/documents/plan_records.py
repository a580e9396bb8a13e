"""Records of plans, their parts and errors, for their JSON Schema."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from planner.options.declared.types import ResourceName
from planner.plan.documents.check_records import (
    CheckRecord,
    Int32,
    Record,
    VerifyRecord,
)
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
    """How many partitions, replicas or brokers break each rule."""

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
    """What a score says that a placement decides: `before` and `after` of a plan."""

    brokers: int
    partitions: int
    replicas: int
    resources: dict[ResourceName, ResourceScoreRecord]
    violations: ViolationsRecord
    by_broker: list[BrokerRecord]


class SnapshotIdentityRecord(Record):
    """Which snapshot a plan was made for."""

    cluster_id: str | None
    taken_at: str | None
    fingerprint: str = Field(pattern="^[0-9a-f]{64}$")


class WaveSettingsRecord(wave_fields()):  # type: ignore[misc] # derived from the options
    """How waves were cut."""


class SettingsRecord(option_fields()):  # type: ignore[misc] # derived from the options
    """What changes a plan; no paths and no threads."""

    waves: WaveSettingsRecord | None
    partitions: int | None = None
    in_bytes_per_s: float | None = None
    out_bytes_per_s: float | None = None
    size_bytes: int | None = None
    replica_assignment: str | None = None
    topic_config: dict[str, str] | None = None
    min_insync_replicas: int | None = None


class MovesRecord(Record):
    """What a plan does, counted; bytes are null where a copy's size is unknown."""

    replicas: int
    bytes: int | None
    cross_rack_bytes: int | None = 0
    leaders: int
    log_dirs: int
    log_dir_bytes: int = 0
    partitions: int


class ProofRecord(BaseModel):
    """Which bound, and the witness from which it can be checked again."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    kind: ProofKind


class BoundedRecord(Record):
    """
    A value, and below what no plan within the bands reached can be.

    `lower_bound` is worked out again from the proof. `solver_bound` is what a solver
    says beyond that, which nothing can check again; where `solver_keeps_spread` only of
    plans that bring no broker more of a topic than its share and the topic slack.
    `checked_bound`: what plans once
    had beside bounds that a solver stated.
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
    What is proven: of bytes, of replicas copied, of the distance out of band.

    Where nothing but the order of replicas changes also: of the leaders that change,
    and of how far the broker that leads most is above its share.
    """

    bytes: BoundedRecord
    replicas: BoundedRecord
    deviation: BoundedRecord
    log_dir_bytes: BoundedRecord | None = None
    leaders: BoundedRecord | None = None
    most_led: BoundedRecord | None = None


class PlaceRecord(Record):
    """The place of a note or a shortfall; only what applies is there."""

    topic: str | None = None
    partition: int | None = None
    broker: Int32 | None = None
    rack: str | None = None
    host: str | None = None
    log_dir: str | None = None
    resource: ResourceName | None = None


class NoteRecord(Record):
    """Something to know about a plan, or what is missing for its hard rules."""

    what: str
    have: float | None
    need: float | None
    where: PlaceRecord
    message: str
    existing: bool = False


class ShortfallRecord(NoteRecord):
    """A part of the hard rules that is missing, and whether no plan could have it."""

    proven: bool = False


class HardRuleRecord(Record):
    """A hard rule, and whether a plan was found that keeps all but this one."""

    rule: str
    message: str
    remedy: str
    helps: bool | None


class SuggestionRecord(Record):
    """A change with which a plan was made that keeps every hard rule."""

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
    """One log dir: its bytes before and after, its share, how far off it is."""

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
    """Partitions that do not exist yet, and how many replicas they have together."""

    topic: str
    first: int
    partitions: int
    replicas: int


class SecondsRecord(Record):
    """Time spent."""

    read: float
    solve: float
    bound: float
    write: float
    total: float


class WaveSummaryRecord(Record):
    """One wave, as plan.json has it; the rest is in waves.json."""

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
    """Replicas before the plan, where rollback.json leaves the partition out."""

    topic: str
    partition: Int32
    replicas: list[Int32]


class PlanRecord(Record):
    """plan.json; on stdout with what was measured besides."""

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
    log_dirs: list[LogDirLoadRecord] | None = None
    new_partitions: NewPartitionsRecord | None = None
    seconds: SecondsRecord | None = None
    peak_memory_bytes: int | None = None


class DemoRecord(PlanRecord):
    """What `demo --format json` prints: the plan, checked and verified."""

    check: CheckRecord
    verify: VerifyRecord


class ElectedRecord(Record):
    """A partition whose first replica is to lead."""

    topic: str
    partition: Int32


class ElectionRecord(Record):
    """preferred-election.json, as Kafka's election tool takes it."""

    partitions: list[ElectedRecord]


class ProblemRecord(Record):
    """One thing that is wrong with what was given."""

    file: str
    place: str
    value: str
    rule: str
    remedy: str


class ErrorRecord(Record):
    """What every command prints on exit 2 and 5, the first hundred problems."""

    error: str
    problems: list[ProblemRecord]
    num_problems: int


PLAN_DOCUMENTS: dict[str, type[BaseModel]] = {
    "demo": DemoRecord,
    "error": ErrorRecord,
    "plan": PlanRecord,
    "preferred-election": ElectionRecord,
    "score-part": ScorePartRecord,
}
