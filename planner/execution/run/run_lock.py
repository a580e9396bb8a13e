"""Lock of a plan: one run at a time, with the name of its holder."""

import fcntl
import getpass
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from planner.errors import BadInputError
from planner.execution.run.journal import time_text, utc_now
from planner.io.problems import problem


def lock_path(journal: Path) -> Path:
    """Return the lock that belongs to a journal."""
    return journal.with_name(f"{journal.name}.lock")


@contextmanager
def run_lock(journal: Path) -> Iterator[None]:
    """
    Hold the lock of a plan.

    The operating system frees the lock when its holder ends, however it ends: a file
    that is left behind locks nothing.

    Parameters
    ----------
    journal
        Path of the journal.

    Raises
    ------
    BadInputError
        If another process holds it, or the file cannot be written.
    """
    path = lock_path(journal)
    with _opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise _held(path, file) from None
        _name_holder(file)
        try:
            yield
        finally:
            # The file stays: who removed it could remove the lock of the next holder.
            file.truncate(0)


def is_held(journal: Path) -> bool:
    """Return whether a run of the plan is under way on this machine."""
    path = lock_path(journal)
    if not path.exists():
        return False
    with path.open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _opened(path: Path) -> IO[str]:
    """
    Open the file of a lock.

    Raises
    ------
    BadInputError
        If it cannot be written: nor can the journal beside it.
    """
    try:
        return path.open("a+", encoding="utf-8")
    except OSError as error:
        msg = "the journal of the run cannot be written"
        rule = f"must be writable: {error.strerror}"
        remedy = "name another file with --journal"
        raise BadInputError(msg, [problem(str(path), "", "", rule, remedy)]) from error


def _name_holder(file: IO[str]) -> None:
    file.truncate(0)
    holder = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "user": _user(),
        "since": time_text(utc_now()),
    }
    file.write(json.dumps(holder) + "\n")
    file.flush()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _held(path: Path, file: IO[str]) -> BadInputError:
    file.seek(0)
    try:
        one = json.loads(file.read())
        holder = f"process {one['pid']} of {one['user']} on {one['host']}"
        holder += f", since {one['since']}"
    except (ValueError, KeyError, TypeError):
        holder = "another process"
    msg = "another run of this plan is under way"
    rule = f"is held by {holder}"
    remedy = "wait for its end, or pause it: kafka-planner apply PLAN --set pause"
    return BadInputError(msg, [problem(str(path), "", "", rule, remedy)])
