# ruff: noqa: ANN401 - kafka-python is not typed
"""Topics with their partitions, and ongoing reassignments."""

import base64
import threading
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.cluster_errors import TooOldError, not_authorised
from planner.kafka.client.controller import reach_controller
from planner.kafka.read.log_dirs import Partition

PARTITIONS_PER_PAGE = 2000
UNKNOWN_TOPIC = 3  # Kafka's UNKNOWN_TOPIC_OR_PARTITION
NOT_AUTHORISED = 29  # Kafka's TOPIC_AUTHORIZATION_FAILED
_NAMES_SHOWN = 5
_TRIES = 5
_PAUSE_S = 0.2

Topics = dict[str, dict[str, Any]]
Moves = Mapping[Partition, Mapping[str, Any]]


def kafka_topic_id(topic_id: Any) -> str | None:
    """Return a topic's id as Kafka prints it; `None` for topics without id."""
    number = as_uuid(topic_id)
    if not number.int:
        return None
    return base64.urlsafe_b64encode(number.bytes).decode().rstrip("=")


def as_uuid(topic_id: Any) -> uuid.UUID:
    """Return a topic's id, which kafka-python provides as a UUID or as text."""
    return topic_id if isinstance(topic_id, uuid.UUID) else uuid.UUID(str(topic_id))


def _read_pages(
    client: ClusterClient, names: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield topics, page by page; a topic may extend over several pages."""
    cursor: Any = None
    while True:

        def ask(admin: Any, cursor: Any = cursor) -> Any:
            return admin.describe_topic_partitions(names, PARTITIONS_PER_PAGE, cursor)

        page = client.call(ask, needs="Describe on Topic")
        yield from page["topics"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def read_topics(
    client: ClusterClient, names: Sequence[str] | None = None
) -> dict[str, dict[str, Any]]:
    """
    Return visible topics with their partitions, by name.

    Parameters
    ----------
    client
        Client of the cluster.
    names
        Requested topics; a missing one has an ``error_code``, and no partitions.
        `None`: all.
    """
    if names is not None and not names:
        return {}
    try:
        # An empty list requests every topic, which saves a request for names.
        pages = list(_read_pages(client, names or ()))
    except TooOldError:  # before Kafka 3.7: no ELR either
        pages = client.call(
            lambda admin: admin.describe_topics(names), needs="Describe on Topic"
        )
    found: dict[str, dict[str, Any]] = {}
    for topic in pages:
        merged = found.setdefault(topic["name"], {**topic, "partitions": []})
        merged["partitions"].extend(topic["partitions"])
    return dict(sorted(found.items()))


def refuse_hidden(client: ClusterClient, topics: Topics) -> None:
    """
    Raise if the user may not describe one of the requested topics.

    Raises
    ------
    NotAuthorisedError
        If there is such a topic; the message names the permission.
    """
    hidden = [
        name for name, one in topics.items() if one["error_code"] == NOT_AUTHORISED
    ]
    if hidden:
        more = " …" if len(hidden) > _NAMES_SHOWN else ""
        shown = ", ".join(hidden[:_NAMES_SHOWN])
        needs = f"Describe on Topic {shown}{more}"
        raise not_authorised(client.servers, needs)


def read_reassignments(client: ClusterClient) -> dict[Partition, Mapping[str, Any]]:
    """
    Return the partitions under reassignment.

    Returns
    -------
    dict
        ``replicas``, ``adding_replicas`` and ``removing_replicas`` of each partition.
    """
    reach_controller(client)
    found = client.call(
        lambda admin: admin.list_partition_reassignments(), needs="Describe on Cluster"
    )
    return {Partition(name.topic, name.partition): one for name, one in found.items()}


def settle_moves(
    client: ClusterClient, topics: Topics, before: Moves
) -> tuple[Topics, dict[Partition, Mapping[str, Any]]]:
    """
    Read reassignments again, and topics that are inconsistent with them.

    A reassignment that starts or ends between two answers leaves replicas without their
    reassignment, or a reassignment without its replicas. Besides, brokers learn of a
    reassignment later than the controller.

    Parameters
    ----------
    client
        Client of the cluster.
    topics
        Result of `read_topics`.
    before
        Reassignments read before the topics.

    Returns
    -------
    tuple
        Consistent topics and reassignments, unless they change continually.
    """
    found, moves = dict(topics), read_reassignments(client)
    past = {**before, **moves}
    for _ in range(_TRIES):
        stale = {name.topic for name in past if _is_stale(found, name, past, moves)}
        if not stale:
            break
        threading.Event().wait(_PAUSE_S)
        found |= read_topics(client, sorted(stale))
        moves = read_reassignments(client)
        past |= moves
    return _without(found, _unknown(found)), moves


def _is_stale(topics: Topics, name: Partition, past: Moves, moves: Moves) -> bool:
    replicas = _replicas_of(topics, name)
    if replicas is None:  # deleted meanwhile
        return False
    if name in moves:
        return replicas != list(moves[name]["replicas"])
    # It has ended: the removed or, after a cancellation, the added replicas are gone.
    was = past[name]
    return bool(was["removing_replicas"]) and replicas == list(was["replicas"])


def _replicas_of(topics: Topics, name: Partition) -> list[int] | None:
    partitions = topics.get(name.topic, {}).get("partitions", ())
    found = [one for one in partitions if one["partition_index"] == name.partition]
    return list(found[0]["replica_nodes"]) if found else None


def _unknown(topics: Topics) -> set[str]:
    return {n for n, one in topics.items() if one["error_code"] == UNKNOWN_TOPIC}


def _without(topics: Topics, gone: Collection[str]) -> Topics:
    return {name: one for name, one in sorted(topics.items()) if name not in gone}


def find_deleted(client: ClusterClient, names: Collection[str]) -> frozenset[str]:
    """Return the topics of a list that do not exist, without hidden ones."""
    return frozenset(_unknown(read_topics(client, sorted(names))))
