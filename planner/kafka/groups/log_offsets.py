# ruff: noqa: ANN401 - kafka-python is not typed
"""Offsets on a running cluster: ends of logs, and commits of groups."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.groups.group_listing import ListedGroup
from planner.kafka.read.log_dirs import Partition

_PER_CALL = 1000
_NOT_KNOWN = -1
_NONE = 0

Offsets = dict[Partition, int]


class LogEnd(Enum):
    """End of a log."""

    EARLIEST = "earliest"
    LATEST = "latest"


def _batches(names: Sequence[Partition]) -> Iterator[Sequence[Partition]]:
    for first in range(0, len(names), _PER_CALL):
        yield names[first : first + _PER_CALL]


def log_offsets(
    client: ClusterClient, names: Sequence[Partition], at: LogEnd | int
) -> Offsets:
    """
    Return offsets in the logs of partitions that have a leader.

    Parameters
    ----------
    client
        Client of the cluster.
    names
        Partitions with a leader.
    at
        End of the log, or milliseconds since 1970 for the first message at that time or
        later. A partition without such a message is left out.

    Raises
    ------
    ClusterUnavailableError
        If a leader does not answer in time, or the user may not describe a topic.
    """
    from kafka import TopicPartition
    from kafka.admin import OffsetSpec

    spec = OffsetSpec[at.name] if isinstance(at, LogEnd) else at
    found: Offsets = {}
    for some in _batches(names):
        wanted = {TopicPartition(*name): spec for name in some}

        def ask(admin: Any, wanted: Any = wanted) -> Any:
            return admin.list_partition_offsets(wanted)

        answers = client.call(ask, needs="Describe on Topic")
        found |= {Partition(*name): one.offset for name, one in answers.items()}
    return {name: offset for name, offset in found.items() if offset != _NOT_KNOWN}


def committed_offsets(client: ClusterClient, group_id: str) -> Offsets:
    """
    Return the committed offsets of a group; empty if there is no such group.

    Raises
    ------
    ClusterUnavailableError
        If the coordinator cannot be reached, or the user may not describe the group.
    """
    answers = client.call(
        lambda admin: admin.list_group_offsets({group_id: None}),
        needs=f"Describe on Group {group_id}, and on its topics",
    )
    found = answers.get(group_id, {})
    return {
        Partition(*name): one.offset for name, one in found.items() if one.offset >= 0
    }


def share_start_offsets(
    client: ClusterClient, group_id: str, coordinator: int
) -> Offsets:
    """
    Return the start offsets of a share group, without partitions not started yet.

    Raises
    ------
    ClusterUnavailableError
        If the coordinator cannot be reached, or the user may not describe the group.
    """

    def ask(admin: Any) -> Any:
        from kafka.errors import for_code

        from planner.kafka.groups.group_messages import (
            DescribeShareGroupOffsetsRequest,
            send,
        )

        asked = DescribeShareGroupOffsetsRequest.RequestGroup(
            group_id=group_id, topics=None
        )
        request = DescribeShareGroupOffsetsRequest(groups=[asked])
        (answer,) = send(admin, request, coordinator).groups
        if answer.error_code != _NONE:
            raise for_code(answer.error_code)
        return answer

    answer = client.call(ask, needs=f"Describe on Group {group_id}")
    return {
        Partition(topic.topic_name, one.partition_index): one.start_offset
        for topic in answer.topics
        for one in topic.partitions
        if one.error_code == _NONE and one.start_offset >= 0
    }


def look_command(client: ClusterClient, group_id: str) -> str:
    """Return the command that shows the committed offsets of a group."""
    name = shlex.quote(group_id)
    return f"kafka-planner group offsets {name} --bootstrap-server {client.servers}"


def _raise_common(errors: set[Any]) -> None:
    """
    Raise errors that concern all partitions.

    These are a coordinator that has moved or is not ready, after which a repeated
    commit is harmless, and a permission that is missing for every partition.
    """
    from kafka import errors as known

    moved = {
        known.CoordinatorLoadInProgressError,
        known.CoordinatorNotAvailableError,
        known.NotCoordinatorError,
    }
    for error in errors & moved:
        raise error
    if len(errors) == 1:
        (error,) = errors
        if issubclass(error, known.AuthorizationError):
            raise error


def _refusal(topic: str, error: Any) -> str:
    """Return Kafka's name of an error, with the missing permission if any."""
    from kafka.errors import AuthorizationError

    name = str(error.__name__)
    if issubclass(error, AuthorizationError):
        return f"{name}: the user needs Read on Topic {topic}"
    return name


def commit_offsets(
    client: ClusterClient, group_id: str, offsets: Mapping[Partition, int]
) -> dict[Partition, str]:
    """
    Commit offsets for a group without members.

    Returns
    -------
    dict
        Reason of each rejected offset, by Kafka's name of the error; committed
        partitions are left out.

    Raises
    ------
    ClusterUnavailableError
        If the coordinator cannot be reached, or the user lacks Read on the group.
    AnswerUnknownError
        If the offsets were sent and not answered.
    """
    from kafka import TopicPartition
    from kafka.errors import NoError
    from kafka.structs import OffsetAndMetadata

    wanted = {
        TopicPartition(*name): OffsetAndMetadata(offset, "", None)
        for name, offset in offsets.items()
    }

    def ask(admin: Any) -> Any:
        found = admin.alter_group_offsets(group_id, wanted)
        _raise_common(set(found.values()))
        return found

    answers = client.change(
        ask,
        what=f"set offsets of group {group_id}",
        needs=f"Read on Group {group_id}, and on its topics",
        look=look_command(client, group_id),
        is_repeatable=True,
    )
    return {
        Partition(*name): _refusal(name.topic, error)
        for name, error in answers.items()
        if error is not NoError
    }


def offsets_of(client: ClusterClient, group: ListedGroup) -> Offsets:
    """Return the start offsets of a share group, or the committed ones of another."""
    if group.kind == "share":
        return share_start_offsets(client, group.group_id, group.coordinator)
    return committed_offsets(client, group.group_id)
