"""
Parquet files that Spark fetches and tasks decode.

Spark alone reaches the files of most tables, but it hands over a row in three times the
time that Arrow takes to decode it. Tasks therefore receive the files as they are.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import UnreadableFileError
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import KEY, ROW_BYTES, TIME, naming, read_columns
from planner.spark.io.parquet_scans import MOST_BYTES, ParquetScan, plain_scan
from planner.spark.io.snapshot_keys import Key
from planner.spark.scoring.map_side.partition_batches import each_snapshot
from planner.spark.scoring.map_side.row_sums import CHUNK_ROWS
from planner.spark.scoring.shuffle.shuffle_rows import Batches

LOCAL = "file:"
"""Scheme of files that tasks open themselves, as Spark's tasks do."""
CODED = ("topic", "log_dirs", "future_log_dirs")
"""Columns of partitions that are read dictionary-encoded."""
_FIELD_ID = b"PARQUET:field_id"
"""Metadata of a column that Arrow reads from a file."""


@dataclass(frozen=True, kw_only=True)
class FileContents:
    """
    Files of a scan.

    Parameters
    ----------
    scan
        The scan.
    files
        A row per file: its path and content. Local files have no content: tasks open
        them by their path.
    rows
        Approximate number of rows of all files.
    """

    scan: ParquetScan
    files: DataFrame
    rows: int


def file_contents(table: DataFrame) -> FileContents | None:
    """
    Return the files of a table if it is a plain scan of files that fit in a task.

    Parameters
    ----------
    table
        A table with the columns `KEY`. A job looks up the sizes of files that the
        driver does not see.
    """
    scan = plain_scan(table)
    if scan is None:
        return None
    reader = table.sparkSession.read.format("binaryFile")
    try:
        files = reader.option("recursiveFileLookup", "true").load(list(scan.paths))
        sizes = _sizes_here(scan.paths) or _sizes_by_spark(files)
    except Exception:
        # Files that are gone, or that may be read only as a table: errors of any kind,
        # also of py4j. Spark reads the table, or reports the error.
        return None
    if sizes.files != len(scan.paths) or sizes.largest > MOST_BYTES:
        # Other files than Spark listed before, or too large a file.
        return None
    content = F.lit(None).cast("binary").alias("content")
    given = content if sizes.are_local else "content"
    return FileContents(
        scan=scan, files=files.select("path", given), rows=sizes.total // ROW_BYTES
    )


class _Sizes(NamedTuple):
    """Files by number, bytes of the largest and of all, and whether all are local."""

    files: int
    largest: int
    total: int
    are_local: bool


def _sizes_here(paths: Sequence[str]) -> _Sizes | None:
    """Return the sizes of local files that the driver sees; else `None`: no job."""
    if not all(path.startswith(LOCAL) for path in paths):
        return None
    try:
        sizes = [Path(_local(path)).stat().st_size for path in paths]
    except OSError:
        # Executors may see files that the driver does not.
        return None
    return _Sizes(len(sizes), max(sizes), sum(sizes), are_local=True)


def _sizes_by_spark(files: DataFrame) -> _Sizes:
    """Look up the sizes of files in a job."""
    is_local = F.bool_and(F.col("path").startswith(LOCAL))
    sizes = (F.count("path"), F.max("length"), F.sum("length"), is_local)
    (row,) = files.agg(*sizes).collect()
    return _Sizes(*row)


def partitions_in(
    batches: Batches, scan: ParquetScan
) -> Iterator[tuple[Key, ArrowTable]]:
    """
    Yield the partitions of each snapshot from the contents of files.

    Parameters
    ----------
    batches
        The rows of `FileContents.files`.
    scan
        The scan.

    Raises
    ------
    UnreadableFileError
        If a file is not Parquet, or its key is no text and time.
    """
    for batch in batches:
        paths, contents = batch.column("path"), batch.column("content")
        for path, content in zip(paths, contents, strict=True):
            yield from _of_file(path.as_py(), content, scan)


def _of_file(
    path: str, content: pa.BinaryScalar, scan: ParquetScan
) -> Iterator[tuple[Key, ArrowTable]]:
    from pyarrow import parquet

    with naming(path), _opened(path, content) as opened:
        footer = parquet.read_metadata(opened)
        named = _own_names(footer.schema.to_arrow_schema(), path, scan)
        coded = {named[name] for name in (*CODED, KEY[0]) if name in named}
        tables = read_columns(opened, named, coded, rows=CHUNK_ROWS, footer=footer)
        for rows in tables:
            yield from _keyed(_with_texts(rows, scan.texts), path, scan)


def _opened(path: str, content: pa.BinaryScalar) -> pa.NativeFile:
    if content.is_valid:
        return pa.BufferReader(content.as_buffer())
    return pa.OSFile(_local(path))


def _local(path: str) -> str:
    return "/" + path.removeprefix(LOCAL).lstrip("/")


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


def _keyed(
    rows: ArrowTable, path: str, scan: ParquetScan
) -> Iterator[tuple[Key, ArrowTable]]:
    if scan.constants:
        name, micros = (scan.constants[name] for name in KEY)
        yield (name, micros), rows
        return
    for name, kind in zip(KEY, (pa.string(), TIME), strict=True):
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(len(rows), kind))
    if not _has_key(rows.schema):
        reason = f"its columns {KEY[0]} and {KEY[1]} must be a text and a time"
        raise UnreadableFileError(path, reason)
    yield from each_snapshot(rows)


def _has_key(schema: pa.Schema) -> bool:
    name, moment = (schema.field(each).type for each in KEY)
    if pa.types.is_dictionary(name):
        name = name.value_type
    is_text = pa.types.is_string(name) or pa.types.is_large_string(name)
    return bool(is_text and pa.types.is_timestamp(moment))


def _own_names(schema: pa.Schema, path: str, scan: ParquetScan) -> Mapping[str, str]:
    """Return the names of the columns in one file, by their names in the table."""
    if scan.ids is not None:
        return _names_by_id(schema, scan.ids)
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


def _names_by_id(schema: pa.Schema, ids: Mapping[str, int]) -> Mapping[str, str]:
    """
    Return the names of the columns with these ids in one file.

    Columns of files without ids are numbered from one, as Iceberg does.
    """
    given = [(field.metadata or {}).get(_FIELD_ID) for field in schema]
    if not any(given):
        given = [str(n).encode() for n in range(1, len(schema) + 1)]
    names = dict(zip(given, schema.names, strict=True))
    wanted = {name: str(number).encode() for name, number in ids.items()}
    return {name: names[key] for name, key in wanted.items() if key in names}
