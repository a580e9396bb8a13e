"""
Files of plain scans, decoded by Arrow.

Columns get their names in the table, and texts that programs write as bytes become
texts. Everything else keeps the type of the file: the caller casts it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from planner.errors import UnreadableFileError
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import KEY, TIME, naming, read_columns
from planner.spark.scans.parquet_scans import ParquetScan

LOCAL = "file:"
"""Scheme of files that the driver and tasks open themselves, as Spark's tasks do."""
FIELD_ID = b"PARQUET:field_id"
"""Metadata of a column that Arrow reads from a file."""


def local_path(path: str) -> str:
    """Return the path of a file of this machine, which Spark names as a URI."""
    return "/" + path.removeprefix(LOCAL).lstrip("/")


def decoded(
    path: str,
    opened: pa.NativeFile,
    scan: ParquetScan,
    *,
    coded: Collection[str] = (),
    groups: Sequence[int] | None = None,
    rows: int | None = None,
) -> Iterator[ArrowTable]:
    """
    Yield the rows of a file of a scan.

    Parameters
    ----------
    path
        Name of the file, for errors.
    opened
        The file.
    scan
        The scan.
    coded
        Columns of the table that are read dictionary-encoded.
    groups
        Row groups; `None`: all of them.
    rows
        Most rows of a table; `None`: one table.

    Raises
    ------
    UnreadableFileError
        If the file is not Parquet, or two of its columns match one name.
    """
    from pyarrow import parquet

    with naming(path):
        footer = parquet.read_metadata(opened)
        named = _own_names(footer.schema.to_arrow_schema(), path, scan)
        own = {named[name] for name in coded if name in named}
        for found in read_columns(opened, named, own, groups, rows, footer):
            yield _with_texts(found, scan.texts)


def with_key_columns(rows: ArrowTable, path: str) -> ArrowTable:
    """
    Return rows with the columns `KEY`, null where the file lacks them.

    Raises
    ------
    UnreadableFileError
        If the key is no text and time.
    """
    for name, kind in zip(KEY, (pa.string(), TIME), strict=True):
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(len(rows), kind))
    if not _has_key(rows.schema):
        reason = f"its columns {KEY[0]} and {KEY[1]} must be a text and a time"
        raise UnreadableFileError(path, reason)
    return rows


def _with_texts(rows: ArrowTable, texts: Collection[str]) -> ArrowTable:
    """Return rows with texts instead of bytes: some programs write texts as bytes."""
    for at, field in enumerate(rows.schema):
        is_list = pa.types.is_list(field.type)
        kind = field.type.value_type if is_list else field.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if field.name in texts and pa.types.is_binary(kind):
            text = pa.list_(pa.string()) if is_list else pa.string()
            rows = rows.set_column(at, field.name, rows.column(at).cast(text))
    return rows


def _has_key(schema: pa.Schema) -> bool:
    name, moment = (schema.field(each).type for each in KEY)
    if pa.types.is_dictionary(name):
        name = name.value_type
    is_text = pa.types.is_string(name) or pa.types.is_large_string(name)
    return bool(is_text and pa.types.is_timestamp(moment))


def _own_names(schema: pa.Schema, path: str, scan: ParquetScan) -> Mapping[str, str]:
    """Return the names of the columns in one file, by their names in the table."""
    if scan.ids is not None:
        return _names_by_id(schema, scan.columns, scan.ids)
    if scan.is_case_sensitive:
        return scan.columns
    folded: dict[str, list[str]] = {}
    for name in schema.names:
        folded.setdefault(name.lower(), []).append(name)
    named = {}
    for name, given in scan.columns.items():
        found = folded.get(given.lower(), [given])
        if len(found) > 1:
            raise UnreadableFileError(path, f"columns {', '.join(found)} are alike")
        named[name] = found[0]
    return named


def _names_by_id(
    schema: pa.Schema, columns: Iterable[str], ids: Mapping[str, int]
) -> Mapping[str, str]:
    """
    Return the names of columns in one file, found by their ids.

    Columns of files without ids are numbered from one, as Iceberg does.
    """
    given = [(field.metadata or {}).get(FIELD_ID) for field in schema]
    if not any(given):
        given = [str(n).encode() for n in range(1, len(schema) + 1)]
    names = dict(zip(given, schema.names, strict=True))
    wanted = {name: str(ids[name]).encode() for name in columns}
    return {name: names[key] for name, key in wanted.items() if key in names}
