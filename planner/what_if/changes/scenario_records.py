"""The shape of a scenarios file."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from planner.what_if.changes.amounts import Bytes, Duration, Rate

Name = Annotated[str, Field(min_length=1, max_length=249)]
BrokerId = Annotated[int, Field(ge=0, le=2**31 - 1)]
Count = Annotated[int, Field(ge=1, le=100_000)]
Factor = Annotated[float, Field(ge=0, le=1e6)]
Days = Annotated[float, Field(ge=0, le=36_500)]
Fraction = Annotated[float, Field(gt=0, le=1)]
Change = Annotated[float, Field(gt=-1, le=100)]
Resource = Literal["disk", "in", "out", "cpu"]
Brokers = str | list[BrokerId]
"""``"1-3,7"``, or a list of ids."""


class Record(BaseModel):
    """Base of the records: unknown keys are errors, values are fixed."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False
    )


class CapacitiesRecord(Record):
    """What a broker can take, where that changes."""

    disk: Bytes | None = None
    network_in: Rate | None = None
    network_out: Rate | None = None
    cpu_cores: Annotated[float, Field(gt=0, le=1e6)] | None = None
    max_replicas: Count | None = None


class OnTopics(Record):
    """Which topics: names, or a pattern of whole names; all where nothing is said."""

    topic: Name | list[Name] | None = None
    topics: str | None = None


class AddBrokersRecord(CapacitiesRecord):
    """Empty brokers come; like another one where nothing else is said."""

    change: Literal["add-brokers"]
    count: Count | None = None
    ids: Brokers | None = None
    rack: Name | None = None
    racks: list[Name] | None = None
    like: BrokerId | None = None
    type: Name | None = None


class RemoveBrokersRecord(Record):
    """Brokers are emptied and go; whole racks of them, if asked."""

    change: Literal["remove-brokers"]
    brokers: Brokers | None = None
    racks: list[Name] | None = None


class ResizeBrokersRecord(CapacitiesRecord):
    """Brokers get other capacities; all of them where none is named."""

    change: Literal["resize-brokers"]
    brokers: Brokers | None = None
    racks: list[Name] | None = None
    type: Name | None = None
    disk_factor: Factor | None = None
    network_factor: Factor | None = None
    cpu_factor: Factor | None = None


class ReplaceBrokersRecord(CapacitiesRecord):
    """Other machines take the place of brokers, and copy what was there."""

    change: Literal["replace-brokers"]
    brokers: Brokers | None = None
    racks: list[Name] | None = None
    type: Name | None = None
    with_: Brokers | None = Field(default=None, alias="with")


class AddLogDirsRecord(Record):
    """Brokers get one more log dir each; all of them where none is named."""

    change: Literal["add-log-dirs"]
    brokers: Brokers | None = None
    path: Annotated[str, Field(pattern=r"^/")]
    size: Bytes


class RemoveLogDirsRecord(Record):
    """Log dirs go, as ``ID:PATH``; what lies there goes to others of their broker."""

    change: Literal["remove-log-dirs"]
    log_dirs: list[str] = Field(min_length=1)


class ResizeLogDirsRecord(Record):
    """Log dirs, as ``ID:PATH``, get another size."""

    change: Literal["resize-log-dirs"]
    log_dirs: list[str] = Field(min_length=1)
    size: Bytes


class ReplaceLogDirsRecord(Record):
    """Other disks take the place of log dirs (``ID:PATH``), and copy what was there."""

    change: Literal["replace-log-dirs"]
    log_dirs: list[str] = Field(min_length=1)
    size: Bytes | None = None


class LoseRecord(Record):
    """Brokers, racks or log dirs (``ID:PATH``) are lost for good."""

    change: Literal["lose"]
    brokers: Brokers | None = None
    racks: list[Name] | None = None
    log_dirs: list[str] | None = None


class TrafficRecord(OnTopics):
    """What is written and read is multiplied, with the CPU it takes; sizes stay."""

    change: Literal["traffic"]
    factor: Factor


class GrowRecord(OnTopics):
    """
    Topics grow: by a factor, or by a part of themselves per day or month.

    With `days` or `months` alone, as `growth` of the file, ``--growth`` or ``--trends``
    says.
    """

    change: Literal["grow"]
    factor: Factor | None = None
    per_day: Change | None = None
    per_month: Change | None = None
    days: Days | None = None
    months: Annotated[float, Field(ge=0, le=1200)] | None = None
    of: list[Resource] | None = None


class RetentionRecord(OnTopics):
    """Topics keep their data longer, or shorter; sizes follow."""

    change: Literal["retention"]
    keep: Duration | None = None
    factor: Factor | None = None
    most_bytes: Bytes | None = None


class TierRecord(OnTopics):
    """Topics get remote storage; what is younger than `local` stays on disk."""

    change: Literal["tier"]
    local: Duration
    largest: Count | None = None


class ReplicationFactorRecord(OnTopics):
    """Topics get another replication factor."""

    change: Literal["replication-factor"]
    factor: Annotated[int, Field(ge=1, le=1000)]


class PartitionsRecord(OnTopics):
    """Topics get more partitions."""

    change: Literal["partitions"]
    count: Count | None = None
    factor: Annotated[float, Field(ge=1, le=1000)] | None = None


class NewTopicRecord(Record):
    """A topic comes, as it will be once it is full; several of them with `copies`."""

    change: Literal["new-topic"]
    name: Name
    partitions: Count
    replication_factor: Annotated[int, Field(ge=1, le=1000)] = 3
    writes: Rate | None = None
    reads: Rate | None = None
    size: Bytes | None = None
    keep: Duration | None = None
    copies: Count = 1


class RemoveTopicsRecord(OnTopics):
    """Topics go."""

    change: Literal["remove-topics"]


class ConsumersRecord(OnTopics):
    """Consumers read more, or less."""

    change: Literal["consumers"]
    factor: Factor | None = None
    groups: Annotated[float, Field(ge=-1000, le=1000)] | None = None
    fan_out: Factor | None = None


AnyChange = (
    AddBrokersRecord
    | RemoveBrokersRecord
    | ResizeBrokersRecord
    | ReplaceBrokersRecord
    | AddLogDirsRecord
    | RemoveLogDirsRecord
    | ResizeLogDirsRecord
    | ReplaceLogDirsRecord
    | LoseRecord
    | TrafficRecord
    | GrowRecord
    | RetentionRecord
    | TierRecord
    | ReplicationFactorRecord
    | PartitionsRecord
    | NewTopicRecord
    | RemoveTopicsRecord
    | ConsumersRecord
)
Changes = list[Annotated[AnyChange, Field(discriminator="change")]]
Then = Literal["rebalance", "needed", "nothing"]


class ScenarioRecord(Record):
    """
    One scenario: changes made in this order, then a plan.

    `then` is `rebalance` (every broker into its band), `needed` (only what must moves)
    or `nothing` (all is left as it is). `after` names a scenario above: this one begins
    with the cluster that the other leads to.
    """

    name: Name
    after: Name | None = None
    then: Then = "rebalance"
    changes: Changes = Field(default_factory=list)


class StepsRecord(Record):
    """From one number to another, both among them, in steps."""

    from_: float = Field(alias="from")
    to: float
    step: Annotated[float, Field(gt=0)] = 1.0


class SweepRecord(Record):
    """
    Many scenarios: every traffic with every number of brokers and of days.

    `changes` come first. `brokers` may be a text such as ``"9-15"``: how many there are
    in the end; those that come are `like` another one, those that go the latest ids of
    the largest racks. `days` let topics grow as `growth` says.
    """

    name: Name
    after: Name | None = None
    then: Then = "rebalance"
    changes: Changes = Field(default_factory=list)
    traffic: StepsRecord | list[Factor] | None = None
    brokers: StepsRecord | list[Count] | str | None = None
    days: StepsRecord | list[Days] | None = None
    like: BrokerId | None = None


class GrowthRecord(OnTopics):
    """How topics grow, a part of themselves per day or month, or in bytes a day."""

    per_day: Change | None = None
    per_month: Change | None = None
    bytes_per_day: Bytes | None = None
    linear: bool = False


Price = Annotated[float, Field(ge=0, le=1e12)]


class ScenarioTypeRecord(CapacitiesRecord):
    """A type of brokers: its price, its capacities, and which of today's are of it."""

    name: Name
    price: Price
    brokers: Brokers | None = None


class PricesRecord(Record):
    """
    What things cost, in any currency.

    `per` is the span of time that prices of brokers and of remote storage are for;
    `broker` is for those of no type; `cross_rack_gb` for each GB from rack to rack,
    `remote_gb` for each GB that is in remote storage for so long.
    """

    currency: Annotated[str, Field(max_length=8)] = ""
    per: Literal["hour", "day", "month", "year"] = "month"
    broker: Price | None = None
    cross_rack_gb: Price | None = None
    remote_gb: Price | None = None


class ScenariosRecord(Record):
    """A scenarios file."""

    scenarios: list[ScenarioRecord] = Field(default_factory=list)
    sweeps: list[SweepRecord] = Field(default_factory=list)
    growth: list[GrowthRecord] = Field(default_factory=list)
    types: list[ScenarioTypeRecord] = Field(default_factory=list)
    prices: PricesRecord | None = None
