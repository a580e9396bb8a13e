"""Records of the output of `elect`, for its JSON Schema."""

from planner.kafka.actions.elections import ElectionType, Outcome
from planner.plan.documents.check_records import Int32, Record


class ElectedPartitionRecord(Record):
    """What became of one partition, or would; leaders are null where there is none."""

    topic: str
    partition: Int32
    outcome: Outcome
    leader: Int32 | None
    new_leader: Int32 | None
    unclean: bool
    message: str


class LossRecord(Record):
    """What an unclean election loses."""

    topic: str
    partition: Int32
    new_leader: Int32
    kept_bytes: int | None
    complete_replicas: list[Int32]
    message: str


class ElectRecord(Record):
    """What `elect --format json` prints."""

    election_type: ElectionType
    done: bool
    counts: dict[Outcome, int]
    partitions: list[ElectedPartitionRecord]
    losses: list[LossRecord]
    notes: list[str]
