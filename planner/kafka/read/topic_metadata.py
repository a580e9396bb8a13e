# ruff: noqa: ANN401 - kafka-python is not typed
"""Topics and their partitions, and the reassignments under way among them."""

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
    """Return a topic's id as Kafka prints it; `None` before topics had one."""
    number = as_uuid(topic_id)
    if not number.int:
        return None
    return base64.urlsafe_b64encode(number.bytes).decode().rstrip("=")


def as_uuid(topic_id: Any) -> uuid.UUID:
    """Return a topic's id, which kafka-python gives as itself or as text."""
    return topic_id if isinstance(topic_id, uuid.UUID) else uuid.UUID(str(topic_id))


def _read_pages(
    client: ClusterClient, names: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield topics, page by page; a topic may go over several pages."""
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
    Return topics that may be seen, with their partitions, by name.

    Parameters
    ----------
    client
        The cluster.
    names
        Those asked for; one that is not there has an ``error_code``, and no partitions.
        `None`: all.
    """
    if names is not None and not names:
        return {}
    try:
        # No names at all asks for every topic, which spares asking for the names.
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
    Refuse topics that were asked for by name and that the user may not describe.

    Raises
    ------
    NotAuthorisedError
        If there is one; names the right.
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
    Return each partition under reassignment.

    Returns
    -------
    dict
        ``replicas``, ``adding_replicas`` and ``removing_replicas`` of each.
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
    Read the reassignments once more, and topics anew that they do not agree with.

    One that begins or ends between two answers would leave replicas that nobody is
    adding, or an addition to no replica; and brokers hear of it later than the
    controller that decides it.

    Parameters
    ----------
    client
        The cluster.
    topics
        As `read_topics` returned them.
    before
        Reassignments from before that.

    Returns
    -------
    tuple
        Topics and reassignments that agree, unless one changes all the time.
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
    # It has ended: what it removed has gone, or, if it was undone, what it added.
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
    """Return those of some topics that do not exist, rather than being hidden."""
    return frozenset(_unknown(read_topics(client, sorted(names))))
