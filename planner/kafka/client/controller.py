"""Check that the controller answers, before requests that depend on it."""

import time
from typing import Any

from planner.errors import ClusterUnavailableError
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.background_tasks import OverdueError, Task
from planner.kafka.client.cluster_errors import NotAuthorisedError, TooOldError

_PATIENCE_S = 1.0
"""Seconds without an answer after which the controllers' quorum is checked."""
_SHORTEST_S = 0.2
_SILENT = "the brokers answer, but the controller did not"


def reach_controller(client: ClusterClient) -> None:
    """
    Check that the controller answers.

    Brokers answer most requests from their own metadata, and hold requests to the
    controller until it is back. Without a controller such a request gets no answer, and
    a change may be made long after its time limit.

    Parameters
    ----------
    client
        Client of the cluster. A controller that answered once is not checked again.

    Raises
    ------
    ClusterUnavailableError
        If the controllers' quorum is lost, or no answer came in time.
    """
    if client.has_controller:
        return
    deadline = time.monotonic() + client.timeout_s
    # Brokers first: an unreachable cluster has reasons of its own.
    client.call(lambda admin: admin.describe_cluster(), needs="Describe on Cluster")
    asked = Task(lambda: _ask_quorum(client, deadline))
    try:
        asked.result(_PATIENCE_S)
    except OverdueError:
        if lost := client.lost_quorum():
            message = f"{client.servers}: {lost}"
            raise ClusterUnavailableError(message) from None
        asked.result()
    client.has_controller = True


def _ask_quorum(client: ClusterClient, deadline: float) -> None:
    def ask(admin: Any) -> Any:  # noqa: ANN401 - kafka-python is not typed
        return admin.describe_metadata_quorum()

    left_s = max(deadline - time.monotonic(), _SHORTEST_S)
    try:
        client.call(ask, needs="Describe on Cluster", timeout_s=left_s)
    except (NotAuthorisedError, TooOldError):  # it answered, or uses ZooKeeper
        return
    except ClusterUnavailableError:
        cause = client.lost_quorum() or f"{_SILENT} within {client.timeout_s:g} s"
        message = f"{client.servers}: {cause}"
        raise ClusterUnavailableError(message) from None
