"""
Bytes of foreign files as text and lines, and the problems of a file.

A file given by mistake may hold anything, including a password. Messages therefore name
places and rules, and repeat a value only if it consists of digits.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from planner.errors import BadInputError, InputProblem
from planner.pasted_text import (
    EncodingProblemError,
    Form,
    Noise,
    Pasted,
    clean,
    decode_bytes,
    passed_note,
    recognise,
)
from planner.snapshot.formats.number_text import finite_number
from planner.text.units import parse_rate

NO_LINE_END = (
    "the last line has no line break at its end, so the file may be cut",
    "take the output again; if it is complete, end it with a line break",
)
"""Rule and remedy for a last line that may be truncated."""
_MAX_QUANTITY = 60
_MAX_SHOWN = 5
_MAX_UNUSED = 12
_HARMLESS = re.compile(
    r"[-+]?[0-9.](?:[0-9., -]|[eE][-+]?[0-9]){0,400}(?:[kKMGTPE]?i?[Bb]?(?:/s)?)"
    r"|[-+]?(?:nan|inf|infinity)",
    re.ASCII | re.IGNORECASE,
)


class Refusal:
    """
    Collector of the problems of one file.

    Parameters
    ----------
    file
        Name of the file.
    kind
        Expected kind of the file.
    name
        Name of the importer: no remedy proposes its own output.
    allow_partial
        Whether invalid entries are left out, and the others read.
    """

    def __init__(
        self, file: str, kind: str, name: str = "", *, allow_partial: bool = False
    ) -> None:
        self.file = file
        self.kind = kind
        self.name = name
        self.allow_partial = allow_partial
        self.problems: list[InputProblem] = []
        self.original = ""
        self._num_skipped = 0
        self._first_skipped: tuple[int, Noise] | None = None
        self._rejected: dict[str, str] = {}
        self._unknown_columns: dict[str, None] = {}
        self._unused: dict[str, None] = {}

    def add(self, place: str, rule: str, remedy: str, value: object = "") -> None:
        """Record a problem; its value is shown if it is harmless."""
        shown = harmless(value)
        self.problems.append(
            InputProblem(
                file=self.file, place=place, value=shown, rule=rule, remedy=remedy
            )
        )

    def add_cell(self, place: str, rule: str, remedy: str, value: object) -> None:
        """Record an invalid cell, always with a description of its value."""
        self.add(place, rule, remedy)
        self.problems[-1] = replace(self.problems[-1], value=shown_cell(value))

    def reject(self, place: str, rule: str, remedy: str, value: object = "") -> None:
        """Leave out one cell if that is allowed, else reject the file."""
        self._rejected.setdefault(place, rule)
        if not self.allow_partial:
            self.add_cell(place, rule, remedy, value)

    @property
    def has_rejected(self) -> bool:
        """Whether an entry was left out, or caused the file to be rejected."""
        return bool(self._rejected)

    def skip_lines(self, lines: Sequence[tuple[int, Noise]]) -> None:
        """Count lines that are no data; keep the first with its number."""
        self._num_skipped += len(lines)
        if lines and self._first_skipped is None:
            self._first_skipped = lines[0]

    def skip_columns(self, headings: str) -> int:
        """Count columns that Kafka does not print, by their headings."""
        names = headings.split()
        self._unknown_columns |= dict.fromkeys(names)
        return len(names)

    def note_unused(self, names: Iterable[str]) -> None:
        """Record names in the file that the importer does not use."""
        self._unused |= dict.fromkeys(names)

    def notes(self) -> tuple[str, ...]:
        """Return the notes: ignored lines, unused names, entries left out."""
        passed = passed_note(self.file, self._num_skipped, self._first_skipped)
        if self._unused:
            shown, rest = [*self._unused][:_MAX_UNUSED], len(self._unused) - _MAX_UNUSED
            more = f" and {rest} more" if rest > 0 else ""
            passed = (*passed, f"{self.file}: not used: {', '.join(shown)}{more}")
        if self._unknown_columns:
            names = ", ".join(sorted(self._unknown_columns)[:_MAX_SHOWN])
            unknown = f"skipped fields that Kafka does not print: {names}"
            passed = (*passed, f"{self.file}: {unknown}")
        if not self._rejected:
            return passed
        some = [f"{at}: {rule}" for at, rule in self._rejected.items()][:_MAX_SHOWN]
        count = _count(len(self._rejected), "entry", "entries")
        return (*passed, f"{self.file}: {count} left out ({'; '.join(some)})")

    def other_output(self) -> str:
        """Return a remedy that names the likely kind of the file; empty if unknown."""
        found = recognise(self.original, but=self.name)
        return f"this looks like {found.words}" if found else ""

    def raise_problems(self) -> None:
        """
        Reject the file if it has problems.

        Raises
        ------
        BadInputError
            With every problem.
        """
        if self.problems:
            raise self._error()

    def stop(self, place: str, rule: str, remedy: str) -> NoReturn:
        """
        Reject the file at once.

        Raises
        ------
        BadInputError
            Always.
        """
        self.add(place, rule, remedy)
        raise self._error()

    def _error(self) -> BadInputError:
        message = f"{self.file} is not {self.kind}"
        if self._rejected and len(self._rejected) == len(self.problems):
            is_one = len(self._rejected) == 1
            message = (
                f"{self.file}: {_count(len(self._rejected), 'entry is', 'entries are')}"
                f" wrong; --allow-partial leaves {'it' if is_one else 'them'} out"
            )
        return BadInputError(message, self.problems)


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def refuse_duplicates(keys: Iterable[tuple[Any, str]], refusal: Refusal) -> None:
    """Record each duplicate key, with both places."""
    places: dict[Any, str] = {}
    for key, place in keys:
        first = places.setdefault(key, place)
        if first != place:
            rule = f"must occur once; {key} is also at {first}"
            refusal.add(place, rule, "remove one of the two")


def harmless(value: object) -> str:
    """Return a number, or a list of numbers, as text; empty for other values."""
    if isinstance(value, int | float):
        value = str(value)
    elif isinstance(value, list | tuple) and all(type(v) is int for v in value):
        value = ", ".join(map(str, value[:20]))
    elif not isinstance(value, str):
        return ""
    return value if _HARMLESS.fullmatch(value) else ""


def shown_cell(value: object) -> str:
    """Return a cell as text for a message; a possible secret by its length."""
    text = value if isinstance(value, str) else str(value)
    return harmless(text) or f"text of {len(text)} characters"


def decode(data: bytes, refusal: Refusal) -> str:
    """
    Return the text of a file in UTF-8 or UTF-16, gzipped or not.

    Raises
    ------
    BadInputError
        If the file is empty, in another encoding or truncated in its packed form.
    """
    try:
        text = decode_bytes(data)
    except EncodingProblemError as error:
        refusal.stop(error.place, error.rule, error.remedy)
    if not text.strip():
        refusal.stop("", "the file is empty", f"give {refusal.kind}")
    refusal.original = text
    return text


def read_pasted(data: bytes, refusal: Refusal, form: Form) -> Pasted:
    """
    Return the text of a file, with other lines than data made blank.

    Parameters
    ----------
    data
        The whole file.
    refusal
        Counts the ignored lines.
    form
        Shapes of the lines that are data.

    Raises
    ------
    BadInputError
        If the file cannot be decoded.
    """
    pasted = clean(decode(data, refusal), form)
    refusal.skip_lines(pasted.passed)
    return pasted


def refuse_failures(lines: Iterable[int], refusal: Refusal) -> None:
    """Record the lines in which a tool reports a failure."""
    for number in lines:
        rule = "this is an error message of a tool, so the output may be incomplete"
        refusal.add(
            f"line {number}", rule, "run the tool again until it prints no error"
        )


def read_text(data: bytes, refusal: Refusal, form: Form) -> str:
    """
    Return the text of a file, with other lines than data made blank.

    Parameters
    ----------
    data
        The whole file.
    refusal
        Counts the ignored lines; collects every line in which a tool reports a failure.
    form
        Shapes of the lines that are data.

    Raises
    ------
    BadInputError
        If the file cannot be decoded, or has no line that may be data.
    """
    pasted = read_pasted(data, refusal, form)
    refuse_failures(pasted.failures, refusal)
    if not pasted.text.strip():
        refusal.raise_problems()
        rule = f"the file has only {len(pasted.passed)} lines, none of them data"
        remedy = refusal.other_output() or f"give {refusal.kind}"
        refusal.stop("", rule, remedy)
    return pasted.text


def without_last(line: str, count: int) -> str:
    """Return a line without its last `count` words."""
    return line.rsplit(None, count)[0] if count else line


def numbered_lines(text: str, refusal: Refusal) -> Iterator[tuple[int, str]]:
    """
    Yield the lines that are not blank with their numbers, without line ends.

    A last line without a line end is a problem, since it may be truncated.
    """
    lines = text.split("\n")
    last = lines.pop()
    for number, line in enumerate(lines, 1):
        stripped = line.rstrip(" \r\t")
        if stripped:
            yield number, stripped
    if last.strip():
        yield len(lines) + 1, last.rstrip(" \r\t")
    if last:
        refusal.add(f"line {len(lines) + 1}", *NO_LINE_END)


def parse_quantity(text: str) -> float | None:
    """
    Parse bytes or bytes/s, with or without a unit: ``500GB``, ``50MB/s``, ``1e12``.

    Returns
    -------
    `None` if the text is none; a bare number is bytes.

    Examples
    --------
    >>> parse_quantity("1.5KiB"), parse_quantity("50MB/s"), parse_quantity("much")
    (1536.0, 50000000.0, None)
    """
    # Rates need not be whole, so a bare number is not rounded.
    number = finite_number(text)
    if number is not None:
        return number if number >= 0 else None
    try:
        return float(parse_rate(text)) if len(text) <= _MAX_QUANTITY else None
    except ValueError:
        return None
