# ruff: noqa: ANN401 - kafka-python is not typed
"""Brokers of a cluster, and requests to particular brokers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.background_tasks import each_at_once

Answer = TypeVar("Answer")


def read_cluster(client: ClusterClient) -> dict[str, Any]:
    """Return the cluster's id and its brokers, fenced brokers included."""
    found: dict[str, Any] = client.call(
        lambda admin: admin.describe_cluster(), needs="Describe on Cluster"
    )
    return found


def live_ids(cluster: Mapping[str, Any]) -> list[int]:
    """Return the ids of the brokers that are not fenced, ascending."""
    live = [one for one in cluster["brokers"] if not one.get("is_fenced")]
    return sorted(one["broker_id"] for one in live)


def ask_brokers(
    client: ClusterClient,
    broker_ids: Sequence[int],
    ask: Callable[[Any, int], Answer],
    *,
    needs: str,
) -> dict[int, Answer]:
    """
    Send one request to each broker, several at a time.

    Parameters
    ----------
    client
        Client of the cluster.
    broker_ids
        Ids of the brokers to ask.
    ask
        Function that uses kafka-python's admin client for a broker. May be called
        several times.
    needs
        Required permission.

    Returns
    -------
    dict
        Answers by broker, without brokers that are fenced meanwhile and cannot answer.
    """

    def ask_one(broker_id: int) -> list[Answer]:
        is_again = False

        def attempt(admin: Any) -> list[Answer]:
            nonlocal is_again
            if is_again and broker_id not in live_ids(admin.describe_cluster()):
                return []
            is_again = True
            return [ask(admin, broker_id)]

        return client.call(attempt, needs=needs)

    answers = each_at_once(ask_one, broker_ids)
    return {
        broker_id: found[0]
        for broker_id, found in zip(broker_ids, answers, strict=True)
        if found
    }
