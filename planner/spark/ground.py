"""Tables of several kinds as one, and taken apart again."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from planner.snapshot.columns import ArrowTable


def union_of(parts: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all parts; a column that one of them lacks is null there."""
    together = parts[0]
    for more in parts[1:]:
        together = together.unionByName(more, allowMissingColumns=True)
    return together


def part_of(rows: ArrowTable, tag: str) -> ArrowTable:
    """Return the rows of one part of a union as a table of their own."""
    column = rows.column(tag).combine_chunks()
    return pa.Table.from_struct_array(column.filter(column.is_valid()))
