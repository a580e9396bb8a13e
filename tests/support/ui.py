"""States of the page of `ui`, and a page that is served by the command."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner.ui.ui_play import Play, play_of
from planner.ui.ui_state import UiState

COMMAND = Path(sys.executable).with_name("kafka-planner")


def traffic(factor: float) -> Play:
    """Return the scenarios of today's cluster with other traffic."""
    return play_of(UiState().with_setting("traffic", f"{factor:g}"))


@contextmanager
def served(*words: str | Path) -> Iterator[str]:
    """Serve a page by the command, yield its address, and end it by Ctrl-C."""
    command = [COMMAND, "ui", *words, "--no-browser", "--format", "json"]
    process = subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if line == "}\n":
                break
        yield json.loads("".join(lines))["url"]
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert errors.endswith("the page is served no more\n")
    assert "Traceback" not in errors
