"""Blocks of a page: words, facts, figures, tables and commands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from planner.report.charts.pictures import Picture

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph; `is_strong` for a verdict."""

    kind: ClassVar[str] = "words"
    text: str
    is_strong: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their texts, as the lines of a screen."""

    kind: ClassVar[str] = "facts"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """
    A table of few rows.

    Parameters
    ----------
    caption
        Title of the table.
    heads
        Headings of the columns.
    rows
        Cells of each row; numbers are aligned to the right.
    is_folded
        Whether the reader must open it.
    """

    kind: ClassVar[str] = "table"
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    is_folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowsedTable:
    """
    A table of many rows that is sorted, searched, filtered, copied and downloaded.

    Parameters
    ----------
    name
        Name of the table, also of the downloaded file.
    caption
        Title of the table.
    heads
        Headings of the columns.
    rows
        Rows in the page.
    filters
        Columns with few values, by which rows can be filtered.
    sizes
        Columns of bytes, shown with units.
    total
        Number of rows of which `rows` is a part.
    rest
        Place of the other rows.
    """

    kind: ClassVar[str] = "browsed"
    name: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    filters: Sequence[int] = ()
    sizes: Sequence[int] = ()
    total: int = 0
    rest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """
    Charts side by side, small multiples of one form.

    Parameters
    ----------
    pictures
        The pictures.
    legend
        Classes and words of the legend.
    table
        The same numbers as a table, for those who do not see the charts.
    """

    kind: ClassVar[str] = "figures"
    pictures: Sequence[Picture]
    legend: Sequence[tuple[str, str]] = ()
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """Lines of a shell, with a button that copies them."""

    kind: ClassVar[str] = "command"
    text: str


Block = Words | Facts | Table | BrowsedTable | Figures | Command


@dataclass(frozen=True, slots=True)
class Section:
    """A section with its anchor and title."""

    anchor: str
    title: str
    blocks: Sequence[Block]
    is_folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """
    Contents of a report.

    Parameters
    ----------
    title
        Title of the page.
    taken_at
        Time of the snapshot; `None` where unknown. The page tells its age when it is
        opened.
    sections
        Sections in order.
    """

    title: str
    taken_at: str | None
    sections: Sequence[Section]

    @property
    def pictures(self) -> list[Picture]:
        """All pictures of the page in order."""
        return [
            picture
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Figures)
            for picture in block.pictures
        ]
