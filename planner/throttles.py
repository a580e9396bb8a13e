"""
Throttles, and the commands that remove them.

Kafka limits copies by rates of brokers (their own, or the default of all brokers in
the cluster) and by the lists of throttled replicas of topics.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import Literal, NamedTuple

from planner.kafka_commands import (
    ALL_BROKERS,
    ANY_SERVER,
    KafkaCommands,
    broker_entity,
    topic_entity,
)

LOG_DIR_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
BROKER_THROTTLES = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    LOG_DIR_RATE,
)
TOPIC_THROTTLES = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)
Scope = Literal["broker", "cluster", "topic"]


class Throttle(NamedTuple):
    """
    A limit on copies that is set.

    Parameters
    ----------
    scope
        ``broker``, ``cluster`` (the default of all its brokers) or ``topic``.
    name
        Broker id or topic name; empty for the cluster default.
    key, value
        Kafka's config and its value: a rate in bytes/s, or replicas of a topic.
    """

    scope: Scope
    name: str
    key: str
    value: str

    @property
    def place(self) -> str:
        """Broker, topic or default that the throttle is set on, in words."""
        return (self.name and f"{self.scope} {self.name}") or "default of all brokers"

    def removal(self, connection: str = ANY_SERVER) -> str:
        """Return the command of Kafka's own tool that removes this throttle."""
        return _removal(self.scope, self.name, [self.key], connection)


def removals(throttles: Iterable[Throttle], connection: str = ANY_SERVER) -> list[str]:
    """
    Return the commands that remove throttles, one per broker, default and topic.

    Parameters
    ----------
    throttles
        The throttles; those of one place need not be neighbours.
    connection
        Connection options of Kafka's tools.
    """
    ordered = sorted(throttles, key=_place_key)
    return [
        _removal(scope, name, [one.key for one in same], connection)
        for (scope, name), same in groupby(ordered, lambda one: (one[0], one[1]))
    ]


def _place_key(one: Throttle) -> tuple[str, int, str]:
    return one[0], int(one[1]) if one[0] == "broker" else 0, one[1]


def _removal(scope: Scope, name: str, keys: list[str], connection: str) -> str:
    entity = {
        "broker": broker_entity(name),
        "cluster": ALL_BROKERS,
        "topic": topic_entity(name),
    }[scope]
    commands = KafkaCommands(connection=connection)
    return commands.delete_configs(entity, dict.fromkeys(keys))
