"""Scores of the same snapshots, in memory and on Spark, side by side."""

import math
from typing import Any

from placement.score import score_cluster
from planner.score.make_score import Scored
from planner.score.score_tables import score_table
from planner.snapshot import Snapshot

PLACE = (
    "cluster_id",
    "taken_at",
    "level",
    "rack",
    "broker",
    "log_dir",
    "topic",
    "resource",
)

Rows = dict[tuple[Any, ...], dict[str, Any]]


def in_memory(snapshots: list[Snapshot]) -> Rows:
    """Score snapshots with numpy."""
    scored = [
        Scored(
            score=score_cluster(snapshot.to_state()),
            cluster_id=snapshot.cluster_id,
            taken_at=snapshot.taken_at,
            data_age_s=None,
        )
        for snapshot in snapshots
    ]
    return by_place(score_table(scored))


def by_place(table: Any) -> Rows:
    """Return the rows of an Arrow table of scores; each place must stand once."""
    rows = table.to_pylist()
    found = {tuple(row[name] for name in PLACE): row for row in rows}
    assert len(found) == len(rows)
    return found


def differences(expected: Rows, found: Rows) -> list[str]:
    """Tell where two scores differ by more than a billionth, in any column."""
    lost = [f"{place} is missing" for place in expected if place not in found]
    new = [f"{place} is too much" for place in found if place not in expected]
    unlike = [
        f"{place} {column}: {value!r} is {found[place].get(column)!r}"
        for place, row in expected.items()
        if place in found
        for column, value in row.items()
        if not is_same(value, found[place].get(column))
    ]
    return [*lost, *new, *unlike]


def is_same(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9)
    return bool(first == second)


def document_differences(first: Any, second: Any, place: str = "") -> list[str]:
    """Tell where two documents differ by more than a billionth."""
    if isinstance(first, dict) and isinstance(second, dict):
        if first.keys() != second.keys():
            return [f"{place}: {sorted(first)} is {sorted(second)}"]
        pairs = [(f"{place}.{name}", first[name], second[name]) for name in first]
    elif isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            return [f"{place}: {len(first)} is {len(second)}"]
        both = enumerate(zip(first, second, strict=True))
        pairs = [(f"{place}[{at}]", one, other) for at, (one, other) in both]
    else:
        numbers = all(type(each) in {int, float} for each in (first, second))
        values = (float(first), float(second)) if numbers else (first, second)
        return [] if is_same(*values) else [f"{place}: {first!r} is {second!r}"]
    return [found for at, *both in pairs for found in document_differences(*both, at)]
