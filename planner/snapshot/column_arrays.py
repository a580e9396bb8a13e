"""NumPy arrays of Arrow columns, and rows of brokers by id."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import (
    BytesArray,
    CodeArray,
    IndexArray,
    RateArray,
)
from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    Brokers,
)
from planner.snapshot.tables.snapshot_columns import (
    ArrowArray,
)
from planner.snapshot.tables.table_rows import Rows, as_array


def rows_of(brokers: Brokers, ids: npt.NDArray[Any]) -> IndexArray:
    """Return the row of each broker id, from a lookup table if ids are small."""
    if not len(brokers) or brokers.ids[-1] > max(len(ids), 1 << 16):
        return brokers.rows_of(ids)
    row_of = np.full(int(brokers.ids[-1]) + 2, ABSENT, dtype=np.int32)
    row_of[brokers.ids] = np.arange(len(brokers), dtype=np.int32)
    found: IndexArray = row_of[np.clip(ids, -1, len(row_of) - 1)]
    return found


def integers(column: ArrowArray) -> BytesArray:
    """Return a column of integers; null is `UNKNOWN`."""
    filled = as_array(column).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    return np.array(filled, dtype=np.int64)


def rates(column: ArrowArray) -> RateArray:
    """Return a column of numbers; null is NaN."""
    filled = as_array(column).fill_null(np.nan).to_numpy(zero_copy_only=False)
    return np.array(filled, dtype=np.float64)


def codes(column: ArrowArray, names: tuple[str, ...], absent: int) -> CodeArray:
    """Return the position of each value among the names; `absent` for any other."""
    codes = pc.index_in(as_array(column), value_set=pa.array(names))
    return codes.fill_null(absent).to_numpy(zero_copy_only=False).astype(np.int8)  # type: ignore[no-any-return]


def codes_or_own(column: ArrowArray) -> tuple[IndexArray, tuple[str | None, ...]]:
    """Return codes and sorted names; each null gets a name of its own at the end."""
    values = as_array(column)
    names = pa.array(sorted(values.drop_null().unique().to_pylist()), pa.string())
    codes = pc.index_in(values.drop_null(), value_set=names)
    is_named = values.is_valid().to_numpy(zero_copy_only=False)
    idx = np.empty(len(values), dtype=np.int32)
    idx[is_named] = codes.to_numpy(zero_copy_only=False)
    num_own = int((~is_named).sum())
    idx[~is_named] = len(names) + np.arange(num_own)
    return idx, (*names.to_pylist(), *[None] * num_own)


def spread_values(
    rows: Rows, values: npt.NDArray[Any], replicas: Rows
) -> npt.NDArray[Any]:
    """Align a column of optional lists, with one element per replica, to replicas."""
    if len(values) == len(replicas.values):
        return values
    spread = np.full(len(replicas.values), UNKNOWN, dtype=values.dtype)
    spread[np.repeat(~rows.is_absent, replicas.lengths)] = values
    return spread
