"""
Corrupt files of a fleet that only Spark can reach.

Access to such a file system is configured in Spark alone, so that no other code can
read its files. Spark names one corrupt file at a time. The work is then repeated
without that file, and its snapshots get rows that give the reason.
"""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")
Broken = Mapping[str, str]
"""Reasons why files cannot be read, by the path of the file in the fleet."""
_FILE = re.compile(
    r"\[((?:FAILED_READ_FILE|PATH_NOT_FOUND)[.\w]*)\][^\n]*?(\w+:/\S*\.parquet)"
)
_IN_TASK = re.compile(r"UnreadableFileError: (cannot read (\w+:/\S*\.parquet): [^\n]*)")
"""Error of a task that decodes a file itself."""
_PARTS = 3
"""Parts of a file's path in the fleet: ``partitions/date=2026-11-21/….parquet``."""
_CAUSE = re.compile(r"Caused by: [\w.$]+: ([^\n]+)")


def around_broken(run: Callable[[Broken], T]) -> T:
    """
    Run a function, and again without each file that cannot be read.

    Parameters
    ----------
    run
        Opens the fleet without the files given to it. Its output must be atomic, or be
        overwritten by the next run.
    """
    broken: dict[str, str] = {}
    while True:
        try:
            return run(dict(broken))
        except Exception as error:
            found = unreadable(error)
            if found is None or found[0] in broken:
                raise
            broken[found[0]] = found[1]


def unreadable(error: Exception) -> tuple[str, str] | None:
    """Return the file that an error of Spark names and the reason; `None` without."""
    text = str(error)
    if in_task := _IN_TASK.search(text):
        return _inside(in_task[2]), in_task[1]
    found = _FILE.search(text)
    if found is None:
        return None
    condition, path = found[1], found[2]
    causes = _CAUSE.findall(text)
    reason = causes[-1].strip() if causes else condition
    return _inside(path), f"cannot read {path}: {reason}"


def _inside(path: str) -> str:
    """Return the path of a file in its fleet."""
    return "/".join(path.split("/")[-_PARTS:])
