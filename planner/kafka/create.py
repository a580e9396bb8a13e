"""Topics and partitions made on a running cluster, or tried without being made."""

from collections.abc import Sequence
from typing import Any

import kafka.errors as kafka_errors

from planner.errors import BadInputError, InputProblem
from planner.kafka.client import ClusterClient


def create_topic(
    client: ClusterClient,
    topic: str,
    lists: Sequence[Sequence[int]],
    *,
    is_trial: bool,
) -> None:
    """
    Create a topic with its replicas where they are wanted.

    Parameters
    ----------
    client
        The cluster.
    topic
        Its name.
    lists
        Broker ids per partition, the first one leading.
    is_trial
        Whether Kafka only says whether it would.

    Raises
    ------
    BadInputError
        If Kafka refuses, in its words.
    ClusterUnavailableError
        If no answer came in time, or a right is missing.
    """
    wanted = {topic: {"assignments": dict(enumerate(map(list, lists)))}}
    answer = client.call(
        lambda admin: admin.create_topics(
            wanted, validate_only=is_trial, raise_errors=False
        ),
        needs="Create on Cluster",
    )
    _raise_refusals(client, topic, answer, "topics")


def add_partitions(
    client: ClusterClient,
    topic: str,
    count: int,
    lists: Sequence[Sequence[int]],
    *,
    is_trial: bool,
) -> None:
    """
    Give a topic more partitions.

    Parameters
    ----------
    client, topic, is_trial
        As in `create_topic`.
    count
        How many it shall have.
    lists
        Broker ids per added partition.

    Raises
    ------
    BadInputError
        If Kafka refuses, in its words.
    ClusterUnavailableError
        If no answer came in time, or a right is missing.
    """
    wanted = {topic: {"count": count, "assignments": [list(row) for row in lists]}}
    answer = client.call(
        lambda admin: admin.create_partitions(
            wanted, validate_only=is_trial, raise_errors=False
        ),
        needs=f"Alter on Topic {topic}",
    )
    _raise_refusals(client, topic, answer, "results")


def _raise_refusals(
    client: ClusterClient,
    topic: str,
    answer: Any,  # noqa: ANN401 - a dict or one of the library's structures
    name: str,
) -> None:
    """Raise what Kafka refused."""
    rows = answer[name] if isinstance(answer, dict) else getattr(answer, name)
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
                remedy="take a new snapshot, and plan anew",
            )
        )
    if problems:
        msg = f"Kafka refuses: {problems[0].rule}"
        raise BadInputError(msg, problems)


def _value(row: Any, name: str) -> Any:  # noqa: ANN401
    return row.get(name) if isinstance(row, dict) else getattr(row, name, None)
