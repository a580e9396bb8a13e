"""
Where a group shall read on: offsets by what was asked for, kept inside the logs.

As Kafka's own tool does it (``kafka-consumer-groups --reset-offsets``, 4.3): what lies
above the end of a log is set to its end, what lies below its start to its start.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from planner.errors import BadInputError
from planner.io.problems import problem

Int64s = npt.NDArray[np.int64]
Name = tuple[str, int]
"""Topic and number of a partition."""

UNKNOWN = -1
"""No offset: none committed, or no message of that time or later."""


class Target(StrEnum):
    """Where to, by the name of the option."""

    EARLIEST = "to-earliest"
    LATEST = "to-latest"
    CURRENT = "to-current"
    OFFSET = "to-offset"
    SHIFT = "shift-by"
    DATETIME = "to-datetime"
    DURATION = "by-duration"
    FILE = "from-file"


INACTIVE = frozenset({"Empty", "Dead"})
"""States in which a group has no members, so that its offsets may be set."""
BY_TIME = frozenset({Target.DATETIME, Target.DURATION})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogColumns:
    """
    Partitions, and what is known of their offsets.

    Parameters
    ----------
    names
        ``P`` partitions.
    committed
        ``(P,)`` what the group has committed, or `UNKNOWN`.
    earliest, latest
        ``(P,)`` the first message that is kept, and the one that comes next.
    wanted
        ``(P,)`` for a time the first message of then or later, or `UNKNOWN`; for a file
        what it says; else not looked at.
    """

    names: Sequence[Name]
    committed: Int64s
    earliest: Int64s
    latest: Int64s
    wanted: Int64s

    def __post_init__(self) -> None:
        for column in (self.committed, self.earliest, self.latest, self.wanted):
            column.setflags(write=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reset:
    """
    New offsets.

    Parameters
    ----------
    new
        ``(P,)`` inside the logs.
    notes
        What is not as it was asked for, a line for each partition.
    """

    new: Int64s
    notes: Sequence[str]


def reset(logs: LogColumns, target: Target, number: int = 0) -> Reset:
    """
    Return where the group reads on.

    Parameters
    ----------
    logs
        The partitions.
    target
        Where to.
    number
        The offset, or by how many messages; not looked at for other targets.

    Raises
    ------
    BadInputError
        If offsets shall be shifted that were never committed: names them all.
    """
    if target is Target.SHIFT:
        _refuse_uncommitted(logs)
    is_missing = _is_missing(logs, target)
    wanted = np.where(is_missing, logs.latest, _wanted(logs, target, number))
    new = np.minimum(np.maximum(wanted, logs.earliest), logs.latest)
    words = {row: _missing_words(target) for row in _rows(is_missing)}
    high, low = _rows(wanted > logs.latest), _rows(wanted < logs.earliest)
    words |= dict.fromkeys(high, "higher than the latest offset")
    words |= dict.fromkeys(low, "lower than the earliest offset")
    notes = [
        _note(logs.names[row], words[row], int(wanted[row]), int(new[row]))
        for row in sorted(words)
    ]
    return Reset(new=new, notes=notes)


def _rows(is_so: npt.NDArray[np.bool_]) -> list[int]:
    rows: list[int] = np.nonzero(is_so)[0].tolist()
    return rows


def _wanted(logs: LogColumns, target: Target, number: int) -> Int64s:
    """Return ``(P,)`` what is asked for, inside the logs or not."""
    if target is Target.EARLIEST:
        return logs.earliest
    if target is Target.LATEST:
        return logs.latest
    if target is Target.CURRENT:
        return logs.committed
    if target is Target.OFFSET:
        return np.full(len(logs.names), number, dtype=np.int64)
    return _shifted(logs, number) if target is Target.SHIFT else logs.wanted


def _shifted(logs: LogColumns, number: int) -> Int64s:
    """Return ``(P,)`` offsets so many messages on, or back, without an overflow."""
    limits = np.iinfo(np.int64)
    shifted = [
        min(max(offset + number, limits.min), limits.max)
        for offset in logs.committed.tolist()
    ]
    return np.array(shifted, dtype=np.int64)


def _is_missing(logs: LogColumns, target: Target) -> npt.NDArray[np.bool_]:
    """Return ``(P,)`` true where there is nothing to go to, and the end is taken."""
    if target is Target.CURRENT:
        return np.equal(logs.committed, UNKNOWN)
    if target in BY_TIME:
        return np.equal(logs.wanted, UNKNOWN)
    return np.zeros(len(logs.names), dtype=np.bool_)


def _missing_words(target: Target) -> str:
    if target is Target.CURRENT:
        return "nothing was committed"
    return "no message of then or later"


def _note(name: Name, words: str, wanted: int, new: int) -> str:
    asked = f"{wanted} is {words}; " if wanted != new else f"{words}; "
    return f"{name[0]}-{name[1]}: {asked}set to {new}"


def _refuse_uncommitted(logs: LogColumns) -> None:
    found = [
        problem(
            "command line",
            f"{logs.names[row][0]}-{logs.names[row][1]}",
            None,
            "cannot be shifted: there is no current committed offset",
            "leave the partition out, or use --to-earliest, --to-latest, …",
        )
        for row in _rows(np.equal(logs.committed, UNKNOWN))
    ]
    if found:
        msg = "offsets that were never committed cannot be shifted"
        raise BadInputError(msg, found)


def refuse_kind(group_id: str, kind: str | None) -> None:
    """
    Refuse groups whose offsets are not those of a consumer group.

    Raises
    ------
    BadInputError
        If it is a share or a streams group; names the tool for it.
    """
    tools = {"share": "kafka-share-groups", "streams": "kafka-streams-groups"}
    if kind in tools:
        rule = f"offsets of a {kind} group are not those of a consumer group"
        msg = f"{group_id} is a {kind} group"
        found = problem("group", "type", kind, rule, f"use {tools[kind]}")
        raise BadInputError(msg, [found])


def refuse_active(group_id: str, state: str) -> BadInputError:
    """Return the error that refuses a group with members, in Kafka's words."""
    rule = (
        f"Assignments can only be reset if the group '{group_id}' is inactive, but the "
        f"current state is {state}."
    )
    remedy = "stop its members; a static one is out after its session timeout"
    msg = f"group {group_id} is active"
    return BadInputError(msg, [problem("group", "state", state, rule, remedy)])
