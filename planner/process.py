"""Memory and garbage collection of this process, and its end."""

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


def set_up_process() -> None:
    """
    Set this process up for large tables, before pyarrow is imported.

    Cyclic garbage is collected a hundred times less often than Python does. A command
    creates hundreds of thousands of small lists without cycles. Python's own
    thresholds would scan them repeatedly, which is half of the time that writing a
    large plan takes.
    """
    gc.set_threshold(100_000, 50, 100)
    # Arrow's own pool keeps freed memory, which numpy then requests from the system.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Suspend the garbage collector while many lists without cycles are created."""
    # A collection takes nine times as long as reading a million replicas.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def leave(code: int) -> NoReturn:
    """
    End the process at once, without freeing its objects.

    Freeing a million replicas object by object takes Python a quarter of a second. A
    session of Spark needs Python's exit handlers, which are then called.
    """
    if "pyspark" in sys.modules:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        # The reader may have closed the pipe.
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
