"""Blocks of loads: small multiples by resource, with the same numbers as a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.report.charts.load_pictures import Levels, Limits, load_pictures
from planner.report.charts.pictures import LoadPicture
from planner.report.pages.blocks import Block, Cell, Figures, Table, Words

BAND_WORDS = (
    "A band is drawn by its fraction of the target; where one replica is larger than "
    "that, the band is wider."
)


def broker_label(row: Mapping[str, Any]) -> str:
    """Return the label of a broker in a chart: its id, and its rack if known."""
    rack = row["rack"]
    return str(row["broker"]) if rack is None else f"{row['broker']} ({rack})"


def load_blocks(levels: Levels, limits: Limits) -> Iterator[Block]:
    """Yield the charts of one level, their legend, and their table."""
    pictures = list(load_pictures(levels, limits))
    if not pictures:
        yield Words("No load is known.")
        return
    most = max(picture.omitted for picture in pictures)
    if most:
        shown = len(levels.labels) - most
        yield Words(
            f"Of {len(levels.labels)} {levels.level}s each chart shows the {shown} "
            "furthest from their targets."
        )
    yield Figures(
        pictures=pictures,
        legend=_legend(pictures),
        table=figures_table(levels.level, pictures),
    )
    if any(picture.lower for picture in pictures):
        yield Words(BAND_WORDS)


def _legend(pictures: Sequence[LoadPicture]) -> list[tuple[str, str]]:
    is_plan = any(picture.before is not None for picture in pictures)
    legend = [("now", "after the plan" if is_plan else "load")]
    legend += [("before", "before")] if is_plan else []
    legend += [("target", "target")]
    if any(picture.lower for picture in pictures):
        legend.append(("band", "band around the target"))
    if any(picture.threshold for picture in pictures):
        legend.append(("limit", "capacity threshold"))
    return legend


def figures_table(level: str, pictures: Sequence[LoadPicture]) -> Table:
    """Return the numbers of pictures of one level as a table."""
    is_plan = any(picture.before is not None for picture in pictures)
    heads = ["Resource", level.capitalize(), *(["Before"] if is_plan else [])]
    heads += ["After" if is_plan else "Load", "Target", "Unit"]
    rows = [row for picture in pictures for row in _rows(picture, is_plan=is_plan)]
    return Table(
        caption=f"Loads by {level} as a table", heads=heads, rows=rows, is_folded=True
    )


def _rows(picture: LoadPicture, *, is_plan: bool) -> Iterator[Sequence[Cell]]:
    for number, place in enumerate(picture.places):
        before = [picture.before[number] if picture.before else None] if is_plan else []
        numbers = [*before, picture.now[number], picture.target[number]]
        yield (picture.resource, place, *map(_shown, numbers), picture.unit)


def _shown(value: float | None) -> Cell:
    return "unknown" if value is None else float(f"{value:.4g}")
