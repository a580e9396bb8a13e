"""
Long texts joined from columns of short ones, fast enough for millions.

Arrow is imported on first use; `planner.cli.common.snapshot_reading` imports it
earlier.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Column = Any
"""Arrow array of strings, one per row."""
Rows = npt.NDArray[np.signedinteger[Any]]


def texts_of(texts: Sequence[str]) -> Column:
    """Return texts as a column."""
    import pyarrow as pa

    return pa.array(texts, pa.large_string())


def taken(texts: Column, rows: Rows) -> Column:
    """Return the text at each row of a column."""
    import pyarrow as pa

    return texts.take(pa.array(rows))


def picked(texts: Sequence[str | None], rows: Rows) -> Column:
    """Return the text at each row; -1 selects the last text."""
    import pyarrow as pa

    at = np.where(rows < 0, len(texts) - 1, rows) if len(rows) else rows
    return pa.array(texts, pa.large_string()).take(pa.array(at, pa.int64()))


def numerals(numbers: Rows) -> Column:
    """Return each integer as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cast(pa.array(numbers), pa.large_string())


def lists_joined(start: Rows, items: Column, separator: str = ",") -> Column:
    """
    Return the items of each list as one text.

    Parameters
    ----------
    start
        ``(N + 1,)`` items of list ``n`` are rows ``start[n]:start[n + 1]``.
    items
        Items of all lists.
    separator
        Text between two items.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = pa.LargeListArray.from_arrays(pa.array(start, pa.int64()), items)
    return pc.binary_join(lists, _constant(separator))


def side_by_side(*parts: Column | str, separator: str = "") -> Column:
    """Join the texts of each row; a string argument is the same in every row."""
    import pyarrow.compute as pc

    columns = [_constant(part) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*columns, _constant(separator))


def _constant(text: str) -> Any:  # noqa: ANN401 - Arrow's
    import pyarrow as pa

    return pa.scalar(text, pa.large_string())


def whole(texts: Column, separator: str = "") -> str:
    """Return all texts joined into one."""
    if not len(texts):
        return ""
    ends = np.array([0, len(texts)])
    return str(lists_joined(ends, texts, separator)[0].as_py())
