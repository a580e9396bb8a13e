"""Union of tables of several kinds, and its separation."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import KEY


def tagged(table: DataFrame, tag: str) -> DataFrame:
    """
    Return the key of a table, and its other columns as one struct named `tag`.

    In a union the struct is null in the rows of other parts. All its fields must
    therefore be nullable, or else Arrow rejects the rows.
    """
    own = [column for column in table.columns if column not in KEY]
    struct = F.struct(*(F.col(f"`{name}`") for name in own))
    kind = T.StructType([table.schema[name] for name in own])
    return table.select(*KEY, struct.cast(_nullable(kind)).alias(tag))


def _nullable(kind: T.DataType) -> T.DataType:
    """Return a type with all fields nullable."""
    if isinstance(kind, T.StructType):
        fields = [T.StructField(f.name, _nullable(f.dataType)) for f in kind.fields]
        return T.StructType(fields)
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(_nullable(kind.elementType))
    if isinstance(kind, T.MapType):
        return T.MapType(kind.keyType, _nullable(kind.valueType))
    return kind


def union_of(parts: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all parts; a column that one of them lacks is null there."""
    together = parts[0]
    for more in parts[1:]:
        together = together.unionByName(more, allowMissingColumns=True)
    return together


def part_of(rows: ArrowTable, tag: str) -> ArrowTable:
    """Return the rows of one part of a union as a table of their own."""
    column = rows.column(tag).combine_chunks()
    own = column.filter(column.is_valid())
    # Field by field: a column without nulls in its part is null in other rows.
    fields = [own.field(n) for n in range(own.type.num_fields)]
    return pa.table(fields, [field.name for field in own.type])
