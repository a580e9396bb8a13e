"""
Stderr of the Java that a session starts, without Java's own warnings.

Spark starts Java with modules that it warns of each time. Java has no option against
that, and inherits stderr from this process: while it starts that is a pipe, of which
everything else is handed on.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

STDERR = 2
NOISE = b"WARNING: "
"""Prefix of warnings of the JVM itself; those of Spark and Python have another."""


@contextmanager
def without_warnings() -> Iterator[None]:
    """Hand on what a process prints that is started meanwhile, without `NOISE`."""
    try:
        shown = os.dup(STDERR)
    except OSError:
        # Stderr is closed.
        yield
        return
    read, write = os.pipe()
    Thread(target=_hand_on, args=(read, shown), daemon=True).start()
    os.dup2(write, STDERR)
    os.close(write)
    try:
        yield
    finally:
        # The pipe stays with the process that was started, to its end.
        os.dup2(shown, STDERR)


def _hand_on(read: int, shown: int) -> None:
    rest = b""
    with suppress(OSError):
        while chunk := os.read(read, 2**16):
            *lines, rest = (rest + chunk).split(b"\n")
            passed = b"".join(line + b"\n" for line in lines if not _is_noise(line))
            if not _may_be_noise(rest):
                passed, rest = passed + rest, b""
            os.write(shown, passed)
        os.write(shown, rest)
    os.close(read)
    os.close(shown)


def _is_noise(line: bytes) -> bool:
    return line.startswith(NOISE)


def _may_be_noise(start: bytes) -> bool:
    return _is_noise(start) or NOISE.startswith(start)
