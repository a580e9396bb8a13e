"""Shapes of the parts of Strimzi's resources that are read."""

from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.tables.snapshot_records import Id


class Metadata(TypedDict):
    """Name, labels and annotations of a resource."""

    name: str
    labels: NotRequired[dict[str, str]]
    annotations: NotRequired[dict[str, str]]


class Volume(TypedDict):
    """A volume, or several of them."""

    type: str
    id: NotRequired[int]
    size: NotRequired[str | int]
    sizeLimit: NotRequired[str | int]
    volumes: NotRequired[list[dict[str, Any]]]


class Resources(TypedDict):
    """Limits and requests of a container."""

    limits: NotRequired[dict[str, str | int]]
    requests: NotRequired[dict[str, str | int]]


class PoolSpec(TypedDict):
    """Desired state of a node pool."""

    roles: list[str]
    storage: Volume
    resources: NotRequired[Resources]


class PoolStatus(TypedDict):
    """Actual state of a node pool."""

    nodeIds: list[Id]
    clusterId: NotRequired[str]


class Pool(TypedDict):
    """A node pool."""

    metadata: Metadata
    spec: PoolSpec
    status: PoolStatus


class Override(TypedDict):
    """Capacities of some brokers."""

    brokers: list[Id]
    cpu: NotRequired[str | int]
    inboundNetwork: NotRequired[str]
    outboundNetwork: NotRequired[str]


class BrokerCapacity(TypedDict):
    """Capacities of all brokers, and overrides for some."""

    cpu: NotRequired[str | int]
    inboundNetwork: NotRequired[str]
    outboundNetwork: NotRequired[str]
    overrides: NotRequired[list[Override]]


class CruiseControl(TypedDict):
    """Settings of Cruise Control."""

    brokerCapacity: NotRequired[BrokerCapacity]


class KafkaConfig(TypedDict):
    """Brokers of a cluster without node pools, and settings of every cluster."""

    version: NotRequired[str]
    config: NotRequired[dict[str, Any]]
    replicas: NotRequired[Annotated[int, Field(ge=1, le=10_000)]]
    storage: NotRequired[Volume]
    resources: NotRequired[Resources]


class KafkaSpec(TypedDict):
    """Desired state of a cluster."""

    kafka: KafkaConfig
    cruiseControl: NotRequired[CruiseControl]


class KafkaStatus(TypedDict):
    """Actual state of a cluster."""

    clusterId: NotRequired[str]
    kafkaVersion: NotRequired[str]


class Kafka(TypedDict):
    """A cluster."""

    metadata: Metadata
    spec: KafkaSpec
    status: NotRequired[KafkaStatus]


# Not strict: all scalars of YAML are read as text.
POOL: TypeAdapter[Any] = TypeAdapter(Pool)
VOLUME: TypeAdapter[Any] = TypeAdapter(Volume)
KAFKA: TypeAdapter[Any] = TypeAdapter(Kafka)
