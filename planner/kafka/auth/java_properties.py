"""Parser of Java properties files: comments, continuations, escapes, separators."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from planner.errors import BadInputError, InputProblem, raise_problems

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_BAD_UNICODE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})")
# A key ends at the first separator that no backslash escapes.
_KEY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Property:
    """
    One entry of a properties file.

    Parameters
    ----------
    line
        Number of the line on which the entry starts, from 1.
    value
        Value; never shown, since it may be a password.
    """

    line: int
    value: str = field(repr=False)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number, line) with continuations joined, without comments and blanks."""
    start, joined = 0, ""
    for number, natural in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = natural.lstrip(_BLANKS)
        if not start:
            if not line or line[0] in "#!":
                continue
            start = number
        num_backslashes = len(line) - len(line.rstrip("\\"))
        if num_backslashes % 2:
            joined += line[:-1]
            continue
        yield start, joined + line
        start, joined = 0, ""
    if start:
        yield start, joined


def _unescape(text: str) -> str:
    def resolve(match: re.Match[str]) -> str:
        escaped = match[1]
        if len(escaped) > 1:
            return chr(int(escaped[1:], 16))
        return _ESCAPES.get(escaped, escaped)

    return _ESCAPE.sub(resolve, text)


def parse_properties(text: str, file: str) -> dict[str, Property]:
    r"""
    Parse properties as `java.util.Properties` does.

    Parameters
    ----------
    text
        Content of the whole file.
    file
        Name of the file in messages.

    Returns
    -------
    dict
        Entries by key; of a duplicate key the last entry counts.

    Raises
    ------
    BadInputError
        With each ``\u`` that is not followed by four hexadecimal digits.

    Examples
    --------
    >>> found = parse_properties("# note\nclient.id : a\\\n  b\n", "c.properties")
    >>> [(key, entry.line, entry.value) for key, entry in found.items()]
    [('client.id', 2, 'ab')]
    """
    found: dict[str, Property] = {}
    problems = []
    for number, line in _logical_lines(text):
        if _BAD_UNICODE.search(line):
            problems.append(_bad_escape(file, number))
            continue
        match = _KEY.fullmatch(line)
        if match is None:  # a lone backslash at the end of the file
            continue
        found[_unescape(match[1])] = Property(number, _unescape(match[2]))
    raise_problems(f"{file} is not a properties file", problems)
    return found


def _bad_escape(file: str, line: int) -> InputProblem:
    return InputProblem(
        file=file,
        place=f"line {line}",
        value="",
        rule="\\u must be followed by four hexadecimal digits",
        remedy="write a backslash that is meant as such twice",
    )


def read_properties(path: Path) -> Mapping[str, Property]:
    """
    Read a properties file in ISO 8859-1, as Java does.

    Raises
    ------
    BadInputError
        If the file cannot be read or an escape is malformed.
    """
    try:
        text = path.read_bytes().decode("iso-8859-1")
    except OSError as error:
        problem = InputProblem(
            file=str(path),
            place="",
            value=error.strerror or type(error).__name__,
            rule="must be a readable properties file of a Java client",
            remedy="check the path and its rights",
        )
        msg = f"{path} cannot be read"
        raise BadInputError(msg, [problem]) from error
    return parse_properties(text, str(path))
