# ruff: noqa: ANN401 - kafka-python is not typed
"""Creation of topics and partitions on a running cluster, or its validation only."""

from collections.abc import Sequence
from typing import Any

import kafka.errors as kafka_errors

from planner.errors import BadInputError, InputProblem
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.controller import reach_controller
from planner.kafka_files.creation import Creation

_TIMED_OUT = 7  # Kafka's REQUEST_TIMED_OUT
_NOT_AUTHORISED = frozenset({29, 31})  # on the topic, on the cluster


def request_creation(
    client: ClusterClient, wanted: Creation, *, is_trial: bool
) -> None:
    """
    Create a topic, or add partitions to one, with given replicas.

    Parameters
    ----------
    client
        Client of the cluster.
    wanted
        The request.
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
    topic, lists = wanted.topic, [list(row) for row in wanted.lists]
    limits = {"validate_only": is_trial, "raise_errors": False}

    def ask_topic(admin: Any) -> Any:
        configs, numbered = dict(wanted.configs), dict(enumerate(lists))
        asked = {topic: {"assignments": numbered, "configs": configs}}
        return _settled(admin.create_topics(asked, **limits)["topics"])

    def ask_more(admin: Any) -> Any:
        asked = {topic: {"count": wanted.count, "assignments": lists}}
        return _settled(admin.create_partitions(asked, **limits).results)

    if wanted.is_new_topic:
        needs = f"Create on Cluster, or on Topic {topic}"
        ask, what = ask_topic, f"create topic {topic}"
    else:
        needs = f"Alter on Topic {topic}"
        ask, what = ask_more, f"add partitions to topic {topic}"
    # The controller must answer first: a request that is sent may be carried out.
    reach_controller(client)
    if is_trial:
        rows = client.call(ask, needs=needs)
    else:
        server = f"--bootstrap-server {client.servers}"
        look = f"kafka-topics.sh {server} --describe --topic {topic}"
        rows = client.change(ask, what=what, needs=needs, look=look)
    _raise_refusals(client, topic, rows)


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
