"""Shapes of the parts of Strimzi's resources that are read, and their validation."""

from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.importers.inputs.input_text import Refusal
from planner.snapshot.importers.inputs.json_input import validate
from planner.snapshot.importers.inputs.unused_keys import unused_keys
from planner.snapshot.tables.snapshot_records import Id

KIND = "Strimzi's KafkaNodePool, Kafka and KafkaTopic resources"
COMMAND = "kubectl get kafka,kafkanodepool -o yaml"
_BOOKKEEPING = ("apiVersion", "kind", "metadata", "status")


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


def kind_of(resource: object) -> str:
    """Return the kind of a resource of Strimzi; empty for other resources."""
    if not isinstance(resource, dict):
        return ""
    is_own = str(resource.get("apiVersion", "")).startswith("kafka.strimzi.io/")
    return str(resource.get("kind", "")) if is_own else ""


def validate_resource(
    refusal: Refusal,
    adapter: TypeAdapter[Any],
    place: str,
    resource: Any,  # noqa: ANN401 - YAML or JSON
) -> Any:  # noqa: ANN401 - a resource
    """
    Return a validated resource or volume; `None` if its problems were recorded.

    Parameters
    ----------
    refusal
        Collects the problems, and the keys that are not used.
    adapter
        Shape of the resource.
    place
        Place of the resource in the file.
    resource
        Parsed resource.
    """
    inner = Refusal(refusal.file, KIND, "strimzi")
    try:
        read = validate(adapter, resource, inner)
    except ValueError:
        for problem in inner.problems:
            where = f"{place}, {problem.place}"
            refusal.add(where, problem.rule, _remedy(problem.place))
        return None
    # Other keys are listed, except Kubernetes' own.
    kind = "volume" if adapter is VOLUME else resource["kind"]
    refusal.note_unused(
        f"{kind} {key}"
        for key in unused_keys(resource, read)
        if not key.startswith(_BOOKKEEPING)
    )
    return read


def _remedy(place: str) -> str:
    if place.startswith("status"):
        return "export the resource with its status: kubectl get -o yaml"
    return "correct the resource, or export it again: kubectl get -o yaml"
