"""The command, run as a user runs it."""

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.cli.main import _run, is_json_wanted

COMMAND = Path(sys.executable).with_name("kafka-planner")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of the command left: exit code, output, and seconds it took."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def document(self) -> Any:
        """The document on stdout, in json mode."""
        return json.loads(self.out)


def run_planner(*args: object) -> Outcome:
    """Run `kafka-planner` to its end."""
    foreign = {k for k in os.environ if k.startswith("PLANNER_")}
    began = time.monotonic()
    done = subprocess.run(
        [str(COMMAND), *map(str, args)],
        check=False,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k not in foreign},
    )
    seconds = time.monotonic() - began
    return Outcome(done.returncode, done.stdout, done.stderr, seconds)


def run_here(*args: object) -> Outcome:
    """Run `kafka-planner` to its end in this process, which spares its start."""
    words = [str(word) for word in args]
    out, err = io.StringIO(), io.StringIO()
    began = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _run(words, as_json=is_json_wanted(words, {}))
    seconds = time.monotonic() - began
    return Outcome(int(code), out.getvalue(), err.getvalue(), seconds)


def take_snapshot(bootstrap: str, path: Path, *options: object) -> dict[str, Any]:
    """Take a live snapshot without rates, and return its document."""
    where = ("--bootstrap-server", bootstrap, "-o", path)
    outcome = run_here("snapshot", "live", *where, "--sample-seconds", 0, *options)
    assert outcome.code == 0, outcome.err
    return json.loads(path.read_text())


def partitions_of(document: dict[str, Any], topic: str) -> list[dict[str, Any]]:
    """Return the partitions of one topic of a snapshot."""
    (found,) = [one for one in document["topics"] if one["name"] == topic]
    return found["partitions"]


def brokers_of(document: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the brokers of a snapshot by id."""
    return {one["id"]: one for one in document["brokers"]}
