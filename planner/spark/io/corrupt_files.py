"""
Files of a fleet that Spark cannot read, where it alone can reach them.

How to get at such a file system is Spark's own setting, so that nobody else can look at
its files. What it trips over it names, one file at a time; the work is begun again
without that file, and its snapshots come to rows that say why.
"""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")
Broken = Mapping[str, str]
"""Files by their paths in the fleet, and why they cannot be read."""
_FILE = re.compile(
    r"\[((?:FAILED_READ_FILE|PATH_NOT_FOUND)[.\w]*)\][^\n]*?(\w+:/\S*\.parquet)"
)
_PARTS = 3
"""Of a file's path in the fleet: ``partitions/date=2026-11-21/….parquet``."""
_CAUSE = re.compile(r"Caused by: [\w.$]+: ([^\n]+)")


def around_broken(run: Callable[[Broken], T]) -> T:
    """
    Run something, again where a file cannot be read, and without that file.

    Parameters
    ----------
    run
        Opens the fleet without the files it is given. What it writes must be either
        whole or not there, or be written again.
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
    """Return the file that an error of Spark's is about, and why; `None`: none."""
    text = str(error)
    found = _FILE.search(text)
    if found is None:
        return None
    condition, path = found[1], found[2]
    causes = _CAUSE.findall(text)
    reason = causes[-1].strip() if causes else condition
    inside = "/".join(path.split("/")[-_PARTS:])
    return inside, f"cannot read {path}: {reason}"
