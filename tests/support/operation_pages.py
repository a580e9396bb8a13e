"""
Lists of all operations in pages, from their descriptors.

``PLANNER_WRITE_PAGES=1 pytest tests/project/test_pages.py`` writes them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from placement.operations.descriptor import OPERATIONS

ROOT = Path(__file__).parents[2]
PAGES = {"new-topic": "new-partitions", "add-partitions": "new-partitions"}
"""Pages of operations that do not have one of their own name."""


def page_of(name: str) -> str:
    """Return the page of an operation."""
    return f"{PAGES.get(name, name)}.md"


def table_rows() -> Iterator[str]:
    """Yield the rows of the table of all operations."""
    for name, each in OPERATIONS.items():
        yield f"| [`plan {name}`]({page_of(name)}) | {each.purpose} | {each.moves} |"


def command_rows() -> Iterator[str]:
    """Yield the rows of the table of commands."""
    for name, each in OPERATIONS.items():
        yield f"| `kafka-planner plan {name}` | {each.purpose} |"


def navigation() -> Iterator[str]:
    """Yield the pages of the site, each once."""
    for page in dict.fromkeys(map(page_of, OPERATIONS)):
        yield f"      - {page}"


def documentation() -> Iterator[str]:
    """Yield the line of the list of all documentation."""
    pages = dict.fromkeys(map(page_of, OPERATIONS))
    links = ", ".join(f"[{page.removesuffix('.md')}]({page})" for page in pages)
    start = "* [Operations](operations.md): all `plan` commands, and a page for each"
    yield f"{start}: {links}."


LISTS: Mapping[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "docs/operations.md": (r"\| \[`plan ", table_rows),
    "docs/README.md": (r"\* \[Operations\]", documentation),
    "README.md": (r"\| `kafka-planner plan ", command_rows),
    "mkdocs.yml": (f" +- ({'|'.join(map(page_of, OPERATIONS))})$", navigation),
}
"""Pattern of the lines of the list, and the lines, by file."""


def with_list(file: str, text: str) -> str:
    """Return the text of a file with a line for each operation in its list."""
    pattern, lines_of = LISTS[file]
    lines = text.splitlines()
    rows = [n for n, line in enumerate(lines) if re.match(pattern, line)]
    found = [*lines[: rows[0]], *lines_of(), *lines[rows[-1] + 1 :]]
    return "\n".join(found) + "\n"
