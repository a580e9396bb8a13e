"""
Parquet files that tasks decode, instead of rows that Spark hands over.

Arrow decodes a row in a third of the time in which Spark hands it over. Tasks open
files of this machine themselves, a few row groups each. Spark alone reaches other
files, and gives tasks their contents.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.task_packing import cores_of
from planner.spark.io.fleet_files import (
    KEY,
    ROW_BYTES,
    FleetFiles,
    TableFile,
    naming,
    sizes_of,
)
from planner.spark.io.snapshot_keys import Key
from planner.spark.scans.decoded_files import decoded, local_path, with_key_columns
from planner.spark.scans.driver_files import are_local, file_sizes, most_bytes
from planner.spark.scans.parquet_scans import ParquetScan, plain_scan
from planner.spark.scoring.map_side.file_tasks import CODED, Piece, dealt_files
from planner.spark.scoring.map_side.partition_batches import each_snapshot
from planner.spark.scoring.map_side.row_sums import CHUNK_ROWS
from planner.spark.scoring.shuffle.shuffle_rows import Batches

_TABLE = "partitions"


@dataclass(frozen=True, kw_only=True)
class FileContents:
    """
    Files of a table that tasks decode.

    Parameters
    ----------
    handed
        Rows that Spark gives to tasks: their numbers, or files with their contents.
    decode
        Function from batches of `handed` to the rows of each snapshot.
    rows
        Approximate number of rows of all files.
    """

    handed: DataFrame
    decode: Callable[[Batches], Iterator[tuple[Key, ArrowTable]]]
    rows: int


def file_contents(table: DataFrame) -> FileContents | None:
    """
    Return the files of a table if it is a plain scan of files that tasks can decode.

    Parameters
    ----------
    table
        A table with the columns `KEY`. A job looks up the sizes of many files that are
        not of this machine.
    """
    scan = plain_scan(table)
    if scan is None:
        return None
    spark = table.sparkSession
    try:
        return _opened_by_tasks(spark, scan) or _handed_over(spark, scan)
    except Exception:
        # Files that are gone, or that may be read only as a table: errors of any kind,
        # also of py4j. Spark reads the table, or reports the error.
        return None


def _opened_by_tasks(spark: SparkSession, scan: ParquetScan) -> FileContents | None:
    """Return the files by task if they are files of this machine; else `None`."""
    paths = [*map(local_path, scan.paths)]
    if not are_local(scan.paths) or not all(map(os.path.isfile, paths)):
        return None
    files = tuple(map(_file, paths))
    tasks = dealt_files(FleetFiles(tables={_TABLE: files}), cores_of(spark))
    return FileContents(
        handed=spark.range(0, len(tasks), 1, len(tasks)),
        decode=partial(_pieces_of_tasks, scan=scan, tasks=tasks),
        rows=sum(file.rows for file in files),
    )


def _file(path: str) -> TableFile:
    size, groups = sizes_of(path)
    return TableFile(root="", name=path, size=size, row_groups=groups)


def _pieces_of_tasks(
    batches: Batches,
    scan: ParquetScan,
    tasks: Sequence[Sequence[Piece]],
) -> Iterator[tuple[Key, ArrowTable]]:
    for batch in batches:
        for number in batch.column("id").to_pylist():
            for place, pieces in groupby(tasks[number], key=itemgetter(1)):
                groups = [group for _, _, group in pieces]
                some = None if None in groups else groups
                path = scan.paths[place]
                with naming(path), pa.OSFile(local_path(path)) as opened:
                    yield from _decoded(path, opened, scan, some)


def _handed_over(spark: SparkSession, scan: ParquetScan) -> FileContents | None:
    """Return files that Spark hands over, if none of them is large."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    files = reader.load(list(scan.paths))
    sizes = file_sizes(spark, scan.paths) or _sizes_by_spark(files)
    if len(sizes) != len(scan.paths) or max(sizes) > most_bytes(spark):
        # Other files than Spark listed before, or too large a file.
        return None
    return FileContents(
        handed=files.select("path", "content"),
        decode=partial(_contents, scan=scan),
        rows=sum(sizes) // ROW_BYTES,
    )


def _sizes_by_spark(files: DataFrame) -> list[int]:
    """Look up the sizes of files in a job."""
    (row,) = files.agg(F.collect_list("length")).collect()
    return [*row[0]]


def _contents(batches: Batches, scan: ParquetScan) -> Iterator[tuple[Key, ArrowTable]]:
    for batch in batches:
        paths, contents = batch.column("path"), batch.column("content")
        for path, content in zip(paths, contents, strict=True):
            opened = pa.BufferReader(content.as_buffer())
            yield from _decoded(path.as_py(), opened, scan, None)


def _decoded(
    path: str, opened: pa.NativeFile, scan: ParquetScan, groups: Sequence[int] | None
) -> Iterator[tuple[Key, ArrowTable]]:
    """
    Yield the partitions of each snapshot in a file, or in some of its row groups.

    Raises
    ------
    UnreadableFileError
        If the file is not Parquet, or its key is no text and time.
    """
    coded = (*CODED, KEY[0])
    tables = decoded(path, opened, scan, coded=coded, groups=groups, rows=CHUNK_ROWS)
    for rows in tables:
        if scan.constants:
            name, micros = (scan.constants[name] for name in KEY)
            yield (name, micros), rows
        else:
            yield from each_snapshot(with_key_columns(rows, path))
