"""Violations before and after a plan, in the words of its screen."""

from collections.abc import Iterator, Mapping
from typing import Any

from planner.plan.documents.wrong_lines import (
    AFTER,
    AS_BEFORE,
    BEFORE,
    VIOLATIONS,
    line_of,
)
from planner.report.charts.load_pictures import RESOURCES
from planner.text.format import brokers_text, percent_text, plural

NOT_KNOWN = (
    "plan.json is of an older version, which kept nothing of empty brokers, full log "
    "dirs and max_replicas"
)
"""Remark on documents without the lines of the screen."""


def wrong_before(document: Mapping[str, Any]) -> str:
    """Return what is wrong with the placement before a plan."""
    return line_of(document.get("summary", ()), BEFORE) or _counted(document, "before")


def wrong_after(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield label and text of what is wrong after a plan: new violations, and old."""
    lines = document.get("summary")
    if not lines:
        yield "wrong after", _counted(document, "after")
        return
    same = line_of(lines, AS_BEFORE)
    yield "wrong after", line_of(lines, AFTER) or ("nothing new" if same else "nothing")
    if same:
        yield "as before", same


def _counted(document: Mapping[str, Any], side: str) -> str:
    """Return the violations that the figures of an older document have."""
    return f"{'; '.join(_wrong(document, side)) or 'nothing known'}. {NOT_KNOWN}"


def _wrong(document: Mapping[str, Any], side: str) -> Iterator[str]:
    """Yield the violations of one side, of a document without the screen's words."""
    for resource in RESOURCES:
        limit = document["settings"]["capacity_threshold"].get(resource)
        over = [
            row["broker"]
            for row in document[side]["by_broker"]
            if limit is not None and (row[resource]["use"] or 0.0) > limit * (1 + 1e-9)
        ]
        if over:
            text = f"over the {percent_text(limit)} {resource} threshold"
            yield f"{brokers_text(over)} {text}"
    violations = document[side]["violations"]
    for rule, words in VIOLATIONS.items():
        if count := violations[rule]:
            yield f"{plural(count, 'partition')} {words[count > 1]}"
    if count := violations["offline_replicas"]:
        yield f"{plural(count, 'replica')} offline"
