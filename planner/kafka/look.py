# ruff: noqa: ANN401 - kafka-python is not typed
"""One look at a running cluster: what its brokers answer, gathered but not judged."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner.kafka.client import ClusterClient, NotAuthorisedError

TOPICS_PER_CALL = 200
PARTITIONS_PER_PAGE = 2000

# What a plan or a score may depend on and that holds for the whole cluster.
CLUSTER_CONFIGS = (
    "min.insync.replicas",
    "default.replication.factor",
    "unclean.leader.election.enable",
    "auto.leader.rebalance.enable",
    "leader.imbalance.per.broker.percentage",
    "log.retention.bytes",
    "log.retention.ms",
    "log.retention.hours",
    "log.local.retention.bytes",
    "log.local.retention.ms",
    "remote.log.storage.system.enable",
    "follower.fetch.last.tiered.offset.enable",
    "replica.selector.class",
)
# Limits on copies; a broker names them only while they are set.
BROKER_THROTTLES = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
# Written down even where it is Kafka's default: every verdict on an ISR needs it.
_ALWAYS = "min.insync.replicas"


class Partition(NamedTuple):
    """Name of a partition."""

    topic: str
    partition: int


class Copy(NamedTuple):
    """Where one broker keeps a replica, and how large it is."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class BrokerDirs:
    """
    The log dirs of one broker.

    Parameters
    ----------
    dirs
        As the broker describes them, without the replicas.
    current
        Replicas that serve.
    future
        Copies under way between log dirs.
    at_s
        When the broker answered, on a clock that only runs forward.
    """

    dirs: tuple[Mapping[str, Any], ...]
    current: Mapping[Partition, Copy]
    future: Mapping[Partition, Copy]
    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """
    What the brokers answered.

    Parameters
    ----------
    cluster
        Id and brokers.
    dirs
        Log dirs by broker; of fenced brokers there are none.
    topics
        Topics with their partitions, by name.
    topic_configs
        Settings that are a topic's own, by topic; a topic whose settings may not be
        read is absent.
    cluster_configs
        Settings that hold everywhere, as one broker sees them.
    broker_configs
        Throttles of each broker that has some.
    reassignments
        Adding and removing replicas of each partition under way.
    quorum
        The controllers' quorum; empty where it may not be read.
    features
        Finalized feature levels.
    refused
        What the user may not ask at all, and the right that it takes.
    """

    cluster: Mapping[str, Any]
    dirs: Mapping[int, BrokerDirs]
    topics: Mapping[str, Mapping[str, Any]]
    topic_configs: Mapping[str, Mapping[str, str]]
    cluster_configs: Mapping[str, str] = field(default_factory=dict)
    broker_configs: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    reassignments: Mapping[Partition, Mapping[str, Any]] = field(default_factory=dict)
    quorum: Mapping[str, Any] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def read_cluster(client: ClusterClient) -> dict[str, Any]:
    """Return the cluster's id and its brokers, fenced ones too."""
    found: dict[str, Any] = client.call(
        lambda admin: admin.describe_cluster(), needs="Describe on Cluster"
    )
    return found


def live_ids(cluster: Mapping[str, Any]) -> list[int]:
    """Return the ids of the brokers that are not fenced, ascending."""
    live = [one for one in cluster["brokers"] if not one.get("is_fenced")]
    return sorted(one["broker_id"] for one in live)


def _copies(
    dirs: Sequence[Mapping[str, Any]], *, is_future: bool
) -> Iterator[tuple[Partition, Copy]]:
    for one in dirs:
        for topic in one["topics"]:
            for replica in topic["partitions"]:
                if replica["is_future_key"] == is_future:
                    name = Partition(topic["name"], replica["partition_index"])
                    yield name, Copy(one["log_dir"], max(replica["partition_size"], 0))


def read_dirs(
    client: ClusterClient, broker_ids: Sequence[int]
) -> dict[int, BrokerDirs]:
    """
    Return the log dirs of brokers, one question each.

    A broker that is fenced meanwhile is left out: nobody can ask it any more.
    """
    found = {}
    for broker_id in broker_ids:

        def ask(admin: Any, broker_id: int = broker_id) -> Any:
            if broker_id not in live_ids(admin.describe_cluster()):
                return None
            return admin.describe_log_dirs(brokers=[broker_id])[0]["log_dirs"]

        raw = client.call(ask, needs="Describe on Cluster")
        if raw is not None:
            found[broker_id] = BrokerDirs(
                tuple({k: v for k, v in one.items() if k != "topics"} for one in raw),
                dict(_copies(raw, is_future=False)),
                dict(_copies(raw, is_future=True)),
                time.monotonic(),
            )
    return found


def _read_pages(client: ClusterClient) -> Iterator[Mapping[str, Any]]:
    """Yield all topics, page by page; a topic may go over several pages."""
    cursor: Any = None
    while True:

        def ask(admin: Any, cursor: Any = cursor) -> Any:
            # No names at all asks for every topic, which spares asking for the names.
            return admin.describe_topic_partitions([], PARTITIONS_PER_PAGE, cursor)

        page = client.call(ask, needs="Describe on Topic")
        yield from page["topics"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def read_topics(client: ClusterClient) -> dict[str, dict[str, Any]]:
    """Return every topic that may be seen, with its partitions, by name."""
    from kafka.errors import IncompatibleBrokerVersion

    try:
        pages = list(_read_pages(client))
    except IncompatibleBrokerVersion:  # before Kafka 3.7: no ELR either
        pages = client.call(
            lambda admin: admin.describe_topics(), needs="Describe on Topic"
        )
    found: dict[str, dict[str, Any]] = {}
    for topic in pages:
        merged = found.setdefault(topic["name"], {**topic, "partitions": []})
        merged["partitions"].extend(topic["partitions"])
    return dict(sorted(found.items()))


def read_configs(
    client: ClusterClient,
    kind: str,
    names: Sequence[str],
    keys: Sequence[str] | None = None,
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """
    Return settings of topics or brokers, by name and key.

    Parameters
    ----------
    client
        The cluster.
    kind
        ``"topic"`` or ``"broker"``.
    names
        Of topics, or ids of brokers.
    keys
        `None`: what is not a default of the cluster.
    """
    from kafka.admin import ConfigResource

    chosen = "modified" if keys is None else "all"
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    wanted = None if keys is None else list(keys)
    for start in range(0, len(names), TOPICS_PER_CALL):
        some = names[start : start + TOPICS_PER_CALL]
        asked = [ConfigResource(kind, name, wanted) for name in some]

        def ask(admin: Any, asked: list[Any] = asked) -> Any:
            return admin.describe_configs(asked, config_filter=chosen)

        found |= client.call(ask, needs=f"DescribeConfigs on {kind}").get(kind, {})
    return found


def _values(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the values of settings; secret ones come without one and are left out."""
    return {
        key: str(one["value"])
        for key, one in sorted(configs.items())
        if one["value"] is not None
    }


def _read_cluster_configs(client: ClusterClient, broker_ids: Sequence[int]) -> Any:
    if not broker_ids:
        return {}
    name = str(broker_ids[0])
    found = read_configs(client, "broker", [name], CLUSTER_CONFIGS).get(name, {})
    own = {
        key: one
        for key, one in found.items()
        if key == _ALWAYS or one["config_source"] != "DEFAULT_CONFIG"
    }
    return _values(own)


def _read_broker_configs(
    client: ClusterClient, broker_ids: Sequence[int]
) -> dict[int, dict[str, str]]:
    names = [str(broker_id) for broker_id in broker_ids]
    found = read_configs(client, "broker", names, BROKER_THROTTLES)
    return {
        int(name): values for name, one in found.items() if (values := _values(one))
    }


def read_reassignments(client: ClusterClient) -> dict[Partition, Mapping[str, Any]]:
    """
    Return each partition under reassignment.

    Returns
    -------
    dict
        ``replicas``, ``adding_replicas`` and ``removing_replicas`` of each.
    """
    found = client.call(
        lambda admin: admin.list_partition_reassignments(), needs="Describe on Cluster"
    )
    return {Partition(name.topic, name.partition): one for name, one in found.items()}


def _read_quorum(client: ClusterClient) -> Any:
    from kafka.errors import IncompatibleBrokerVersion

    try:
        found = client.call(
            lambda admin: admin.describe_metadata_quorum(), needs="Describe on Cluster"
        )
    except IncompatibleBrokerVersion:  # ZooKeeper
        return {}
    return found["topics"][0]["partitions"][0]


def _read_features(client: ClusterClient) -> dict[str, int]:
    found = client.call(
        lambda admin: admin.describe_features(), needs="Describe on Cluster"
    )
    levels = {
        name: one["finalized"] for name, one in found.items() if "finalized" in one
    }
    return {name: level[1] for name, level in sorted(levels.items())}


def take_look(client: ClusterClient) -> Look:
    """
    Ask a cluster for everything that a snapshot holds, but rates.

    Log dirs come before topics: of a topic made in between only the sizes are missing,
    while the other way round it would look like one that may not be seen.
    """
    refused: dict[str, str] = {}

    def unless_refused(what: str, work: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
        try:
            return work()
        except NotAuthorisedError as error:
            refused[what] = error.needs
            return {}

    cluster = read_cluster(client)
    live = live_ids(cluster)
    dirs = read_dirs(client, live)
    topics = read_topics(client)
    configs = read_configs(client, "topic", list(topics))
    return Look(
        cluster=cluster,
        dirs=dirs,
        topics=topics,
        topic_configs={name: _values(one) for name, one in configs.items()},
        cluster_configs=_read_cluster_configs(client, live),
        broker_configs=_read_broker_configs(client, live),
        reassignments=unless_refused(
            "reassignments", lambda: read_reassignments(client)
        ),
        quorum=unless_refused("controllers", lambda: _read_quorum(client)),
        features=_read_features(client),
        refused=refused,
    )
