"""Rights on a cluster that carrying out a plan needs."""

from collections.abc import Collection

from planner.kafka.actions.config_changes import refused_topics
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import read_cluster
from planner.kafka.read.authorization_gaps import lacks

MAX_NAMES = 3
NEEDED = {
    "ALTER": "Alter on Cluster (reassignments, log dirs and elections)",
    "ALTER_CONFIGS": "AlterConfigs on Cluster (throttles of brokers)",
}
"""Rights that Kafka's own tool needs too, by the operation on the cluster."""


def missing_rights(
    client: ClusterClient, topics: Collection[str] = ()
) -> tuple[str, ...]:
    """
    Return the rights that the user lacks, each with its use.

    Parameters
    ----------
    client
        Client of the cluster.
    topics
        Topics whose copies are throttled; changes of their configs are tried, and not
        made.

    Raises
    ------
    ClusterUnavailableError
        If the cluster cannot be reached.
    """
    cluster = read_cluster(client)
    found: list[str] = []
    # Brokers report no operations to a user who may not describe the cluster, and none
    # without an authorizer.
    if cluster.get("authorized_operations"):
        found += [text for name, text in NEEDED.items() if lacks(cluster, name)]
    if hidden := refused_topics(client, topics):
        names = ", ".join(hidden[:MAX_NAMES])
        more = len(hidden) - MAX_NAMES
        names += f" and {more} more" if more > 0 else ""
        found.append(f"AlterConfigs on Topic {names} (throttled replicas)")
    return tuple(found)
