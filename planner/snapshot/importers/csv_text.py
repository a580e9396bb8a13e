"""CSV with a heading: rows by the names of known columns, with their lines."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from planner.pasted_text import Form
from planner.snapshot.importers.text import Refusal, read_text

Row = tuple[int, dict[str, str]]
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
        Every name a column may have, and the one it stands for.
    required
        Those that must be there.
    refusal
        Gets every line that has not as many cells as the heading.

    Returns
    -------
    The columns that are there, and for each line its number and its cells.

    Raises
    ------
    BadInputError
        If the heading is not one, or the text no CSV.
    """
    text = read_text(data, refusal, _FORM)
    lines = _lines(text, refusal)
    names = _heading(next(lines, (1, [])), columns, required, text, refusal)
    rows: list[Row] = []
    for number, cells in lines:
        if len(cells) != len(names):
            rule = f"must have {len(names)} cells, as the heading; it has {len(cells)}"
            refusal.add(f"line {number}", rule, "the line was cut, or lacks a comma")
        else:
            rows.append((number, dict(zip(names, cells, strict=True))))
    if not text.endswith("\n"):
        rule = "the last line has no end, so the file may be cut"
        remedy = "take it anew; if it is whole, end it with a line break"
        refusal.add(f"line {text.count(chr(10)) + 1}", rule, remedy)
    if not rows:
        refusal.add("", "there must be a line below the heading", "add one")
    return names, rows


def _lines(text: str, refusal: Refusal) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error:
        rule = "must be CSV: quotes must pair, cells stay on their line"
        refusal.stop(f"line {reader.line_num}", rule, "mend the line")


def _heading(
    first: tuple[int, list[str]],
    columns: Mapping[str, str],
    required: tuple[str, ...],
    text: str,
    refusal: Refusal,
) -> list[str]:
    number, cells = first
    names = [columns.get(cell.lower(), "") for cell in cells]
    place = f"line {number}"
    if not any(names):
        known = ", ".join(dict.fromkeys(columns.values()))
        rule = f"the heading must name columns, with commas between: {known}"
        refusal.stop(place, rule, refusal.other_output() or f"give {refusal.kind}")
    for at, (cell, name) in enumerate(zip(cells, names, strict=True)):
        if not name:
            close = get_close_matches(cell.lower(), columns, n=1)
            hint = f"did you mean {close[0]}?" if close else "remove it"
            refusal.add(f"{place}, column {at + 1}", "unknown column", hint)
        elif names.index(name) != at:
            refusal.add(place, f"column {name} must stand once", "remove one")
    for name in required:
        if name not in names:
            refusal.add(place, f"column {name} is missing", "add it")
    refusal.raise_problems()
    return names
