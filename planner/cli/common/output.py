"""Data goes to stdout, words to stderr; in json mode stdout is one document."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

import typer

from planner.errors import InputProblem
from planner.io.json_text import json_text
from planner.process import discard

MAX_PROBLEMS_SHOWN = 100
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def print_json(document: Any) -> None:  # noqa: ANN401 - any JSON value
    """Write one JSON document to stdout, keys in the order given."""
    typer.echo(json_text(document, indent=2))


def has_colours(stream: TextIO) -> bool:
    """Return whether text on a stream may be coloured: a terminal, and no NO_COLOR."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not is_plain and stream.isatty()


def print_words(text: str) -> None:
    """
    Write a message to stderr; its kind (error, warning, note) is coloured.

    Where stderr cannot be written, the command goes on without messages.
    """
    kind, colon, rest = text.partition(":")
    if colon and kind in _COLOURS and has_colours(sys.stderr):
        text = typer.style(f"{kind}:", fg=_COLOURS[kind], bold=True) + rest
    try:
        typer.echo(text, err=True)
    except OSError:
        discard(sys.stderr)


def print_note(text: str) -> None:
    """Write a note to stderr."""
    print_words(f"note: {text}")


def notes_unless(quiet: bool) -> Callable[[str], None]:
    """Return a function that prints notes, or drops them with ``--quiet``."""
    return (lambda _: None) if quiet else print_note


def print_failure(
    message: str, problems: Sequence[InputProblem], *, as_json: bool
) -> None:
    """
    Print why a command was refused.

    Parameters
    ----------
    message
        Summary of the failure, one line.
    problems
        Every problem found; the first hundred are shown, and the number of the others.
    as_json
        Whether stdout gets the document `error` (docs/formats.md, "Documents") instead
        of words on stderr.
    """
    shown = problems[:MAX_PROBLEMS_SHOWN]
    document = {
        "error": message,
        "problems": [problem.to_dict() for problem in shown],
        "num_problems": len(problems),
    }
    if as_json and _is_printed(document):
        return
    print_words(f"error: {message}")
    for problem in shown:
        print_words(f"  - {problem}")
    if len(problems) > len(shown):
        print_words(f"  … and {len(problems) - len(shown)} more")


def _is_printed(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Write a document to stdout; return whether stdout could be written."""
    try:
        print_json(document)
    except BrokenPipeError:
        raise
    except OSError:
        discard(sys.stdout)
        return False
    return True


def is_json_wanted(arguments: Sequence[str], environment: dict[str, str]) -> bool:
    """
    Return whether the caller asked for JSON, before anything is parsed.

    A usage error is raised by the parser itself; its message must still come in
    the format asked for.
    """
    wanted = environment.get("PLANNER_FORMAT", "text")
    for position, argument in enumerate(arguments):
        if argument.startswith("--format="):
            wanted = argument.partition("=")[2]
        elif argument == "--format" and position + 1 < len(arguments):
            wanted = arguments[position + 1]
    return wanted == "json"


def is_flag_given(
    flag: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> bool:
    """Return whether a flag, as ``quiet``, was given, before anything is parsed."""
    value = environment.get(f"PLANNER_{flag.upper()}", "").lower()
    return f"--{flag}" in arguments or value in {"1", "true", "yes", "on", "t", "y"}
