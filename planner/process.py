"""Memory and garbage collection of this process, and its end."""

import errno
import gc
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TextIO

_UNWRITABLE = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
)


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


def open_closed_streams() -> None:
    """Connect the standard streams that the caller closed to the null device."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken: this one, as those below are open.
            os.open(os.devnull, os.O_RDWR)
    # Python sets a stream to None where its descriptor was closed at the start.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - kept
            setattr(sys, name, stream)


def discard(*streams: TextIO) -> None:
    """Send what is written to the streams to the null device from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def is_unwritable(error: OSError) -> bool:
    """Return whether an output cannot be written, as on a full disk."""
    return error.errno in _UNWRITABLE and error.filename is None


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
