"""Pictures of `keys skew`: shares of partitions, and skew by number of partitions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.report.charts.pictures import LoadPicture

MOST_PARTITIONS = 40
"""Largest number of partitions, or of counts of a sweep, of one picture."""
SHARE_LEGEND = {"now": "share", "target": "even share", "band": "95 % bounds"}
SWEEP_LEGEND = {
    "now": "busiest over mean",
    "target": "expected of equally hot keys",
    "limit": "at least, by the hottest key",
}
Row = Mapping[str, Any]


def key_pictures(
    document: Mapping[str, Any], most: int = MOST_PARTITIONS
) -> Iterator[LoadPicture]:
    """
    Yield the picture of the partitions, and that of the sweep if there is one.

    Parameters
    ----------
    document
        Document of `keys skew`.
    most
        Largest number of places of one picture: the busiest partitions, and counts of
        the sweep at equal distances.
    """
    yield _share_picture(document["partitions"], most)
    if document["sweep"]:
        yield _sweep_picture(document["sweep"], most)


def _share_picture(partitions: Sequence[Row], most: int) -> LoadPicture:
    busiest = sorted(partitions, key=lambda row: -row["share"])[:most]
    shown = sorted(busiest, key=lambda row: row["partition"])
    is_estimate = shown[0]["low"] is not None
    return LoadPicture(
        name="partitions-share",
        resource="share of records",
        level="partition",
        unit="%",
        places=[str(row["partition"]) for row in shown],
        now=[_percent(row["share"]) for row in shown],
        before=None,
        target=[_percent(1 / len(partitions))] * len(shown),
        lower=[_percent(row["low"]) for row in shown] if is_estimate else (),
        upper=[_percent(row["high"]) for row in shown] if is_estimate else (),
        omitted=len(partitions) - len(shown),
        rest="with a smaller share",
        legend=SHARE_LEGEND,
    )


def _percent(share: float) -> float:
    return round(100 * share, 3)


def _sweep_picture(sweep: Sequence[Row], most: int) -> LoadPicture:
    step = -(-len(sweep) // most)
    shown = sweep[::step]
    return LoadPicture(
        name="sweep-max-over-mean",
        resource="skew",
        level="number of partitions",
        unit="busiest partition over the mean",
        places=[str(row["partitions"]) for row in shown],
        now=[row["max_over_mean"] for row in shown],
        before=None,
        target=[row["expected_max_over_mean"] for row in shown],
        threshold=[row["least_max_over_mean"] for row in shown],
        omitted=len(sweep) - len(shown),
        rest="between them",
        legend=SWEEP_LEGEND,
    )
