"""Partitions to be created: the one request of a plan, as Kafka's tools take it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """
    Request that creates a topic, or adds partitions to one.

    Parameters
    ----------
    topic
        Name of the topic.
    first
        Number of its first new partition; 0 for a new topic.
    lists
        Broker ids of each new partition, preferred leader first.
    configs
        Configs of a new topic by name.
    """

    topic: str
    first: int
    lists: tuple[tuple[int, ...], ...]
    configs: Mapping[str, str]

    @property
    def is_new_topic(self) -> bool:
        """Whether the topic is created, too."""
        return not self.first

    @property
    def count(self) -> int:
        """Number of partitions of the topic afterwards."""
        return self.first + len(self.lists)

    @property
    def by_key(self) -> dict[tuple[str, int], tuple[int, ...]]:
        """Broker ids of each new partition, by topic and number."""
        numbers = range(self.first, self.count)
        return {
            (self.topic, n): row for n, row in zip(numbers, self.lists, strict=True)
        }

    @property
    def document(self) -> dict[str, Any]:
        """The request as lines of a journal have it, and digests of plans."""
        return {
            "topic": self.topic,
            "first": self.first,
            "replicas": [list(row) for row in self.lists],
            "configs": dict(self.configs),
        }
