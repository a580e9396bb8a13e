"""Problems of inputs, with printable texts whatever the input contains."""

import json
from collections.abc import Iterable
from pathlib import Path

from planner.errors import BadInputError, InputProblem

_MAX_VALUE = 100
"""Largest number of characters of a value that a message repeats."""


def problem(
    file: str, place: str, value: object, rule: str, remedy: str = ""
) -> InputProblem:
    """Return a problem with printable texts, whatever the input contains."""
    return InputProblem(
        file=printable(file),
        place=printable(place),
        value=value_text(value),
        rule=printable(rule),
        remedy=printable(remedy),
    )


def printable(text: str) -> str:
    """Escape characters that terminals or UTF-8 reject: lone surrogates, controls."""
    encoded = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in encoded)


def value_text(value: object) -> str:
    """Return a value as JSON of a readable length; empty for no value."""
    if value is None or value == "":
        return ""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    text = printable(text)
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"


def place_text(place: Iterable[str | int]) -> str:
    """Return a place as ``members[3].owned.orders[0]``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its type if it has no text."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def refuse_output(path: Path, rule: str, remedy: str) -> BadInputError:
    """Return the error that refuses to write to a place."""
    found = InputProblem(file=str(path), place="", value="", rule=rule, remedy=remedy)
    return BadInputError(f"will not write {path}", [found])
