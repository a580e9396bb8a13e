"""Small tables that the driver reads itself, since a job takes longer than they do."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812

from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import KEY, TIME, selected_columns
from planner.spark.scans.decoded_files import FIELD_ID, decoded, with_key_columns
from planner.spark.scans.driver_files import file_sizes, open_file
from planner.spark.scans.local_rows import local_rows
from planner.spark.scans.parquet_scans import ParquetScan, scan_of
from planner.spark.scans.plan_columns import plan_of

MOST_BYTES, MOST_ROWS = 1 << 22, 100_000
"""Most bytes of all files of a table, and most rows: some 50 MB of memory."""

_NESTED = (T.StructType, T.MapType, T.ArrayType)


def small_table(table: DataFrame, wanted: Mapping[str, Any]) -> list[ArrowTable] | None:
    """
    Return the rows of a small table that is a plain scan or is in memory.

    The rows of a plain scan are those of each file.

    Parameters
    ----------
    table
        A table with the columns `KEY`.
    wanted
        The columns to return, besides `KEY`; those that a file lacks are null. They
        have the types of the file.

    Returns
    -------
    `None` if Spark has to read the table: it is neither a plain scan nor rows in
    memory, is large, or has files that the driver cannot read as Spark does.
    """
    try:
        tables = _rows_of(table, wanted)
    except Exception:
        # Files that are gone or broken, or that may be read only as a table, or plans
        # of another Spark: errors of any kind, also of py4j. Spark reads the table, or
        # reports the error.
        return None
    is_small = tables is not None and sum(map(len, tables)) <= MOST_ROWS
    return tables if is_small else None


def _rows_of(table: DataFrame, wanted: Mapping[str, Any]) -> list[ArrowTable] | None:
    plan = plan_of(table)
    if plan is None:
        return None
    rows = local_rows(table, plan, MOST_ROWS)
    if rows is not None:
        return [_picked(rows, wanted, "a table in memory")]
    scan = scan_of(table.sparkSession, plan)
    sizes = None if scan is None else file_sizes(table.sparkSession, scan.paths)
    if scan is None or sizes is None or sum(sizes) > MOST_BYTES:
        return None
    return [*_read(table, scan, wanted)]


def _read(
    table: DataFrame, scan: ParquetScan, wanted: Mapping[str, Any]
) -> Iterator[ArrowTable]:
    kinds = {field.name: field.dataType for field in table.schema}
    for path in scan.paths:
        with open_file(table.sparkSession, path) as opened:
            (rows,) = decoded(path, opened, scan)
        for field in rows.schema:
            if not _is_alike(field, kinds[field.name], scan.ids, field.name):
                msg = f"{path}: {field.name} has other fields than in its table"
                raise TypeError(msg)
        yield _picked(_with_constants(rows, scan), wanted, path)


def _picked(rows: ArrowTable, wanted: Mapping[str, Any], place: str) -> ArrowTable:
    """Return the wanted columns and `KEY`; `place` names the rows for errors."""
    found = selected_columns(rows, wanted)
    keyed = with_key_columns(rows, place)
    for name in KEY:
        found = found.append_column(name, keyed.column(name))
    return found


def _with_constants(rows: ArrowTable, scan: ParquetScan) -> ArrowTable:
    for name, value in scan.constants.items():
        kind = pa.string() if name == KEY[0] else TIME
        rows = rows.append_column(name, pa.repeat(pa.scalar(value, kind), len(rows)))
    return rows


def _is_alike(
    found: pa.Field, kind: T.DataType, ids: Mapping[str, int] | None, place: str
) -> bool:
    """
    Return whether Arrow reads the fields of a column that Spark reads.

    Parameters
    ----------
    found
        The column, or a field inside it, in a file.
    kind
        Its type in the table.
    ids
        Ids of the fields, by their places; `None`: files have none.
    place
        Place of the field, as Iceberg names it.
    """
    given = found.type
    if pa.types.is_struct(given) and isinstance(kind, T.StructType):
        mine = [given.field(n) for n in range(given.num_fields)]
        return {each.name for each in mine} == {*kind.names} and all(
            _has_id(each, ids, f"{place}.{each.name}")
            and _is_alike(each, kind[each.name].dataType, ids, f"{place}.{each.name}")
            for each in mine
        )
    if pa.types.is_map(given) and isinstance(kind, T.MapType):
        key = _is_alike(given.key_field, kind.keyType, ids, f"{place}.key")
        return key and _is_alike(
            given.item_field, kind.valueType, ids, f"{place}.value"
        )
    if pa.types.is_list(given) and isinstance(kind, T.ArrayType):
        inside = f"{place}.element"
        return _is_alike(given.value_field, kind.elementType, ids, inside)
    if pa.types.is_nested(given) or isinstance(kind, _NESTED):
        return False
    # Some programs write texts as bytes.
    return bool(pa.types.is_binary(given)) == isinstance(kind, T.BinaryType)


def _has_id(field: pa.Field, ids: Mapping[str, int] | None, place: str) -> bool:
    number = (field.metadata or {}).get(FIELD_ID)
    return ids is None or number == str(ids.get(place)).encode()
