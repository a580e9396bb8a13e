"""Charts of results, for notebooks."""

from collections.abc import Iterable
from typing import Any

from planner.report.charts.pictures import LoadPicture
from planner.report.report_extra import is_installed, require_report


def chart_of(pictures: Iterable[LoadPicture]) -> Any:  # noqa: ANN401 - of Altair
    """
    Return an `altair.ConcatChart` of pictures.

    Raises
    ------
    BadInputError
        If the extra ``[report]`` is not installed.
    """
    require_report()
    from planner.report.charts.vega_charts import charts_of

    return charts_of(list(pictures))


def svg_charts(pictures: Iterable[LoadPicture]) -> str:
    """Return pictures as SVG for HTML; empty if the extra is not installed."""
    if not is_installed():
        return ""
    from planner.report.charts.vega_charts import svg_of

    return "".join(map(svg_of, pictures))
