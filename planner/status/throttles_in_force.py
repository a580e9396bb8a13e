"""Throttles in force, as the configs of a snapshot name them."""

from collections.abc import Iterable, Iterator
from typing import Any

from planner.snapshot.snapshot_document import Snapshot
from planner.throttles import BROKER_THROTTLES, TOPIC_THROTTLES, Scope, Throttle


def throttles_in(snapshot: Snapshot) -> list[Throttle]:
    """
    Return every throttle in force: of brokers, of the cluster default, of topics.

    A live snapshot holds none of fenced brokers: they do not answer.
    """
    brokers, topics = snapshot.brokers, snapshot.topics
    default = [snapshot.configs]
    return [
        *_set_ones("broker", _column(brokers, "id"), _configs(brokers)),
        *_set_ones("cluster", [""], default),
        *_set_ones("topic", _column(topics, "topic"), _configs(topics)),
    ]


def _column(table: Any, name: str) -> list[Any]:  # noqa: ANN401 - an Arrow table
    found: list[Any] = table[name].to_pylist()
    return found


def _configs(table: Any) -> Iterator[dict[str, str]]:  # noqa: ANN401 - an Arrow table
    return (dict(pairs or ()) for pairs in _column(table, "configs"))


def _set_ones(
    scope: Scope, names: Iterable[Any], configs: Iterable[Any]
) -> Iterator[Throttle]:
    keys = TOPIC_THROTTLES if scope == "topic" else BROKER_THROTTLES
    for name, values in zip(names, configs, strict=True):
        # An empty list of replicas limits none.
        yield from (
            Throttle(scope, str(name), key, values[key])
            for key in keys
            if values.get(key)
        )
