"""Records of the document of `score`, for its JSON Schema."""

from typing import Literal

from pydantic import Field

from planner.io.records import Int32, Record
from planner.io.summary_lines import LineRecord
from planner.options.declared.types import ResourceName
from planner.plan.documents.plan_records import (
    BrokerLoadRecord,
    NoteRecord,
    ScorePartRecord,
)


class LoadsRecord(Record):
    """Loads of one place, by resource."""

    disk: BrokerLoadRecord
    in_: BrokerLoadRecord = Field(alias="in")
    out: BrokerLoadRecord
    cpu: BrokerLoadRecord
    replicas: BrokerLoadRecord
    leaders: BrokerLoadRecord


class RackRecord(LoadsRecord):
    """One rack; `broker` is the only broker of a rack without a name."""

    rack: str | None
    broker: Int32 | None
    brokers: int


class LogDirRecord(LoadsRecord):
    """One log dir."""

    broker: Int32
    log_dir: str
    state: Literal["online", "offline", "cordoned"]


class SpreadRecord(Record):
    """One resource of a topic: the total, and the spread over its partitions."""

    total: float | None
    mean_use: float | None
    max_use: float | None
    min_use: float | None
    max_over_mean: float | None
    cv: float | None
    jain: float | None
    known_fraction: float


class TopicViolationsRecord(Record):
    """Number of partitions or replicas of a topic that break each rule."""

    rack: int
    offline_replicas: int
    offline_partitions: int
    under_replicated: int
    under_min_isr: int
    at_min_isr: int
    leader_not_preferred: int
    rf1: int
    rf_equals_min_isr: int


class TopicRecord(Record):
    """One topic."""

    topic: str
    partitions: int
    replicas: int
    resources: dict[ResourceName, SpreadRecord]
    violations: TopicViolationsRecord


class HotTopicRecord(Record):
    """Share of a topic in the load of a hot broker."""

    topic: str
    load: float
    fraction: float


class HotPartitionRecord(Record):
    """One replica on a hot broker, with its load there."""

    topic: str
    partition: Int32
    load: float
    leads: bool


class LeaderMoveRecord(Record):
    """A leadership that could move to an in-sync follower."""

    topic: str
    partition: Int32
    to_broker: Int32


class HotSpotRecord(Record):
    """A broker that carries more of a resource than its band or threshold allows."""

    broker: Int32
    rack: str | None
    resource: ResourceName
    load: float
    limit: float
    excess: float
    is_over_threshold: bool
    fixed: float
    topics: list[HotTopicRecord]
    partitions: list[HotPartitionRecord]
    would_leaders_do: bool
    leader_moves: list[LeaderMoveRecord]


class SkewedTopicRecord(Record):
    """A topic with a hot partition, and the command that shows the skew of its keys."""

    topic: str
    partitions: int
    resource: ResourceName
    max_over_mean: float
    command: str


class FailOnRecord(Record):
    """A condition of `--fail-on`, and whether it holds."""

    condition: str
    holds: bool


class ScoreRecord(ScorePartRecord):
    """
    The document of `score --format json` for one snapshot.

    `summary` has the lines of the screen on what is wrong, the balance, the resource
    that binds, and what is assumed; it is empty with --spark.
    """

    cluster_id: str | None
    taken_at: str | None
    data_age_s: float | None
    by_rack: list[RackRecord]
    by_log_dir: list[LogDirRecord]
    by_topic: list[TopicRecord]
    hot_spots: list[HotSpotRecord]
    num_hot_spots: int
    skewed_topics: list[SkewedTopicRecord]
    min_bytes_to_balance: int
    notes: list[NoteRecord]
    complete: bool
    summary: list[LineRecord] = Field(default_factory=list)
    fail_on: list[FailOnRecord] | None = None
