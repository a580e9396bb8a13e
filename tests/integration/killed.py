"""Runs of plans in processes that end, or get a signal, at a line of the journal."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from integration.runs import connected, job_of
from planner.cli.common.cluster_source import ClusterSource
from planner.cli.main import run as run_command
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.run import run as run_module
from planner.execution.run.journal import Journal
from planner.execution.run.run_records import Event
from planner.execution.undo import cancel as cancel_module
from planner.execution.undo.rollback import roll_back

SENT = "sent.jsonl"
"""Every change that the runs of a plan have sent, beside the plan."""
Task = Literal["apply", "cancel", "rollback"]
When = Literal["before", "after", "opening"]


@dataclass(frozen=True, slots=True)
class Moment:
    """
    A moment of a run.

    Parameters
    ----------
    when
        ``before`` a line of the journal is written, ``after`` it is on disk and before
        what it announces is done, or while the connection is opened.
    event
        Event of the line; `None`: any.
    nth
        Number of the line among those with the event, from 1 on.
    kind
        Kind of the request that the line announces; `None`: any.
    """

    when: When
    event: str | None = None
    nth: int = 1
    kind: str | None = None

    def __str__(self) -> str:
        parts = (self.when, self.event, self.kind, self.nth if self.nth > 1 else None)
        return "-".join(str(part) for part in parts if part is not None)


class NotedCluster(LiveCluster):
    """A cluster that notes each change before it is sent."""

    path = Path(SENT)

    def reassign(self, targets: Mapping[Any, Any]) -> Any:
        self._keep("lists", targets)
        return super().reassign(targets)

    def elect(self, keys: Collection[Any]) -> Any:
        self._keep("election", keys)
        return super().elect(keys)

    def _keep(self, kind: str, keys: Collection[Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            for topic, number in keys:
                file.write(json.dumps([kind, topic, number]) + "\n")


def noted(plan: Path) -> type[NotedCluster]:
    """Return a cluster that notes changes beside a plan."""
    return type("Noted", (NotedCluster,), {"path": plan / SENT})


def sent(plan: Path) -> list[Any]:
    """Return every change that was sent for a plan."""
    path = plan / SENT
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def events_of(
    task: Task, plan: Path, rate: int, cluster: LiveCluster
) -> Iterator[Event]:
    """Yield the events of a task: the plan carried out, cancelled, or rolled back."""
    job = job_of(plan, rate=rate)
    match task:
        case "apply":
            return run_module.run(job, cluster)
        case "cancel":
            return cancel_module.cancel(job.plan, job.journal, cluster)
        case "rollback":
            return roll_back(job, cluster, lambda _: None)


class Doomed:
    """A process that carries out plans in children, which end at a given moment."""

    def __init__(self) -> None:
        # Not from its own folder: modules there are named as the packages are.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "integration.killed"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def run(
        self, task: Task, plan: Path, bootstrap: str, rate: int, moment: Moment
    ) -> int:
        """
        Begin a task, and kill it at a moment.

        Returns
        -------
        int
            Status of the child, as `os.waitpid` gives it.
        """
        return self._ask(
            moment, signal.SIGKILL, "_run", task, str(plan), bootstrap, rate
        )

    def command(
        self, words: Sequence[str], said: Path, moment: Moment, sign: signal.Signals
    ) -> int:
        """
        Run `kafka-planner`, and send it a signal at a moment.

        Parameters
        ----------
        words
            The command.
        said
            File for what it prints.
        moment, sign
            The moment, and the signal.

        Returns
        -------
        int
            Status of the child, as `os.waitpid` gives it.
        """
        return self._ask(moment, sign, "_command", list(words), str(said))

    def _ask(
        self, moment: Moment, sign: signal.Signals, name: str, *arguments: object
    ) -> int:
        at = [moment.when, moment.event, moment.nth, moment.kind]
        self._process.stdin.write(json.dumps([at, sign, name, arguments]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def _serve() -> None:
    for text in sys.stdin:
        child = os.fork()
        if not child:
            at, sign, name, arguments = json.loads(text)
            _arm(Moment(*at), sign)
            {"_run": _run, "_command": _command}[name](*arguments)
            os._exit(0)
        sys.stdout.write(f"{os.waitpid(child, 0)[1]}\n")
        sys.stdout.flush()


def _arm(moment: Moment, sign: int) -> None:
    """Send this process a signal at a moment."""
    lines = 0

    def strike() -> None:
        os.kill(os.getpid(), sign)

    class Last(Journal):
        def write(self, event: str, **fields: object) -> str:
            nonlocal lines
            is_event = moment.event in {None, event}
            is_meant = is_event and moment.kind in {None, fields.get("kind")}
            lines += is_meant
            is_now = is_meant and lines == moment.nth
            if is_now and moment.when == "before":
                strike()
            time = super().write(event, **fields)
            if is_now and moment.when == "after":
                strike()
            return time

    run_module.Journal = cancel_module.Journal = Last
    if moment.when == "opening":
        opened = ClusterSource.open

        def open_struck(source: ClusterSource) -> object:
            strike()
            return opened(source)

        ClusterSource.open = open_struck


def _run(task: Task, plan: str, bootstrap: str, rate: int) -> None:
    with connected(bootstrap, kind=noted(Path(plan))) as cluster:
        for _ in events_of(task, Path(plan), rate, cluster):
            pass


def _command(words: list[str], said: str) -> None:
    with Path(said).open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    sys.argv = ["kafka-planner", *words]
    sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115 - until the process ends
    run_command()


if __name__ == "__main__":
    _serve()
