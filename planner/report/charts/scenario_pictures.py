"""Pictures of scenarios beside today: the largest use of each resource."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.report.charts.pictures import LoadPicture

USED = ("disk", "in", "out", "cpu")
MOST_SCENARIOS = 40
"""Largest number of scenarios of one picture."""


def scenario_pictures(
    rows: Sequence[Mapping[str, Any]], thresholds: Mapping[str, float]
) -> Iterator[LoadPicture]:
    """
    Yield a picture of the fullest broker of each scenario, by known resource.

    Parameters
    ----------
    rows
        Documents of today and of the scenarios.
    thresholds
        Capacity thresholds by resource, as fractions.
    """
    shown = rows[:MOST_SCENARIOS]
    for resource in USED:
        uses = [row["resources"][resource] for row in shown]
        if any(uses):
            limit = thresholds.get(resource)
            yield LoadPicture(
                name=f"scenarios-{resource}",
                resource=resource,
                level="scenario",
                unit="% of the fullest broker's capacity",
                places=[row["name"] for row in shown],
                now=[use and round(100 * use["max_use"], 3) for use in uses],
                before=None,
                target=[use and round(100 * use["mean_use"], 3) for use in uses],
                threshold=[100 * limit] * len(shown) if limit is not None else (),
                omitted=len(rows) - len(shown),
            )
