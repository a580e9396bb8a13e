"""Tables of a catalog by name: their formats, creation and added columns."""

from collections.abc import Iterator

from pyspark.errors import ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812

from planner.fleet.contracts.table_contract import VERSION, TableContract
from planner.fleet.fleet_places import name_parts

ICEBERG = "iceberg"
DELTA = "delta"


def qualified(schema: str, table: str) -> str:
    """
    Return the quoted name of a table.

    Examples
    --------
    >>> qualified("lake.kafka", "scores")
    '`lake`.`kafka`.`scores`'
    """
    return ".".join(f"`{part}`" for part in (*name_parts(schema), table))


def format_of(spark: SparkSession, schema: str) -> str:
    """Return the table format of a catalog: `ICEBERG` for Iceberg, else `DELTA`."""
    parts = name_parts(schema)
    default = spark.conf.get("spark.sql.defaultCatalog", "spark_catalog")
    catalog = parts[0] if len(parts) > 1 else default
    kind = spark.conf.get(f"spark.sql.catalog.{catalog}", "")
    return ICEBERG if ICEBERG in str(kind).lower() else DELTA


def table_now(spark: SparkSession, schema: str, table: str) -> DataFrame | None:
    """
    Return a table as it is now; `None` if it does not exist.

    Iceberg's catalog keeps tables as they were first read until they were not used
    for some time, 30 s by default, and shows commits of this session alone.

    Parameters
    ----------
    spark
        The session.
    schema, table
        Schema of a catalog, and the name of the table in it.
    """
    name = qualified(schema, table)
    if not spark.catalog.tableExists(name):
        return None
    if format_of(spark, schema) == ICEBERG:
        spark.catalog.refreshTable(name)
    return spark.table(name)


def create_table(
    spark: SparkSession, schema: str, contract: TableContract, columns: T.StructType
) -> None:
    """
    Create an empty table in the layout that is usual for its format.

    Parameters
    ----------
    spark
        The session.
    schema
        Schema of a catalog.
    contract
        Contract of the table.
    columns
        Columns of the table, with their comments.
    """
    name, kind = qualified(schema, contract.name), format_of(spark, schema)
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {name} ({', '.join(map(_definition, columns))}) "
        f"USING {kind} {_layout(kind, contract)} "
        f"TBLPROPERTIES ('kafka-planner.version' = '{VERSION}')"
    )
    if kind == ICEBERG:
        _order(spark, name)


def _layout(kind: str, contract: TableContract) -> str:
    if kind == ICEBERG:
        return "PARTITIONED BY (days(taken_at))" if contract.is_by_day else ""
    keys = ["taken_at", "cluster_id"] if contract.is_by_day else [contract.keys[0]]
    return f"CLUSTER BY ({', '.join(keys)})"


def _order(spark: SparkSession, name: str) -> None:
    """Sort files by cluster if the session has Iceberg's SQL extensions."""
    try:
        spark.sql(f"ALTER TABLE {name} WRITE LOCALLY ORDERED BY cluster_id")
    except ParseException:
        return


def widen_table(spark: SparkSession, name: str, columns: T.StructType) -> None:
    """Add the columns and struct fields that an older table lacks."""
    missing = list(_missing(spark.table(name).schema, columns))
    if missing:
        spark.sql(f"ALTER TABLE {name} ADD COLUMNS ({', '.join(missing)})")


def _missing(
    have: T.StructType, wanted: T.StructType, place: str = ""
) -> Iterator[str]:
    known = {field.name: field.dataType for field in have}
    for field in wanted:
        kind = known.get(field.name)
        if kind is None:
            yield _definition(field, place)
        elif isinstance(kind, T.StructType) and isinstance(
            field.dataType, T.StructType
        ):
            yield from _missing(kind, field.dataType, f"{place}`{field.name}`.")


def _definition(field: T.StructField, place: str = "") -> str:
    comment = str((field.metadata or {}).get("comment", ""))
    quoted = comment.replace("\\", "\\\\").replace("'", "\\'")
    kind = field.dataType.simpleString()
    return f"{place}`{field.name}` {kind}" + (f" COMMENT '{quoted}'" if quoted else "")
