"""
Stderr of the JVM that a session starts, without the JVM's own warnings.

Spark starts the JVM with modules that cause a warning each time. The JVM has no option
against these warnings, and inherits stderr from this process. During the start, stderr
is therefore a pipe, and every line that is no such warning is passed on.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

STDERR = 2
NOISE = b"WARNING: "
"""Prefix of warnings of the JVM; warnings of Spark and Python have other prefixes."""


@contextmanager
def without_warnings() -> Iterator[None]:
    """Filter `NOISE` from the output of processes that the block starts."""
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
        # The started process keeps the pipe until it ends.
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
