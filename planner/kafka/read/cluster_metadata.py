# ruff: noqa: ANN401 - kafka-python is not typed
"""One view of a running cluster: unprocessed answers of its brokers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import ask_brokers, live_ids, read_cluster
from planner.kafka.client.cluster_errors import NotAuthorisedError, TooOldError
from planner.kafka.read.log_dirs import BrokerDirs, Partition, read_dirs
from planner.kafka.read.topic_metadata import (
    read_reassignments,
    read_topics,
    settle_moves,
)
from planner.kept_configs import ALWAYS_KEPT, CLUSTER_CONFIGS
from planner.progress import stage
from planner.throttles import BROKER_THROTTLES

TOPICS_PER_CALL = 200
OF_BROKER = "DYNAMIC_BROKER_CONFIG"
OF_ALL_BROKERS = "DYNAMIC_DEFAULT_BROKER_CONFIG"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """
    Answers of the brokers.

    Parameters
    ----------
    cluster
        Cluster id and brokers.
    dirs
        Log dirs by broker, without fenced brokers.
    topics
        Topics with their partitions, by name.
    topic_configs
        Configs set on a topic itself, by topic; topics with hidden configs are absent.
    cluster_configs
        Cluster-wide configs as seen by one broker, and default throttles of all
        brokers.
    broker_configs
        Throttles of each broker with throttles.
    reassignments
        Adding and removing replicas of each partition under reassignment.
    quorum
        State of the controllers' quorum; empty if hidden or with ZooKeeper.
    features
        Finalized feature levels.
    refused
        Permission required by each part that the user may not request.
    gone
        Topics that were deleted during the requests.
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
    gone: frozenset[str] = frozenset()


def read_topic_configs(
    client: ClusterClient, names: Sequence[str], keys: Sequence[str] | None = None
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """
    Return configs of topics, by topic and key.

    Parameters
    ----------
    client
        Client of the cluster.
    names
        Topics; the result excludes topics whose configs are hidden.
    keys
        Config keys; `None`: keys that differ from the cluster's defaults.
    """
    from kafka.admin import ConfigResource

    chosen = "modified" if keys is None else "all"
    wanted = None if keys is None else list(keys)
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for start in range(0, len(names), TOPICS_PER_CALL):
        some = names[start : start + TOPICS_PER_CALL]
        asked = [ConfigResource("topic", name, wanted) for name in some]

        def ask(admin: Any, asked: list[Any] = asked) -> Any:
            return admin.describe_configs(asked, config_filter=chosen)

        found |= client.call(ask, needs="DescribeConfigs on topic").get("topic", {})
    return found


def read_broker_configs(
    client: ClusterClient, broker_ids: Sequence[int], keys: Sequence[str]
) -> dict[int, Mapping[str, Mapping[str, Any]]]:
    """Return configs of brokers, by broker and key, without fenced brokers."""
    from kafka.admin import ConfigResource

    def ask(admin: Any, broker_id: int) -> Any:
        asked = ConfigResource("broker", str(broker_id), list(keys))
        found = admin.describe_configs(
            [asked], include_synonyms=True, config_filter="all"
        )
        return found.get("broker", {}).get(asked.name, {})

    return ask_brokers(client, broker_ids, ask, needs="DescribeConfigs on broker")


def _values(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the values of configs, without secret configs, which have no value."""
    return {
        key: str(one["value"])
        for key, one in sorted(configs.items())
        if one["value"] is not None
    }


def _read_cluster_configs(
    client: ClusterClient, broker_ids: Sequence[int]
) -> dict[str, str]:
    """Return the cluster-wide configs as seen by the first broker that answers."""
    for broker_id in broker_ids:
        found = read_broker_configs(client, [broker_id], CLUSTER_CONFIGS)
        if broker_id in found:
            own = {
                key: one
                for key, one in found[broker_id].items()
                if key == ALWAYS_KEPT or one["config_source"] != "DEFAULT_CONFIG"
            }
            return _values(own)
    return {}


def _read_throttles(
    client: ClusterClient, broker_ids: Sequence[int]
) -> tuple[dict[int, dict[str, str]], dict[str, str]]:
    """Return the throttles of each broker, and the cluster's default throttles."""
    found = read_broker_configs(client, broker_ids, BROKER_THROTTLES)
    own = {broker: _set_as(one, OF_BROKER) for broker, one in found.items()}
    default: dict[str, str] = {}
    for one in found.values():
        default |= _set_as(one, OF_ALL_BROKERS)
    return {broker: one for broker, one in own.items() if one}, default


def _set_as(configs: Mapping[str, Mapping[str, Any]], source: str) -> dict[str, str]:
    """Return the config values from a source, overridden ones included."""
    return {
        key: str(origin["value"])
        for key, one in sorted(configs.items())
        for origin in one.get("synonyms") or ()
        if origin["source"] == source and origin["value"] is not None
    }


def _read_quorum(client: ClusterClient) -> Any:
    try:
        found = client.call(
            lambda admin: admin.describe_metadata_quorum(), needs="Describe on Cluster"
        )
    except TooOldError:  # ZooKeeper
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
    Request all data of a snapshot except rates.

    Log dirs are requested before topics: a topic created in between lacks only its
    sizes, while in the opposite order it would look like a hidden topic.
    """
    stage("asking the brokers")
    refused: dict[str, str] = {}

    def unless_refused(what: str, work: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
        try:
            return work()
        except NotAuthorisedError as error:
            refused[what] = error.needs
            return {}

    cluster = read_cluster(client)
    dirs = read_dirs(client, live_ids(cluster))
    live = list(dirs)
    before = unless_refused("reassignments", lambda: read_reassignments(client))
    topics = read_topics(client)
    moving: dict[Partition, Mapping[str, Any]] = {}
    if "reassignments" not in refused:
        topics, moving = settle_moves(client, topics, before)
    configs = read_topic_configs(client, list(topics))
    throttles, default_throttles = _read_throttles(client, live)
    return Look(
        cluster=cluster,
        dirs=dirs,
        topics=topics,
        topic_configs={name: _values(one) for name, one in configs.items()},
        cluster_configs=_read_cluster_configs(client, live) | default_throttles,
        broker_configs=throttles,
        reassignments=moving,
        quorum=unless_refused("controllers", lambda: _read_quorum(client)),
        features=_read_features(client),
        refused=refused,
    )


def without_topics(look: Look, gone: frozenset[str]) -> Look:
    """Return the view without topics that were deleted meanwhile."""
    topics = {name: one for name, one in look.topics.items() if name not in gone}
    return replace(look, topics=topics, gone=look.gone | gone)
