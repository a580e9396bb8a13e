"""Detection of columns that need no cast: canonical type, and numbers in range."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planner.snapshot.tables.snapshot_columns import ArrowArray, Column


def is_within(array: ArrowArray, column: Column) -> bool:
    """
    Return whether all numbers of the canonical type keep the rules of their column.

    Most columns do, and this check is far faster than one of each cell. The result is
    `False` for columns other than numbers and lists of numbers.
    """
    elements, may_hold_null = array, not column.is_required
    if pa.types.is_list(array.type):
        if column.is_required and array.null_count:
            return False
        elements, may_hold_null = array.flatten(), column.may_hold_null
    kind, nulls = elements.type, elements.null_count
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return False
    if nulls and not may_hold_null:
        return False
    if nulls == len(elements):
        return True
    known = elements.fill_null(column.low) if nulls else elements
    numbers = known.to_numpy(zero_copy_only=False)
    # NaN compares as false, and is the minimum and the maximum.
    return bool(numbers.min() >= column.low) and _is_below(numbers, column.high)


def _is_below(numbers: npt.NDArray[Any], high: float) -> bool:
    is_all = numbers.dtype.kind == "i" and high >= np.iinfo(numbers.dtype).max
    return is_all or bool(numbers.max() <= high)
