"""The JSON Schema of every document, by name."""

from collections.abc import Callable, Mapping
from typing import Any


def _snapshot() -> dict[str, Any]:
    from planner.snapshot.records import snapshot_schema

    return snapshot_schema()


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "snapshot": _snapshot,
}
"""Each loads what it needs when it is asked for."""


def json_schema(name: str) -> dict[str, Any]:
    """
    Return the JSON Schema of a document.

    Raises
    ------
    KeyError
        If there is no document of that name.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **SCHEMAS[name](),
    }
