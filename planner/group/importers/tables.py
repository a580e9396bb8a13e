"""
The tables that Kafka's group tools print.

Each is a line of headings and lines below them, cells beginning where their headings
do. Ids may hold spaces, so the headings' places tell the cells apart; where a number
was wider than its column, cells are told apart by spaces if that leaves one per
heading.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.errors import InputProblem
from planner.snapshot.problems import problem

_HEADING = re.compile(r"\S+(?: \(ID\))?")
_ERROR = re.compile(r"^\s*(?:Error: |Exception in thread )")
_WORDS = re.compile(
    r"(?:Warning: )?Consumer group '.*' (?:has no active members|is rebalancing)\."
)
NONE = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """
    One line of a table.

    Parameters
    ----------
    file, line
        Where it stands; lines count from 1.
    cells
        By heading, without spaces around.
    """

    file: str
    line: int
    cells: dict[str, str]

    def get(self, heading: str) -> str | None:
        """Return a cell; `None` where there is none, or a dash."""
        text = self.cells.get(heading, "")
        return None if text in {"", NONE} else text

    def problem(self, heading: str, rule: str) -> InputProblem:
        """Return a problem of one cell."""
        place = f"line {self.line}, column {heading}"
        remedy = "take what the tool printed, unchanged"
        return problem(self.file, place, self.cells.get(heading), rule, remedy)


@dataclass(frozen=True, slots=True)
class Table:
    """Headings, and the rows below them."""

    headings: tuple[str, ...]
    rows: tuple[Row, ...]


def read_tables(file: str, text: str, problems: list[InputProblem]) -> Iterator[Table]:
    """
    Yield the tables of a text; what cannot be read is added to `problems`.

    Parameters
    ----------
    file
        What problems name as their file.
    text
        What a tool printed, with or without its words on stderr.
    problems
        Gets every line that is neither a table nor words known to come with one.
    """
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("GROUP ")]
    for at, line in enumerate(lines):
        if _ERROR.match(line):
            rule = f"the tool failed: {line.strip()}"
            problems.append(problem(file, f"line {at + 1}", None, rule, "run it again"))
    for start in starts:
        stop = start + 1
        while stop < len(lines) and lines[stop].strip() and stop not in starts:
            stop += 1
        yield _table(file, start, lines[start:stop], problems)


def is_only_words(text: str) -> bool:
    """Tell whether a text is only what the tool says besides its tables."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(_WORDS.fullmatch(line.strip()) for line in lines)


def _table(
    file: str, start: int, lines: Sequence[str], problems: list[InputProblem]
) -> Table:
    found = [(m.start(), m.group()) for m in _HEADING.finditer(lines[0])]
    headings = tuple(heading for _, heading in found)
    rows = []
    for at, line in enumerate(lines[1:], start + 2):
        cells = _cells(line, [place for place, _ in found])
        if cells is None:
            rule = f"must have one cell under each of {len(headings)} headings"
            problems.append(problem(file, f"line {at}", line, rule, "mend the line"))
        else:
            rows.append(Row(file, at, dict(zip(headings, cells, strict=True))))
    return Table(headings, tuple(rows))


def _cells(line: str, starts: Sequence[int]) -> list[str] | None:
    if all(at == 0 or line[at - 1 : at] in {"", " "} for at in starts):
        stops = [*starts[1:], len(line)]
        return [line[a:b].strip() for a, b in zip(starts, stops, strict=True)]
    words = line.split()
    return words if len(words) == len(starts) else None
