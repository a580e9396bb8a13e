"""Interruption of a run, a cancel or a rollback: what still runs, and how to go on."""

import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from planner.cli.common.output import print_words
from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.cluster.running_cluster import RunningCluster
from planner.execution.run.journal import Journal, read_journal
from planner.execution.run.run_throttles import OwnThrottles
from planner.execution.undo.cancel import moves_inside, towards
from planner.plan.input.plan_input import PlanInput
from planner.text.format import plural


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
def explained_interruption(
    plan: PlanInput, journal: Path, command: str, cluster: RunningCluster
) -> Iterator[None]:
    """
    Explain an interruption before it ends the command.

    Parameters
    ----------
    plan, journal
        The plan, and the journal of its runs.
    command
        Command that goes on, without --yes.
    cluster
        The cluster, which is asked for what still runs.
    """
    try:
        yield
    except KeyboardInterrupt:
        with Journal(journal) as lines:
            lines.write("interrupted")
        for text in _explanation(plan, journal, command, cluster):
            print_words(text)
        raise


def _explanation(
    plan: PlanInput, journal: Path, command: str, cluster: RunningCluster
) -> Iterator[str]:
    """Yield what still runs, and the commands that go on, or stop it."""
    has_throttles = bool(OwnThrottles.from_journal(read_journal(journal)).places)
    yield f"interrupted: {_still_runs(plan, cluster, has_throttles=has_throttles)}"
    yield f"to go on:   {command} --yes"
    program, verb, *rest = shlex.split(command)
    if verb != "cancel":
        yield f"to stop:    {shlex.join([program, 'cancel', *rest, '--yes'])}"


def _still_runs(
    plan: PlanInput, cluster: RunningCluster, *, has_throttles: bool
) -> str:
    try:
        moving = len(towards(plan, cluster.reassignments()))
        inside = len(moves_inside(plan, cluster))
    except (AnswerUnknownError, ClusterUnavailableError) as error:
        return f"what of the plan runs inside Kafka is unknown: {error.message}"
    throttles = "with their throttles" if has_throttles else "without a throttle"
    found = []
    if moving:
        found.append(plural(moving, "reassignment"))
    if inside:
        found.append(f"{plural(inside, 'move')} between log dirs")
    if found:
        return f"{' and '.join(found)} of the plan go on inside Kafka, {throttles}"
    left = "; throttles of the run are left" if has_throttles else ""
    return f"nothing of the plan runs inside Kafka{left}"


def with_journal(command: str, journal: Path | None) -> str:
    """Return a command that finds the journal again, where it is not in the plan."""
    if journal is None:
        return command
    return f"{command} --journal {shlex.quote(str(journal))}"
