"""Topics of a running cluster, for a topic that grows: partitions, and compaction."""

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.cluster_errors import NotAuthorisedError
from planner.kafka.read.cluster_metadata import read_topic_configs
from planner.kafka.read.topic_metadata import read_topics
from planner.keys.growth.topic_facts import POLICY, KnownTopics


def read_known_topics(client: ClusterClient, topic: str) -> KnownTopics:
    """
    Return the visible topics of a cluster, and the cleanup policy of one.

    Parameters
    ----------
    client
        Client of the cluster.
    topic
        Topic that grows.

    Raises
    ------
    ClusterUnavailableError
        If the cluster does not answer in time.
    """
    return KnownTopics(
        place=client.servers,
        counts={
            name: len(found["partitions"])
            for name, found in read_topics(client).items()
            if found["partitions"]
        },
        policy=_policy(client, topic),
    )


def _policy(client: ClusterClient, topic: str) -> str | None:
    """Return the policy in force; `None` if the user may not see it."""
    try:
        configs = read_topic_configs(client, [topic], [POLICY]).get(topic, {})
    except NotAuthorisedError:
        return None
    return None if POLICY not in configs else str(configs[POLICY]["value"])
