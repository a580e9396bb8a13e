"""What a verification asks a running cluster: moves under way, throttles left."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from planner.kafka.client import ClusterClient
from planner.kafka.look import (
    BROKER_THROTTLES,
    Partition,
    live_ids,
    read_cluster,
    read_configs,
    read_reassignments,
    read_topics,
)
from planner.kafka.read import read_live

__all__ = [
    "Partition",
    "Throttle",
    "read_reassignments",
    "read_state",
    "read_throttles",
]

TOPIC_THROTTLES = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)
# A topic's default is the empty list; a broker names a rate only while it is set.
_DEFAULTS = {"DEFAULT_CONFIG", "STATIC_BROKER_CONFIG"}


class Throttle(NamedTuple):
    """A limit on copies: a rate of a broker, or the replicas of a topic it is for."""

    scope: Literal["broker", "topic"]
    name: str
    key: str
    value: str


def _set_ones(
    client: ClusterClient,
    scope: Literal["broker", "topic"],
    names: Sequence[str],
    keys: Sequence[str],
) -> list[Throttle]:
    found = read_configs(client, scope, names, keys)
    return [
        Throttle(scope, name, key, str(one["value"]))
        for name in names
        for key, one in sorted(found.get(name, {}).items())
        if one["value"] and one["config_source"] not in _DEFAULTS
    ]


def read_throttles(
    client: ClusterClient, topics: Sequence[str] | None = None
) -> list[Throttle]:
    """
    Return the throttles that are set.

    Parameters
    ----------
    client
        The cluster.
    topics
        Topics to ask for; `None`: all.

    Returns
    -------
    list
        ``(scope, name, key, value)``, those of brokers first. A fenced broker cannot
        be asked.
    """
    names = list(read_topics(client)) if topics is None else sorted(set(topics))
    brokers = [str(broker_id) for broker_id in live_ids(read_cluster(client))]
    return [
        *_set_ones(client, "broker", brokers, BROKER_THROTTLES),
        *_set_ones(client, "topic", names, TOPIC_THROTTLES),
    ]


def read_state(
    client: ClusterClient,
    *,
    allow_partial: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return a snapshot document for a verification: as it is now, without rates."""
    return read_live(client, sample_seconds=0, allow_partial=allow_partial, note=note)
