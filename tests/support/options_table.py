"""
Table of docs/config.md from the declared options.

``PLANNER_WRITE_PAGES=1 pytest tests/project/test_pages.py`` writes it.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from planner.options.declared.option import DeclaredOption, Panel
from planner.options.declared.plan_options import OPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "config.md"
MARKERS = ("<!-- options: start -->", "<!-- options: end -->")


def options_table() -> str:
    """Return the table: a heading and the rows of each panel."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    ranked = sorted(
        OPTIONS.values(), key=lambda each: [*Panel].index(each.option.panel)
    )
    yield "| option | of | what it does |"
    yield "|---|---|---|"
    for panel, group in groupby(ranked, key=lambda each: each.option.panel):
        yield f"| **{panel}** | | |"
        yield from map(_row, group)


def _row(declared: DeclaredOption) -> str:
    option = declared.option
    value = option.metavar or "\\|".join(declared.words)
    shown = f"{declared.flag} {value}".strip().replace("|", "\\|").replace("\\\\", "\\")
    words = option.help.replace("|", "\\|")
    return f"| `{shown}` | {', '.join(declared.operations)} | {words} |"


def with_table(page: str) -> str:
    """Return a page with the table between its markers."""
    head, _, rest = page.partition(MARKERS[0])
    _, _, tail = rest.partition(MARKERS[1])
    return f"{head}{MARKERS[0]}\n\n{options_table()}\n\n{MARKERS[1]}{tail}"
