"""moves.csv: a row per move, its reason, and the consequence of undoing it."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.explain.move_reasons import REASONS, Consequence, Explained
from placement.explain.move_table import Moves
from placement.explain.planned_moves import explain_planned
from placement.model.cluster import UNKNOWN, ClusterState
from placement.model.load import RESOURCES
from planner.errors import BadInputError, InputProblem
from planner.plan.documents.scored_plan import Plan
from planner.text.document_numbers import rounded_all
from planner.text.text_columns import (
    Column,
    numerals,
    picked,
    side_by_side,
    texts_of,
    whole,
)

MOVES_NAME = "moves.csv"
COPY, LEADER, DROP = "replica", "leader", "drop"
COLUMNS = (
    "topic",
    "partition",
    "kind",
    "from",
    "to",
    "from_rack",
    "to_rack",
    "bytes",
    "reason",
    "resource",
    "undone",
    "undone_broker",
    "undone_resource",
    "undone_outside",
)
_QUOTED = frozenset(',"\r\n')
"""Characters that require a cell to be quoted."""


@dataclass(frozen=True, slots=True)
class MoveRow:
    """
    One move, in Kafka's names; the fields are `COLUMNS`.

    Parameters
    ----------
    topic, partition
        Topic and number of the partition.
    kind
        ``replica``: a copy; ``leader``: another replica becomes the first; ``drop``: a
        replica is removed and not replaced.
    source, target
        Broker ids: from, to; `None` if the list grows or shrinks.
    source_rack, target_rack
        Racks of these brokers, empty if unknown.
    size_bytes
        Bytes copied; `None` if the size is unknown.
    reason, resource
        Reason of the move, a `Reason`, and the resource concerned.
    undone
        Consequence of undoing this move alone, an `Consequence`.
    undone_broker, undone_resource, undone_outside
        Broker and resource of the consequence; and their distance outside the band, in
        shares, or over the capacity, as a fraction.
    """

    topic: str
    partition: int
    kind: str
    source: int | None
    target: int | None
    source_rack: str
    target_rack: str
    size_bytes: int | None
    reason: str
    resource: str | None
    undone: str
    undone_broker: int | None
    undone_resource: str | None
    undone_outside: float | None

    @property
    def name(self) -> str:
        """Topic and partition."""
        return f"{self.topic}-{self.partition}"


def moves_table(plan: Plan) -> str:
    """Return the moves of a plan, explained, as CSV."""
    if plan.creation is not None:
        return format_moves([])
    moves, explained = explain_planned(plan.placed)
    columns = _columns(plan.state, moves, explained)
    lines = side_by_side(*map(_cell_texts, columns), separator=",")
    return ",".join(COLUMNS) + "\n" + whole(side_by_side(lines, "\n"))


def _cell_texts(column: "_Column") -> Column:
    """Return the text of each value of a column; format each name only once."""
    if isinstance(column, np.ndarray):
        return numerals(column)
    if isinstance(column, _Outside | _Sizes):
        return texts_of(["" if x is None else repr(x) for x in column])
    return picked([*map(_cell_text, column.names)], column.rows)


def _cell_text(value: Any) -> str:  # noqa: ANN401 - text, number or nothing
    """Return a value as the csv module writes it, quoted if necessary."""
    if value is None:
        return ""
    text = str(value)
    if isinstance(value, str) and not _QUOTED.isdisjoint(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def format_moves(rows: Iterable[MoveRow]) -> str:
    """Return moves as CSV."""
    names = [field.name for field in fields(MoveRow)]
    return _csv(tuple(getattr(row, name) for name in names) for row in rows)


def _csv(rows: Iterable[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return text.getvalue()


def move_rows(
    state: ClusterState, moves: Moves, explained: Explained
) -> Iterator[MoveRow]:
    """Yield moves with the names of topics, brokers and racks."""
    columns = [
        column.tolist() if isinstance(column, np.ndarray) else column
        for column in _columns(state, moves, explained)
    ]
    for cells in zip(*columns, strict=True):
        yield MoveRow(*cells)


@dataclass(frozen=True, slots=True, eq=False)
class _Named:
    """A column of few distinct values, as rows of `names`; -1 is the last name."""

    names: Sequence[Any]
    rows: npt.NDArray[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter([self.names[row] for row in self.rows.tolist()])


@dataclass(frozen=True, slots=True, eq=False)
class _Outside:
    """A column of distances; 0 is an empty cell."""

    values: npt.NDArray[np.float64]

    def __iter__(self) -> Iterator[float | None]:
        return iter([x or None for x in rounded_all(self.values).tolist()])


@dataclass(frozen=True, slots=True, eq=False)
class _Sizes:
    """A column of bytes, some of them unknown."""

    values: npt.NDArray[np.int64]
    is_known: npt.NDArray[np.bool_]

    def __iter__(self) -> Iterator[int | None]:
        pairs = zip(self.values.tolist(), self.is_known.tolist(), strict=True)
        return iter([size if is_known else None for size, is_known in pairs])


_Column = _Named | _Outside | _Sizes | npt.NDArray[np.int64]


def _sizes(state: ClusterState, moves: Moves) -> _Column:
    """Return the bytes copied; a copy of unknown size has no number."""
    sizes = state.partitions.size_bytes[moves.partition_idx]
    is_known = ~moves.is_copy | (sizes != UNKNOWN)
    copied = moves.copied_bytes
    return copied if is_known.all() else _Sizes(copied, is_known)


def _columns(
    state: ClusterState, moves: Moves, explained: Explained
) -> tuple[_Column, ...]:
    """Return the fields of `MoveRow` as columns, for up to a hundred thousand moves."""
    brokers = state.brokers
    racks = [*(brokers.racks[rack] or "" for rack in brokers.rack_idx.tolist()), ""]
    # Row -1 means none, which is the last entry of each list.
    ids = [*brokers.ids.tolist(), None]
    resources = [*map(str, RESOURCES), None]
    kinds = np.where(moves.is_copy, 0, np.where(moves.is_drop, 1, 2))
    return (
        _Named(state.topics.names, state.partitions.topic_idx[moves.partition_idx]),
        state.partitions.partition[moves.partition_idx].astype(np.int64),
        _Named((COPY, DROP, LEADER), kinds),
        _Named(ids, moves.source),
        _Named(ids, moves.target),
        _Named(racks, moves.source),
        _Named(racks, moves.target),
        _sizes(state, moves),
        _Named([*map(str, REASONS)], explained.reason),
        _Named(resources, explained.resource),
        _Named([undone.word for undone in Consequence], explained.undone),
        _Named(ids, explained.undone_broker),
        _Named(resources, explained.undone_resource),
        _Outside(explained.undone_outside),
    )


def read_moves(path: Path) -> list[MoveRow]:
    """
    Read moves.csv.

    Raises
    ------
    BadInputError
        If the file cannot be read, has other columns, or rows that are not moves;
        names every such row.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        rule = f"the file cannot be read: {error}"
        raise _refusal(path, [("", "", rule)]) from error
    return parse_moves(text, path)


def parse_moves(text: str, path: Path) -> list[MoveRow]:
    """
    Parse the text of moves.csv.

    Parameters
    ----------
    text
        The text.
    path
        Path of the file, for messages.

    Raises
    ------
    BadInputError
        If it has other columns, or rows that are not moves; names every such row.
    """
    try:
        head, *rows = [*csv.reader(io.StringIO(text, newline=""))] or [[]]
    except csv.Error as error:
        rule = f"the file cannot be read: {error}"
        raise _refusal(path, [("", "", rule)]) from error
    if tuple(head) != COLUMNS:
        rule = f"the columns must be {', '.join(COLUMNS)}"
        raise _refusal(path, [("line 1", ",".join(head), rule)])
    found, problems = [], []
    for number, row in enumerate(rows, start=2):
        try:
            found.append(_read_row(row))
        except ValueError:
            problems.append((f"line {number}", ",".join(row), "must be a move"))
    if problems:
        raise _refusal(path, problems)
    return found


def _read_row(row: list[str]) -> MoveRow:
    topic, number, kind, source, target, source_rack, target_rack, *rest = row
    size, reason, about, undone, broker, resource, outside = rest
    if kind not in {COPY, LEADER, DROP} or reason not in REASONS:
        raise ValueError
    return MoveRow(
        topic=topic,
        partition=int(number),
        kind=kind,
        source=int(source) if source else None,
        target=int(target) if target else None,
        source_rack=source_rack,
        target_rack=target_rack,
        size_bytes=int(size) if size else None,
        reason=reason,
        resource=about or None,
        undone=undone,
        undone_broker=int(broker) if broker else None,
        undone_resource=resource or None,
        undone_outside=float(outside) if outside else None,
    )


def _refusal(path: Path, problems: list[tuple[str, str, str]]) -> BadInputError:
    found = [
        InputProblem(
            file=str(path),
            place=place,
            value=value[:80],
            rule=rule,
            remedy="write the plan anew, or give its reassignment.json with --snapshot",
        )
        for place, value, rule in problems
    ]
    return BadInputError(f"{path} does not explain a plan", found)
