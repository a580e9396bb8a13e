"""Inputs of a plan on its page: the snapshot, what is unknown, the options."""

from collections.abc import Iterator, Mapping
from typing import Any

from planner.report.charts.load_pictures import (
    COUNTS,
    RESOURCES,
)
from planner.report.pages.blocks import (
    Block,
    Facts,
    Table,
    Words,
)
from planner.text.format import (
    percent_text,
    plural,
)


def inputs_of(document: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the blocks on the inputs of a plan, from plan.json."""
    snapshot, before = document["snapshot"], document["before"]
    counts = [
        plural(before["brokers"], "broker"),
        plural(before["partitions"], "partition"),
        plural(before["replicas"], "replica"),
    ]
    yield Facts(
        [
            ("cluster", snapshot["cluster_id"] or "unknown"),
            ("taken at", snapshot["taken_at"] or "unknown"),
            ("size", ", ".join(counts)),
            ("fingerprint", snapshot["fingerprint"]),
        ]
    )
    yield Facts(list(unknown_facts(before["resources"])))
    for note in dict.fromkeys(note["message"] for note in document["notes"]):
        yield Words(note)
    yield _settings(document["settings"])


def unknown_facts(resources: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is not known of each resource; one line if all is known."""
    is_complete = True
    for resource in RESOURCES:
        known = resources[resource]["known_fraction"]
        if known < 1 and resource not in COUNTS:
            is_complete = False
            part = f"known for {percent_text(known)} of the partitions"
            yield resource, part if known else "unknown"
    if is_complete:
        yield "unknown", "nothing: all loads are known"


def _settings(settings: Mapping[str, Any]) -> Table:
    rows = [
        (name.replace("_", "-"), _value_text(value))
        for name, value in settings.items()
        if value not in (None, [], {}, False)
    ]
    return Table(
        caption="Settings of the plan",
        heads=("Option", "Value"),
        rows=rows,
        is_folded=True,
    )


def _value_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_value_text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_value_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
