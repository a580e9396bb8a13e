"""
Tables of Kafka's group tools, found in pasted text.

A table is a line of headings and the rows below it. Any other line is either noise,
which is counted, or possible data, which is refused. Before Kafka 2.1 tables had no
column GROUP: the command line above them, or a note of the tool, names the group.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from planner.errors import InputProblem
from planner.group.files.columns import NONE, Columns, columns_of
from planner.io.problems import problem
from planner.pasted_text import Form, Noise, clean, passed_note
from planner.pasted_text.noise import WORDS, shown

_WORDS = re.compile(
    r"(?:Warning: )?Consumer group '.*' (?:has no active members|is rebalancing)\."
)
_NO_DATA = re.compile(r"(?!)")
_FORM = Form(
    # A line is data only below headings, so this form recognises none by itself.
    data=_NO_DATA,
    marks=re.compile(
        r"\b(?:PARTITION|CONSUMER-ID|CURRENT-OFFSET|ASSIGNMENT-STRATEGY)\b|#MEMBERS\b"
        r"|\bGROUP,?\s+(?:TOPIC|TYPE|STATE|PROTOCOL|COORDINATOR|CONSUMER-ID)\b"
        r"|\bGroup\s+Topic\s+Pid\b"
    ),
)
_COMMAND_GROUP = re.compile(
    r"--group[ =]+(?P<quote>[\"']?)(?P<name>.+?)(?P=quote)(?= |$)"
)
_NOTED_GROUP = re.compile(
    r"Consumer group [`'\"](?P<name>.{1,250}?)[`'\"] (?:has no active|is rebalancing)"
)


_REMEDIES = (
    (
        re.compile(r"GroupIdNotFound|Consumer group .* does not exist"),
        "kafka-consumer-groups --list prints the groups that exist",
    ),
    (
        re.compile(r"AuthorizationException|[Nn]ot authorized"),
        "Describe on the group and on its topics is needed",
    ),
    (
        re.compile(r"TimeoutException|Timed out"),
        "correct --bootstrap-server, or raise --timeout of the tool; then run it again",
    ),
)
"""Remedies of failures that the tool reports again whenever it runs."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    One line of a table.

    Parameters
    ----------
    file, line
        File and number of the line, from 1.
    cells
        Cells by heading, without surrounding spaces.
    """

    file: str
    line: int
    cells: dict[str, str]

    def get(self, heading: str) -> str | None:
        """Return a cell; `None` where it is missing, empty or a dash."""
        text = self.cells.get(heading, "")
        return None if text in {"", NONE} else text

    def problem(self, heading: str, rule: str) -> InputProblem:
        """Return the problem of one cell that breaks a rule."""
        place = f"line {self.line}, column {heading}"
        remedy = "copy the output of the tool unchanged"
        return problem(self.file, place, self.cells.get(heading), rule, remedy)


@dataclass(slots=True)
class Table:
    """
    One table: its headings and the rows below them.

    Parameters
    ----------
    columns
        The headings.
    file, line
        File and line of the headings.
    group
        Group that the text around the table names; `None` where it names no group.
    rows
        The rows.
    """

    columns: Columns
    file: str
    line: int
    group: str | None
    rows: list[Row]

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings as newer releases print them."""
        return self.columns.names

    @property
    def names_groups(self) -> bool:
        """Whether the table has the column GROUP."""
        return "GROUP" in self.headings

    @property
    def is_cut(self) -> bool:
        """Whether the lines are cut on the right, in a heading or in member ids."""
        cells = [row.cells for row in self.rows]
        return self.columns.is_cut or self.columns.has_cut_ids(cells)

    def group_of(self, row: Row) -> str | None:
        """Return the group of a row; `None` where the text does not name it."""
        return row.cells["GROUP"] if self.names_groups else self.group


@dataclass(frozen=True, slots=True)
class Tables:
    """
    Tables of one text.

    Parameters
    ----------
    tables
        Tables in the order of the text.
    notes
        Notes on skipped lines and on tables of old releases.
    """

    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def read_tables(file: str, text: str, problems: list[InputProblem]) -> Tables:
    """
    Read the tables of a text; add the lines that cannot be read to `problems`.

    Parameters
    ----------
    file
        Name of the file in problems.
    text
        Output of a tool, with or without its stderr.
    problems
        Receives every line on which a tool reports a failure and, where the text has
        tables, every line outside them that may be data.
    """
    reader = _Reader(file, text)
    tables = tuple(reader.read())
    problems += reader.failures
    if tables:
        problems += reader.problems
    problems += [_cut(table) for table in tables if table.is_cut]
    return Tables(tables, tuple(reader.notes(tables)))


def _cut(table: Table) -> InputProblem:
    rule = "the lines are cut behind this heading"
    remedy = "redirect the output of the tool to a file, which keeps whole lines"
    place = f"line {table.line}"
    return problem(table.file, place, table.headings[-1], rule, remedy)


def is_only_words(text: str) -> bool:
    """Return whether a text has only the tool's messages and no table."""
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all(_WORDS.fullmatch(line.strip()) for line in lines)


def _cells(table: Table, line: str, *, is_noise: bool) -> dict[str, str] | None:
    """
    Return the cells of a line; `None` if the line does not fit the table.

    A line that looks like noise must be aligned exactly, or begin like another row.
    """
    cells = table.columns.cells(line)
    if cells is None or not is_noise:
        return cells
    name = table.headings[0]
    if any(row.cells[name] == cells[name] for row in table.rows):
        return cells
    return table.columns.cells(line, aligned=True)


def _failure_remedy(line: str) -> str:
    """Return what to do about the failure that a line reports."""
    for pattern, remedy in _REMEDIES:
        if pattern.search(line):
            return remedy
    return "run it again"


class _Reader:
    """Reader of headings, rows and other lines, one line at a time."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        cleaned = clean(text, _FORM)
        self.lines = cleaned.body.split("\n")
        self.problems: list[InputProblem] = []
        self.failures: list[InputProblem] = []
        self._noise = dict(cleaned.passed)
        self._failed = frozenset(cleaned.failures)
        self._commands = dict(cleaned.commands)
        self._passed: list[tuple[int, Noise]] = []
        self._group: str | None = None

    def read(self) -> Iterator[Table]:
        table: Table | None = None
        is_inside = False
        for number, text in enumerate(self.lines, 1):
            line = text.rstrip()
            if not line:
                is_inside = False
                continue
            columns = columns_of(line)
            if columns is not None:
                table = Table(columns, self.file, number, self._group, [])
                is_inside = True
                yield table
            else:
                self._read_line(number, line, table, is_inside=is_inside)

    def _read_line(
        self, number: int, line: str, table: Table | None, *, is_inside: bool
    ) -> None:
        """Read a line that is no heading: a row, noise, a failure or a problem."""
        noise = self._noise.get(number)
        cells = (
            None if table is None else _cells(table, line, is_noise=noise is not None)
        )
        invalid_cell = (
            None if table is None or not cells else table.columns.invalid_cell(cells)
        )
        has_numbers = table is not None and table.columns.has_numbers
        is_sure = has_numbers or (is_inside and noise is None)
        if table is not None and cells and invalid_cell is None and is_sure:
            table.rows.append(Row(self.file, number, cells))
        elif number in self._failed:
            rule = f"the tool failed: {line.strip()}"
            place, remedy = f"line {number}", _failure_remedy(line)
            self.failures.append(problem(self.file, place, None, rule, remedy))
        elif noise is not None and not (is_inside and noise.kind == WORDS):
            self._pass_over(number, line, noise)
        elif invalid_cell is not None and cells:
            row = Row(self.file, number, cells)
            self.problems.append(row.problem(*invalid_cell))
        else:
            self._refuse(number, line, table if is_inside else None)

    def _pass_over(self, number: int, line: str, noise: Noise) -> None:
        self._passed.append((number, noise))
        command = self._commands.get(number, "")
        found = _NOTED_GROUP.search(line)
        groups = [one["name"] for one in _COMMAND_GROUP.finditer(command)]
        if found is not None:
            groups = [found["name"]]
        if command or groups:
            self._group = groups[0] if len(groups) == 1 else None

    def _refuse(self, number: int, line: str, table: Table | None) -> None:
        if table is not None:
            rule = f"must have one cell under each of {len(table.headings)} headings"
        else:
            rule = "the line is no part of a table"
        place = f"line {number}"
        remedy = "correct the line, or remove it"
        self.problems.append(problem(self.file, place, line, rule, remedy))

    def notes(self, tables: tuple[Table, ...]) -> Iterator[str]:
        first = self._passed[0] if self._passed else None
        yield from passed_note(self.file, len(self._passed), first)
        unused = dict.fromkeys(name for one in tables for name in one.columns.unused)
        if unused:
            names = ", ".join(f"column {shown(name)}" for name in unused)
            yield f"{self.file}: not used: {names}"
        if any(table.columns.is_old for table in tables):
            yield (
                f"{self.file}: a table of Kafka 0.10 or older, with owners instead of "
                "members: consumers of one client id and host count as one member"
            )
