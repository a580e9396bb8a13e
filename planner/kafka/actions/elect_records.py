"""Records of the output of `elect`, for its JSON Schema."""

from planner.kafka.actions.elections import ElectionType, Outcome
from planner.plan.documents.check_records import Int32, Record


class ElectedPartitionRecord(Record):
    """Outcome of the election of one partition; leaders are null where none exists."""

    topic: str
    partition: Int32
    outcome: Outcome
    leader: Int32 | None
    new_leader: Int32 | None
    unclean: bool
    message: str


class LossRecord(Record):
    """Records that an unclean election loses."""

    topic: str
    partition: Int32
    new_leader: Int32
    kept_bytes: int | None
    complete_replicas: list[Int32]
    message: str


class ElectRecord(Record):
    """The document of `elect --format json`."""

    election_type: ElectionType
    done: bool
    counts: dict[Outcome, int]
    partitions: list[ElectedPartitionRecord]
    losses: list[LossRecord]
    notes: list[str]
