"""
Progress line on a terminal, shown after a second.

The line is on stderr and is erased before anything else is written to stderr or
stdout. In json mode it is replaced by lines of JSON. The kernels release the
interpreter lock, so the line is redrawn while they search.
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
"""Shorter commands show no progress."""
_EVERY_S = 0.2
_WIDTH = 79
_WIPE = "\r\x1b[K"


class ProgressLine:
    """
    Line with the current stage and its duration.

    Parameters
    ----------
    stream
        Terminal to draw on.
    as_json
        Whether to write a line of JSON for each stage instead of redrawing one line.
    delay_s
        Seconds before the line is drawn first.
    """

    def __init__(
        self, stream: TextIO, *, as_json: bool = False, delay_s: float = DELAY_S
    ) -> None:
        self._stream = stream
        self._as_json = as_json
        self._delay_s = delay_s
        self._began = time.monotonic()
        self._stage = Stage("working")
        self._written: Stage | None = None
        self._drawn = ""
        self._lock = threading.RLock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._draw_on, daemon=True)

    def hear(self, stage: Stage) -> None:
        """Set the current stage."""
        self._stage = stage

    def start(self) -> None:
        """Start drawing after the delay."""
        self._thread.start()

    def stop(self) -> None:
        """Erase the line and stop drawing."""
        self._is_over.set()
        self._thread.join()
        self.wipe()

    def wipe(self) -> None:
        """Erase the line before other output."""
        with self._lock:
            if self._drawn:
                self._write(_WIPE)
                self._drawn = ""

    def draw(self) -> None:
        """Draw the line once."""
        with self._lock:
            if self._as_json:
                self._write_json()
                return
            seconds = int(time.monotonic() - self._began)
            text = f"{self._stage} … {seconds} s"
            if len(text) > _WIDTH:
                text = f"{text[: _WIDTH - 1]}…"
            if text != self._drawn:
                self._write(f"{_WIPE}{text}")
                self._drawn = text

    def _write_json(self) -> None:
        """Write the stage as a line of JSON if it has changed."""
        if self._stage == self._written:
            return
        self._written = self._stage
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
            # The terminal is closed or cannot show the text: stop drawing.
            self._is_over.set()


class _Wiping:
    """Stream that erases the line before each output."""

    def __init__(self, stream: TextIO, line: ProgressLine) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        self._line.wipe()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        return getattr(self._stream, name)


def is_wanted(stream: TextIO, *, is_quiet: bool) -> bool:
    """Return whether a stream is a terminal that can erase a line."""
    is_dumb = os.environ.get("TERM", "") in {"", "dumb"}
    return stream.isatty() and not is_dumb and not is_quiet


@contextmanager
def progress_line(*, as_json: bool, is_quiet: bool) -> Iterator[None]:
    """Show progress on a terminal inside the context."""
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
