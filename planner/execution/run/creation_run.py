"""Run of the stage that creates partitions: one request, looked for before another."""

from collections.abc import Iterator

from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.run.run_context import RunContext, records
from planner.execution.run.run_records import AdmittedEvent, Event, FinishedEvent
from planner.execution.stages import StageKind
from planner.kafka_files.creation import Creation

SEEN_WITHIN_S = 15.0
"""Seconds in which brokers learn of partitions that the controller has created."""
_LOOK_S = 1.0
_PAUSE_S = 5.0


def create_partitions(wanted: Creation, context: RunContext) -> Iterator[Event]:
    """
    Create the partitions of a plan, and yield what happens.

    A request whose answer is lost is looked for on the cluster before it is sent again;
    Kafka refuses the second of two, so that nothing is created twice.

    Parameters
    ----------
    wanted
        The request.
    context
        Context of the run.

    Raises
    ------
    ClusterUnavailableError, AnswerUnknownError
        If no answer came as long as the patience lasts.
    """
    refusal = _created(wanted, context)
    if refusal is not None:
        reason = f"the cluster refuses: {refusal}"
        context.set_aside_lists(wanted.by_key.items(), reason)
    yield from context.handed_out()
    if refusal is None:
        lists, stage = records(wanted.by_key.items()), StageKind.CREATION
        yield AdmittedEvent(time=context.time, stage=stage, partitions=lists, bytes=0)
        context.journal.write("finished", partitions=[list(k) for k in wanted.by_key])
        yield FinishedEvent(time=context.time, stage=stage, partitions=lists)


def _created(wanted: Creation, context: RunContext) -> str | None:
    """Request until the partitions exist; return why the cluster refuses."""
    began = context.cluster.now_s()
    while True:
        context.journal.write("request", kind="creation", **wanted.document)
        try:
            refusal = context.cluster.create(wanted)
        except (AnswerUnknownError, ClusterUnavailableError) as error:
            context.journal.write("answer", unknown=error.message)
            if context.cluster.now_s() - began >= context.choices.patience_s:
                raise
            context.stuck(None, f"{error.message}; looking before it is asked again")
            context.cluster.sleep(_PAUSE_S)
            if _is_there(wanted, context):
                return None
            continue
        context.journal.write("answer", refused=refusal)
        # A request that was carried out before, without an answer, is refused too.
        is_done = refusal is None or _is_soon_there(wanted, context)
        return None if is_done else refusal


def _is_soon_there(wanted: Creation, context: RunContext) -> bool:
    began = context.cluster.now_s()
    while not (is_there := _is_there(wanted, context)):
        if context.cluster.now_s() - began >= SEEN_WITHIN_S:
            break
        context.cluster.sleep(_LOOK_S)
    return is_there


def _is_there(wanted: Creation, context: RunContext) -> bool:
    """Return whether the topic has exactly the partitions of the request."""
    lists, next_one = wanted.by_key, (wanted.topic, wanted.count)
    seen = context.ask(lambda: context.cluster.partitions([*lists, next_one]))
    return next_one not in seen and all(
        key in seen and seen[key].replicas == row for key, row in lists.items()
    )
