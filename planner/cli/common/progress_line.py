"""
The line on a terminal that says what a command is doing, once it takes a second.

It stands on stderr and is wiped before anything else is written there or on stdout. In
json mode it is lines of JSON instead. The kernels let go of the interpreter, so the
line goes on while they search.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from planner.progress import Stage, listening

DELAY_S = 1.0
"""Whoever has the answer in a second needs no progress."""
_EVERY_S = 0.2
_WIDTH = 79
_WIPE = "\r\x1b[K"


class ProgressLine:
    """
    Draws what is being done, and for how long.

    Parameters
    ----------
    stream
        The terminal.
    as_json
        Whether to write lines of JSON, one for each stage, instead of one line anew.
    delay_s
        Seconds before anything is shown.
    """

    def __init__(
        self, stream: TextIO, *, as_json: bool = False, delay_s: float = DELAY_S
    ) -> None:
        self._stream = stream
        self._as_json = as_json
        self._delay_s = delay_s
        self._began = time.monotonic()
        self._stage = Stage("working")
        self._told: Stage | None = None
        self._drawn = ""
        self._lock = threading.RLock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._draw_on, daemon=True)

    def hear(self, stage: Stage) -> None:
        """Take note of what is being done."""
        self._stage = stage

    def start(self) -> None:
        """Begin to draw after a while."""
        self._thread.start()

    def stop(self) -> None:
        """Wipe the line, and draw no more."""
        self._is_over.set()
        self._thread.join()
        self.wipe()

    def wipe(self) -> None:
        """Wipe the line, so that something else may be written."""
        with self._lock:
            if self._drawn:
                self._write(_WIPE)
                self._drawn = ""

    def draw(self) -> None:
        """Draw the line once."""
        with self._lock:
            if self._as_json:
                self._tell()
                return
            seconds = int(time.monotonic() - self._began)
            text = f"{self._stage} … {seconds} s"
            if len(text) > _WIDTH:
                text = f"{text[: _WIDTH - 1]}…"
            if text != self._drawn:
                self._write(f"{_WIPE}{text}")
                self._drawn = text

    def _tell(self) -> None:
        """Write the stage as a line of JSON, if it is another one."""
        if self._stage == self._told:
            return
        self._told = self._stage
        seconds = round(time.monotonic() - self._began, 1)
        line = {"progress": self._stage.words, "seconds": seconds}
        if self._stage.total:
            line |= {"done": self._stage.done, "total": self._stage.total}
        self._write(f"{json.dumps(line, ensure_ascii=False)}\n")

    def _draw_on(self) -> None:
        pause = self._delay_s
        while not self._is_over.wait(pause):
            self.draw()
            pause = _EVERY_S

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError, UnicodeError):
            # The terminal went away, or cannot show it: nobody misses a progress line.
            self._is_over.set()


class _Wiping:
    """A stream before whose output the line is wiped."""

    def __init__(self, stream: TextIO, line: ProgressLine) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        self._line.wipe()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        return getattr(self._stream, name)


def is_wanted(stream: TextIO, *, is_quiet: bool) -> bool:
    """Tell whether somebody may watch: a terminal that can wipe a line."""
    is_dumb = os.environ.get("TERM", "") in {"", "dumb"}
    return stream.isatty() and not is_dumb and not is_quiet


@contextmanager
def progress_line(*, as_json: bool, is_quiet: bool) -> Iterator[None]:
    """Show on a terminal what is being done, as long as the context lasts."""
    stdout, stderr = sys.stdout, sys.stderr
    if not is_wanted(stderr, is_quiet=is_quiet):
        yield
        return
    line = ProgressLine(stderr, as_json=as_json)
    sys.stdout = _Wiping(stdout, line)
    sys.stderr = _Wiping(stderr, line)
    line.start()
    try:
        with listening(line.hear):
            yield
    finally:
        line.stop()
        sys.stdout, sys.stderr = stdout, stderr
