"""Kubernetes resources of topics (KafkaTopic of Strimzi), and their topic tags."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

RESOURCE_TAG = "kafka_topic"
"""Tag of a topic with its resource: ``namespace/name``, or the name alone."""
PAUSED_TAG = "kafka_topic_paused"
"""Tag of a topic whose reconciliation is paused."""

RESOURCE_NAME = re.compile(r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")
"""Names of resources in Kubernetes."""
NAMESPACE = re.compile(r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
"""Names of namespaces in Kubernetes."""

TAGS = frozenset((RESOURCE_TAG, PAUSED_TAG))
"""Tags that group no topics: almost every topic has its own value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicResource:
    """
    KafkaTopic resource that Strimzi's Topic Operator reconciles with a topic.

    Parameters
    ----------
    namespace
        Namespace of the resource; empty if unknown.
    name
        Name of the resource, which may differ from the topic's.
    is_paused
        Whether the reconciliation is paused.
    """

    namespace: str
    name: str
    is_paused: bool = False

    def tags(self) -> dict[str, str]:
        """Return the topic tags that keep the resource in a snapshot."""
        full = f"{self.namespace}/{self.name}" if self.namespace else self.name
        paused = {PAUSED_TAG: "true"} if self.is_paused else {}
        return {RESOURCE_TAG: full, **paused}


NO_RESOURCES: Mapping[str, TopicResource] = MappingProxyType({})
"""Resources of a snapshot that has none."""


def resource_of(tags: Mapping[str, str]) -> TopicResource | None:
    """
    Return the resource in the tags of a topic; `None` if there is none.

    Examples
    --------
    >>> resource_of({"kafka_topic": "kafka/orders"})
    TopicResource(namespace='kafka', name='orders', is_paused=False)
    >>> resource_of({"kafka_topic": "kafka/$(x)"}) is None
    True
    """
    namespace, _, name = tags.get(RESOURCE_TAG, "").rpartition("/")
    if not RESOURCE_NAME.fullmatch(name) or (
        namespace and not NAMESPACE.fullmatch(namespace)
    ):
        return None
    is_paused = tags.get(PAUSED_TAG) == "true"
    return TopicResource(namespace=namespace, name=name, is_paused=is_paused)
