"""YAML as kubectl prints it: scalars stay text; no aliases, and no repeated keys."""

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
        If it is no YAML, has aliases or repeated keys, or is nested deeper than
        resources are.
    """
    import yaml

    loader = _loader(refusal)
    try:
        _check_events(yaml.parse(text, Loader=loader), refusal, remedy)
        return list(yaml.load_all(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f"line {mark.line + 1}"
        refusal.stop(place, "must be YAML", remedy)
    except (yaml.YAMLError, ValueError):
        refusal.stop("", "must be YAML", remedy)


def _loader(refusal: Refusal) -> Any:  # noqa: ANN401 - a class of PyYAML
    """Return a loader that refuses mappings in which a key occurs twice."""
    import yaml

    # Safer than SafeLoader: every scalar stays text.
    base = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

    class Loader(base):  # type: ignore[misc, valid-type]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: ANN401 - PyYAML's signature
            _check_keys(node, refusal)
            return super().construct_mapping(node, deep=deep)

    return Loader


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


def _check_keys(mapping: Any, refusal: Refusal) -> None:  # noqa: ANN401 - a node
    """Reject a mapping in which a key occurs twice: one of the values would be lost."""
    seen = set()
    for key, _ in mapping.value:
        if key.value in seen:
            rule = "keys of a mapping must be unique"
            remedy = "two outputs were joined: put --- between them, or give each in "
            refusal.stop(
                f"line {key.start_mark.line + 1}", rule, f"{remedy}its own file"
            )
        seen.add(key.value)
