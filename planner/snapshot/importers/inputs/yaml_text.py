"""YAML as kubectl prints it: every scalar stays text, and aliases are rejected."""

from collections.abc import Iterator
from typing import Any

from planner.snapshot.importers.inputs.input_text import Refusal

_MAX_DEPTH = 100


def parse_yaml(text: str, refusal: Refusal, *, remedy: str) -> list[Any]:
    """
    Parse the documents of a YAML text.

    Parameters
    ----------
    text
        The YAML.
    refusal
        Problems of the file.
    remedy
        Remedy for a rejected text.

    Raises
    ------
    BadInputError
        If it is no YAML, has aliases, or is nested deeper than resources are.
    """
    import yaml

    # Safer than SafeLoader: every scalar stays text.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        _check_events(yaml.parse(text, Loader=loader), refusal, remedy)
        return list(yaml.load_all(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f"line {mark.line + 1}"
        refusal.stop(place, "must be YAML", remedy)
    except (yaml.YAMLError, ValueError):
        refusal.stop("", "must be YAML", remedy)


def _check_events(events: Iterator[Any], refusal: Refusal, remedy: str) -> None:
    """Reject aliases and deep nesting, which could expand a few lines without limit."""
    depth = 0
    for event in events:
        name = type(event).__name__
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        if name == "AliasEvent" or depth > _MAX_DEPTH:
            rule = (
                f"must be YAML without aliases, nested at most {_MAX_DEPTH} levels deep"
            )
            refusal.stop(f"line {event.start_mark.line + 1}", rule, remedy)
