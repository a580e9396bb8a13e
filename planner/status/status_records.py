"""Records of the document of `status`, for its JSON Schema."""

from typing import Literal

from planner.io.records import DatedRecord, Int32, Record
from planner.plan.documents.check_records import ReassignmentRecord

Verdict = Literal["wrong", "unknown", "fine"]
CheckedResource = Literal["disk", "in", "out"]
DownState = Literal["fenced", "shutting-down", "dead"]
RescueName = Literal[
    "election",
    "start-broker",
    "start-last-leader",
    "unclean-election",
    "start-any-broker",
    "unknown",
]
StuckReason = Literal[
    "adds-and-removes-the-same-broker",
    "no-source",
    "waits-for-broker",
    "waits-for-log-dir",
]


class ImpossibleRecord(Record):
    """A load above the whole capacity of its disk or link; bytes or bytes/s."""

    resource: CheckedResource
    broker: Int32
    log_dir: str | None
    load: float
    capacity: float
    message: str


class ChoiceRecord(Record):
    """One remedy, with its command if there is one."""

    choice: str
    command: str | None


class DownBrokerRecord(Record):
    """A broker that is not live."""

    broker: Int32
    rack: str | None
    host: str | None
    state: DownState
    replicas: int
    message: str


class BrokersRecord(Record):
    """Brokers that are not live, with remedies."""

    not_live: list[DownBrokerRecord]
    choices: list[ChoiceRecord]


class OfflineDirRecord(Record):
    """
    An offline log dir; `log_dir` is null where only the broker is known.

    `in_this_or_another` counts offline replicas of which only the broker is known,
    where several of its log dirs are offline.
    """

    broker: Int32
    log_dir: str | None
    replicas: int
    in_this_or_another: int
    message: str


class LogDirsRecord(Record):
    """Offline log dirs, with remedies."""

    offline: list[OfflineDirRecord]
    choices: list[ChoiceRecord]


class UncleanRecord(Record):
    """Outcome of an unclean election."""

    leader: Int32 | None
    lost_bytes: int | None
    command: str | None


class LeaderlessRecord(Record):
    """A partition without a leader, with its last copies and the rescue."""

    topic: str
    partition: Int32
    replicas: list[Int32]
    isr: list[Int32] | None
    elr: list[Int32]
    last_known_elr: list[Int32]
    out_of_sync: list[Int32]
    rescue: RescueName
    rescue_brokers: list[Int32]
    unclean: UncleanRecord
    message: str


class NoSourceRecord(Record):
    """A partition without a replica to copy from."""

    topic: str
    partition: Int32
    replicas: list[Int32]
    message: str


class ShortTopicRecord(Record):
    """A topic with too few in-sync replicas; figures of its worst partition."""

    topic: str
    partitions: int
    least_in_sync: int
    needed: int


class MovingTopicRecord(Record):
    """A topic with partitions being reassigned; null where sizes are unknown."""

    topic: str
    partitions: int
    bytes: int | None
    bytes_left: int | None
    stuck: int


class StuckRecord(Record):
    """A reassignment that cannot end by itself."""

    topic: str
    partition: Int32
    reason: StuckReason
    broker: Int32 | None
    message: str


class MovesRecord(Record):
    """Reassignments under way; `cancel` is a file for Kafka's own tool."""

    partitions: int
    bytes: int | None
    bytes_left: int | None
    log_dir_moves: int
    topics: list[MovingTopicRecord]
    stuck: list[StuckRecord]
    cancel: ReassignmentRecord
    choices: list[ChoiceRecord]


class ThrottleRecord(Record):
    """A throttle in force; `is_used` while it limits a copy that is under way."""

    scope: Literal["broker", "cluster", "topic"]
    name: str
    key: str
    value: str
    is_used: bool
    command: str


class QuorumRecord(Record):
    """The controllers' quorum; null where unknown."""

    leader: Int32 | None
    voters: list[Int32]
    majority: int
    silent: list[Int32] | None
    may_fail: int | None


class UnknownRecord(Record):
    """A fact that the snapshot does not hold."""

    what: str
    message: str


class StatusRecord(DatedRecord):
    """The document of `status --format json`."""

    status: Verdict
    impossible: list[ImpossibleRecord]
    brokers: BrokersRecord
    log_dirs: LogDirsRecord
    leaderless: list[LeaderlessRecord]
    no_source: list[NoSourceRecord]
    under_min_isr: list[ShortTopicRecord]
    min_isr_choices: list[ChoiceRecord]
    under_replicated: list[ShortTopicRecord]
    reassignments: MovesRecord
    throttles: list[ThrottleRecord]
    quorum: QuorumRecord | None
    unknown: list[UnknownRecord]
