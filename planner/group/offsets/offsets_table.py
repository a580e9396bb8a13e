"""Offsets of a group by partition: committed and new ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planner.group.group_document import GroupDocument
from planner.group.offsets.offsets_request import Scope
from planner.group.offsets.target_offsets import Name, Target
from planner.group.show_records import GroupOffsetsRecord, OffsetRowRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetRow:
    """
    Offsets of one partition.

    Parameters
    ----------
    topic, partition
        Topic and number of the partition.
    current
        Committed offset; `None` where no offset is committed.
    log_start, log_end
        First offset in the log, and the offset after its last message; `None` where
        unknown.
    new
        New offset; `None` where no change is requested.
    error
        Reason why the offset could not be set; `None` if it was set or not tried.
    """

    topic: str
    partition: int
    current: int | None
    log_start: int | None = None
    log_end: int | None = None
    new: int | None = None
    error: str | None = None

    @property
    def name(self) -> Name:
        """Topic and number of the partition."""
        return self.topic, self.partition

    @property
    def at(self) -> int | None:
        """Next offset to read: the new offset, or else the committed one."""
        return self.current if self.new is None else self.new

    @property
    def lag(self) -> int | None:
        """Messages from `at` to the end of the log; `None` if unknown or past it."""
        if self.at is None or self.log_end is None or self.at > self.log_end:
            return None
        return self.log_end - self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsTable:
    """
    Offsets of a group, before or after a reset.

    Parameters
    ----------
    group_id
        Kafka's ``group.id``.
    state
        State of the group; `None` where the group does not exist or the state is
        unknown.
    target
        Target of the reset; `None` where offsets are only shown.
    is_done
        Whether the offsets were committed.
    rows
        Rows of the partitions.
    notes
        Deviations from the request, a sentence each.
    """

    group_id: str
    state: str | None
    target: Target | None = None
    is_done: bool = False
    rows: Sequence[OffsetRow] = ()
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def is_fine(self) -> bool:
        """Whether every offset was set without an error."""
        return all(row.error is None for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `--format json`."""
        return GroupOffsetsRecord(
            group_id=self.group_id,
            state=self.state,
            target=self.target,
            done=self.is_done,
            offsets=[OffsetRowRecord.model_validate(row) for row in self.rows],
            notes=list(self.notes),
        ).model_dump()


def table_of(document: GroupDocument) -> OffsetsTable:
    """Return the offsets of a group, by topic and partition number."""
    record = document.record
    rows = [
        OffsetRow(topic=topic.name, partition=number, current=current, log_end=log_end)
        for topic in record.topics
        for number, (current, log_end) in enumerate(
            zip(
                topic.committed_offsets or [None] * topic.partitions,
                topic.log_end_offsets or [None] * topic.partitions,
                strict=True,
            )
        )
    ]
    rows.sort(key=lambda row: row.name)
    return OffsetsTable(
        group_id=record.group_id,
        state=record.state,
        rows=rows,
        notes=document.notes,
    )


def select_scope(table: OffsetsTable, scope: Scope) -> OffsetsTable:
    """Return the table with the rows of a scope; an empty scope keeps all rows."""
    rows: Sequence[OffsetRow] = table.rows
    if scope.is_all:
        rows = [row for row in rows if row.current is not None]
    elif scope.topics:
        rows = [row for row in rows if _is_in(row, scope)]
    return replace(table, rows=rows)


def _is_in(row: OffsetRow, scope: Scope) -> bool:
    numbers = scope.topics.get(row.topic)
    return numbers is not None and (not numbers or row.partition in numbers)
