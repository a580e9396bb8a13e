"""Events of a run as lines: JSON for programs, words for people."""

import json
import sys
from collections.abc import Iterable
from functools import singledispatch
from time import monotonic

import typer

from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_note
from planner.execution.run.run_records import (
    AdmittedEvent,
    CancelledEvent,
    CancelPreviewEvent,
    CleanedEvent,
    DoneEvent,
    ElectionEvent,
    Event,
    FailedEvent,
    FinishedEvent,
    PartitionRecord,
    PausedEvent,
    ProgressEvent,
    ResumedEvent,
    SetAsideEvent,
    StartedEvent,
    StuckEvent,
    ThrottleEvent,
)
from planner.process import discard
from planner.progress import stage
from planner.text.format import bytes_text, duration_text, plural

PROGRESS_LINE_S = 60.0
"""Seconds between two lines of progress where there is no terminal."""
MAX_NAMES = 3
_FINE = {"completed", "rolled-back", "cancelled"}


class EventOutput:
    """
    Output of events as they happen.

    Parameters
    ----------
    is_json
        Whether each event is a line of JSON.
    quiet
        Whether only the last one is printed as words.
    """

    def __init__(self, *, is_json: bool, quiet: bool) -> None:
        self._is_json, self._quiet = is_json, quiet
        self._is_terminal = sys.stderr.isatty()
        self._shown_s = 0.0

    def print_all(self, events: Iterable[Event]) -> ExitCode:
        """Print events as they come, and return the exit code of the last one."""
        code = ExitCode.OK
        for event in events:
            self.print(event)
            if isinstance(event, DoneEvent | FailedEvent):
                code = exit_code(event)
        return code

    def print(self, event: Event) -> None:
        """Print one event."""
        if self._is_json:
            self._echo(json.dumps(event.model_dump(mode="json"), ensure_ascii=False))
            return
        is_last = isinstance(event, DoneEvent | FailedEvent)
        if isinstance(event, ProgressEvent):
            self._progress(event)
        elif is_last or not self._quiet:
            self._echo("\n".join(event_lines(event)))

    def _echo(self, text: str) -> None:
        """Write text to stdout; a run goes on where its output cannot be written."""
        try:
            typer.echo(text)
        except OSError as error:
            discard(sys.stdout)
            reason = error.strerror or error
            print_note(
                f"stdout cannot be written: {reason}. The run goes on; its journal and "
                "its exit code say what becomes of it"
            )

    def _progress(self, event: ProgressEvent) -> None:
        words = progress_text(event)
        if self._is_terminal:
            stage(words, event.done, event.done + event.active + event.waiting)
        elif not self._quiet and monotonic() - self._shown_s >= PROGRESS_LINE_S:
            self._shown_s = monotonic()
            self._echo(f"{_clock(event.time)} {words}")


def exit_code(event: DoneEvent | FailedEvent) -> ExitCode:
    """Return the exit code of the last event of a run."""
    if event.status == "unknown":
        return ExitCode.ANSWER_UNKNOWN
    is_done = isinstance(event, DoneEvent) and not event.throttles_left
    is_fine = event.status in _FINE and is_done
    return ExitCode.OK if is_fine else ExitCode.FINDINGS


def progress_text(event: ProgressEvent) -> str:
    """Return the progress of a stage as text."""
    words = f"{event.stage}: {event.active} under way, {event.waiting} wait, "
    words += f"{event.done} done"
    if event.left_bytes:
        words += f"; {bytes_text(event.left_bytes)} left"
    if event.bytes_per_s:
        words += f" at {bytes_text(event.bytes_per_s)}/s"
    if event.eta_s is not None:
        words += f", about {duration_text(event.eta_s)}"
    return words


def event_lines(event: Event) -> list[str]:
    """Return an event as lines of text."""
    match event:
        case DoneEvent():
            return _done_lines(event)
        case FailedEvent():
            reasons = [f"  {b.rule}: {b.message}; {b.remedy}" for b in event.blockers]
            return [f"{event.status}: {event.message}", *reasons, *_next(event.next)]
    return [f"{_clock(event.time)} {_words(event)}"]


@singledispatch
def _words(event: Event) -> str:
    """Return an event in words, without its time."""
    return event.event


@_words.register
def _(event: StartedEvent) -> str:
    verb = "going on" if event.is_resumed else "started"
    what = plural(event.partitions, "partition")
    return (
        f"{verb}, plan id {event.plan_id}: {what}, {bytes_text(event.bytes)}, "
        f"{_limit(event.throttle_bytes_per_s)}"
    )


@_words.register
def _(event: AdmittedEvent) -> str:
    size = f", {bytes_text(event.bytes)}" if event.bytes else ""
    return f"begins: {_names(event.partitions)}{size}"


@_words.register
def _(event: FinishedEvent) -> str:
    return f"ended: {_names(event.partitions)}"


@_words.register
def _(event: SetAsideEvent) -> str:
    verb = "cancelled" if event.is_cancelled else "set aside"
    return f"{verb}: {_names(event.partitions)}: {event.reason}"


@_words.register
def _(event: StuckEvent) -> str:
    where = "" if event.topic is None else f"{event.topic}-{event.partition}: "
    return f"stuck: {where}{event.reason}"


@_words.register
def _(event: PausedEvent) -> str:
    return f"paused, what runs goes on: {event.reason}"


@_words.register
def _(event: ResumedEvent) -> str:
    return "copies begin again"


@_words.register
def _(event: ThrottleEvent) -> str:
    return f"throttle: {_limit(event.bytes_per_s)}, {event.reason}"


@_words.register
def _(event: ElectionEvent) -> str:
    refused = f"; refused: {'; '.join(event.refused)}" if event.refused else ""
    return f"elected {plural(event.elected, 'preferred leader')}{refused}"


@_words.register
def _(event: CancelPreviewEvent) -> str:
    throttles = ", ".join(event.throttles) or "none"
    return (
        f"would take back: {_names(event.partitions) or 'nothing'}; throttles of the "
        f"runs: {throttles}; nothing was changed, --yes does it"
    )


@_words.register
def _(event: CancelledEvent) -> str:
    return f"taken back: {_names(event.partitions)}"


@_words.register
def _(event: CleanedEvent) -> str:
    if event.left:
        return f"throttles are left: {'; '.join(event.left)}"
    return "throttles are off"


def _limit(rate: int | None) -> str:
    return "no throttle" if rate is None else f"{bytes_text(rate)}/s per broker"


def _done_lines(event: DoneEvent) -> list[str]:
    total = event.completed + event.not_completed
    lines = [
        f"{event.status}: {event.completed} of {plural(total, 'partition')} as "
        f"planned, after {duration_text(event.seconds)}"
    ]
    if event.reason is not None:
        lines.append(f"Stopped    {event.reason}")
    if event.still_running:
        what = plural(event.still_running, "partition")
        lines.append(f"Running    {what} inside Kafka, with their throttles")
    lines += [f"Set aside  {text}" for text in event.set_aside[:20]]
    if (rest := len(event.set_aside) - 20) > 0:
        lines.append(f"           … and {rest} more; --format json lists all")
    lines += [f"Throttle   left on {text}" for text in event.throttles_left]
    lines += [f"Finding    {text}" for text in event.findings[:10]]
    return [*lines, *_next(event.next)]


def _next(command: str | None) -> list[str]:
    return [] if command is None else [f"Next       {command}"]


def _names(partitions: list[PartitionRecord]) -> str:
    names = [f"{one.topic}-{one.partition}" for one in partitions[:MAX_NAMES]]
    rest = len(partitions) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest > 0 else "")


def _clock(time: str) -> str:
    return time[11:19]
