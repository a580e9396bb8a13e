"""
Topics in Strimzi's KafkaTopic resources: names, ids, settings, and what is desired.

A resource is the desired state of a topic: numbers of partitions and replicas and
settings need not be those of the cluster. The namespace and the name of the resource
become a tag of the topic. Strimzi ignores the spec of an unmanaged topic.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.importers.hardware.strimzi_kinds import validate_resource
from planner.snapshot.importers.inputs.import_source import Record
from planner.snapshot.importers.inputs.input_text import Refusal, refuse_duplicates
from planner.topic_resources import NAMESPACE, RESOURCE_NAME, TopicResource

TOPIC_KIND = "KafkaTopic"
TOPIC_COMMAND = "kubectl get kafkatopics -o yaml"
_NAMES_SHOWN = 5
_CONFLICT = "ResourceConflict"
_UNSET = (None, "", "null", "~")

TopicName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$")]
_Word = Annotated[str, Field(pattern=r"^[A-Za-z]{1,60}$")]
_Key = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,200}$")]


class TopicMetadata(TypedDict):
    """Name, namespace, labels and annotations of a resource."""

    name: Annotated[str, Field(pattern=RESOURCE_NAME.pattern)]
    namespace: NotRequired[Annotated[str, Field(pattern=NAMESPACE.pattern)]]
    labels: NotRequired[dict[str, str]]
    annotations: NotRequired[dict[str, str]]


class TopicSpec(TypedDict):
    """Desired state of a topic; Kafka's defaults stand for absent numbers."""

    topicName: NotRequired[TopicName]
    partitions: NotRequired[Annotated[int, Field(ge=1, le=2**31 - 1)]]
    replicas: NotRequired[Annotated[int, Field(ge=1, le=2**15 - 1)]]
    config: NotRequired[dict[_Key, Any]]


class Condition(TypedDict):
    """Condition of a resource, such as Ready."""

    type: _Word
    status: NotRequired[str]
    reason: NotRequired[str]


class ReplicasChange(TypedDict):
    """Change of the replication factor that Cruise Control makes."""

    targetReplicas: NotRequired[int]
    state: NotRequired[_Word]


class TopicStatus(TypedDict):
    """Actual state of a topic."""

    topicId: NotRequired[str]
    conditions: NotRequired[list[Condition]]
    replicasChange: NotRequired[ReplicasChange]


class Topic(TypedDict):
    """A topic."""

    metadata: TopicMetadata
    spec: NotRequired[TopicSpec]
    status: NotRequired[TopicStatus]


# Not strict: all scalars of YAML are read as text.
TOPIC: TypeAdapter[Any] = TypeAdapter(Topic)


class StrimziTopics:
    """Topics of the resources of one cluster."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        self.names: set[str] = set()
        self.topics: list[Record] = []
        self.desired: list[Record] = []
        self._read: list[tuple[str, dict[str, Any]]] = []

    @property
    def num_read(self) -> int:
        """Number of resources that were read."""
        return len(self._read)

    def add(self, place: str, resource: Any) -> None:  # noqa: ANN401 - YAML or JSON
        """Add a resource."""
        topic = validate_resource(self.refusal, TOPIC, place, resource)
        if topic is None:
            return
        name = _topic_name(topic)
        self._read.append((name, topic))
        cluster = topic["metadata"].get("labels", {}).get("strimzi.io/cluster")
        if cluster is not None:
            self.names.add(cluster)
        if _is_in_conflict(topic):
            return
        self.topics.append(Record(key=name, values=_facts(topic), place=place))
        if _is_managed(topic):
            values = self._desired(place, topic.get("spec", {}))
            self.desired.append(Record(key=name, values=values, place=place))

    def check(self) -> None:
        """Record the topics that several resources describe."""
        refuse_duplicates(((one.key, one.place) for one in self.topics), self.refusal)

    def notes(self) -> Iterator[str]:
        """Yield notes on topics that Strimzi does not manage, or has not settled."""
        for words, describe in _NOTES:
            found = [
                f"{name}{text}"
                for name, topic in self._read
                if (text := describe(topic)) is not None
            ]
            if found:
                more = len(found) - _NAMES_SHOWN
                rest = f" and {more} more" if more > 0 else ""
                yield f"{words}: {', '.join(found[:_NAMES_SHOWN])}{rest}"

    def _desired(self, place: str, spec: dict[str, Any]) -> dict[str, Any]:
        names = ("partitions", "replicas")
        values: dict[str, Any] = {name: spec[name] for name in names if name in spec}
        configs = {}
        for key, value in spec.get("config", {}).items():
            text = _config_text(value)
            if text is None:
                rule = "must be a text, a number, true, false, or a list of these"
                where = f"{place}, spec.config.{key}"
                self.refusal.add(where, rule, "correct the resource")
            elif text not in _UNSET:
                configs[key] = text
        return {**values, "configs": dict(sorted(configs.items()))}


def _topic_name(topic: dict[str, Any]) -> str:
    name: str = topic.get("spec", {}).get("topicName", topic["metadata"]["name"])
    return name


def _facts(topic: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a topic that hold in the cluster."""
    values: dict[str, Any] = {}
    topic_id = topic.get("status", {}).get("topicId")
    if topic_id is not None:
        values["topic_id"] = topic_id
    if _is_managed(topic):
        metadata = topic["metadata"]
        values["tags"] = TopicResource(
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            is_paused=_is_paused(topic),
        ).tags()
    return values


def _config_text(value: object) -> str | None:
    """Return the text of a setting; `None` if it is none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and not any(isinstance(v, list | dict) for v in value):
        return ",".join(_config_text(each) or "" for each in value)
    return None


def _annotation(topic: dict[str, Any], name: str) -> str:
    value: str = topic["metadata"].get("annotations", {}).get(f"strimzi.io/{name}", "")
    return value.lower()


def _is_managed(topic: dict[str, Any]) -> bool:
    return _annotation(topic, "managed") != "false"


def _is_paused(topic: dict[str, Any]) -> bool:
    return _annotation(topic, "pause-reconciliation") == "true"


def _not_ready(topic: dict[str, Any]) -> str | None:
    """Return the reason for which a resource is not ready; `None` if it is ready."""
    for one in topic.get("status", {}).get("conditions", ()):
        if one["type"] == "Ready" and one.get("status", "").lower() == "false":
            reason: str = one.get("reason", "")
            return reason if reason.isalpha() else "no reason"
    return None


def _is_in_conflict(topic: dict[str, Any]) -> bool:
    """Return whether Strimzi ignores a resource, as an older one has its topic."""
    return _not_ready(topic) == _CONFLICT


def _unmanaged_text(topic: dict[str, Any]) -> str | None:
    return None if _is_managed(topic) else ""


def _paused_text(topic: dict[str, Any]) -> str | None:
    return "" if _is_paused(topic) and _is_managed(topic) else None


def _not_ready_text(topic: dict[str, Any]) -> str | None:
    reason = _not_ready(topic)
    return None if reason is None else f" ({reason})"


def _change_text(topic: dict[str, Any]) -> str | None:
    change = topic.get("status", {}).get("replicasChange")
    if not change:
        return None
    words = [change.get("state", ""), f"to {change.get('targetReplicas', 'unknown')}"]
    return f" ({' '.join(filter(None, words))})"


_NOTES: tuple[tuple[str, Callable[[dict[str, Any]], str | None]], ...] = (
    ("unmanaged topics, whose spec Strimzi ignores", _unmanaged_text),
    ("topics whose reconciliation is paused", _paused_text),
    ("KafkaTopic resources that are not ready", _not_ready_text),
    ("Cruise Control changes replication factors", _change_text),
)
"""Notes by their words: the text behind the name of a topic, `None` for others."""
