"""
Columns of a fleet, selected from tables that other programs wrote.

Types are not changed here: a cast of Spark ends the job at a wrong value, or lets an id
overflow. Tasks cast the columns with the code that reads a file, and report each wrong
value (`planner.spark.common.cell_casts`).
"""

from collections.abc import Iterator, Mapping, Sequence

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

CASE_SENSITIVE = "spark.sql.caseSensitive"
TWICE = "a column must occur once"
Flaw = Mapping[str, str]


def is_case_sensitive(spark: SparkSession) -> bool:
    """Return whether column names of the session are case-sensitive."""
    return str(spark.conf.get(CASE_SENSITIVE, "false")).lower() == "true"


def pick(table: DataFrame, schema: T.StructType, keys: Sequence[str]) -> DataFrame:
    """
    Return the columns of a schema from a table, each in the type that it has.

    Parameters
    ----------
    table
        The table; its other columns are left out.
    schema
        Names and types. A column that the table lacks gets Spark's null type, which
        adds nothing to a row.
    keys
        Columns that Spark itself processes: they are cast to their type, and a value
        that cannot be cast is null.
    """
    places, kinds = _places(table, schema), table.schema.fields
    if _is_picked(kinds, schema, keys):
        # Each column that is selected takes several calls of the JVM.
        return table
    # By index: names of columns that differ in case alone are ambiguous.
    plain = table.toDF(*(f"c{n}" for n in range(len(kinds))))
    chosen = []
    for field in schema.fields:
        found = places.get(field.name, ())
        if len(found) == 1:
            kind = kinds[found[0]].dataType
            column = _of_type(F.col(f"c{found[0]}"), kind, field, keys)
        else:
            is_key = field.name in keys
            column = F.lit(None).cast(field.dataType) if is_key else F.lit(None)
        chosen.append(column.alias(field.name))
    return plain.select(*chosen)


def _is_picked(
    kinds: Sequence[T.StructField], schema: T.StructType, keys: Sequence[str]
) -> bool:
    """Return whether a table has exactly the columns that `pick` would return."""
    if [field.name for field in kinds] != schema.names:
        return False
    return all(
        given.dataType == field.dataType
        if field.name in keys
        else _goes_to_arrow(given.dataType)
        for given, field in zip(kinds, schema.fields, strict=True)
    )


def doubles(table: DataFrame, schema: T.StructType, name: str) -> Iterator[Flaw]:
    """Yield a problem for each name that matches several columns."""
    names = table.columns
    for column, found in _places(table, schema).items():
        if len(found) > 1:
            value = ", ".join(names[place] for place in found)
            place = f"column {column}"
            yield {"table": name, "place": place, "value": value, "rule": TWICE}


def _places(table: DataFrame, schema: T.StructType) -> dict[str, list[int]]:
    """Return the indices of the columns that match each name."""
    names = table.columns
    fold = str if is_case_sensitive(table.sparkSession) else str.lower
    wanted = {fold(field.name): field.name for field in schema.fields}
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if fold(name) in wanted:
            found.setdefault(wanted[fold(name)], []).append(place)
    # A name in the exact spelling takes precedence over other spellings.
    exact = {
        name: [place for place in places if names[place] == name]
        for name, places in found.items()
    }
    return {name: exact[name] or places for name, places in found.items()}


def _of_type(
    column: Column, kind: T.DataType, field: T.StructField, keys: Sequence[str]
) -> Column:
    if field.name in keys:
        return column if kind == field.dataType else column.try_cast(field.dataType)
    if not _goes_to_arrow(kind):
        # Intervals, variants and the like: their text is cast like any other.
        return column.cast(T.StringType())
    return column


def _goes_to_arrow(kind: T.DataType) -> bool:
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        to_arrow_type(kind)
    except (PySparkException, TypeError, ValueError):
        return False
    except AssertionError:
        # PySpark asserts a time zone for timestamps, which can be converted.
        return True
    return True


def config_of(table: DataFrame, name: str, key: str) -> Column:
    """
    Return the value of one key of a column of configs, as text.

    Notes
    -----
    Maps may be maps, lists of pairs or structs. Any other type gives null here, and is
    rejected by the cast.
    """
    kind, column = table.schema[name].dataType, F.col(name)
    if isinstance(kind, T.MapType) and isinstance(kind.keyType, T.StringType):
        return F.try_element_at(column, F.lit(key)).cast("string")
    if _is_pairs(kind):
        is_its = F.filter(column, lambda pair: pair["key"] == F.lit(key))
        return F.get(is_its, 0)["value"].cast("string")
    if isinstance(kind, T.StructType) and key in kind.names:
        return column.getField(key).cast("string")
    return F.lit(None).cast("string")


def _is_pairs(kind: T.DataType) -> bool:
    is_list = isinstance(kind, T.ArrayType)
    element = kind.elementType if isinstance(kind, T.ArrayType) else None
    is_struct = is_list and isinstance(element, T.StructType)
    return is_struct and {"key", "value"} <= set(element.names)  # type: ignore[union-attr]
