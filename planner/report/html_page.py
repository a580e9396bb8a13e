"""
A page as one self-contained HTML file.

The file loads nothing: style and script are inside, and a Content-Security-Policy
allows these two alone, by their hashes. Jinja2 escapes every text. Data for the script
is JSON in an element that is not run. The same page gives the same bytes.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from planner.progress import stage
from planner.report.charts.pictures import Picture
from planner.report.charts.theme import DARK, LIGHT
from planner.report.charts.vega_charts import svg_of
from planner.report.pages.blocks import BrowsedTable, Page
from planner.text.format import bytes_text
from planner.text.printable import HIDDEN, visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ROWS_WITHOUT_SCRIPT = 50
"""Rows of a browsed table that are there without the script, and on paper."""
_UNSAFE = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
"""Characters that could end an element or a line of a script, as JSON escapes them."""


def html_of(page: Page) -> str:
    """Return a page as HTML."""
    stage("drawing the report")
    from importlib.metadata import version

    style = style_text()
    script = _source("report.js")
    template = _environment().get_template("report.html")
    text: str = template.render(
        page=page,
        style=_markup(style),
        script=_markup(script),
        policy=_policy(style, script),
        version=version("kafka-planner"),
        rows_shown=ROWS_WITHOUT_SCRIPT,
    )
    return text


def style_text() -> str:
    """Return the style sheet of pages, with its colours."""
    text: str = _environment().get_template("report.css").render(light=LIGHT, dark=DARK)
    return text


def _policy(style: str, script: str) -> str:
    """Return a policy that allows the page's own style and script, and nothing else."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _environment() -> "Environment":
    from jinja2 import (
        Environment,
        PackageLoader,
        StrictUndefined,
        select_autoescape,
    )

    environment = Environment(
        loader=PackageLoader("planner.report"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        finalize=shown,
    )
    environment.filters["svg"] = _inline_svg
    environment.filters["rows_json"] = _rows_json
    environment.filters["cell"] = cell_text
    return environment


def shown(value: object) -> object:
    """Return a value of a template with its hidden characters escaped; markup stays."""
    return visible(value) if type(value) is str else value


def _source(name: str) -> str:
    path = files("planner.report").joinpath("templates", name)
    text = path.read_text(encoding="utf-8").strip()
    return text.replace("/HIDDEN/", f"/{HIDDEN}/")


def _markup(text: str) -> "Markup":
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - sources of this package, and SVG of Vega


def _inline_svg(picture: Picture) -> "Markup":
    # Vega escapes the texts of a chart.
    return _markup(svg_of(picture, is_inline=True))


def _rows_json(table: BrowsedTable) -> "Markup":
    data: dict[str, Any] = {
        "heads": table.heads,
        "rows": table.rows,
        "filters": table.filters,
        "sizes": table.sizes,
        "file": f"{table.name}.csv",
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _markup(text.translate(_UNSAFE))


def cell_text(value: object, column: int = -1, sizes: Iterable[int] = ()) -> str:
    """Return the cell of a table as the script shows it too."""
    if value is None:
        return ""
    if isinstance(value, int) and column in set(sizes):
        return bytes_text(value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
