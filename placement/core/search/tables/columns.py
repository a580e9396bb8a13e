"""Columns of the memory of a search, written in place."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

ROWS_AT_ONCE = 4096
"""Number of table rows that stay in the cache while their columns are written."""


class Part(NamedTuple):
    """
    Column with its length and a function that writes it in place.

    Columns are written in place, because allocating and copying the tables of a large
    problem takes longer than computing them. `needs_zeros`: whether entries that
    `write` leaves out must be 0. Memory that is never touched is not allocated.
    """

    size: int
    write: Callable[[npt.NDArray[Any]], None]
    needs_zeros: bool = True

    def put(self, into: npt.NDArray[Any]) -> None:
        """Write the column over existing content."""
        if self.needs_zeros:
            into[:] = 0
        self.write(into)


def plain(values: npt.NDArray[Any]) -> Part:
    """Return a column of given values."""

    def write(into: npt.NDArray[Any]) -> None:
        into[:] = values.reshape(-1)

    return Part(values.size, write, needs_zeros=False)


def zeros(count: int) -> Part:
    """Return a column of zeros."""
    return Part(count, lambda _: None)


def table_of(
    num_rows: int, width: int, columns: Mapping[int, npt.NDArray[Any]]
) -> Part:
    """
    Return a column that holds a table of `width` fields per row.

    Parameters
    ----------
    num_rows, width
        Number of rows and of fields.
    columns
        ``(n,)`` or ``(n, fields)`` values by the first field they fill; every field is
        covered once. Rows beyond the values, such as the last one, stay zero.
    """

    def write(into: npt.NDArray[Any]) -> None:
        table = into.reshape(-1, width)
        table[-1:] = 0
        for start in range(0, num_rows, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            for field, values in columns.items():
                some = values[rows] if values.ndim == 2 else values[rows, np.newaxis]
                end = field + some.shape[1]
                table[start : start + len(some), field:end] = some

    return Part(num_rows * width, write, needs_zeros=False)
