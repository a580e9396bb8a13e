"""
Parquet files that Spark alone reaches, each with the types that it has.

Spark reads a table in one type per column. Files that other programs wrote may differ
in their types, so that the types are read from the files first, in one job per table.
Where they differ, integers become 64 bits wide, and values of different kinds become
texts, which tasks cast like any other text.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.spark.common.machine_failures import machine_failure
from planner.spark.io.picked_columns import is_case_sensitive, pick

Kinds = tuple[T.StructType, list[str]]
"""Types of the columns, and the paths of the files that have them."""


def kinds_of(
    spark: SparkSession, paths: Sequence[str], otherwise: T.StructType
) -> list[Kinds]:
    """
    Return files by the types of their columns.

    Parameters
    ----------
    spark
        The session.
    paths
        The files.
    otherwise
        Types of columns that files lack, and of files that cannot be read: reading
        their rows reports the reason.
    """
    found: dict[str, Kinds] = {}
    for schema, files in _schemas(spark, paths, otherwise):
        found.setdefault(schema.json(), (schema, []))[1].extend(files)
    return [*found.values()]


def _schemas(
    spark: SparkSession, paths: Sequence[str], otherwise: T.StructType
) -> Iterator[tuple[T.StructType, Sequence[str]]]:
    """Yield the types of files in one job if they agree, else of each half of them."""
    if not paths:
        return
    try:
        schema = spark.read.option("mergeSchema", "true").parquet(*paths).schema
        yield _completed(schema, otherwise, spark), paths
    except Exception as error:
        if machine_failure(error) is not None:
            raise
        half = len(paths) // 2
        if not half:
            yield otherwise, paths
            return
        yield from _schemas(spark, paths[:half], otherwise)
        yield from _schemas(spark, paths[half:], otherwise)


def _completed(
    schema: T.StructType, wanted: T.StructType, spark: SparkSession
) -> T.StructType:
    """Return the types of files, and those of the columns that they lack."""
    fold = str if is_case_sensitive(spark) else str.lower
    known = {fold(name) for name in schema.names}
    missing = [field for field in wanted if fold(field.name) not in known]
    return T.StructType([*schema.fields, *missing])


def read_kinds(
    spark: SparkSession, kinds: Sequence[Kinds], without: Collection[str]
) -> Iterator[DataFrame]:
    """Yield the rows of files by the types of their columns; leave some files out."""
    for schema, paths in kinds:
        files = [path for path in paths if path not in without]
        if files:
            yield spark.read.schema(schema).parquet(*files)


def wrong_kinds(kinds: Sequence[Kinds], wanted: T.StructType) -> Mapping[str, str]:
    """
    Return the reasons why files cannot be read together with others, by their paths.

    Parameters
    ----------
    kinds
        Files by the types of their columns. If all of them are alike, tasks report a
        column of another kind.
    wanted
        Types of the columns of the table.
    """
    if len(kinds) == 1:
        return {}
    return {
        path: f"the column {field.name} must be {field.dataType.simpleString()}, and "
        f"is {schema[field.name].dataType.simpleString()}"
        for schema, paths in kinds
        for field in wanted
        if field.name in schema.names
        and _kind(schema[field.name].dataType) != _kind(field.dataType)
        for path in paths
    }


def _kind(kind: T.DataType) -> str:
    """Return ``value``, ``list`` of values, or the name of any other type."""
    if isinstance(kind, T.ArrayType):
        return "list" if _kind(kind.elementType) == "value" else kind.simpleString()
    is_nested = isinstance(kind, T.MapType | T.StructType)
    return kind.typeName() if is_nested else "value"


def alike(
    tables: Sequence[DataFrame], wanted: T.StructType, keys: Sequence[str]
) -> DataFrame:
    """
    Return the rows of tables whose columns differ in their types.

    Parameters
    ----------
    tables
        The tables, each column of the kind that `wanted` has.
    wanted
        Names and types of the columns.
    keys
        As for `planner.spark.io.picked_columns.pick`.
    """
    picked = [pick(table, wanted, keys) for table in tables]
    types = {field.name: _common(field, picked) for field in wanted}
    return reduce(
        DataFrame.unionByName, (_in_types(each, wanted, types) for each in picked)
    )


def _common(field: T.StructField, tables: Sequence[DataFrame]) -> T.DataType | None:
    """Return the type of a column that differs; `None`: texts."""
    found = {table.schema[field.name].dataType for table in tables} - {T.NullType()}
    bare = {_element(kind) for kind in found}
    if _kind(field.dataType) not in {"value", "list"}:
        return field.dataType
    if len(bare) == 1:
        (kind,) = bare
    elif all(isinstance(kind, T.IntegralType) for kind in bare):
        kind = T.LongType()
    else:
        return None
    return T.ArrayType(kind) if isinstance(field.dataType, T.ArrayType) else kind


def _element(kind: T.DataType) -> T.DataType:
    return kind.elementType if isinstance(kind, T.ArrayType) else kind


def _in_types(
    table: DataFrame, wanted: T.StructType, types: Mapping[str, T.DataType | None]
) -> DataFrame:
    columns = []
    for field in wanted:
        kind, column = types[field.name], F.col(field.name)
        given = table.schema[field.name].dataType
        cast = _texts(column, given) if kind is None else column.try_cast(kind)
        columns.append(cast.alias(field.name))
    return table.select(*columns)


def _texts(column: Column, kind: T.DataType) -> Column:
    """Return values as texts, whole numbers as integers are written."""
    if isinstance(kind, T.ArrayType):
        return F.transform(column, lambda each: _texts(each, kind.elementType))
    text = column.try_cast("string")
    if isinstance(kind, T.FloatType | T.DoubleType | T.DecimalType):
        whole = column.try_cast("bigint")
        return F.when(whole == column, whole.cast("string")).otherwise(text)
    return text
