"""
Tables of a catalog at one point in time.

A job reads the tables of a fleet several times, and other jobs may write to them
meanwhile. Each table is therefore read at the version that it had when the fleet was
opened, if its format has versions. `fleet ingest` lists the snapshots that it writes in
the table `commits`: it takes a snapshot off the list before replacing it, and lists it
after all its rows are written. If `commits` has the same version before and after
the other tables are pinned, none of the listed snapshots was being written in between.
"""

import re
from collections.abc import Mapping

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import BadInputError, InputProblem
from planner.fleet.commit_markers import TABLES
from planner.spark.io.catalog_tables import DELTA, ICEBERG, qualified, table_now
from planner.spark.io.fleet_tables import KEY_TYPES, SCHEMAS
from planner.spark.io.picked_columns import pick
from planner.spark.io.snapshot_writes import (
    Micros,
    Write,
    is_one_of,
    without_leftovers,
    writes_in,
)

COMMITS = "commits"
FIRST = "brokers"
"""Table in which the first rows of every snapshot are written."""
MOST_TRIES = 5
_ICEBERG_SNAPSHOT = re.compile(r"current-snapshot-id=(\d+)")


def pinned_tables(spark: SparkSession, schema: str) -> Mapping[str, DataFrame]:
    """
    Return the tables of a fleet as they are now, without rows of unlisted snapshots.

    Parameters
    ----------
    spark
        The session.
    schema
        Schema of a catalog.

    Raises
    ------
    BadInputError
        If `commits` changes at each of `MOST_TRIES` attempts.
    """
    commits = qualified(schema, COMMITS)
    if table_now(spark, schema, COMMITS) is None:
        return _pinned(spark, schema)
    for _ in range(MOST_TRIES):
        version = version_of(spark, commits)
        tables, writes = _pinned(spark, schema), writes_in(spark, schema, COMMITS)
        if version_of(spark, commits) == version:
            return _whole(tables, writes)
    problem = InputProblem(
        file=f"table:{schema}",
        place=COMMITS,
        value="",
        rule="the table changed each time that the fleet was opened",
        remedy="try again once 'fleet ingest' is done",
    )
    msg = f"cannot read table:{schema}"
    raise BadInputError(msg, [problem])


def _whole(
    tables: Mapping[str, DataFrame], writes: Mapping[Micros, Write]
) -> Mapping[str, DataFrame]:
    """Return the rows of listed snapshots, without those of earlier writes."""
    listed = {key for key, write in writes.items() if write.content is not None}
    unlisted = _keys_in(tables[FIRST]) - listed
    whole = {}
    for name, rows in tables.items():
        known = rows.where(~is_one_of(unlisted)) if unlisted else rows
        whole[name] = without_leftovers(known, writes)
    return whole


def version_of(spark: SparkSession, name: str) -> int | None:
    """Return a table's current version; `None` if empty, or without versions."""
    said = _description(spark, name)
    kind = said.get("Provider", "").lower()
    if kind == DELTA:
        (row,) = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()
        return int(row["version"])
    found = _ICEBERG_SNAPSHOT.search(said.get("Table Properties", ""))
    return int(found[1]) if kind == ICEBERG and found else None


def _description(spark: SparkSession, name: str) -> dict[str, str]:
    """Return a catalog's description of a table; empty if it has none."""
    try:
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    except AnalysisException:
        return {}
    return {row["col_name"]: str(row["data_type"]) for row in rows}


def _pinned(spark: SparkSession, schema: str) -> dict[str, DataFrame]:
    """Pin the table of brokers last: the rows of a snapshot are written to it first."""
    order = [name for name in TABLES if name != FIRST]
    return {name: _at_version(spark, schema, name) for name in (*order, FIRST)}


def _at_version(spark: SparkSession, schema: str, table: str) -> DataFrame:
    name = qualified(schema, table)
    table_now(spark, schema, table)
    version = version_of(spark, name)
    if version is None:
        return spark.table(name)
    return spark.sql(f"SELECT * FROM {name} VERSION AS OF {version}")  # noqa: S608 - quoted


def _keys_in(table: DataFrame) -> set[Micros]:
    columns = [field.name for field in KEY_TYPES]
    keys = pick(table, SCHEMAS[FIRST], columns).select(
        "cluster_id", F.unix_micros("taken_at").alias("micros")
    )
    return {(row[0], row[1]) for row in keys.distinct().dropna().collect()}
