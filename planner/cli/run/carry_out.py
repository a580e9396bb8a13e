"""A run from the command line: output, interruption, and exit codes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from planner.cli.common.cluster_source import ClusterSource
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import notes_unless
from planner.cli.run.event_output import EventOutput
from planner.cli.run.interruption import ended_by_signals, explained_interruption
from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.run.journal import time_text, utc_now
from planner.execution.run.run import Job
from planner.execution.run.run_records import Event, FailedEvent, StartedEvent
from planner.kafka.client.admin_client import ClusterClient

Begin = Callable[[Job, LiveCluster], Iterator[Event]]


def carry_out(
    job: Job, source: ClusterSource, begin: Begin, *, is_json: bool
) -> ExitCode:
    """
    Carry out a plan, print its events, and return the exit code.

    Parameters
    ----------
    job
        The plan, and how to carry it out.
    source
        The running cluster.
    begin
        Function that carries it out and yields events.
    is_json
        Whether events are lines of JSON.
    """
    output = EventOutput(is_json=is_json, quiet=source.quiet)
    with ended_by_signals(), source.open() as client:
        note = notes_unless(source.quiet)
        cluster = LiveCluster(client, allow_partial=source.allow_partial, note=note)
        with explained_interruption(job.plan, job.journal, job.command, cluster):
            lacking = rights_lacking(client, job)
            job = replace(job, missing_rights=lacking, report=output.print)
            return output.print_all(answered(job, begin(job, cluster)))


def rights_lacking(client: ClusterClient, job: Job) -> tuple[str, ...]:
    """Return the rights that the user lacks; a trial finds those to create topics."""
    from planner.kafka.actions.run_rights import missing_rights

    if job.creates_partitions:
        return ()
    return missing_rights(client, job.throttled_topics)


def answered(job: Job, events: Iterator[Event]) -> Iterator[Event]:
    """
    Yield the events of a run; one that loses the cluster ends as unknown.

    Raises
    ------
    AnswerUnknownError, ClusterUnavailableError
        If the cluster is lost before the run begins.
    """
    is_started = False
    try:
        for event in events:
            is_started |= isinstance(event, StartedEvent)
            yield event
    except (AnswerUnknownError, ClusterUnavailableError) as error:
        if not is_started:
            raise
        yield FailedEvent(
            time=time_text(utc_now()),
            status="unknown",
            message=f"{error.message}; what runs goes on inside Kafka",
            blockers=[],
            next=f"{job.command} --yes",
        )
