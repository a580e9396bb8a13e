"""
Tables of numbers in few bytes, on their way from task to task.

Most of what is counted is nothing, or little: a column of nothing but zeros is left
out, and whole numbers take as many bytes as the largest of their column.
"""

import functools
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planner.snapshot.columns import ArrowArray, ArrowTable

AS_IS, NOTHING, NULLS = "=", "0", "n"
_LEFT_OUT = {NOTHING, NULLS}
_SHORT = {"1": pa.int8(), "2": pa.int16(), "4": pa.int32()}
_FITS = [(code, np.iinfo(kind.to_pandas_dtype())) for code, kind in _SHORT.items()]
WORTH_IT = 1_000
"""Rows; of fewer all columns stay as they are, which takes no look at them."""
SCHEMAS_KEPT = 256
"""Those of a task are few; a worker may live for days."""


def narrowed(table: ArrowTable) -> tuple[str, ArrowTable]:
    """
    Return a table in fewer bytes, and a letter per column that says what became of it.

    Parameters
    ----------
    table
        Its whole numbers are of 64 bits.
    """
    if len(table) < WORTH_IT:
        return AS_IS * table.num_columns, table
    codes = "".join(map(_code, table.columns))
    if _LEFT_OUT.issuperset(codes):
        # Something must say how many rows there are.
        codes = AS_IS + codes[1:]
    kept = [
        column.cast(_SHORT[code]) if code in _SHORT else column
        for code, column in zip(codes, table.columns, strict=True)
        if code not in _LEFT_OUT
    ]
    return codes, pa.Table.from_arrays(kept, schema=narrow_schema(table.schema, codes))


def _code(column: ArrowArray) -> str:
    if column.null_count:
        return NULLS if column.null_count == len(column) else AS_IS
    if pa.types.is_floating(column.type):
        return AS_IS if pc.any(pc.not_equal(column, 0)).as_py() else NOTHING
    if pa.types.is_int64(column.type):
        return _whole(**pc.min_max(column).as_py())
    return AS_IS


def _whole(min: int, max: int) -> str:  # noqa: A002 - Arrow's names
    if min == max == 0:
        return NOTHING
    fits = (code for code, kind in _FITS if kind.min <= min and max <= kind.max)
    return next(fits, AS_IS)


@functools.lru_cache(SCHEMAS_KEPT)
def narrow_schema(schema: pa.Schema, codes: str) -> pa.Schema:
    """Return the columns that `narrowed` leaves, as they are sent."""
    fields = zip(schema, codes, strict=True)
    return pa.schema(
        [
            field.with_type(_SHORT[code]) if code in _SHORT else field
            for field, code in fields
            if code not in _LEFT_OUT
        ]
    )


def widened(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, codes: str
) -> ArrowTable:
    """Return what `narrowed` was given, of batches with the same letters."""
    narrow = narrow_schema(schema, codes)
    table = pa.Table.from_batches(batches, narrow).combine_chunks()
    if narrow == schema:
        return table
    columns = [
        _wide(table, field, code) for field, code in zip(schema, codes, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _wide(table: ArrowTable, field: pa.Field, code: str) -> ArrowArray:
    if code == NOTHING:
        return pa.array(np.zeros(len(table)), field.type)
    if code == NULLS:
        return pa.nulls(len(table), field.type)
    return table.column(field.name).cast(field.type)
