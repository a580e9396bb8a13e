"""Columns of the memory of a search, written where they lie."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

ROWS_AT_ONCE = 4096
"""Rows of a table that stay in the cache while their columns are written."""


class Part(NamedTuple):
    """
    A column: how long it is, and what writes it where it lies.

    Written in place, for the tables of a large problem take longer to copy, and to find
    memory for, than to compute. What `write` leaves out is zero before, unless nobody
    reads it: memory that is never touched is none.
    """

    size: int
    write: Callable[[npt.NDArray[Any]], None]
    needs_zeros: bool = True

    def put(self, into: npt.NDArray[Any]) -> None:
        """Write the column where it lies, whatever stands there."""
        if self.needs_zeros:
            into[:] = 0
        self.write(into)


def plain(values: npt.NDArray[Any]) -> Part:
    """Return the column of values that are known already."""

    def write(into: npt.NDArray[Any]) -> None:
        into[:] = values.reshape(-1)

    return Part(values.size, write, needs_zeros=False)


def zeros(count: int) -> Part:
    """Return a column that starts with nothing but zeros."""
    return Part(count, lambda _: None)


def table_of(
    num_rows: int, width: int, columns: Mapping[int, npt.NDArray[Any]]
) -> Part:
    """
    Return the column that is a table of `width` fields in each row.

    Parameters
    ----------
    num_rows, width
        Of the table.
    columns
        ``(n,)`` or ``(n, fields)`` by the first field they fill, every field by one of
        them; without the last row, that stays zero.
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
