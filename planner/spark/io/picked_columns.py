"""
The columns of a fleet's tables, picked from tables that somebody else made.

Types are left as they are: Spark's casts end the job at a wrong value, or let an id
wrap around. The tasks cast what they are handed, by the same code that reads a file,
and name each wrong value (`planner.spark.common.cell_casts`).
"""

from collections.abc import Iterator, Mapping, Sequence

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

CASE_SENSITIVE = "spark.sql.caseSensitive"
TWICE = "a column must stand once"
Flaw = Mapping[str, str]


def is_case_sensitive(spark: SparkSession) -> bool:
    """Return whether the session takes names of another case for other names."""
    return str(spark.conf.get(CASE_SENSITIVE, "false")).lower() == "true"


def pick(table: DataFrame, schema: T.StructType, keys: Sequence[str]) -> DataFrame:
    """
    Return a table in the columns of a schema, each in the type that it has.

    Parameters
    ----------
    table
        The table; other columns of it are left out.
    schema
        Names and types. A column that the table lacks has Spark's type of nothing but
        nulls, which costs no row anything on its way.
    keys
        Columns that Spark itself works with: they get their type, and are null where a
        value has none.
    """
    places, kinds = _places(table, schema), table.schema.fields
    # By place: by name, columns that differ in case alone are ambiguous.
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


def doubles(table: DataFrame, schema: T.StructType, name: str) -> Iterator[Flaw]:
    """Yield what is wrong with columns that the session takes for one."""
    names = table.columns
    for column, found in _places(table, schema).items():
        if len(found) > 1:
            value = ", ".join(names[place] for place in found)
            place = f"column {column}"
            yield {"table": name, "place": place, "value": value, "rule": TWICE}


def _places(table: DataFrame, schema: T.StructType) -> dict[str, list[int]]:
    """Return the places of the columns that may be meant by each name."""
    names = table.columns
    fold = str if is_case_sensitive(table.sparkSession) else str.lower
    wanted = {fold(field.name): field.name for field in schema.fields}
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if fold(name) in wanted:
            found.setdefault(wanted[fold(name)], []).append(place)
    # One that is spelt as it should be is meant rather than others.
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
        # Intervals, variants and the like: their text is judged like any other.
        return column.cast(T.StringType())
    return column


def _goes_to_arrow(kind: T.DataType) -> bool:
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        to_arrow_type(kind)
    except (PySparkException, TypeError, ValueError):
        return False
    except AssertionError:
        # Of moments, which go, PySpark wants to know the zone.
        return True
    return True


def config_of(table: DataFrame, name: str, key: str) -> Column:
    """
    Return the value of one key of a column of configs, as text.

    Notes
    -----
    Maps come as maps, as lists of pairs and as structs; what is none of them says
    nothing here, and is refused where it is cast.
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
