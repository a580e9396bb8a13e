"""
New offsets of a group for a target, clamped to the logs.

The rules are those of ``kafka-consumer-groups --reset-offsets`` of Kafka 4.3: an offset
above the end of a log becomes its end, an offset below its start becomes its start.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from placement.array_types import IntArray
from planner.errors import BadInputError, raise_problems
from planner.io.problems import problem

Name = tuple[str, int]
"""Topic and number of a partition, as a pair."""

UNKNOWN = -1
"""Marker for no offset: none is committed, or no message has that time or a later."""


class Target(StrEnum):
    """Target of a reset, by the name of its option."""

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
    Partitions with their committed offsets and the bounds of their logs.

    Parameters
    ----------
    names
        Topic and number of each of ``P`` partitions.
    committed
        ``(P,)`` committed offset, or `UNKNOWN`.
    earliest, latest
        ``(P,)`` first offset in the log, and the offset after its last message.
    wanted
        ``(P,)`` for a time, the offset of the first message of that time or later, or
        `UNKNOWN`; for a file, the offset in the file; ignored for other targets.
    """

    names: Sequence[Name]
    committed: IntArray
    earliest: IntArray
    latest: IntArray
    wanted: IntArray

    def __post_init__(self) -> None:
        for column in (self.committed, self.earliest, self.latest, self.wanted):
            column.setflags(write=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reset:
    """
    New offsets, with notes on those that were clamped.

    Parameters
    ----------
    new
        ``(P,)`` new offset, between the start and the end of the log.
    notes
        Sentence for each partition whose request was adjusted.
    """

    new: IntArray
    notes: Sequence[str]


def reset(logs: LogColumns, target: Target, number: int = 0) -> Reset:
    """
    Compute the new offsets.

    Parameters
    ----------
    logs
        Partitions and their offsets.
    target
        Target of the reset.
    number
        Offset, or number of messages to shift by; ignored for other targets.

    Raises
    ------
    BadInputError
        If a shift is requested for partitions without a committed offset; names all.
    """
    if target is Target.SHIFT:
        _refuse_uncommitted(logs)
    is_missing = _is_missing(logs, target)
    wanted = np.where(is_missing, logs.latest, _requested(logs, target, number))
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


def _requested(logs: LogColumns, target: Target, number: int) -> IntArray:
    """Return ``(P,)`` requested offset, not clamped to the log."""
    if target is Target.EARLIEST:
        return logs.earliest
    if target is Target.LATEST:
        return logs.latest
    if target is Target.CURRENT:
        return logs.committed
    if target is Target.OFFSET:
        return np.full(len(logs.names), number, dtype=np.int64)
    return _shifted(logs, number) if target is Target.SHIFT else logs.wanted


def _shifted(logs: LogColumns, number: int) -> IntArray:
    """Return ``(P,)`` committed offset plus a signed number, without overflow."""
    limits = np.iinfo(np.int64)
    shifted = [
        min(max(offset + number, limits.min), limits.max)
        for offset in logs.committed.tolist()
    ]
    return np.array(shifted, dtype=np.int64)


def _is_missing(logs: LogColumns, target: Target) -> npt.NDArray[np.bool_]:
    """Return ``(P,)`` true where no offset fits the target and the end is taken."""
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
    raise_problems("offsets that were never committed cannot be shifted", found)


def refuse_kind(group_id: str, kind: str | None) -> None:
    """
    Refuse share and streams groups, whose offsets other tools set.

    Raises
    ------
    BadInputError
        If the group is of such a kind; names the tool for it.
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
