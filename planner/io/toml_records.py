"""Reader of TOML files with a pydantic model, which lists every problem."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.errors import BadInputError, InputProblem
from planner.io.problems import place_text, problem
from planner.text.suggest import near

Refusal = Callable[[str, Sequence[InputProblem]], BadInputError]
"""Function that returns the error for a file name and its problems."""


def read_toml(path: Path, refusal: Refusal) -> dict[str, Any]:
    """
    Return the document of a file.

    Raises
    ------
    BadInputError
        From `refusal`, if the file cannot be read or is not TOML.
    """
    file = str(path)
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        rule = f"must be readable TOML: {reason}"
        raise refusal(file, [problem(file, "", None, rule, "correct it")]) from error


def shape_problems(
    error: ValidationError, file: str, keys: Iterable[str], remedy: str
) -> list[InputProblem]:
    """
    Return the problems of a document that does not fit its model.

    Parameters
    ----------
    error
        Validation error of pydantic.
    file
        Name of the file in messages.
    keys
        Known keys, for the remedy of an unknown key.
    remedy
        Remedy for wrong values.
    """
    known = sorted(keys)
    return [_problem(dict(each), file, known, remedy) for each in error.errors()]


def _problem(
    error: Mapping[str, Any], file: str, keys: Sequence[str], remedy: str
) -> InputProblem:
    place = place_text(error["loc"])
    rule, value = str(error["msg"]), error["input"]
    if error["type"] == "extra_forbidden":
        value = error["loc"][-1]
        rule, remedy = "unknown key", near(value, keys)
    elif error["type"] == "missing":
        rule, remedy, value = "the key is required", "add it", None
    elif error["type"] == "value_error":
        rule, remedy = rule.removeprefix("Value error, "), "correct it"
    return problem(file, place, value, rule, remedy)
