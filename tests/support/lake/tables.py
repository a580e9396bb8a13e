"""Tables of Delta Lake and Iceberg, and their commits."""

from pathlib import Path
from typing import Any


def rows_of(lake: Any, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, in any order."""
    return [row.asDict(recursive=True) for row in lake.table(table).collect()]


def scores_of(lake: Any, schema: str) -> Any:
    """Return the scores of a schema, without the columns of their writer, as Arrow."""
    table = lake.table(f"{schema}.scores")
    return table.drop("version", "write_number").toArrow()


def commits_of(lake: Any, table: str) -> list[str]:
    """Return what wrote rows into a table, commit by commit."""
    if table.startswith("spark_catalog"):
        rows = lake.sql(f"DESCRIBE HISTORY {table}").orderBy("version").collect()
        return [row["operation"] for row in rows if row["operation"] == "MERGE"]
    rows = lake.table(f"{table}.snapshots").orderBy("committed_at").collect()
    return [row["operation"] for row in rows]


def layout_of(lake: Any, table: str) -> str:
    """Return what files of a table are laid out by."""
    if table.startswith("spark_catalog"):
        (row,) = lake.sql(f"DESCRIBE DETAIL {table}").collect()
        return ", ".join(row["clusteringColumns"])
    said = lake.sql(f"DESCRIBE EXTENDED {table}").collect()
    parts = [r["data_type"] for r in said if r["col_name"].startswith("Part ")]
    order = lake.sql(f"SHOW TBLPROPERTIES {table}").where("key = 'sort-order'").first()
    return ", ".join([*parts, *order["value"].split()[:1]])


def comments_of(lake: Any, table: str) -> set[str]:
    """Return the comments of the columns of a table."""
    return {row["comment"] for row in lake.sql(f"DESCRIBE TABLE {table}").collect()}


def find_tables(lake: Any, warehouse: Path, schema: str) -> None:
    """
    Name the Delta tables that other processes made in a schema.

    Spark's own catalog forgets them with its process; this stands for a metastore.
    """
    catalog, _, name = schema.partition(".")
    if catalog != "spark_catalog":
        return
    for log in (warehouse / "delta" / f"{name}.db").glob("*/_delta_log"):
        table = f"{schema}.{log.parent.name}"
        if next(log.glob("*.json"), None) and not lake.catalog.tableExists(table):
            lake.sql(f"CREATE TABLE {table} USING delta LOCATION '{log.parent}'")
