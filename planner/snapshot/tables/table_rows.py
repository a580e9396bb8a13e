"""Lists of lists as compressed rows: one array of values, one of starts."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, OffsetArray
from placement.model.cluster import ABSENT
from planner.snapshot.tables.snapshot_columns import ArrowArray

_FEW = 8
"""Length up to which a row is searched linearly; longer rows are sorted."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """
    A list column as arrays.

    Parameters
    ----------
    start
        ``(P + 1,)`` row ``p`` is ``values[start[p]:start[p + 1]]``.
    values
        ``(N,)`` an Arrow array, or a numpy array, of all rows' elements.
    is_absent
        ``(P,)`` true where the list is null; such a row is empty.
    """

    start: OffsetArray
    values: Any
    is_absent: BoolArray

    @classmethod
    def from_arrow(cls, column: ArrowArray) -> Self:
        """Split a list column; elements stay an Arrow array."""
        array = as_array(column)
        start = np.zeros(len(array) + 1, dtype=np.int64)
        lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        np.cumsum(lengths, out=start[1:])
        is_absent = array.is_null().to_numpy(zero_copy_only=False)
        # `flatten` leaves out elements under null rows and outside slices.
        return cls(start, array.flatten(), is_absent)

    @classmethod
    def of_ids(cls, column: ArrowArray) -> Self:
        """Split a column of broker id lists into numpy arrays."""
        rows = cls.from_arrow(column)
        return cls(rows.start, rows.values.to_numpy(), rows.is_absent)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """``(P,)`` elements of each row."""
        return np.diff(self.start)

    @property
    def row_idx(self) -> npt.NDArray[np.int64]:
        """``(N,)`` the row of each element."""
        lengths = self.lengths
        return np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)


def as_array(column: ArrowArray) -> ArrowArray:
    """Return a column, in chunks or not, as one Arrow array."""
    if not hasattr(column, "chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def find_in_rows(wanted: Rows, rows: Rows) -> OffsetArray:
    """
    Find each element of `wanted` in the same row of `rows`.

    Parameters
    ----------
    wanted, rows
        Rows of non-negative integers, equally many in both.

    Returns
    -------
    ``(N,)`` the first position in ``rows.values``; `ABSENT` if the row lacks the
    element.
    """
    if np.array_equal(wanted.start, rows.start) and np.array_equal(
        wanted.values, rows.values
    ):
        return np.arange(len(wanted.values), dtype=np.int64)
    found = np.full(len(wanted.values), ABSENT, dtype=np.int64)
    row = wanted.row_idx
    low, stop = rows.start[row], rows.start[row + 1]
    pending = np.arange(len(row), dtype=np.int64)
    for step in range(_FEW):
        pending = pending[low[pending] + step < stop[pending]]
        if not len(pending):
            return found
        at = low[pending] + step
        is_here = np.equal(rows.values[at], wanted.values[pending])
        found[pending[is_here]] = at[is_here]
        pending = pending[~is_here]
    found[pending] = _find_sorted(row[pending], wanted.values[pending], rows)
    return found


def _find_sorted(
    row: npt.NDArray[np.int64], values: npt.NDArray[Any], rows: Rows
) -> OffsetArray:
    if not len(row):
        return row
    width = int(max(rows.values.max(), values.max())) + 1
    keys = rows.row_idx * width + rows.values
    order = np.argsort(keys, kind="stable")
    wanted = row * width + values
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    position = order[at]
    return np.where(np.equal(keys[position], wanted), position, ABSENT)
