"""
A page as one self-contained HTML file.

The file loads nothing: style and scripts are inside, and a Content-Security-Policy
allows these alone, by their hashes. Jinja2 escapes every text. Data for the script is
JSON in an element that is not run. Pages with a table of many rows carry Tabulator and
its licence. The same page gives the same bytes.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from planner.progress import stage
from planner.report.charts.pictures import Picture
from planner.report.charts.theme import DARK, LIGHT
from planner.report.charts.vega_charts import svg_of
from planner.report.pages.blocks import BrowsedTable, Cell, Page
from planner.text.format import bytes_text
from planner.text.printable import HIDDEN, visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ROWS_WITHOUT_SCRIPT = 50
"""Rows of a browsed table that are there without the script."""
TABULATOR = "tabulator.min.js"
"""Library of browsed tables: a file of the npm package tabulator-tables, unchanged."""
_UNSAFE = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
"""Characters that could end an element or a line of a script, as JSON escapes them."""


class _Script(NamedTuple):
    """A script of a page, and the licence that is written above it."""

    licence: str
    text: str


def html_of(page: Page) -> str:
    """Return a page as HTML."""
    stage("drawing the report")
    from importlib.metadata import version

    style = style_text()
    scripts = [*_libraries(page), _Script("", _own_script())]
    template = _environment().get_template("report.html")
    text: str = template.render(
        page=page,
        style=_markup(style),
        scripts=[_Script(*map(_markup, each)) for each in scripts],
        policy=_policy(style, [each.text for each in scripts]),
        version=version("kafka-planner"),
        rows_shown=ROWS_WITHOUT_SCRIPT,
    )
    return text


def style_text() -> str:
    """Return the style sheet of pages, with its colours."""
    text: str = _environment().get_template("report.css").render(light=LIGHT, dark=DARK)
    return text


def _libraries(page: Page) -> list[_Script]:
    """Return the libraries that a page needs: Tabulator, if a table is browsed."""
    blocks = [block for section in page.sections for block in section.blocks]
    if not any(isinstance(block, BrowsedTable) for block in blocks):
        return []
    # The last line names a source map, which the page must not ask for.
    text = _source(TABULATOR).rpartition("\n//# sourceMappingURL=")[0]
    return [_Script(_source("tabulator.LICENSE"), text)]


def _policy(style: str, scripts: Iterable[str]) -> str:
    """Return a policy that allows the style and scripts of a page, and nothing else."""
    hashes = " ".join(f"'{_hash(script)}'" for script in scripts)
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src {hashes}",
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
    environment.filters["choices"] = _choices
    environment.filters["cell"] = cell_text
    return environment


def shown(value: object) -> object:
    """Return a value of a template with its hidden characters escaped; markup stays."""
    return visible(value) if type(value) is str else value


def _own_script() -> str:
    return _source("report.js").replace("/HIDDEN/", f"/{HIDDEN}/")


def _source(name: str) -> str:
    path = files("planner.report").joinpath("templates", name)
    return path.read_text(encoding="utf-8").strip()


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
        "sizes": {
            column: [cell_text(row[column], column, table.sizes) for row in table.rows]
            for column in table.sizes
        },
        "file": f"{table.name}.csv",
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _markup(text.translate(_UNSAFE))


def _choices(table: BrowsedTable, column: int) -> list[tuple[str, str]]:
    """Return each value of a column as JSON and as text: none, numbers, then texts."""

    def rank(value: Cell) -> tuple[bool, bool, Cell]:
        known = 0 if value is None else value
        return value is not None, isinstance(value, str), known

    values = sorted({row[column] for row in table.rows}, key=rank)
    return [(json.dumps(each), cell_text(each) or "none") for each in values]


def cell_text(value: object, column: int = -1, sizes: Iterable[int] = ()) -> str:
    """Return the cell of a table as the script shows it too."""
    if value is None:
        return ""
    if isinstance(value, int) and column in set(sizes):
        return bytes_text(value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
