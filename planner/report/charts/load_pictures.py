"""Pictures of loads, from the rows of documents of plans and scores."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.report.charts.pictures import LoadPicture, Number
from planner.text.format import BYTE_UNITS

RESOURCES = ("disk", "in", "out", "cpu", "replicas", "leaders")
COUNTS = ("replicas", "leaders")
MOST_PLACES = 40
"""Largest number of brokers, racks or log dirs of one picture."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """
    Rows of one level, before and after.

    Parameters
    ----------
    level
        Noun of a place.
    labels
        Label of each row.
    now
        Loads after a plan, or the only ones: per row a record by resource.
    before
        Loads before the plan; `None` for one placement.
    resources
        Resources of the rows.
    """

    level: str
    labels: Sequence[str]
    now: Sequence[Row]
    before: Sequence[Row] | None = None
    resources: Sequence[str] = RESOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    Bands and capacity thresholds, as fractions by resource.

    Parameters
    ----------
    band
        Half width of the band around a target, as a fraction of it.
    threshold
        Largest use, as a fraction of the capacity.
    """

    band: Mapping[str, float] = field(default_factory=dict)
    threshold: Mapping[str, float] = field(default_factory=dict)


def load_pictures(
    levels: Levels, limits: Limits, most: int = MOST_PLACES
) -> Iterator[LoadPicture]:
    """Yield a picture of at most `most` places per resource with any load."""
    for resource in levels.resources:
        picture = _picture(levels, limits, resource, most)
        if any(value for value in picture.now) or any(picture.before or ()):
            yield picture


def _picture(levels: Levels, limits: Limits, resource: str, most: int) -> LoadPicture:
    chosen = _furthest(levels, resource, most)
    now = [levels.now[row][resource] for row in chosen]
    before = [levels.before[row][resource] for row in chosen] if levels.before else None
    scale = _scale(resource, [*now, *(before or ())])
    # A plan has its targets for the loads after it: drained brokers get none.
    target = [scale.of(cell, cell["target"]) for cell in now]
    band = limits.band.get(resource) if levels.level == "broker" else None
    edges = [_edges(resource, value, band) for value in target]
    return LoadPicture(
        name=f"{levels.level.replace(' ', '-')}s-{resource}",
        resource=resource,
        level=levels.level,
        unit=scale.unit,
        places=[levels.labels[row] for row in chosen],
        now=[scale.of(cell, cell["load"]) for cell in now],
        before=None
        if before is None
        else [scale.of(cell, cell["load"]) for cell in before],
        target=target,
        lower=[low for low, _ in edges] if band is not None else (),
        upper=[high for _, high in edges] if band is not None else (),
        threshold=_thresholds(limits.threshold.get(resource), now, scale),
        omitted=len(levels.labels) - len(chosen),
    )


def _furthest(levels: Levels, resource: str, most: int) -> list[int]:
    """Return the rows of a picture: if there are many, those furthest from targets."""
    rows = range(len(levels.labels))
    if len(rows) <= most:
        return list(rows)

    def distance(row: int) -> float:
        sides = [levels.now, *([levels.before] if levels.before else [])]
        off = (abs(side[row][resource]["deviation"] or 0.0) for side in sides)
        return float(max(off))

    return sorted(sorted(rows, key=lambda row: (-distance(row), row))[:most])


def _edges(resource: str, target: Number, band: float | None) -> tuple[Number, Number]:
    """Return the edges of the band around a target, in the unit of the target."""
    if target is None or band is None:
        return None, None
    low, high = (1 - band) * target, (1 + band) * target
    if resource in COUNTS:
        # Counts may always be rounded to the whole numbers beside the target.
        low, high = min(low, math.floor(target)), max(high, math.ceil(target))
    return low, high


@dataclass(frozen=True, slots=True)
class _Scale:
    """Unit of a picture: a fraction of capacities, or loads over a divisor."""

    unit: str
    divisor: float = 1.0
    is_share: bool = False

    def of(self, cell: Row, value: Number) -> Number:
        """Return a load of a place in this unit."""
        if value is None:
            return None
        if self.is_share:
            return round(100 * value / float(cell["capacity"]), 3)
        return float(f"{value / self.divisor:.6g}")


def _scale(resource: str, cells: Sequence[Row]) -> _Scale:
    if resource in COUNTS:
        return _Scale(resource)
    if cells and all(cell["capacity"] for cell in cells):
        return _Scale("% of capacity", is_share=True)
    if resource == "cpu":
        return _Scale("cores")
    most = max((cell["load"] or 0.0 for cell in cells), default=0.0)
    power = min(int(math.log10(most)) // 3, len(BYTE_UNITS) - 1) if most >= 1 else 0
    rate = "" if resource == "disk" else "/s"
    return _Scale(f"{BYTE_UNITS[power]}{rate}", 1000.0**power)


def _thresholds(
    threshold: float | None, cells: Sequence[Row], scale: _Scale
) -> Sequence[Number]:
    if threshold is None or not any(cell["capacity"] for cell in cells):
        return ()
    return [
        scale.of(cell, threshold * cell["capacity"]) if cell["capacity"] else None
        for cell in cells
    ]


def rack_rows(rows: Sequence[Row]) -> dict[str, Row]:
    """Return the sums of brokers by rack; a broker without a rack is one alone."""
    members: dict[str, list[Row]] = {}
    for row in rows:
        rack = row["rack"]
        name = f"broker {row['broker']} (no rack)" if rack is None else str(rack)
        members.setdefault(name, []).append(row)
    return {
        name: {resource: _summed(each, resource) for resource in RESOURCES}
        for name, each in members.items()
    }


def _summed(rows: Sequence[Row], resource: str) -> Row:
    cells = [row[resource] for row in rows]
    total = {name: _sum(cells, name) for name in ("load", "capacity", "target")}
    target, load = total["target"], total["load"]
    if not target or load is None:
        return total | {"deviation": None}
    return total | {"deviation": load / target - 1}


def _sum(cells: Sequence[Row], name: str) -> Number:
    """Return the sum of a field; `None` if any part of it is unknown."""
    values = [cell[name] for cell in cells]
    return None if any(value is None for value in values) else float(sum(values))
