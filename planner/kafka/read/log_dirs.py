# ruff: noqa: ANN401 - kafka-python is not typed
"""Log dirs of brokers, and the replicas in them."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from typing import Any, NamedTuple

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import ask_brokers
from planner.process import no_garbage_collection

_AT_ONCE: Mapping[int, float] = MappingProxyType({})


class Partition(NamedTuple):
    """Topic and number of a partition."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Copy(NamedTuple):
    """Log dir path and size in bytes of a replica on one broker."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class BrokerDirs:
    """
    Log dirs of one broker.

    Parameters
    ----------
    dirs
        Descriptions of the log dirs by the broker, without replicas.
    current
        Current replicas.
    future
        Future replicas, which are being copied between log dirs.
    at_s
        Time of the request in seconds of the monotonic clock.
    """

    dirs: tuple[Mapping[str, Any], ...]
    current: Mapping[Partition, Copy]
    future: Mapping[Partition, Copy]
    at_s: float


def broker_dirs(raw: Sequence[Mapping[str, Any]], at_s: float) -> BrokerDirs:
    """Return the log dirs of a broker from its answer; see `BrokerDirs`."""
    current: dict[Partition, Copy] = {}
    future: dict[Partition, Copy] = {}
    for one in raw:
        path = one["log_dir"]
        for topic in one["topics"]:
            name = topic["name"]
            for replica in topic["partitions"]:
                kept = future if replica["is_future_key"] else current
                size_bytes = max(replica["partition_size"], 0)
                copy = Copy(path, size_bytes)
                kept[Partition(name, replica["partition_index"])] = copy
    dirs = tuple({k: v for k, v in one.items() if k != "topics"} for one in raw)
    return BrokerDirs(dirs, current, future, at_s)


def read_dirs(
    client: ClusterClient,
    broker_ids: Sequence[int],
    *,
    not_before: Mapping[int, float] = _AT_ONCE,
) -> dict[int, BrokerDirs]:
    """
    Return the log dirs of brokers, with one request each, several at a time.

    Parameters
    ----------
    client
        Client of the cluster.
    broker_ids
        Brokers in the order of requests. The result excludes brokers fenced meanwhile.
    not_before
        Earliest time of each request, in seconds of the monotonic clock; at once if not
        given.
    """

    def ask(admin: Any, broker_id: int) -> BrokerDirs:
        threading.Event().wait(max(0.0, not_before.get(broker_id, 0.0) - monotonic()))
        # Sizes date from the request; the answer may wait for other answers.
        at_s = monotonic()
        (found,) = admin.describe_log_dirs(brokers=[broker_id])
        return broker_dirs(found["log_dirs"], at_s)

    with no_garbage_collection():
        return ask_brokers(client, broker_ids, ask, needs="Describe on Cluster")
