"""Interruption of a command that changes a cluster: by SIGTERM as by Ctrl-C."""

import shlex
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from planner.cli.common.output import print_words
from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.run.journal import Journal, read_journal
from planner.execution.run.run_throttles import OwnThrottles
from planner.plan.input.plan_input import PlanInput
from planner.text.format import plural
from planner.verify.state_rows import entries_of


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """End a command on SIGTERM as on Ctrl-C."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def explained(
    cluster: LiveCluster,
    plan: PlanInput,
    journal: Path,
    next_commands: Sequence[tuple[str, str]],
) -> Iterator[None]:
    """
    Print what an interrupted command leaves under way, and what to do next.

    Parameters
    ----------
    cluster
        The cluster.
    plan, journal
        The plan that the command works on, and the journal of its runs.
    next_commands
        Purpose and text of each command to name.
    """
    try:
        yield
    except KeyboardInterrupt:
        with Journal(journal) as lines:
            lines.write("interrupted")
        throttles = _throttles(journal)
        print_words(f"interrupted: {_under_way(plan, cluster)}; throttles: {throttles}")
        for purpose, command in next_commands:
            print_words(f"{purpose + ':':<11} {command}")
        raise


def _under_way(plan: PlanInput, cluster: LiveCluster) -> str:
    keys = {entry.key for entry in entries_of(plan.reassignment)}
    try:
        number = len(cluster.reassignments().keys() & keys)
    except (AnswerUnknownError, ClusterUnavailableError):
        return "an unknown number of reassignments of the plan go on inside Kafka"
    verb = "goes" if number == 1 else "go"
    return f"{plural(number, 'reassignment')} of the plan {verb} on inside Kafka"


def _throttles(journal: Path) -> str:
    """Return the places with throttles that runs of the plan may have left."""
    own = OwnThrottles.from_journal(read_journal(journal))
    return ", ".join(f"{one.scope} {one.name}" for one in own.places) or "none"


def with_journal(command: str, journal: Path | None) -> str:
    """Return a command that finds the journal again, where it is not in the plan."""
    if journal is None:
        return command
    return f"{command} --journal {shlex.quote(str(journal))}"
