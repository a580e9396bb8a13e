"""Backlog of a consumer group: a size, or a time of reading."""

from math import isnan
from typing import NamedTuple

from planner.options.declared.option import Problems
from planner.partitions.value_readers import read_seconds, read_size


class Backlog(NamedTuple):
    """
    Backlog of a consumer group.

    Parameters
    ----------
    size_bytes, reading_s
        Its bytes, or the seconds for which the group reads what it amounts to.
    """

    size_bytes: float = 0.0
    reading_s: float = 0.0

    def at(self, rate: float) -> float:
        """Return the bytes of a group that reads at a rate, in bytes/s."""
        return self.reading_s * rate if self.reading_s else self.size_bytes


NO_BACKLOG = Backlog()


def read_backlog(value: str | float, problems: Problems) -> Backlog:
    """Return a backlog from a size, or from a duration as a text."""
    if isinstance(value, str):
        seconds = read_seconds(value, Problems(problems.flag))
        if not isnan(seconds):
            return Backlog(reading_s=seconds)
    return Backlog(size_bytes=read_size(value, problems))
