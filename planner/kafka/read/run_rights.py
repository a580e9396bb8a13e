"""Rights on a cluster that carrying out a plan needs."""

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import read_cluster
from planner.kafka.read.authorization_gaps import lacks

NEEDED = {
    "ALTER": "Alter on Cluster (reassignments, log dirs and elections)",
    "ALTER_CONFIGS": "AlterConfigs on Cluster (throttles of brokers)",
}
"""Rights that Kafka's own tool needs too, by the operation on the cluster."""


def missing_rights(client: ClusterClient) -> tuple[str, ...]:
    """
    Return the rights on the cluster that the user lacks, each with its use.

    Rights on topics, which their throttles need, are not known before they are used.

    Raises
    ------
    ClusterUnavailableError
        If the cluster cannot be reached.
    """
    cluster = read_cluster(client)
    operations = cluster.get("authorized_operations")
    if not operations:
        # Brokers report none to a user who may not describe the cluster, and none
        # without an authorizer.
        return ()
    return tuple(text for name, text in NEEDED.items() if lacks(cluster, name))
