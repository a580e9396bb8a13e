"""Records of a scenarios file."""

from typing import Annotated, Literal

from pydantic import Field

from planner.io.records import Record
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
"""Brokers as a text such as ``"1-3,7"``, or as a list of ids."""


class CapacitiesRecord(Record):
    """New capacities of brokers; those left out do not change."""

    disk: Bytes | None = None
    network_in: Rate | None = None
    network_out: Rate | None = None
    cpu_cores: Annotated[float, Field(gt=0, le=1e6)] | None = None
    max_replicas: Count | None = None


class OnTopics(Record):
    """Topics by name, or by a pattern of the whole name; all topics without both."""

    topic: Name | list[Name] | None = None
    topics: str | None = None


class AddBrokersRecord(CapacitiesRecord):
    """Empty brokers are added; fields left out are those of the broker `like`."""

    change: Literal["add-brokers"]
    count: Count | None = None
    ids: Brokers | None = None
    rack: Name | None = None
    racks: list[Name] | None = None
    like: BrokerId | None = None
    type: Name | None = None


class RemoveBrokersRecord(Record):
    """Brokers, or all brokers of racks, are emptied and removed."""

    change: Literal["remove-brokers"]
    brokers: Brokers | None = None
    racks: list[Name] | None = None


class ResizeBrokersRecord(CapacitiesRecord):
    """Brokers get other capacities; all brokers where none is named."""

    change: Literal["resize-brokers"]
    brokers: Brokers | None = None
    racks: list[Name] | None = None
    type: Name | None = None
    disk_factor: Factor | None = None
    network_factor: Factor | None = None
    cpu_factor: Factor | None = None


class ReplaceBrokersRecord(CapacitiesRecord):
    """New brokers replace old ones and copy their replicas."""

    change: Literal["replace-brokers"]
    brokers: Brokers | None = None
    racks: list[Name] | None = None
    type: Name | None = None
    with_: Brokers | None = Field(default=None, alias="with")


class AddLogDirsRecord(Record):
    """Brokers get one more log dir each; all brokers where none is named."""

    change: Literal["add-log-dirs"]
    brokers: Brokers | None = None
    path: Annotated[str, Field(pattern=r"^/")]
    size: Bytes


class RemoveLogDirsRecord(Record):
    """Log dirs (``ID:PATH``) are removed; their replicas move inside the broker."""

    change: Literal["remove-log-dirs"]
    log_dirs: list[str] = Field(min_length=1)


class ResizeLogDirsRecord(Record):
    """Log dirs (``ID:PATH``) get another size."""

    change: Literal["resize-log-dirs"]
    log_dirs: list[str] = Field(min_length=1)
    size: Bytes


class ReplaceLogDirsRecord(Record):
    """New disks replace log dirs (``ID:PATH``) and get copies of their replicas."""

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
    """Rates in and out and CPU are multiplied by a factor; sizes do not change."""

    change: Literal["traffic"]
    factor: Factor


class GrowRecord(OnTopics):
    """
    Topics grow by a factor, or by a fraction per day or month.

    With `days` or `months` alone, the growth is that of `growth` in the file, of
    ``--growth`` or of ``--trends``.
    """

    change: Literal["grow"]
    factor: Factor | None = None
    per_day: Change | None = None
    per_month: Change | None = None
    days: Days | None = None
    months: Annotated[float, Field(ge=0, le=1200)] | None = None
    of: list[Resource] | None = None


class RetentionRecord(OnTopics):
    """Topics keep their data for another time; sizes change in proportion."""

    change: Literal["retention"]
    keep: Duration | None = None
    factor: Factor | None = None
    most_bytes: Bytes | None = None


class TierRecord(OnTopics):
    """Topics get remote storage; data younger than `local` stay on disk."""

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


class KeysRecord(Record):
    """
    A topic's load is spread over its partitions as a sample of its keys says.

    `count` is the number of partitions, by default that of today. The other fields are
    options of `keys skew`.
    """

    change: Literal["keys"]
    topic: Name
    sample: Annotated[str, Field(min_length=1)]
    count: Count | None = None
    partitioner: Name = "default"
    sample_format: Name | None = None
    key_column: Name = "key"
    key_type: Name | None = None
    key_encoding: Name = "utf-8"
    schema_id: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


class NewTopicRecord(Record):
    """A topic is added with its final size and rates; `copies` adds several."""

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
    """Topics are deleted."""

    change: Literal["remove-topics"]


class ConsumersRecord(OnTopics):
    """Consumers read more or less."""

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
    | KeysRecord
    | NewTopicRecord
    | RemoveTopicsRecord
    | ConsumersRecord
)
Changes = list[Annotated[AnyChange, Field(discriminator="change")]]
Then = Literal["rebalance", "needed", "nothing"]


class ScenarioRecord(Record):
    """
    One scenario: changes in this order, then a plan.

    `then` is `rebalance` (move every broker into its band), `needed` (move only
    replicas that must move) or `nothing` (make no plan). `after` names a scenario
    above; this scenario begins with the cluster after that one.
    """

    name: Name
    after: Name | None = None
    then: Then = "rebalance"
    changes: Changes = Field(default_factory=list)


class StepsRecord(Record):
    """Numbers from `from` to `to`, both included, in steps."""

    from_: float = Field(alias="from")
    to: float
    step: Annotated[float, Field(gt=0)] = 1.0


class SweepRecord(Record):
    """
    Many scenarios: each combination of traffic, number of brokers and days.

    `changes` come first. `brokers` is the final number of brokers and may be a text
    such as ``"9-15"``; added brokers are copies of the broker `like`, removed brokers
    have the highest ids of the largest racks. With `days`, topics grow by `growth`.
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
    """Growth of topics: a fraction per day or month, or bytes a day."""

    per_day: Change | None = None
    per_month: Change | None = None
    bytes_per_day: Bytes | None = None
    linear: bool = False


Price = Annotated[float, Field(ge=0, le=1e12)]


class ScenarioTypeRecord(CapacitiesRecord):
    """A type of brokers: its price, its capacities, and today's brokers of the type."""

    name: Name
    price: Price
    brokers: Brokers | None = None


class PricesRecord(Record):
    """
    Prices in any currency.

    `per` is the period of the prices of brokers and of remote storage. `broker` is the
    price of brokers without a type, `cross_rack_gb` that of each GB between racks,
    `remote_gb` that of each GB in remote storage for the period.
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
