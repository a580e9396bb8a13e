"""A run from the command line: output, interruption, and exit codes."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from planner.cli.common.cluster_source import ClusterSource
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import notes_unless, print_words
from planner.cli.run.event_output import EventOutput
from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.run.journal import Journal, time_text, utc_now
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
    with source.open() as client, _ended_by_signals():
        note = notes_unless(source.quiet)
        cluster = LiveCluster(client, allow_partial=source.allow_partial, note=note)
        job = replace(job, missing_rights=rights_lacking(client, job))
        try:
            return output.print_all(_answered(job, begin(job, cluster)))
        except KeyboardInterrupt:
            with Journal(job.journal) as journal:
                journal.write("interrupted")
            _explain_interruption(job, cluster)
            raise


def rights_lacking(client: ClusterClient, job: Job) -> tuple[str, ...]:
    """Return the rights that the user lacks; a trial finds those to create topics."""
    from planner.kafka.actions.run_rights import missing_rights

    if job.creates_partitions:
        return ()
    return missing_rights(client, job.throttled_topics)


def _answered(job: Job, events: Iterator[Event]) -> Iterator[Event]:
    """Yield the events of a run; one that lost the cluster ends as unknown."""
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


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End a run on SIGTERM as on Ctrl-C."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _explain_interruption(job: Job, cluster: LiveCluster) -> None:
    """Print what still runs, and the commands that go on, or stop it."""
    from planner.verify.state_rows import entries_of

    keys = {entry.key for entry in entries_of(job.plan.reassignment)}
    try:
        number = str(len(cluster.reassignments().keys() & keys))
    except (AnswerUnknownError, ClusterUnavailableError):
        number = "an unknown number of"
    print_words(
        f"interrupted: {number} reassignments of the plan go on inside Kafka, with "
        "their throttles"
    )
    print_words(f"to go on:   {job.command} --yes")
    verb = job.command.split()[1]
    stop = job.command.replace(f"kafka-planner {verb}", "kafka-planner cancel", 1)
    print_words(f"to stop:    {stop} --yes")
