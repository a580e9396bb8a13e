"""Rollback of new partitions: nothing is deleted, and the command for it is named."""

from planner.execution.apply_records import BlockerRecord
from planner.execution.plan_identity import refuse_other_cluster
from planner.execution.run.journal import time_text, utc_now
from planner.execution.run.run import Job
from planner.execution.run.run_records import DoneEvent, FailedEvent
from planner.kafka_commands import KafkaCommands
from planner.kafka_files.creation import Creation
from planner.snapshot import Snapshot
from planner.text.format import plural
from planner.verify.state_rows import ClusterRows


def roll_back_creation(
    job: Job, wanted: Creation, now: Snapshot
) -> DoneEvent | FailedEvent:
    """
    Return what a rollback of new partitions comes to.

    Kafka removes no partition of a topic. A new topic is deleted by its owner alone,
    since what was written to it is lost; an empty one may be in use all the same.

    Parameters
    ----------
    job, wanted
        The plan, and its request for new partitions.
    now
        The cluster now.

    Raises
    ------
    BadInputError
        If the plan is of another cluster.
    """
    refuse_other_cluster(job.plan, now)
    keys = ClusterRows(now.to_state()).row_of.keys() & wanted.by_key.keys()
    if not keys:
        return _nothing_to_do(len(wanted.lists))
    stay = f"{plural(len(keys), 'partition')} of topic {wanted.topic}"
    message, remedy = f"{stay} stay: Kafka removes no partitions", "keep them"
    if wanted.is_new_topic:
        message = f"{stay} stay: a topic is not deleted with what was written to it"
        delete = KafkaCommands(connection=job.connection).delete_topic(wanted.topic)
        remedy = f"if no one needs it: {delete}"
    found = BlockerRecord(
        rule="created",
        count=len(keys),
        message=message,
        remedy=remedy,
        ignored=False,
    )
    return FailedEvent(
        time=time_text(utc_now()),
        status="stopped",
        message="new partitions cannot be brought back; nothing was changed",
        blockers=[found],
        next=None,
    )


def _nothing_to_do(count: int) -> DoneEvent:
    """Return the end of a rollback where nothing was created."""
    return DoneEvent(
        time=time_text(utc_now()),
        status="rolled-back",
        reason=None,
        completed=count,
        not_completed=0,
        still_running=0,
        set_aside=[],
        throttles_left=[],
        findings=[],
        seconds=0.0,
        next=None,
    )
