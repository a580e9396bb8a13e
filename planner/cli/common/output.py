"""Data goes to stdout, words to stderr; in json mode stdout is one document."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from planner.errors import InputProblem
from planner.io.json_text import json_text

MAX_PROBLEMS_SHOWN = 100
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def print_json(document: Any) -> None:  # noqa: ANN401 - any JSON value
    """Write one JSON document to stdout, keys in the order given."""
    typer.echo(json_text(document, indent=2))


def has_colours() -> bool:
    """Tell whether words on stderr may be coloured: a terminal, and no NO_COLOR."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not is_plain and sys.stderr.isatty()


def print_words(text: str) -> None:
    """Write words for people to stderr; what kind they are is coloured there."""
    kind, colon, rest = text.partition(":")
    if colon and kind in _COLOURS and has_colours():
        text = typer.style(f"{kind}:", fg=_COLOURS[kind], bold=True) + rest
    typer.echo(text, err=True)


def print_note(text: str) -> None:
    """Write on stderr what the reader should know."""
    print_words(f"note: {text}")


def notes_unless(quiet: bool) -> Callable[[str], None]:
    """Return what takes notes: to stderr, or to nowhere if nothing is to be said."""
    return (lambda _: None) if quiet else print_note


def print_failure(
    message: str, problems: Sequence[InputProblem], *, as_json: bool
) -> None:
    """
    Say why a command was refused.

    Parameters
    ----------
    message
        One line.
    problems
        Every problem found; the first hundred are shown, and how many there are.
    as_json
        Whether stdout gets the document `error` (docs/formats.md, "Documents") instead
        of words on stderr.
    """
    shown = problems[:MAX_PROBLEMS_SHOWN]
    if as_json:
        print_json(
            {
                "error": message,
                "problems": [problem.to_dict() for problem in shown],
                "num_problems": len(problems),
            }
        )
        return
    print_words(f"error: {message}")
    for problem in shown:
        print_words(f"  - {problem}")
    if len(problems) > len(shown):
        print_words(f"  … and {len(problems) - len(shown)} more")


def is_json_wanted(arguments: Sequence[str], environment: dict[str, str]) -> bool:
    """
    Tell whether the caller asked for JSON, before anything is parsed.

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


def is_wished(
    option: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> bool:
    """Tell whether the caller gave a flag, as ``quiet``, before anything is parsed."""
    wish = environment.get(f"PLANNER_{option.upper()}", "").lower()
    return f"--{option}" in arguments or wish in {"1", "true", "yes", "on", "t", "y"}
