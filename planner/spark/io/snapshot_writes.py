"""
Numbered writes of snapshots to tables of a catalog.

A table of markers (`commits` of a fleet, `done` of scores) has per snapshot the number
of its last write. Rows with a lower number belong to an earlier write, of which they
are left over.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.spark.io.catalog_tables import table_now

NUMBER, WRITTEN = "write_number", "written"
"""Columns of the number of a write, and of the hash of the content that it is of."""
Micros = tuple[str, int]
"""Key of a snapshot: cluster id, and microseconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """
    Last write of a snapshot.

    Parameters
    ----------
    content
        Hash of the content, once all its rows are written; `None` before.
    number
        Number of the write; 0: of another program, or an older release.
    written
        Hash of the content that is written; `None` if unknown.
    """

    content: str | None
    number: int
    written: str | None


def writes_in(spark: SparkSession, schema: str, marker: str) -> dict[Micros, Write]:
    """
    Return the last write of each snapshot; empty without the table of markers.

    Parameters
    ----------
    spark
        The session.
    schema
        Schema of a catalog.
    marker
        Name of the table of markers.
    """
    table = table_now(spark, schema, marker)
    if table is None:
        return {}
    micros = F.unix_micros("taken_at").alias("micros")
    known = [name for name in (NUMBER, WRITTEN) if name in table.columns]
    rows = table.select("cluster_id", micros, "content", *known).collect()
    return {
        (row["cluster_id"], row["micros"]): Write(
            content=row["content"],
            number=(row[NUMBER] or 0) if NUMBER in known else 0,
            written=row[WRITTEN] if WRITTEN in known else None,
        )
        for row in rows
    }


def contents_in(spark: SparkSession, schema: str, marker: str) -> dict[Micros, str]:
    """Return the content hash of each snapshot that is whole; else as `writes_in`."""
    writes = writes_in(spark, schema, marker)
    return {key: w.content for key, w in writes.items() if w.content is not None}


def without_leftovers(rows: DataFrame, writes: Mapping[Micros, Write]) -> DataFrame:
    """
    Return the rows of a table without those of earlier writes than the last.

    The first write of a snapshot leaves none, since there is no earlier one.
    """
    again = {key: w.number for key, w in writes.items() if w.number > 1}
    for number, keys in by_number(again).items():
        rows = rows.where(~is_one_of(keys) | (_number_of(rows) >= number))
    return rows


def _number_of(rows: DataFrame) -> Column:
    is_there = NUMBER in rows.columns
    return F.coalesce(F.col(NUMBER), F.lit(0)) if is_there else F.lit(0)


def by_number(numbers: Mapping[Micros, int]) -> dict[int, set[Micros]]:
    """Return the snapshots by the number of their write."""
    found: dict[int, set[Micros]] = {}
    for key, number in numbers.items():
        found.setdefault(number, set()).add(key)
    return found


def is_one_of(keys: Collection[Micros]) -> Column:
    """Return the condition that a row belongs to one of the snapshots."""
    texts = [f"{micros} {cluster_id}" for cluster_id, micros in sorted(keys)]
    moment = F.unix_micros(F.col("taken_at").cast("timestamp")).cast("string")
    found = F.concat(moment, F.lit(" "), F.col("cluster_id")).isin(*texts)
    return F.coalesce(found, F.lit(False))
