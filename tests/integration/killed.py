"""Runs of plans in processes that end themselves at a line of the journal."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Self

from integration.runs import connected, follow, job_of
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.run import run as run_module
from planner.execution.run.journal import Journal

SENT = "sent.jsonl"
"""Every change that the runs of a plan have sent, beside the plan."""


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


class Doomed:
    """A process that carries out plans in children, which end at a given line."""

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

    def run(self, plan: Path, bootstrap: str, rate: int, when: str, line: int) -> int:
        """
        Carry a plan out until ``before`` or ``after`` a line of its journal.

        Returns
        -------
        int
            Status of the child, as `os.waitpid` gives it.
        """
        request = [str(plan), bootstrap, rate, when, line]
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def _serve() -> None:
    for text in sys.stdin:
        child = os.fork()
        if not child:
            _run(*json.loads(text))
            os._exit(0)
        sys.stdout.write(f"{os.waitpid(child, 0)[1]}\n")
        sys.stdout.flush()


def _run(plan: str, bootstrap: str, rate: int, when: str, line: int) -> None:
    class Last(Journal):
        count = 0

        def write(self, event: str, **fields: object) -> str:
            self.count += 1
            if (when, line) == ("before", self.count):
                os.kill(os.getpid(), signal.SIGKILL)
            time = super().write(event, **fields)
            if (when, line) == ("after", self.count):
                os.kill(os.getpid(), signal.SIGKILL)
            return time

    run_module.Journal = Last
    with connected(bootstrap, kind=noted(Path(plan))) as cluster:
        follow(job_of(Path(plan), rate=rate), cluster)


if __name__ == "__main__":
    _serve()
