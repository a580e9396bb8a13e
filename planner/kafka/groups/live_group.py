"""
Reader of a group of a running cluster, in the form of a group file.

Members, subscriptions and owned partitions come from the coordinator, offsets from the
group's commits, log end offsets from the leaders. The cluster is not changed.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner.group.group_document import GroupDocument
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import read_cluster
from planner.kafka.groups import group_members
from planner.kafka.groups.group_listing import ListedGroup, describe, must_find
from planner.kafka.groups.group_members import Described
from planner.kafka.groups.log_offsets import (
    LogEnd,
    Offsets,
    log_offsets,
    offsets_of,
)
from planner.kafka.read.authorization_gaps import INVISIBLE, is_bound
from planner.kafka.read.log_dirs import Partition
from planner.kafka.read.topic_metadata import (
    Topics,
    as_uuid,
    kafka_topic_id,
    read_topics,
    refuse_hidden,
)

_NAMES_SHOWN = 5


def read_live_group(client: ClusterClient, group_id: str) -> GroupDocument:
    """
    Read a group of a running cluster.

    Parameters
    ----------
    client
        Client of the cluster.
    group_id
        Kafka's ``group.id``; the group may have any type.

    Raises
    ------
    BadInputError
        If there is no such group.
    ClusterUnavailableError
        If the cluster cannot be reached, or hides the group or one of its topics.
    """
    listed, said = _describe(client, must_find(client, group_id))
    committed = offsets_of(client, listed)
    topics = _read_topics(client, said.members, committed)
    if listed.kind == "consumer":
        topics = _in_order_of_ids(topics)
    ends, notes = _read_ends(client, topics)
    if is_bound(read_cluster(client)):
        notes.append(f"{INVISIBLE}, and so are offsets on them")
    racks = _racks(client, topics)
    document = {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": group_id,
        "type": listed.kind,
        "state": said.state,
        "assignor": said.assignor,
        "coordinator": listed.coordinator,
        "topics": [
            _topic(name, topic, racks, committed, ends, said.weights)
            for name, topic in topics.items()
        ],
        "members": list(said.members),
    }
    return GroupDocument.from_document(
        document,
        file=f"{client.servers}: group {group_id}",
        notes=[*said.notes, *notes],
    )


def _describe(
    client: ClusterClient, listed: ListedGroup
) -> tuple[ListedGroup, Described]:
    readers = {
        "classic": group_members.classic,
        "consumer": group_members.consumer,
        "share": group_members.share,
    }
    if listed.kind not in readers:
        note = f"the members of a {listed.kind} group are not read: only its offsets"
        state = listed.state or "Unknown"
        return listed, Described(assignor=None, state=state, notes=[note])
    listed, answer = describe(client, listed)
    return listed, _not_dead(listed, readers[listed.kind](answer))


def _not_dead(listed: ListedGroup, said: Described) -> Described:
    """
    Return a description with the listed state if the described state is wrong.

    Brokers that do not list types yet describe groups of the consumer protocol as dead.
    """
    if said.state != "Dead" or listed.state in {None, "Dead"}:
        return said
    note = (
        "the brokers do not describe this group, as those before Kafka 4.0 do with the "
        "new protocol: take what kafka-consumer-groups --describe prints instead"
    )
    state = listed.state or said.state
    return replace(said, state=state, notes=[*said.notes, note])


def _in_order_of_ids(topics: Topics) -> Topics:
    """Return topics in the order of the broker's assignors: by id, as in Java."""

    def signed(name: str) -> tuple[int, int]:
        return struct.unpack(">qq", as_uuid(topics[name]["topic_id"]).bytes)

    return {name: topics[name] for name in sorted(topics, key=signed)}


# -- topics ------------------------------------------------------------------


def _read_topics(
    client: ClusterClient,
    members: Sequence[Mapping[str, Any]],
    committed: Iterable[Partition],
) -> Topics:
    """Return the topics with subscriptions, owners or commits, by name."""
    names = {name.topic for name in committed}
    for member in members:
        names.update(member["topics"], member["owned"])
    patterns = {member["pattern"] for member in members if member.get("pattern")}
    if not patterns:
        return _visible(read_topics(client, sorted(names)), client)
    found = read_topics(client)
    matching = {name for name in found if _matches(patterns, name)}
    missing = sorted(names - set(found))
    chosen = {name: found[name] for name in sorted((names & set(found)) | matching)}
    return _visible({**chosen, **read_topics(client, missing)}, client)


def _matches(patterns: Iterable[str], name: str) -> bool:
    from assignment.make_group import matches

    return any(matches(pattern, name) for pattern in patterns)


def _visible(topics: Topics, client: ClusterClient) -> Topics:
    """Return the topics; raise if one of them is hidden."""
    refuse_hidden(client, topics)
    return topics


def leaders_of(topics: Topics) -> dict[Partition, int]:
    """Return the leader of each partition; negative if it has none."""
    return {
        Partition(name, one["partition_index"]): one["leader_id"]
        for name, topic in topics.items()
        for one in topic["partitions"]
    }


def _read_ends(client: ClusterClient, topics: Topics) -> tuple[Offsets, list[str]]:
    leaders = leaders_of(topics)
    lost = [str(name) for name, leader in leaders.items() if leader < 0]
    notes = []
    if lost:
        shown = ", ".join(lost[:_NAMES_SHOWN])
        more = " …" if len(lost) > _NAMES_SHOWN else ""
        notes.append(f"no leader, and so no end offset: {shown}{more}")
    led = [name for name, leader in leaders.items() if leader >= 0]
    return log_offsets(client, led, LogEnd.LATEST), notes


def _racks(client: ClusterClient, topics: Topics) -> dict[int, str]:
    """Return the rack of each broker with a rack; no request without topics."""
    brokers = read_cluster(client)["brokers"] if topics else ()
    return {one["broker_id"]: one["rack"] for one in brokers if one["rack"]}


def _topic(
    name: str,
    topic: Mapping[str, Any],
    racks: Mapping[int, str],
    committed: Offsets,
    ends: Offsets,
    weights: Mapping[tuple[str, int], float],
) -> dict[str, Any]:
    partitions = sorted(topic["partitions"], key=lambda one: one["partition_index"])
    names = [Partition(name, one["partition_index"]) for one in partitions]
    found: dict[str, Any] = {
        "name": name,
        "partitions": len(names),
        "committed_offsets": [committed.get(one) for one in names],
        "log_end_offsets": [ends.get(one) for one in names],
    }
    if topic_id := kafka_topic_id(topic["topic_id"]):
        found["topic_id"] = topic_id
    if racks:
        found["racks"] = [_racks_of(one["replica_nodes"], racks) for one in partitions]
    if weights:
        mean = sum(weights.values()) / len(weights)
        found["weights"] = [weights.get(one, mean) for one in names]
    return found


def _racks_of(replicas: Iterable[int], racks: Mapping[int, str]) -> list[str]:
    return [racks[broker] for broker in replicas if broker in racks]
