"""
Journal of a run: what is requested is written, and on disk, before it is requested.

One JSON object per line, with its time. A line that a crash cut off is skipped when the
journal is read, and ended before the next one is written.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

JOURNAL_NAME = "journal.jsonl"
Line = dict[str, Any]
Item = TypeVar("Item")


def journal_path(plan: Path) -> Path:
    """Return the journal of a plan folder, or of a reassignment file beside it."""
    if plan.is_dir():
        return plan / JOURNAL_NAME
    return plan.with_name(f"{plan.name}.{JOURNAL_NAME}")


def utc_now() -> datetime:
    """Return the time of the clock."""
    return datetime.now(UTC)


def time_text(moment: datetime) -> str:
    """Return a time as documents write it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parts_of(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Yield the items in parts of a size, so that no line is too long."""
    for first in range(0, len(items), size):
        yield items[first : first + size]


def read_journal(path: Path) -> Iterator[Line]:
    """Yield the lines of a journal, without those that a crash cut off."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                found = json.loads(text)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found


class Journal:
    """
    Journal that is written ahead of each request.

    Parameters
    ----------
    path
        File, made if it does not exist; lines are added at its end.
    now
        Function that returns the time.
    """

    def __init__(self, path: Path, *, now: Callable[[], datetime] = utc_now) -> None:
        self.path, self._now = path, now
        is_cut = path.exists() and path.read_bytes()[-1:] not in {b"", b"\n"}
        self._file = path.open("a", encoding="utf-8")
        if is_cut:
            self._file.write("\n")
        self._sync_folder()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def write(self, event: str, **fields: object) -> str:
        """Add a line, and return its time once it is on disk."""
        time = time_text(self._now())
        line = {"time": time, "event": event, **fields}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        return time

    def _sync_folder(self) -> None:
        """Write the name of a new file to disk, too."""
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
