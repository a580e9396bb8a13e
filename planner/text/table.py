"""
Tables of a screen: aligned columns without a box, rendered by Rich.

A table is as wide as its cells. On a terminal that is narrower, the columns that may be
cut are narrowed; in a pipe or a file nothing is, and the same lines are written without
loading Rich. Cells are data: markup in them is shown as it is, and control characters
are escaped.
"""

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from planner.text.printable import Cut, cell_width, printable, shorten

MOST_RICH_ROWS = 200
"""Largest number of rows that Rich renders: it takes about 0.1 ms per cell."""
LEAST_CUT = 8
"""Smallest width, in cells, of a column that is cut to fit a terminal."""


@dataclass(frozen=True, slots=True)
class Column:
    """
    Heading and layout of a column.

    Parameters
    ----------
    heading
        Heading; a table whose headings are all empty has no line of them.
    align
        Side at which the cells are aligned.
    gap
        Empty cells between the column and the next.
    least, most
        Smallest and largest width in cells; longer texts are cut.
    cut
        Part of a long text to cut.
    is_flexible
        Whether the column is narrowed where the terminal is too narrow.
    """

    heading: str = ""
    align: Literal["left", "right"] = "left"
    gap: int = 2
    least: int = 0
    most: int | None = None
    cut: Cut = "end"
    is_flexible: bool = False


Row = Sequence[str]


def table_lines(columns: Sequence[Column], rows: Iterable[Row]) -> list[str]:
    r"""
    Return the lines of a table, without trailing spaces.

    Examples
    --------
    >>> columns = [Column("TOPIC"), Column("LAG", align="right")]
    >>> print(*table_lines(columns, [("orders", "17"), ("[red]", "1234")]), sep="\n")
    TOPIC    LAG
    orders    17
    [red]   1234
    """
    shown = _shown(columns, rows)
    widths = _fitted(columns, _widths(columns, shown), terminal_width())
    return _rendered(columns, widths, shown)


def table_blocks(
    columns: Sequence[Column], rows: Iterable[Row], width: int
) -> list[list[str]]:
    """
    Return the lines of a table in blocks, each of as many columns as fit a width.

    Parameters
    ----------
    columns, rows
        As of `table_lines`; the first column starts every block.
    width
        Largest width of a line, in cells.

    Examples
    --------
    >>> columns = [Column(), Column("disk"), Column("in")]
    >>> table_blocks(columns, [("b1", "40 %", "7 %")], 9)
    [['    disk', 'b1  40 %'], ['    in', 'b1  7 %']]
    """
    shown = _shown(columns, rows)
    widths = _widths(columns, shown)
    return [
        _rendered(
            [columns[c] for c in block],
            [widths[c] for c in block],
            [[row[c] for c in block] for row in shown],
        )
        for block in _blocks(columns, widths, width)
    ]


def table_width(columns: Sequence[Column], rows: Iterable[Row]) -> int:
    """Return the cells of the longest line of a table where nothing is narrowed."""
    return _total(columns, _widths(columns, _shown(columns, rows)))


def terminal_width() -> int | None:
    """Return the columns of the terminal at stdout; `None` if there is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _shown(columns: Sequence[Column], rows: Iterable[Row]) -> list[list[str]]:
    """Return the headings, if any, and the rows, all cells escaped."""
    heads = [column.heading for column in columns]
    every = [heads, *rows] if any(heads) else rows
    return [[printable(cell) for cell in row] for row in every]


def _widths(columns: Sequence[Column], rows: Sequence[Row]) -> list[int]:
    """Return the width of each column by its cells and limits."""
    widths = []
    for c, column in enumerate(columns):
        width = max((cell_width(row[c]) for row in rows), default=0)
        widths.append(max(min(width, column.most or width), column.least))
    return widths


def _fitted(
    columns: Sequence[Column], widths: Sequence[int], limit: int | None
) -> list[int]:
    """Return widths that fit a limit, as far as flexible columns can be narrowed."""
    fitted = list(widths)
    floors = [max(cell_width(column.heading), LEAST_CUT) for column in columns]
    flexible = [c for c, column in enumerate(columns) if column.is_flexible]
    while limit is not None and _total(columns, fitted) > limit:
        wide = [c for c in flexible if fitted[c] > floors[c]]
        if not wide:
            break
        fitted[max(wide, key=fitted.__getitem__)] -= 1
    return fitted


def _total(columns: Sequence[Column], widths: Sequence[int]) -> int:
    return sum(widths) + sum(_gaps(columns))


def _blocks(
    columns: Sequence[Column], widths: Sequence[int], limit: int
) -> list[list[int]]:
    """Return the columns of each block, the first column in all of them."""
    blocks: list[list[int]] = [[0]]
    for c in range(1, len(columns)):
        block = [*blocks[-1], c]
        total = _total([columns[k] for k in block], [widths[k] for k in block])
        if total > limit and len(block) > 2:
            blocks.append([0, c])
        else:
            blocks[-1] = block
    return blocks


def _rendered(
    columns: Sequence[Column], widths: Sequence[int], rows: Sequence[Row]
) -> list[str]:
    cells = [
        [
            shorten(cell, width, column.cut)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        for row in rows
    ]
    # Rich prints a line also for a table that has none.
    is_small = 0 < len(cells) <= MOST_RICH_ROWS and any(widths)
    is_rich = is_small and terminal_width() is not None
    render = _rich_lines if is_rich else _plain_lines
    return render(columns, widths, cells)


def _rich_lines(
    columns: Sequence[Column], widths: Sequence[int], rows: Sequence[Row]
) -> list[str]:
    """Return the lines as Rich renders them."""
    import io

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=0, pad_edge=False, show_header=False)
    gaps = _gaps(columns)
    # Rich gives a column of width 0 one cell.
    wide = [c for c, width in enumerate(widths) if width + gaps[c]]
    for c in wide:
        table.add_column(
            width=widths[c] + gaps[c], justify=columns[c].align, no_wrap=True
        )
    for row in rows:
        # As `Text`, markup in a cell stays what it is.
        table.add_row(*(Text(" " * gaps[c] + row[c]) for c in wide))
    file = io.StringIO()
    width = max(_total(columns, widths), 1)
    Console(file=file, width=width, color_system=None).print(table)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def _plain_lines(
    columns: Sequence[Column], widths: Sequence[int], rows: Sequence[Row]
) -> list[str]:
    """Return the same lines as `_rich_lines`, quickly also for thousands of rows."""
    layout = list(zip(columns, widths, _gaps(columns), strict=True))
    return [
        "".join(
            " " * gap + _padded(cell, column, width)
            for cell, (column, width, gap) in zip(row, layout, strict=True)
        ).rstrip()
        for row in rows
    ]


def _gaps(columns: Sequence[Column]) -> list[int]:
    """Return the empty cells before each column."""
    return [0, *(column.gap for column in columns[:-1])]


def _padded(cell: str, column: Column, width: int) -> str:
    room = " " * (width - cell_width(cell))
    return f"{room}{cell}" if column.align == "right" else f"{cell}{room}"
