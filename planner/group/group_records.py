"""Records of a group file, strictly typed; they validate the JSON on input."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from planner.io.records import Record

FORMAT = "kafka-planner/group"
MAX_INT32 = 2**31 - 1
MAX_PARTITIONS = 10_000_000

Name = Annotated[str, Field(min_length=1)]
Number = Annotated[int, Field(ge=0, le=MAX_INT32)]
Generation = Annotated[int, Field(ge=-1, le=MAX_INT32)]
Offset = Annotated[int, Field(ge=0, le=2**63 - 1)]
Weight = Annotated[float, Field(ge=0, le=1e18)]
Capacity = Annotated[float, Field(gt=0, le=1e18)]


class TopicRecord(Record):
    """
    One topic that the group reads or may read.

    `weights`, `racks` and the offsets have one entry per partition. `partitions` is 0
    where the topic is subscribed to, but does not exist.
    """

    name: Name
    partitions: Annotated[int, Field(ge=0, le=MAX_PARTITIONS)]
    topic_id: str | None = None
    weights: list[Weight] | None = None
    racks: list[list[Name]] | None = None
    committed_offsets: list[Offset | None] | None = None
    log_end_offsets: list[Offset | None] | None = None


class MemberRecord(Record):
    """
    One member of the group.

    `owned` are the partitions that the member read until now, by topic, in the order
    of the member; `generation` is the generation of that assignment. `num_owned` is
    their number where the source of the group does not name them.
    `subscription_generation` is the generation in the subscription, by default the
    same; null means that none was sent. `user_data` is any JSON value that the assignor
    of the member sends along.
    """

    member_id: Name
    group_instance_id: Name | None = None
    client_id: str | None = None
    host: str | None = None
    rack: str | None = None
    capacity: Capacity | None = None
    topics: list[Name] = Field(default_factory=list)
    pattern: str | None = None
    owned: dict[Name, list[Number]] | None = None
    num_owned: Number | None = None
    generation: Generation | None = None
    subscription_generation: Generation | None = None
    user_data: JsonValue = None


class GroupRecord(Record):
    """
    A consumer group.

    Members are listed in the order in which Kafka's sticky assignors process them,
    topics in the order in which the assignors of the server do. `type` is Kafka's type
    of the group: only classic and consumer groups have assignments to plan.
    `num_members` is the number of members where the source of the group does not name
    them, and "unknown" where it does not count them either.
    """

    format: Literal["kafka-planner/group"]
    version: Literal[1]
    group_id: str
    type: Literal["classic", "consumer", "share", "streams"] | None = None
    state: str | None = None
    assignor: str | None = None
    coordinator: int | None = None
    num_members: Number | Literal["unknown"] | None = None
    topics: list[TopicRecord]
    members: list[MemberRecord]
