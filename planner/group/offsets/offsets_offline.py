"""New offsets of a group, computed from a group file or a text without the cluster."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.errors import BadInputError, InputProblem, raise_problems
from planner.group.offsets.offsets_request import OffsetsRequest
from planner.group.offsets.offsets_table import OffsetRow, OffsetsTable, select_scope
from planner.group.offsets.target_offsets import (
    BY_TIME,
    INACTIVE,
    UNKNOWN,
    LogColumns,
    Name,
    Target,
    refuse_active,
    reset,
)
from planner.io.problems import problem, refusal

STARTS_UNKNOWN = (
    "the first messages that are kept are not known here: what is below them is "
    "raised to them once it is set on the cluster"
)


def preview_reset(
    table: OffsetsTable, request: OffsetsRequest, *, num_members: int, file: str
) -> OffsetsTable:
    """
    Return a table with the offsets that a reset would set, without the cluster.

    Parameters
    ----------
    table
        Committed offsets and log end offsets of the group.
    request
        The target and the partitions. The target must not be `None`.
    num_members
        Number of members of the group; it must be 0.
    file
        Name of the file in problems.

    Raises
    ------
    BadInputError
        If the group is active, if only the cluster knows the target, or if partitions
        or their log end offsets are unknown; names every partition.
    """
    if request.target is None:
        msg = "a request to set offsets needs a target"
        raise ValueError(msg)
    if num_members or table.state not in {None, *INACTIVE}:
        raise refuse_active(table.group_id, table.state or "unknown, with members")
    if request.target is Target.EARLIEST or request.target in BY_TIME:
        raise _only_live(request.target, file)
    rows = _chosen(table, request)
    _refuse_unknown(rows, file)
    logs = _columns(rows, request)
    found = reset(logs, request.target, request.number)
    notes = list(found.notes)
    if request.target in {Target.OFFSET, Target.SHIFT, Target.FILE}:
        notes.append(STARTS_UNKNOWN)
    return replace(
        table,
        target=request.target,
        rows=[
            replace(row, new=new)
            for row, new in zip(rows, found.new.tolist(), strict=True)
        ],
        notes=notes,
    )


def _only_live(target: Target, file: str) -> BadInputError:
    rule = "only the cluster knows these offsets"
    summary, remedy = (
        f"--{target} needs a running cluster",
        "give --bootstrap-server H:P",
    )
    return refusal(summary, file, rule, remedy, place=f"--{target}")


def _chosen(table: OffsetsTable, request: OffsetsRequest) -> Sequence[OffsetRow]:
    """Return the requested rows, with empty ones for unknown partitions."""
    known = {row.name: row for row in table.rows}
    if request.target is Target.FILE:
        return [known.get(name, _unknown_row(name)) for name in sorted(request.offsets)]
    rows = {row.name: row for row in select_scope(table, request.scope).rows}
    topics = {topic for topic, _ in known}
    for topic, numbers in request.scope.topics.items():
        # An unknown topic without numbers gets one row, for its first partition.
        for number in numbers or ([] if topic in topics else [0]):
            rows.setdefault((topic, number), _unknown_row((topic, number)))
    return [rows[name] for name in sorted(rows)]


def _unknown_row(name: Name) -> OffsetRow:
    return OffsetRow(topic=name[0], partition=name[1], current=None)


def _refuse_unknown(rows: Sequence[OffsetRow], file: str) -> None:
    rule = "the end of the log must be known, so that no offset is set past it"
    remedy = "import the output of --describe, or give --bootstrap-server H:P"
    found: list[InputProblem] = [
        problem(file, f"{row.topic}-{row.partition}", None, rule, remedy)
        for row in rows
        if row.log_end is None
    ]
    raise_problems("offsets of unknown partitions cannot be set", found)


def _columns(rows: Sequence[OffsetRow], request: OffsetsRequest) -> LogColumns:
    names = [row.name for row in rows]

    def column(values: Sequence[int | None]) -> np.typing.NDArray[np.int64]:
        known = [UNKNOWN if value is None else value for value in values]
        return np.array(known, dtype=np.int64)

    return LogColumns(
        names=names,
        committed=column([row.current for row in rows]),
        earliest=np.zeros(len(rows), dtype=np.int64),
        latest=column([row.log_end for row in rows]),
        wanted=column([request.offsets.get(name) for name in names]),
    )
