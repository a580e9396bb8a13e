# ruff: noqa: ANN401 - kafka-python is not typed
"""Leader elections on a running cluster: preview and execution."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.kafka.actions.elections import (
    ElectedPartitionRecord,
    ElectionType,
    ElectRecord,
    LossRecord,
    Outcome,
    Seen,
    count_outcomes,
    loss_of,
    predict_elections,
)
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import ask_brokers, read_cluster
from planner.kafka.client.cluster_errors import not_authorised
from planner.kafka.client.controller import reach_controller
from planner.kafka.read.authorization_gaps import INVISIBLE, is_bound, lacks
from planner.kafka.read.log_dirs import Partition
from planner.kafka.read.topic_metadata import read_topics, refuse_hidden

PARTITIONS_PER_REQUEST = 1000
"""Partitions per request, as many leaders as the controller changes in one pass."""
_SEEN_WITHIN_S = 10.0
_PAUSE_S = 0.1
_NEEDS = "Alter on Cluster"
_NEEDS_TOPICS = (
    "Describe on Topic '*' (no topic is visible: there is none, or the user may "
    "describe none, which brokers do not tell apart)"
)
_WHAT = "elect leaders"

# Kafka's error codes, and the outcome of each for a partition.
_NONE, _TIMED_OUT, _NOT_AUTHORISED, _NOT_NEEDED = 0, 7, 31, 84
_REFUSALS = {
    3: Outcome.UNKNOWN_PARTITION,
    80: Outcome.PREFERRED_NOT_AVAILABLE,
    83: Outcome.NO_REPLICA_AVAILABLE,
}
Chosen = Sequence[ElectedPartitionRecord]
Answer = tuple[int, str]  # error code and message of the controller


def read_partitions(
    client: ClusterClient, names: Iterable[Partition] | None
) -> dict[Partition, Seen]:
    """
    Return the current state of partitions; `None`: all. Unknown ones are left out.

    Raises
    ------
    NotAuthorisedError
        If the user may not describe one of the topics.
    """
    wanted = None if names is None else set(names)
    topics = None if wanted is None else sorted({name.topic for name in wanted})
    described = read_topics(client, topics)
    refuse_hidden(client, described)
    found = (
        Seen.from_answer(name, one)
        for name, topic in described.items()
        for one in topic["partitions"]
    )
    return {one.name: one for one in found if wanted is None or one.name in wanted}


def preview(
    client: ClusterClient,
    names: Sequence[Partition] | None,
    election_type: ElectionType,
) -> ElectRecord:
    """
    Return the outcome that an election would have, without holding it.

    Parameters
    ----------
    client
        Client of the cluster.
    names
        Partitions to elect leaders of; `None`: all.
    election_type
        Type of election.

    Raises
    ------
    ClusterUnavailableError
        If the cluster cannot be reached, or the user lacks permission to elect or to
        describe a partition.
    """
    cluster = read_cluster(client)
    if lacks(cluster, "ALTER"):
        raise not_authorised(client.servers, _NEEDS)
    seen = read_partitions(client, names)
    is_hiding = names is None and is_bound(cluster)
    if is_hiding and not seen:
        raise not_authorised(client.servers, _NEEDS_TOPICS)
    elections = predict_elections(seen, names, election_type)
    unclean = [one for one in elections if one.unclean]
    return ElectRecord(
        election_type=election_type,
        done=False,
        counts=count_outcomes(elections),
        partitions=elections,
        losses=_losses(client, unclean, seen),
        notes=[INVISIBLE] if is_hiding else [],
    )


def _losses(
    client: ClusterClient, unclean: Chosen, seen: Mapping[Partition, Seen]
) -> list[LossRecord]:
    kept = _sizes(client, unclean)
    losses = (loss_of(one, seen[one.name], kept.get(one.name)) for one in unclean)
    return [loss for loss in losses if loss is not None]


def _sizes(client: ClusterClient, unclean: Chosen) -> dict[Partition, int]:
    """Return the log size in bytes of each new leader, if visible to the user."""
    by_broker: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for one in unclean:
        if one.new_leader is not None:
            by_broker[one.new_leader][one.topic].append(one.partition)

    def ask(admin: Any, broker_id: int) -> Any:
        chosen = {topic: sorted(ns) for topic, ns in by_broker[broker_id].items()}
        (found,) = admin.describe_log_dirs(chosen, brokers=[broker_id])
        return found["log_dirs"]

    answers = ask_brokers(client, sorted(by_broker), ask, needs="Describe on Cluster")
    return {
        Partition(topic["name"], one["partition_index"]): one["partition_size"]
        for log_dirs in answers.values()
        for log_dir in log_dirs
        for topic in log_dir["topics"]
        for one in topic["partitions"]
        if not one["is_future_key"]
    }


def hold(
    client: ClusterClient,
    predicted: ElectRecord,
    *,
    done: Callable[[int, int], None] = lambda _, __: None,
    asked: Callable[[Chosen], None] = lambda _: None,
    answered: Callable[[Chosen], None] = lambda _: None,
) -> ElectRecord:
    """
    Hold the elections of a preview, and return their outcomes.

    Parameters
    ----------
    client
        Client of the cluster.
    predicted
        Result of `preview`; partitions without an election in it stay unchanged.
    done
        Callback with the number of partitions done and the total number.
    asked, answered
        Callbacks with the elections of a request before it is sent, and with their
        outcomes.

    Raises
    ------
    ClusterUnavailableError
        If no election was requested: the cluster cannot be reached any more, or the
        user lacks permission to elect.
    AnswerUnknownError
        If elections were requested and not all of them are known to be done.
    """
    todo = [one for one in predicted.partitions if one.outcome is Outcome.TO_ELECT]
    held: dict[Partition, ElectedPartitionRecord] = {}
    for some in _batches(todo):
        try:
            reach_controller(client)
            asked(some)
            outcomes = _hold_some(client, some, predicted.election_type)
            answered(list(outcomes.values()))
            held |= outcomes
        except ClusterUnavailableError as error:
            if not held:
                raise
            raise _interrupted(client, error, len(held), predicted) from error
        done(len(held), len(todo))
    elections = [held.get(one.name, one) for one in predicted.partitions]
    elected = {one.name for one in elections if one.outcome is Outcome.ELECTED}
    return ElectRecord(
        election_type=predicted.election_type,
        done=True,
        counts=count_outcomes(elections),
        partitions=elections,
        losses=[one for one in predicted.losses if one.name in elected],
        notes=predicted.notes,
    )


def _batches(todo: Chosen) -> Iterator[Chosen]:
    for first in range(0, len(todo), PARTITIONS_PER_REQUEST):
        yield todo[first : first + PARTITIONS_PER_REQUEST]


def _interrupted(
    client: ClusterClient,
    error: ClusterUnavailableError,
    num_held: int,
    predicted: ElectRecord,
) -> AnswerUnknownError:
    """Return the error for elections of which only some were held."""
    num_all = sum(one.outcome is Outcome.TO_ELECT for one in predicted.partitions)
    message = f"{error.message}; {num_held} of {num_all} partitions were done before"
    return AnswerUnknownError(message, _look(client, predicted.election_type))


def _look(client: ClusterClient, election_type: ElectionType) -> str:
    """Return the command that shows which elections remain."""
    return (
        f"kafka-planner elect --election-type {election_type.value} "
        f"--all-topic-partitions --bootstrap-server {client.servers}"
    )


def _hold_some(
    client: ClusterClient, some: Chosen, election_type: ElectionType
) -> dict[Partition, ElectedPartitionRecord]:
    answers = _ask(client, some, election_type)
    try:
        leaders = _wait_for_leaders(client, some, answers)
    except ClusterUnavailableError as error:
        look = _look(client, election_type)
        raise client.unknown(_WHAT, look, error) from None
    return {
        one.name: _outcome_of(one, answers.get(one.name), leaders.get(one.name))
        for one in some
    }


def _ask(
    client: ClusterClient, some: Chosen, election_type: ElectionType
) -> dict[Partition, Answer]:
    from kafka.errors import for_code

    chosen: dict[str, list[int]] = defaultdict(list)
    for one in some:
        chosen[one.topic].append(one.partition)

    def ask(admin: Any) -> Any:
        found = admin.elect_leaders(
            election_type.code,
            dict(chosen),
            timeout_ms=int(client.timeout_s * 1000),
            raise_errors=False,
        )
        answers = dict(_answers(found.replica_election_results))
        codes = {code for code, _ in answers.values()} & {_NOT_AUTHORISED, _TIMED_OUT}
        for code in (found.error_code, *codes):
            if code != _NONE:
                raise for_code(code)
        return answers

    answers: dict[Partition, Answer] = client.change(
        ask,
        what=_WHAT,
        needs=_NEEDS,
        look=_look(client, election_type),
        is_repeatable=True,
    )
    return answers


def _answers(results: Iterable[Any]) -> Iterator[tuple[Partition, Answer]]:
    for topic in results:
        for one in topic.partition_result:
            answer = (one.error_code, one.error_message or "")
            yield Partition(topic.topic, one.partition_id), answer


def _wait_for_leaders(
    client: ClusterClient, some: Chosen, answers: Mapping[Partition, Answer]
) -> dict[Partition, int | None]:
    """Return the leaders as soon as brokers know the controller's decisions."""
    expected = {
        one.name: one.new_leader
        for one in some
        if one.name in answers and answers[one.name][0] == _NONE
    }
    deadline_s = time.monotonic() + _SEEN_WITHIN_S
    while True:
        seen = read_partitions(client, [one.name for one in some])
        leaders = {name: one.leader for name, one in seen.items()}
        is_seen = all(leaders.get(name) == one for name, one in expected.items())
        if is_seen or time.monotonic() > deadline_s:
            return leaders
        threading.Event().wait(_PAUSE_S)


def _outcome_of(
    predicted: ElectedPartitionRecord, answer: Answer | None, leader: int | None
) -> ElectedPartitionRecord:
    """Return the outcome from the controller's answer and the current leader."""
    code, words = answer or (-1, "the controller did not answer for it")
    is_wanted = leader == predicted.new_leader
    update: dict[str, Any] = {"new_leader": leader, "message": words}
    # Not needed: a repeated request after a lost answer, or another user's election.
    if code == _NONE or (code == _NOT_NEEDED and is_wanted):
        lost = f"{predicted.new_leader} was elected, and lost it"
        update |= {"outcome": Outcome.ELECTED, "message": "" if is_wanted else lost}
    elif code == _NOT_NEEDED:
        update |= {"outcome": Outcome.HAS_LEADER, "unclean": False}
    else:
        outcome = _REFUSALS.get(code, Outcome.FAILED)
        update |= {"outcome": outcome, "unclean": False}
    return predicted.model_copy(update=update)
