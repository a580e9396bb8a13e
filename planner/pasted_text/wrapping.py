"""
Removal of prefixes that tools put before every line: quotes, names, times, numbers.

A prefix is removed if every data line has it and no line looks like data before the
removal, so that no data line loses a part of its own. Nested prefixes are removed one
after the other, as in ``> 12:`` before a quoted line of ``grep -n``.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

_MAX_LAYERS = 5
_BLANKS = re.compile(r"[ \t]+")
_DATE = r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"


@dataclass(frozen=True, slots=True)
class _Wrapping:
    """
    One kind of prefix.

    Parameters
    ----------
    pattern
        Pattern of the prefix; its group ``number`` must increase from line to line.
    counts_lines
        Whether the number may increase by at most the number of lines.
    """

    pattern: re.Pattern[str]
    counts_lines: bool = False


def _wrapping(pattern: str, *, counts_lines: bool = False) -> _Wrapping:
    return _Wrapping(re.compile(pattern, re.ASCII), counts_lines)


_WRAPPINGS = (
    _wrapping(r">(?: |$)"),
    _wrapping(r">"),
    # docker compose logs; a table in an e-mail.
    _wrapping(r"(?:[\w.-]{1,60}[ \t]{1,20})?\|(?: |$|(?=\S))"),
    # kubectl logs --prefix.
    _wrapping(r"\[(?:pod|container)/[^\]\s]{1,300}\](?: |$)"),
    # stern: pod, container.
    _wrapping(r"[a-z0-9][a-z0-9.]{0,250}-[a-z0-9.-]{1,250} [a-z0-9][a-z0-9-]{0,62}"
              r"(?: |$)"),
    # A file that a diff adds.
    _wrapping(r"\+(?!\+)"),
    # ts, docker logs --timestamps, journalctl.
    _wrapping(rf"\[?{_DATE}[T ]{_TIME}(?: ?(?:Z|UTC|[+-][0-9]{{2}}:?[0-9]{{2}}))?\]?"
              r":?(?: |\t|$)"),
    _wrapping(rf"{_MONTH} [ 0-9][0-9] {_TIME}(?: [\w.-]{{1,250}} "
              r"[\w./-]{1,100}\[[0-9]{1,10}\]:)?(?: |$)"),
    _wrapping(rf"{_TIME}(?: |$)"),
    # grep -n, with its file or without; sed =, cat -n, nl, less -N.
    _wrapping(r"(?:[\w./-]{1,250}[:-])?(?P<number>[0-9]{1,9})[:-]"),
    _wrapping(r"[ \t]*(?P<number>[0-9]{1,9})(?:\t|$)", counts_lines=True),
    _wrapping(r"[ \t]*(?P<number>[0-9]{1,9})(?:  |$)", counts_lines=True),
    _wrapping(r"[ \t]*(?P<number>[0-9]{1,9})(?: |$)", counts_lines=True),
    # grep in several files.
    _wrapping(r"(?:\.{0,2}/)?[\w-]{1,100}[./][\w./-]{1,250}:(?!//)"),
)  # fmt: skip
_ANY = re.compile(
    "|".join(
        f"(?:^{one.pattern.pattern.replace('(?P<number>', '(?:')})"
        for one in _WRAPPINGS
    ),
    re.MULTILINE | re.ASCII,
)


def unwrapped(lines: list[str], is_data: Callable[[str], bool]) -> list[str]:
    """
    Return lines without common prefixes; the same list if there are none.

    Parameters
    ----------
    lines
        The lines.
    is_data
        Function that returns whether a line looks like data.

    Examples
    --------
    >>> unwrapped(["$ grep -n a f", "1:a 1", "3:a 2"], lambda line: line[0] == "a")
    ['$ grep -n a f', 'a 1', 'a 2']
    """
    lines = _dedented(lines)
    return _without_layers(lines, is_data, _MAX_LAYERS) or lines


def without_beginnings(text: str) -> str:
    """Return a text without any known prefix of each line, real prefix or not."""
    return _ANY.sub("", text)


def _without_layers(
    lines: list[str], is_data: Callable[[str], bool], most: int
) -> list[str] | None:
    """Return lines without nested prefixes; `None` if no data line results."""
    # Without this, a text of other things is searched for any order of prefixes.
    if not most or not any(_reaches_data(line, is_data, most) for line in lines):
        return None
    found = [
        one
        for one in (_without(lines, wrapping, is_data) for wrapping in _WRAPPINGS)
        if one is not None
    ]
    # Spaces may belong to the prefix or to the data: the most frequent prefix wins.
    for _, rest in sorted(found, key=lambda one: one[0], reverse=True):
        dedented = _dedented(rest)
        inner = _without_layers(dedented, is_data, most - 1)
        if inner is not None or any(map(is_data, dedented)):
            return dedented if inner is None else inner
    return None


def _reaches_data(line: str, is_data: Callable[[str], bool], most: int) -> bool:
    """
    Return whether a line may look like data without some prefixes of its own.

    Numbers that do not increase, and indentation that is not common to all lines, are
    left aside: if no line reaches data here, then none does.
    """
    seen: set[int] = set()
    starts = {0}
    for _ in range(most + 1):
        starts = {at for start in starts for at in _after_blanks(line, start)} - seen
        if any(is_data(line[at:]) for at in starts):
            return True
        seen |= starts
        found = (one.pattern.match(line, at) for one in _WRAPPINGS for at in starts)
        starts = {match.end() for match in found if match is not None}
    return False


def _after_blanks(line: str, start: int) -> range:
    """Return the places from a start on that have nothing but blanks before them."""
    blanks = _BLANKS.match(line, start)
    return range(start, (blanks.end() if blanks else start) + 1)


def _dedented(lines: list[str]) -> list[str]:
    """Return lines without their common indentation."""
    first = next((line for line in lines if line.strip()), "")
    if not _BLANKS.match(first):
        return lines
    common = _common_indentation(lines, first)
    return [line[len(common) :] for line in lines] if common else lines


def _common_indentation(lines: list[str], first: str) -> str:
    longest = first[: len(first) - len(first.lstrip(" \t"))]
    for line in lines:
        while line.strip() and not line.startswith(longest):
            longest = longest[:-1]
    return longest


def _without(
    lines: list[str], wrapping: _Wrapping, is_data: Callable[[str], bool]
) -> tuple[int, list[str]] | None:
    """Return the number of lines with a prefix and all lines without, if it applies."""
    rest_of = _Remover(wrapping)
    rest: list[str] = []
    num_wrapped = 0
    for at, line in enumerate(lines):
        own = rest_of(at, line)
        if own is None and line and is_data(line):
            return None
        rest.append(line if own is None else own)
        num_wrapped += own is not None
    return (num_wrapped, rest) if num_wrapped else None


class _Remover:
    """Remover of one kind of prefix from lines with increasing numbers."""

    def __init__(self, wrapping: _Wrapping) -> None:
        self._match = wrapping.pattern.match
        self._counts_lines = wrapping.counts_lines
        self._last: tuple[int, int] | None = None

    def __call__(self, at: int, line: str) -> str | None:
        found = self._match(line)
        if found is None or not self._is_next(at, found.groupdict().get("number")):
            return None
        return line[found.end() :]

    def _is_next(self, at: int, text: str | None) -> bool:
        if text is None:
            return True
        number = int(text)
        if self._last is not None:
            last_at, last = self._last
            most = last + at - last_at if self._counts_lines else number
            if not last < number <= most:
                return False
        self._last = at, number
        return True
