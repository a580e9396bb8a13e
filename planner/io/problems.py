"""Builder of problems: printable texts, and values of a readable length."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from planner.errors import BadInputError, InputProblem
from planner.text.printable import printable

MOST_SHOWN = 100
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


def refuse_all(summary: str, problems: Sequence[InputProblem]) -> BadInputError:
    """Return the error of an input; its summary ends in the number of problems."""
    plural = "" if len(problems) == 1 else "s"
    return BadInputError(f"{summary}: {len(problems)} problem{plural}", problems)


def refusal(
    message: str, file: str, rule: str, remedy: str, *, place: str = "", value: str = ""
) -> BadInputError:
    """
    Return the error of an input with one problem.

    Parameters
    ----------
    message
        Summary of the refusal, one line.
    file, rule, remedy, place, value
        As of `InputProblem`, the value as text.
    """
    found = problem(file, place, None, rule, remedy)
    return BadInputError(message, [replace(found, value=printable(value))])


def refuse_output(path: Path, rule: str, remedy: str) -> BadInputError:
    """Return the error that refuses to write to a place."""
    return refusal(f"will not write {path}", str(path), rule, remedy)


def value_text(value: object) -> str:
    """Return a value as JSON of a readable length; empty for no value."""
    if value is None or value == "":
        return ""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    text = printable(text)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def place_text(place: Iterable[str | int]) -> str:
    """Return a place as ``members[3].owned.orders[0]``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its type if it has no text."""
    return (str(error).splitlines() or [type(error).__name__])[0]
