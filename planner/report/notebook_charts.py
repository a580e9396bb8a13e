"""Charts of results, for notebooks."""

from collections.abc import Iterable
from typing import Any

from planner.extras import REPORT
from planner.report.charts.pictures import LoadPicture


def chart_of(pictures: Iterable[LoadPicture]) -> Any:  # noqa: ANN401 - of Altair
    """
    Return an `altair.ConcatChart` of pictures.

    Raises
    ------
    BadInputError
        If the extra ``[report]`` is not installed.
    """
    REPORT.require()
    from planner.report.charts.vega_charts import charts_of

    return charts_of(list(pictures))


def svg_charts(pictures: Iterable[LoadPicture]) -> str:
    """Return pictures as SVG for HTML; empty if the extra is not installed."""
    if not REPORT.is_installed:
        return ""
    from planner.report.charts.vega_charts import svg_of

    return "".join(map(svg_of, pictures))
