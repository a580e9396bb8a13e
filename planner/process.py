"""What this process has used, and how it keeps its memory."""

import gc
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn


def peak_memory_bytes() -> int:
    """Return the high-water mark of this process's resident memory (VmHWM)."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def collect_seldom() -> None:
    """
    Look for cycles of garbage a hundred times less often than Python does.

    A command makes hundreds of thousands of small lists, none of them a cycle, and
    Python would look through all of them again and again: half of the time that
    writing a large plan takes.
    """
    gc.set_threshold(100_000, 50, 100)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Make many lists without a look for cycles among them; there are none."""
    # The look takes nine times as long as reading a million replicas.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def leave(code: int) -> NoReturn:
    """
    End the process at once, when all that it had to do is done.

    Python would take a million replicas apart object by object first, which takes a
    quarter of a second. A session of Spark's ends by what it left to be done then.
    """
    if "pyspark" in sys.modules:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        # Who would read it may be gone.
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
