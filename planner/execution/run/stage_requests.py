"""Requests of admitted steps: throttles, log dirs, then the lists."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.admission import Admitted
from planner.execution.cluster.running_cluster import ReplicaKey
from planner.execution.run.run_context import RunContext
from planner.verify.state_rows import Brokers, Key


@dataclass(frozen=True, slots=True)
class Requested:
    """
    Outcome of a request.

    Parameters
    ----------
    refused
        Reason by partition that the cluster refuses.
    is_confirmed
        Whether the cluster has answered.
    """

    refused: dict[Key, str]
    is_confirmed: bool


def request(steps: Sequence[Admitted], context: RunContext) -> Requested:
    """
    Request the steps of some partitions.

    The throttle is on before the first byte is copied. Log dirs come before the lists:
    a broker remembers the log dir of a replica that it does not have yet.

    An answer that is lost leaves a step unconfirmed; the caller looks again before it
    is requested once more.
    """
    live = context.ask(context.cluster.live_brokers)
    brokers = {b for one in steps for b in (*one.before, *one.step.replicas)}
    context.ask(lambda: context.throttles.limit(brokers & live))
    context.ask(lambda: context.throttles.admit(steps))
    paths = {
        (one.change.key, broker): path
        for one in steps
        for broker, path in one.step.paths.items()
    }
    refused = _move(paths, context)
    lists: dict[Key, Brokers] = {
        one.change.key: one.step.replicas
        for one in steps
        if one.step.replicas != one.before and one.change.key not in refused
    }
    found = _reassign(lists, context)
    return Requested(refused | (found or {}), is_confirmed=found is not None)


def _move(paths: dict[ReplicaKey, str], context: RunContext) -> dict[Key, str]:
    if not paths:
        return {}
    named = [[*key, broker, path] for (key, broker), path in paths.items()]
    context.journal.write("request", kind="log-dirs", replicas=named)
    found = context.ask(lambda: context.cluster.move_replicas(paths))
    refused = {
        key: f"broker {broker} refuses the log dir {paths[key, broker]}: {error}"
        for (key, broker), error in found.items()
    }
    _note_answer(refused, context)
    return refused


def _reassign(lists: dict[Key, Brokers], context: RunContext) -> dict[Key, str] | None:
    """Return the partitions that the cluster refuses; `None`: its answer is lost."""
    if not lists:
        return {}
    named = [[*key, list(row)] for key, row in lists.items()]
    context.journal.write("request", kind="lists", partitions=named)
    try:
        refused = context.cluster.reassign(lists)
    except (AnswerUnknownError, ClusterUnavailableError) as error:
        context.journal.write("answer", unknown=error.message)
        context.stuck(None, f"{error.message}; looking before it is asked again")
        return None
    found = {key: f"the cluster refuses: {error}" for key, error in refused.items()}
    _note_answer(found, context)
    return found


def _note_answer(refused: dict[Key, str], context: RunContext) -> None:
    texts = {f"{topic}-{number}": why for (topic, number), why in refused.items()}
    context.journal.write("answer", refused=texts)
