"""Limits on copies that somebody set, as a snapshot tells them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

Throttle = tuple[str, str, str, str]
"""(scope ``broker`` or ``topic``, name, key, value) of a limit on copies."""

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


def throttles_in(snapshot: "Snapshot") -> list[Throttle]:
    """Return the throttles among the configs of brokers, then of topics."""
    brokers, topics = snapshot.brokers, snapshot.topics
    return [
        *_set_ones("broker", brokers["id"], brokers["configs"], BROKER_THROTTLES),
        *_set_ones("topic", topics["topic"], topics["configs"], TOPIC_THROTTLES),
    ]


def _set_ones(
    scope: str,
    names: Any,  # noqa: ANN401 - an Arrow column
    configs: Any,  # noqa: ANN401 - an Arrow column of maps
    keys: tuple[str, ...],
) -> Iterator[Throttle]:
    for name, pairs in zip(names.to_pylist(), configs.to_pylist(), strict=True):
        values = dict(pairs or ())
        # An empty list of replicas limits none.
        yield from (
            (scope, str(name), key, values[key]) for key in keys if values.get(key)
        )
