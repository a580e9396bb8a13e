"""Charts of pictures by Altair (Vega-Lite), and their SVG and PNG by vl-convert."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from planner.report.charts.pictures import (
    LoadPicture,
    MatrixPicture,
    Picture,
    TimelinePicture,
)
from planner.report.charts.theme import KINDS, LEAST_CELL, LIGHT, MOST_CELL
from planner.text.format import bytes_text
from planner.text.printable import visible

if TYPE_CHECKING:
    from altair import LayerChart

VEGA_LITE = "6.4"
"""Version of Vega-Lite that Altair 6 writes and vl-convert contains."""
WIDTH = 300
BAR_STEP = 16
PADDING = 12
"""Room around a chart for labels that are wider in the reader's font than here."""
COLUMNS = 3
"""Charts side by side."""
CELL = 34
MOST_EARLY = 0.75
"""Part of a timeline up to which the words of a bar are behind it."""
MOST_CELL_TEXTS = 14
"""Largest number of rows and columns of a matrix whose cells show their bytes."""
_ID = re.compile(r'(\bid="|url\(#|href="#)')
_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_ROLE = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')


def chart_of(picture: Picture) -> "LayerChart":
    """Return the chart of a picture, for Altair's own displays too."""
    return _themed(_drawn(picture))


def charts_of(pictures: Sequence[Picture]) -> Any:  # noqa: ANN401 - of Altair
    """Return the charts of pictures side by side, as one chart of Altair."""
    drawn = [_drawn(picture) for picture in pictures]
    return _themed(_altair().concat(*drawn, columns=COLUMNS))


def _drawn(picture: Picture) -> Any:  # noqa: ANN401 - of Altair
    makers: Mapping[type, Any] = {
        LoadPicture: _load_chart,
        MatrixPicture: _matrix_chart,
        TimelinePicture: _timeline_chart,
    }
    return makers[type(picture)](picture)


def svg_of(picture: Picture, *, is_inline: bool = False) -> str:
    """
    Return the chart of a picture as SVG.

    Parameters
    ----------
    picture
        The picture.
    is_inline
        Whether the SVG becomes a part of a page: it has no background, ids of its own
        and no roles, which the figure around it has.
    """
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(
        _spec(picture, is_inline=is_inline), VEGA_LITE
    )
    return (
        _TAG.sub(lambda tag: _inline(tag.group(), picture.name), svg)
        if is_inline
        else svg
    )


def _inline(tag: str, name: str) -> str:
    """Return a tag with ids of its own in the page, and without roles."""
    return _ROLE.sub("", _ID.sub(rf"\g<1>{name}-", tag))


def png_of(picture: Picture, *, scale: float = 2.0) -> bytes:
    """Return the chart of a picture as PNG, `scale` pixels per unit of the SVG."""
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(_spec(picture), VEGA_LITE, scale=scale)
    return png


def _spec(picture: Picture, *, is_inline: bool = False) -> str:
    spec = chart_of(picture).to_dict(validate=False)
    if is_inline:
        # The page repeats the title as text, and has the background.
        spec.pop("title", None)
        spec["background"] = None
    return json.dumps(spec, sort_keys=True, allow_nan=False)


def _themed(chart: "LayerChart") -> "LayerChart":
    themed: LayerChart = (
        chart.configure(
            background=LIGHT["paper"], font="sans-serif", aria=False, padding=PADDING
        )
        .configure_axis(
            labelColor=LIGHT["ink"],
            titleColor=LIGHT["muted"],
            gridColor=LIGHT["grid"],
            domainColor=LIGHT["grid"],
            tickColor=LIGHT["grid"],
            titleFontWeight="normal",
            labelLimit=140,
        )
        .configure_title(
            color=LIGHT["ink"],
            subtitleColor=LIGHT["muted"],
            anchor="start",
            fontSize=13,
        )
        .configure_view(stroke=LIGHT["grid"])
        .configure_bar(color=LIGHT["now"])
        # Ticks are not opaque by themselves, and would have other colours.
        .configure_tick(opacity=1)
    )
    return themed


@cache
def _altair() -> Any:  # noqa: ANN401 - the module
    import altair

    # Charts hold a few hundred rows at most, and must not go to a server.
    return altair


def _title(picture: Picture, *subtitle: str) -> Any:  # noqa: ANN401 - of Altair
    alt = _altair()
    omitted = getattr(picture, "omitted", 0)
    rest = getattr(picture, "rest", "")
    more = [f"and {omitted} more {rest}".rstrip()] if omitted else []
    return alt.TitleParams(picture.title, subtitle=[*subtitle, *more])


def _load_chart(picture: LoadPicture) -> Any:  # noqa: ANN401 - of Altair
    alt = _altair()
    names = ("before", "target", "lower", "upper", "threshold")
    columns = {name: getattr(picture, name) or () for name in names}
    rows = [
        {"place": place, "row": number, "now": picture.now[number]}
        | {name: values[number] for name, values in columns.items() if values}
        for number, place in enumerate(picture.places)
    ]
    # Places with equal labels, such as unnamed racks, stay apart by their row.
    labels = json.dumps([*map(visible, picture.places)])
    y = alt.Y(
        "row:O",
        sort=None,
        title=None,
        axis=alt.Axis(labelExpr=f"{labels}[datum.value]", ticks=False),
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
    height = alt.Step(BAR_STEP)
    layers = [_band(base)] if picture.lower else []
    layers.append(
        base.mark_bar(height=9, color=LIGHT["now"]).encode(
            x=alt.X("now:Q", title=picture.unit)
        )
    )
    layers.append(_ticks(base, "target", LIGHT["target"], thickness=1))
    if picture.before is not None:
        layers.append(_ticks(base, "before", LIGHT["before"], thickness=3))
    if picture.threshold:
        layers.append(_threshold(base))
    words = _load_words(picture)
    return alt.layer(*layers).properties(
        width=WIDTH, height=height, title=_title(picture, words)
    )


def _load_words(picture: LoadPicture) -> str:
    """Return the legend in words."""
    usual = {"now": "now" if picture.before is None else "after", "target": "target"}
    named = {**usual, "band": "band", "limit": "threshold", **picture.legend}
    words = [f"bar: {named['now']}"]
    words += [] if picture.before is None else ["thick tick: before"]
    words += [f"thin tick: {named['target']}"]
    words += [f"shade: {named['band']}"] if picture.lower else []
    words += [f"dashes: {named['limit']}"] if picture.threshold else []
    return ", ".join(words)


def _band(base: Any) -> Any:  # noqa: ANN401 - of Altair
    return base.mark_bar(height=BAR_STEP - 1, color=LIGHT["band"]).encode(
        x=_altair().X("lower:Q"), x2="upper:Q"
    )


def _ticks(base: Any, name: str, color: str, *, thickness: int) -> Any:  # noqa: ANN401
    mark = base.mark_tick(color=color, thickness=thickness, size=BAR_STEP - 3)
    return mark.encode(x=f"{name}:Q")


def _threshold(base: Any) -> Any:  # noqa: ANN401 - of Altair
    mark = base.mark_tick(color=LIGHT["limit"], thickness=2, size=BAR_STEP)
    # A tick cannot be dashed: shorter ones in every row look like a dashed line.
    return mark.encode(x="threshold:Q", size=_altair().value(BAR_STEP - 6))


def _matrix_chart(picture: MatrixPicture) -> Any:  # noqa: ANN401 - of Altair
    alt = _altair()
    # Copies of unknown size count one by one.
    weights = [size or copies for *_, size, copies in picture.cells]
    rows = [
        {
            "from": visible(source),
            "to": visible(target),
            "weight": size or copies,
            "text": bytes_text(size, 2).replace(" ", "") if size else str(copies),
        }
        for source, target, size, copies in picture.cells
    ]
    columns, lines = (
        alt.Scale(domain=[*map(visible, names)])
        for names in (picture.targets, picture.sources)
    )
    # Ids of brokers are short enough to stand upright.
    angle = 0 if picture.level == "broker" else -90
    x = alt.X("to:N", scale=columns, title="to", axis=alt.Axis(labelAngle=angle))
    y = alt.Y("from:N", scale=lines, title="from")
    scale = alt.Scale(
        domain=[0, max(weights, default=1)], range=[LEAST_CELL, MOST_CELL]
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y)
    cells = base.mark_rect(color=LIGHT["now"]).encode(
        opacity=alt.Opacity("weight:Q", scale=scale, legend=None)
    )
    layers, most = [cells], max(len(picture.sources), len(picture.targets))
    if most <= MOST_CELL_TEXTS:
        layers.append(
            base.mark_text(fontSize=9, color=LIGHT["ink"]).encode(text="text:N")
        )
    step = CELL if most <= MOST_CELL_TEXTS else CELL // 2
    return alt.layer(*layers).properties(
        width=alt.Step(step + 8), height=alt.Step(step - 8), title=_title(picture)
    )


def _notes(base: Any, picture: TimelinePicture) -> Iterator[Any]:  # noqa: ANN401
    """Yield the words beside the bars: where there is room, behind or before them."""
    alt = _altair()
    whole = max((bar.end_s for bar in picture.bars), default=0.0) / 3600
    is_early = alt.datum.end <= MOST_EARLY * whole
    for chosen, x, align, gap in (
        (is_early, "end:Q", "left", 4),
        (~is_early, "begin:Q", "right", -4),
    ):
        mark = base.mark_text(align=align, dx=gap, color=LIGHT["ink"], fontSize=9)
        yield mark.encode(
            x=x, text="note:N", color=alt.value(LIGHT["ink"])
        ).transform_filter(chosen)


def _timeline_chart(picture: TimelinePicture) -> Any:  # noqa: ANN401 - of Altair
    alt = _altair()
    rows = [
        {
            "wave": bar.label,
            "kind": bar.kind,
            "begin": round(bar.begin_s / 3600, 6),
            "end": round(bar.end_s / 3600, 6),
            "note": bar.note,
        }
        for bar in picture.bars
    ]
    kinds = list(KINDS)
    colors = [LIGHT[name] for name in KINDS.values()]
    y = alt.Y("wave:N", sort=None, title="wave")
    color = alt.Color(
        "kind:N", scale=alt.Scale(domain=kinds, range=colors), legend=None
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y, color=color)
    bars = base.mark_bar(height=10).encode(
        x=alt.X("begin:Q", title="hours"), x2="end:Q"
    )
    # Waves of leaders take no time that is known: a tick shows their place.
    ticks = base.mark_tick(thickness=2, size=12).encode(x="begin:Q")
    return alt.layer(bars, ticks, *_notes(base, picture)).properties(
        width=2 * WIDTH, height=alt.Step(BAR_STEP), title=_title(picture)
    )
