"""What a verification asks a running cluster: moves under way, throttles left."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from planner.kafka.brokers import live_ids, read_cluster
from planner.kafka.client import ClusterClient
from planner.kafka.dirs import Partition
from planner.kafka.look import read_broker_configs, read_topic_configs
from planner.kafka.read import read_live
from planner.kafka.topics import read_reassignments, read_topics
from planner.throttles import BROKER_THROTTLES, TOPIC_THROTTLES

__all__ = [
    "Partition",
    "Throttle",
    "read_reassignments",
    "read_state",
    "read_throttles",
]

# A topic's default is the empty list; a broker names a rate only while it is set.
_DEFAULTS = {"DEFAULT_CONFIG", "STATIC_BROKER_CONFIG"}


class Throttle(NamedTuple):
    """A limit on copies: a rate of a broker, or the replicas of a topic it is for."""

    scope: Literal["broker", "topic"]
    name: str
    key: str
    value: str


def _set_ones(
    scope: Literal["broker", "topic"],
    found: Mapping[Any, Mapping[str, Mapping[str, Any]]],
) -> Iterator[Throttle]:
    for name, configs in found.items():
        for key, one in sorted(configs.items()):
            if one["value"] and one["config_source"] not in _DEFAULTS:
                yield Throttle(scope, str(name), key, str(one["value"]))


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
    brokers = live_ids(read_cluster(client))
    of_brokers = read_broker_configs(client, brokers, BROKER_THROTTLES)
    of_topics = read_topic_configs(client, names, TOPIC_THROTTLES)
    by_name = {name: of_topics[name] for name in names if name in of_topics}
    return [*_set_ones("broker", of_brokers), *_set_ones("topic", by_name)]


def read_state(
    client: ClusterClient,
    *,
    allow_partial: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return a snapshot document for a verification: as it is now, without rates."""
    return read_live(client, allow_partial=allow_partial, note=note)
