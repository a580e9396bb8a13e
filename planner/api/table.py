"""Results as tables, for several libraries of data frames."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from planner.text.format import SCREEN_WIDTH
from planner.text.table import Column, table_lines, table_width

MAX_ROWS_SHOWN = 10


class Screen:
    """Base of results that a notebook shows as the screen that their `repr` is."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """
    Rows with named columns.

    Parameters
    ----------
    arrow
        The rows as a `pyarrow.Table`.

    Examples
    --------
    >>> import pyarrow
    >>> Table(pyarrow.table({"broker": [1, 20], "rack": ["a", "b"]}))
    broker  rack
         1  a
        20  b
    """

    arrow: Any

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.arrow.column_names)

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return a `pyarrow.Table`."""
        return self.arrow

    def to_polars(self) -> Any:  # noqa: ANN401 - Polars is loaded when needed
        """Return a `polars.DataFrame`."""
        import polars

        return polars.from_arrow(self.arrow)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas need not be installed
        """
        Return a `pandas.DataFrame`.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed; the planner does not depend on it.
        """
        return self.arrow.to_pandas()

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dictionary per row."""
        rows: list[dict[str, Any]] = self.arrow.to_pylist()
        return rows

    def __repr__(self) -> str:
        if not self.columns:
            return "no rows"
        shown = self.arrow.slice(0, MAX_ROWS_SHOWN)
        values = [shown.column(name).to_pylist() for name in self.columns]
        columns = [_column(*each) for each in zip(self.columns, values, strict=True)]
        rows = [list(map(_text, row)) for row in zip(*values, strict=True)]
        count = _fitting(columns, rows)
        lines = table_lines(columns[:count], [row[:count] for row in rows])
        hidden = self.columns[count:]
        if (rest := len(self) - MAX_ROWS_SHOWN) > 0:
            lines.append(f"… and {rest} more rows")
        if hidden:
            lines += textwrap.wrap(f"… and columns {', '.join(hidden)}", SCREEN_WIDTH)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = self.arrow.slice(0, MAX_ROWS_SHOWN).to_pylist()
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(_text(row[name]))}</td>" for name in self.columns)
            + "</tr>"
            for row in shown
        )
        rest = len(self) - len(shown)
        more = f"<p>… and {rest} more rows</p>" if rest else ""
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
        )


def _column(name: str, values: Sequence[object]) -> Column:
    """Return the layout of a column, numbers aligned to the right."""
    is_number = all(isinstance(value, int | float) for value in values)
    return Column(name, align="right" if is_number else "left")


def _fitting(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    """Return the number of first columns that fit a screen, at least one."""
    for count in range(len(columns), 1, -1):
        some = [row[:count] for row in rows]
        if table_width(columns[:count], some) <= SCREEN_WIDTH:
            return count
    return 1


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
