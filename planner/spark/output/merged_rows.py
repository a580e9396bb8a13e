"""
Rows merged into a table of a catalog: Delta Lake, Iceberg, any format with MERGE.

A full join finds the rows that differ from those of the table, and the keys of rows to
delete. Without any, nothing is committed. Otherwise one MERGE on the keys writes all of
them in one commit, which readers see whole or not at all, also after a job was killed.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.fleet.contracts.table_contract import TableContract
from planner.spark.common.contract_columns import columns_of, versioned
from planner.spark.common.table_times import day_of
from planner.spark.io.catalog_tables import (
    DELTA,
    create_table,
    format_of,
    qualified,
    table_now,
    widen_table,
)
from planner.spark.io.fleet_tables import conform
from planner.spark.io.snapshot_writes import NUMBER
from planner.spark.scoring.fleet_scores import kept

Guard = Callable[[Column, Column], Column]
GONE, KNOWN = "_gone", "_known"
"""Flags of staged rows: the key is to be deleted; the table may contain the key."""
NEW, OLD = "new", "old"


def merge_rows(
    rows: DataFrame,
    schema: str,
    contract: TableContract,
    replaced: Column | None,
    guard: Guard | None = None,
) -> bool:
    """
    Merge rows into a table, which is created if it does not exist.

    Parameters
    ----------
    rows
        Rows in the columns of the contract, each key once.
    schema
        Schema of a catalog.
    contract
        Contract of the table.
    replaced
        Condition on rows of the table that are deleted unless they are among `rows`; it
        may use the day in a column ``date``. `None`: no row is deleted.
    guard
        Comparison of the numbers of the writes of an old and a new row, without which
        the old row stays; the contract has the column `NUMBER`. `None`: it is changed.

    Returns
    -------
    Whether any row differed, and was written.
    """
    spark, name = rows.sparkSession, qualified(schema, contract.name)
    columns = columns_of(contract)
    if table_now(spark, schema, contract.name) is not None:
        widen_table(spark, name, columns)
    else:
        create_table(spark, schema, contract, columns)
    fresh = versioned(rows, contract)
    staged = fresh.withColumns({GONE: F.lit(False), KNOWN: F.lit(True)})
    if replaced is not None:
        staged = _differences(fresh, _existing(fresh, name, replaced), contract.keys)
    # Persisted, since MERGE reads its source twice.
    staged = kept(staged)
    try:
        span = _span(staged)
        if not span["rows"]:
            return False
        on = _within(name, span, contract) & _same(name, NEW, contract.keys)
        # Iceberg appends rows of a MERGE that only inserts without looking at what
        # another job has committed since; Delta Lake looks.
        is_checked = format_of(spark, schema) == DELTA
        is_insert = is_checked and not span["has_known"]
        may_change = None if guard is None else guard(_written(name), _written(NEW))
        _merge(staged, name, contract, on, may_change, is_insert=is_insert)
    finally:
        staged.unpersist()
    return True


def _existing(fresh: DataFrame, name: str, replaced: Column) -> DataFrame:
    table = fresh.sparkSession.table(name)
    dated = table.withColumn("date", day_of("taken_at"))
    return conform(dated.where(replaced), fresh.schema)


def _differences(
    fresh: DataFrame, existing: DataFrame, keys: Sequence[str]
) -> DataFrame:
    """Return rows that are new or changed, and the keys of rows to delete."""
    new = fresh.withColumn("_is", F.lit(True)).alias(NEW)
    old = existing.withColumn("_was", F.lit(True)).alias(OLD)
    joined = new.join(old, _same(NEW, OLD, keys), "full")
    gone, added = F.col(f"{NEW}._is").isNull(), F.col(f"{OLD}._was").isNull()
    others = [each for each in fresh.schema if each.name not in keys]
    compared = [_comparable(each) for each in others]
    same = reduce(Column.__and__, compared, F.lit(True))
    named = [
        F.when(gone, F.col(f"{OLD}.{key}")).otherwise(F.col(f"{NEW}.{key}")).alias(key)
        for key in keys
    ]
    values = [
        F.coalesce(F.col(f"{NEW}.{NUMBER}"), F.col(f"{OLD}.{NUMBER}")).alias(NUMBER)
        if each.name == NUMBER
        # Rows to delete have the number that they were seen with.
        else F.col(f"{NEW}.{each.name}").alias(each.name)
        for each in others
    ]
    flags = [gone.alias(GONE), (~added).alias(KNOWN)]
    return joined.where(gone | added | ~same).select(*named, *values, *flags)


def _comparable(field: T.StructField) -> Column:
    """Return whether a column is equal on both sides, maps as lists of entries."""
    new, old = F.col(f"{NEW}.{field.name}"), F.col(f"{OLD}.{field.name}")
    if isinstance(field.dataType, T.MapType):
        new, old = F.map_entries(new), F.map_entries(old)
    return new.eqNullSafe(old)


def _written(table: str) -> Column:
    return F.coalesce(F.col(f"{table}.{NUMBER}"), F.lit(0))


def _same(one: str, other: str, keys: Sequence[str]) -> Column:
    pairs = [F.col(f"{one}.{k}").eqNullSafe(F.col(f"{other}.{k}")) for k in keys]
    return reduce(Column.__and__, pairs)


def _span(staged: DataFrame) -> Any:  # noqa: ANN401 - a row
    """Return the number of rows, first and last time, and whether any is known."""
    time = F.col("taken_at")
    return staged.agg(
        F.count(F.lit(1)).alias("rows"),
        F.count(time).alias("timed"),
        F.max(KNOWN).alias("has_known"),
        F.unix_micros(F.min(time)).alias("first"),
        F.unix_micros(F.max(time)).alias("last"),
    ).first()


def _within(name: str, span: Any, contract: TableContract) -> Column:  # noqa: ANN401 - a row
    """Return the time span of the rows, so that MERGE prunes other files."""
    if "taken_at" not in contract.keys or span["timed"] < span["rows"]:
        return F.lit(True)
    time = F.col(f"{name}.taken_at")
    first, last = (F.timestamp_micros(F.lit(span[end])) for end in ("first", "last"))
    return (time >= first) & (time <= last)


def _merge(
    staged: DataFrame,
    name: str,
    contract: TableContract,
    on: Column,
    may_change: Column | None,
    *,
    is_insert: bool,
) -> None:
    """Merge staged rows; if the table has none of their keys, only insert."""
    values = {each: F.col(f"{NEW}.{each}") for each in contract.schema.names}
    others = {each: of for each, of in values.items() if each not in contract.keys}
    is_gone = F.col(f"{NEW}.{GONE}")
    merging = staged.alias(NEW).mergeInto(name, on)
    if not is_insert:
        gone = is_gone if may_change is None else is_gone & may_change
        merging = merging.whenMatched(gone).delete()
        merging = merging.whenMatched(may_change).update(others)
    merging.whenNotMatched(~is_gone).insert(values).merge()
