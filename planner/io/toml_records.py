"""Reader of TOML files, and their problems where they do not fit a model."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.errors import BadInputError, InputProblem
from planner.io.problems import place_text, problem
from planner.text.suggest import near

if TYPE_CHECKING:
    from pydantic import ValidationError

Refusal = Callable[[str, Sequence[InputProblem]], BadInputError]
"""Function that returns the error for a file name and its problems."""


def read_toml(
    path: Path, refusal: Refusal, *, remedy: str = "correct it"
) -> dict[str, Any]:
    """
    Return the document of a file.

    Parameters
    ----------
    path
        The file: TOML in UTF-8, with or without a byte order mark.
    refusal
        Makes the error.
    remedy
        Remedy for a file that is not TOML.

    Raises
    ------
    BadInputError
        From `refusal`, if the file cannot be read or is not TOML.
    """
    file = str(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        # A ValueError is of a name with a null byte.
        rule = f"must be readable: {getattr(error, 'strerror', None) or error}"
        raise refusal(
            file, [problem(file, "", None, rule, "check the path")]
        ) from error
    try:
        return parse_toml(data.decode("utf-8-sig"), file, refusal, remedy)
    except UnicodeDecodeError as error:
        place, more = f"byte {error.start}", "save the file as UTF-8"
        raise refusal(
            file, [problem(file, place, None, "must be UTF-8", more)]
        ) from error


def parse_toml(
    text: str, file: str, refusal: Refusal, remedy: str = "correct it"
) -> dict[str, Any]:
    """
    Return the document of a text; see `read_toml`.

    Raises
    ------
    BadInputError
        From `refusal`, if the text is not TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = problem(file, "", None, f"must be TOML: {error}", remedy)
        raise refusal(file, [found]) from error


def shape_problems(
    error: "ValidationError", file: str, keys: Iterable[str], remedy: str
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
    return [
        shape_problem(dict(each), file, each["loc"], known, remedy)
        for each in error.errors()
    ]


def shape_problem(
    error: Mapping[str, Any],
    file: str,
    at: Sequence[str | int],
    keys: Iterable[str],
    remedy: str,
) -> InputProblem:
    """
    Return the problem of one place that does not fit its model.

    Parameters
    ----------
    error
        An error of pydantic.
    file
        Name of the file in messages.
    at
        The place, for messages.
    keys, remedy
        As for `shape_problems`.
    """
    rule, value = str(error["msg"]), error["input"]
    if error["type"] == "extra_forbidden":
        value = at[-1]
        rule, remedy = "unknown key", near(value, keys)
    elif error["type"] == "missing":
        rule, remedy, value = "the key is required", "add it", None
    elif error["type"] == "value_error":
        rule, remedy = rule.removeprefix("Value error, "), "correct it"
    return problem(file, place_text(at), value, rule, remedy)
