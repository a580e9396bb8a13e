# ruff: noqa: ANN401 - kafka-python is not typed
"""Reassignments and moves between log dirs on a running cluster."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import live_ids, read_cluster
from planner.kafka.client.controller import reach_controller
from planner.kafka.read.log_dirs import Partition

_NEEDS = "Alter on Cluster"
_NOT_AUTHORISED = "ClusterAuthorizationFailedError"
_TIMED_OUT = "RequestTimedOutError"
# A broker that lacks a replica remembers its log dir, and creates it there.
_REMEMBERED = "ReplicaNotAvailableError"
Name = TypeVar("Name")


def reassign(
    client: ClusterClient, targets: Mapping[Partition, list[int] | None]
) -> dict[Partition, str]:
    """
    Start reassignments, or cancel them.

    Parameters
    ----------
    client
        Client of the cluster.
    targets
        Broker ids by partition; `None` cancels. The same list again changes nothing.

    Returns
    -------
    dict
        Error name of each partition that Kafka refuses.

    Raises
    ------
    ClusterUnavailableError
        If nothing was sent; `NotAuthorisedError` if the permission is missing.
    AnswerUnknownError
        If the request was sent and not answered.
    """
    from kafka import TopicPartition

    reach_controller(client)
    wanted = {TopicPartition(*name): row for name, row in targets.items()}

    def ask(admin: Any) -> dict[Partition, str]:
        answer = admin.alter_partition_reassignments(
            wanted, timeout_ms=int(client.timeout_s * 1000)
        )
        return _named(answer, lambda one: Partition(one.topic, one.partition))

    return _changed(client, ask, "reassign partitions")


def move_replicas(
    client: ClusterClient, paths: Mapping[tuple[Partition, int], str]
) -> dict[tuple[Partition, int], str]:
    """
    Move replicas to other log dirs of their brokers, or name that of new ones.

    Parameters
    ----------
    client
        Client of the cluster.
    paths
        Path by partition and broker id.

    Returns
    -------
    dict
        Error name of each replica that its broker refuses, those of brokers that are
        down included.

    Raises
    ------
    ClusterUnavailableError, AnswerUnknownError
        As in `reassign`.
    """
    live = set(live_ids(read_cluster(client)))
    wanted = {
        (name.topic, name.partition, broker): path
        for (name, broker), path in paths.items()
        if broker in live
    }
    down = {key: "BrokerNotAvailableError" for key in paths if key[1] not in live}
    if not wanted:
        return down

    def ask(admin: Any) -> dict[tuple[Partition, int], str]:
        answer = admin.alter_replica_log_dirs(wanted)
        return _named(answer, lambda one: (Partition(one[0], one[1]), one[2]))

    found = _changed(client, ask, "move replicas between log dirs")
    return down | {k: v for k, v in found.items() if v != _REMEMBERED}


def _changed(
    client: ClusterClient, ask: Callable[[Any], dict[Name, str]], what: str
) -> dict[Name, str]:
    look = f"kafka-reassign-partitions.sh --bootstrap-server {client.servers} --list"
    # The same request again leaves what it did the first time as it is.
    return client.change(ask, what=what, needs=_NEEDS, look=look, is_repeatable=True)


def _named(answer: Mapping[Any, Any], name: Callable[[Any], Name]) -> dict[Name, str]:
    """Return the errors by name; raise those that concern the whole request."""
    found = {
        name(key): error.__name__
        for key, error in answer.items()
        if error is not None and getattr(error, "errno", 0) != 0
    }
    for key, error in answer.items():
        if found.get(name(key)) in {_NOT_AUTHORISED, _TIMED_OUT}:
            raise error
    return found
