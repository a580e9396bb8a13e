# ruff: noqa: ANN401 - kafka-python is not typed
"""Creation of topics and partitions on a running cluster, or its validation only."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import kafka.errors as kafka_errors

from planner.errors import BadInputError, InputProblem
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.controller import reach_controller

_TIMED_OUT = 7  # Kafka's REQUEST_TIMED_OUT
_NOT_AUTHORISED = frozenset({29, 31})  # on the topic, on the cluster


def create_topic(
    client: ClusterClient,
    topic: str,
    lists: Sequence[Sequence[int]],
    *,
    configs: Mapping[str, str] = MappingProxyType({}),
    is_trial: bool,
) -> None:
    """
    Create a topic with given replicas.

    Parameters
    ----------
    client
        Client of the cluster.
    topic
        Name of the topic.
    lists
        Broker ids per partition, preferred leader first.
    configs
        Topic configs by name.
    is_trial
        Whether Kafka only validates the request.

    Raises
    ------
    BadInputError
        If Kafka rejects the request; the message quotes Kafka.
    ClusterUnavailableError
        If the cluster cannot be reached before the request, or permission is missing.
    AnswerUnknownError
        If the request was sent and not answered.
    """
    wanted = {
        topic: {
            "assignments": dict(enumerate(map(list, lists))),
            "configs": dict(configs),
        }
    }

    def ask(admin: Any) -> Any:
        answer = admin.create_topics(wanted, validate_only=is_trial, raise_errors=False)
        return _settled(answer["topics"])

    needs = f"Create on Cluster, or on Topic {topic}"
    rows = _asked(client, ask, f"create topic {topic}", needs, topic, is_trial)
    _raise_refusals(client, topic, rows)


def add_partitions(
    client: ClusterClient,
    topic: str,
    count: int,
    lists: Sequence[Sequence[int]],
    *,
    is_trial: bool,
) -> None:
    """
    Add partitions to a topic.

    Parameters
    ----------
    client, topic, is_trial
        As in `create_topic`.
    count
        Number of partitions after the change.
    lists
        Broker ids per added partition, preferred leader first.

    Raises
    ------
    BadInputError
        If Kafka rejects the request; the message quotes Kafka.
    ClusterUnavailableError
        If the cluster cannot be reached before the request, or permission is missing.
    AnswerUnknownError
        If the request was sent and not answered.
    """
    wanted = {topic: {"count": count, "assignments": [list(row) for row in lists]}}

    def ask(admin: Any) -> Any:
        answer = admin.create_partitions(
            wanted, validate_only=is_trial, raise_errors=False
        )
        return _settled(answer.results)

    what = f"add partitions to topic {topic}"
    rows = _asked(client, ask, what, f"Alter on Topic {topic}", topic, is_trial)
    _raise_refusals(client, topic, rows)


def _asked(
    client: ClusterClient,
    ask: Callable[[Any], Any],
    what: str,
    needs: str,
    topic: str,
    is_trial: bool,
) -> Any:
    """Send a request after a check that the controller answers."""
    reach_controller(client)
    if is_trial:
        return client.call(ask, needs=needs)
    server = f"--bootstrap-server {client.servers}"
    look = f"kafka-topics.sh {server} --describe --topic {topic}"
    return client.change(ask, what=what, needs=needs, look=look)


def _settled(rows: Sequence[Any]) -> Sequence[Any]:
    """Return the answers; raise if a permission is missing or a request timed out."""
    for row in rows:
        code = _value(row, "error_code")
        if code == _TIMED_OUT or code in _NOT_AUTHORISED:
            raise kafka_errors.for_code(code)
    return rows


def _raise_refusals(client: ClusterClient, topic: str, rows: Sequence[Any]) -> None:
    """Raise the rejections by Kafka."""
    problems = []
    for row in rows:
        code = _value(row, "error_code")
        if not code:
            continue
        error = kafka_errors.for_code(code)
        words = _value(row, "error_message") or error.__name__
        problems.append(
            InputProblem(
                file=client.servers,
                place=topic,
                value=error.__name__.removesuffix("Error"),
                rule=str(words),
                remedy="take a new snapshot, and make a new plan",
            )
        )
    if problems:
        msg = f"Kafka refuses: {problems[0].rule}"
        raise BadInputError(msg, problems)


def _value(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, dict) else getattr(row, name, None)
