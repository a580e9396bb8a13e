"""Builder of problems: printable texts, and values of a readable length."""

import json
from dataclasses import replace

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


def refusal(
    message: str, file: str, rule: str, remedy: str, *, place: str = "", value: str = ""
) -> BadInputError:
    """
    Return the error of an input with one problem.

    Parameters
    ----------
    message
        One line that says what was refused.
    file, rule, remedy, place, value
        As of `InputProblem`, the value as text.
    """
    found = problem(file, place, None, rule, remedy)
    return BadInputError(message, [replace(found, value=printable(value))])


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
