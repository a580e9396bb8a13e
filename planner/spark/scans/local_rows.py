"""
Rows of tables in memory, taken from their plan by the driver without a job.

Tables made of rows that the driver has, such as a table of Arrow, and selections from
them are local relations of Spark. The converter that serves `toArrow` in tasks also
runs in the driver's JVM, so that values and types are those of `toArrow`.
"""

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.java_plans import class_of
from planner.spark.scans.driver_files import java_of

MOST_BYTES = 1 << 24
"""Most bytes of the rows of a table; a larger one is faster read by a job."""
_LOCAL = "org.apache.spark.sql.execution.LocalTableScanExec"
_CONVERTER = "org.apache.spark.sql.execution.arrow.ArrowConverters$"
_ZONE = "UTC"
"""Time zone of timestamps, as of `toArrow`."""


def local_rows(table: DataFrame, plan: Any, most_rows: int) -> ArrowTable | None:  # noqa: ANN401 - a physical plan
    """
    Return the rows of a table in memory, in the types of `toArrow`.

    Parameters
    ----------
    table
        The table.
    plan
        Its physical plan.
    most_rows
        Most rows to return.

    Returns
    -------
    `None` if the plan is more than rows in memory, or has too many rows.

    Raises
    ------
    Exception
        An error of py4j or Arrow, if a column has no type of Arrow, or the version of
        Spark converts rows differently.
    """
    if class_of(plan) != _LOCAL:
        return None
    rows = plan.rows()
    count = rows.size()
    if count > most_rows:
        return None
    stream = _stream_of(table, rows) if count else _empty_stream(table)
    if stream is None:
        return None
    found = pa.ipc.open_stream(stream).read_all()
    if len(found) != count:
        msg = f"{len(found)} of {count} rows"
        raise ValueError(msg)
    return found


def _stream_of(table: DataFrame, rows: Any) -> bytes | None:  # noqa: ANN401 - rows of Java
    """Return rows as a stream of Arrow; `None` if they do not fit in one batch."""
    # All rows, as long as their size allows, duplicate names of fields are refused, and
    # texts have the usual type.
    batches = _converter(table).toBatchWithSchemaIterator(
        rows.iterator(), _schema_of(table), 0, MOST_BYTES, _ZONE, True, False
    )
    try:
        stream = bytes(batches.next())
        return None if batches.hasNext() else stream
    finally:
        batches.close()


def _empty_stream(table: DataFrame) -> bytes:
    """Return the columns of a table without rows as a stream of Arrow."""
    schema = _schema_of(table)
    return bytes(_converter(table).createEmptyArrowBatch(schema, _ZONE, True, False))


def _schema_of(table: DataFrame) -> Any:  # noqa: ANN401 - an object of Java
    return table._jdf.schema()  # noqa: SLF001 - the only way to it


def _converter(table: DataFrame) -> Any:  # noqa: ANN401 - an object of Java
    converter = getattr(java_of(table.sparkSession), _CONVERTER)
    return getattr(converter, "MODULE$")
