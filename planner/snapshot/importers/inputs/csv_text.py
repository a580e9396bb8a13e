"""CSV with a heading: rows by known column names, with their line numbers."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from planner.pasted_text import Form
from planner.pasted_text.noise import shown
from planner.snapshot.formats.foreign_tables import is_row_number
from planner.snapshot.formats.number_text import whole_number
from planner.snapshot.importers.inputs.input_text import NO_LINE_END, Refusal, read_text
from planner.snapshot.tables.snapshot_columns import MAX_INT64

Row = tuple[int, dict[str, str]]
_TEXTS = frozenset(("topic", "rack", "host", "broker_set"))
"""Columns in which any text is a value."""
_NO_VALUE = frozenset(("nan", "<na>", "na", "n/a", "none", "null"))
_FORM = Form(
    data=re.compile(
        r"\s*\"?[A-Za-z0-9._-]*\"?\s*,|\s*\"?(?:[0-9]+|id|broker|broker_id)\"?\s*$"
    ),
    has_words=False,
)


def read_csv(
    data: bytes, columns: Mapping[str, str], required: tuple[str, ...], refusal: Refusal
) -> tuple[list[str], list[Row]]:
    """
    Read a CSV file whose first line names its columns.

    Parameters
    ----------
    data
        The whole file, gzipped or not; commas between cells.
    columns
        Canonical names of columns by every accepted name.
    required
        Columns that must exist.
    refusal
        Collects lines whose number of cells differs from that of the heading.

    Returns
    -------
    The known columns of the file, and for each line its number and its cells. A note
    lists other columns.

    Raises
    ------
    BadInputError
        If the heading is invalid, or the text is no CSV.
    """
    text = read_text(data, refusal, _FORM)
    lines = _lines(text, refusal)
    names = _heading(next(lines, (1, [])), columns, required, refusal)
    rows: list[Row] = []
    for number, cells in lines:
        if len(cells) != len(names):
            rule = (
                f"must have {len(names)} cells, as the heading has; it has {len(cells)}"
            )
            refusal.add(
                f"line {number}",
                rule,
                "complete the line: it was cut, or lacks a comma",
            )
        else:
            known = zip(names, cells, strict=True)
            rows.append((number, {name: _cell(name, one) for name, one in known}))
    if not text.endswith("\n"):
        rule, remedy = NO_LINE_END
        refusal.add(f"line {text.count(chr(10)) + 1}", rule, remedy)
    if not rows:
        refusal.add("", "must have a line below the heading", "add one")
    return [name for name in names if name], rows


def _cell(name: str, text: str) -> str:
    """Return a cell; empty if it stands for no value."""
    is_nothing = name not in _TEXTS and text.lower() in _NO_VALUE
    return "" if is_nothing else text


def _lines(text: str, refusal: Refusal) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error:
        rule = "must be CSV: quotes in pairs, and each cell on one line"
        refusal.stop(f"line {reader.line_num}", rule, "correct the line")


def _heading(
    first: tuple[int, list[str]],
    columns: Mapping[str, str],
    required: tuple[str, ...],
    refusal: Refusal,
) -> list[str]:
    """Return the column of each cell; empty for ignored ones."""
    number, cells = first
    names = [columns.get(cell.lower(), "") for cell in cells]
    place = f"line {number}"
    if not any(names):
        known = ", ".join(dict.fromkeys(columns.values()))
        rule = f"the heading must be names of columns, separated by commas: {known}"
        refusal.stop(place, rule, refusal.other_output() or f"give {refusal.kind}")
    missing = [name for name in columns if columns[name] not in names]
    for at, (cell, name) in enumerate(zip(cells, names, strict=True)):
        if not name:
            skip_column(cell, f"{place}, column {at + 1}", missing, refusal)
        elif names.index(name) != at:
            refusal.add(place, f"column {name} must occur once", "remove one")
    for name in required:
        if name not in names:
            refusal.add(place, f"column {name} is missing", "add it")
    refusal.raise_problems()
    return names


def skip_column(cell: str, place: str, missing: list[str], refusal: Refusal) -> None:
    """
    Note an unknown column; reject a misspelt known one.

    Parameters
    ----------
    cell
        Heading of the column.
    place
        Place of the heading.
    missing
        Names that no column has.
    refusal
        Problems of the file.
    """
    close = get_close_matches(cell.lower(), missing, n=1)
    if is_row_number(cell):
        return
    if close:
        refusal.add(place, "unknown column", f"did you mean {close[0]}?")
    else:
        refusal.note_unused([f"column {shown(cell)}"])


def as_integer(text: str) -> int | None:
    """
    Parse an integer of 0 or more, also with a zero fraction as in floats.

    Examples
    --------
    >>> as_integer("12"), as_integer("1.2e1"), as_integer("12.5"), as_integer("-1")
    (12, 12, None, None)
    """
    number = whole_number(text)
    return number if number is not None and 0 <= number <= MAX_INT64 else None
