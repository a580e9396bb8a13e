"""Result tables on this machine that the driver itself writes and reads, by day."""

import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from planner.fleet.contracts.table_contract import VERSION, TableContract
from planner.fleet.fleet_places import folder_here, is_local
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.contract_columns import columns_of
from planner.spark.common.table_times import MICROS_PER_DAY
from planner.spark.io.fleet_files import KEY
from planner.spark.io.snapshot_keys import NO_TIME, micros_of

NO_DAY = "__HIVE_DEFAULT_PARTITION__"
"""Name that Spark gives to the day of rows without a time."""
_LOCAL = re.compile(r"local(\[.*\])?")
"""Master of a Spark whose tasks run in its driver's JVM; of others they are to work."""
_DEFAULT_FS = "spark.hadoop.fs.defaultFS"
_FINISHED = "_SUCCESS"
"""Empty file that Spark writes beside the days of a finished table."""
_ROW_METADATA = "org.apache.spark.sql.parquet.row.metadata"
"""Key in the metadata of a file under which Spark looks for the schema."""


def local_folder(spark: SparkSession, place: str) -> Path | None:
    """
    Return the folder that a place names if Spark runs on this machine, else `None`.

    Parameters
    ----------
    spark
        The session.
    place
        A path that Spark writes, or ``table:CATALOG.SCHEMA``.
    """
    if not isinstance(spark, SparkSession):
        # A session of Spark Connect: the server may be anywhere.
        return None
    master = spark.conf.get("spark.master", None) or ""
    default = spark.conf.get(_DEFAULT_FS, None)
    conf = {_DEFAULT_FS: default} if default else {}
    is_here = _LOCAL.fullmatch(master) and is_local(master, conf)
    return folder_here(place) if is_here else None


def write_days(
    table: ArrowTable,
    folder: Path,
    contract: TableContract,
    days: Collection[str] = (),
) -> None:
    """
    Write rows as Parquet, a folder per day of `taken_at`; whole days are replaced.

    Parameters
    ----------
    table
        The rows: all columns of the contract but its version.
    folder
        Folder of the table; created if missing.
    contract
        Columns of the table.
    days
        Days that are emptied if they have no rows.

    Notes
    -----
    As Spark does, a day is written beside the table, in a hidden folder, and then takes
    the place of the earlier one. An emptied day keeps a file without rows, so that the
    table has columns.
    """
    folder.mkdir(parents=True, exist_ok=True)
    staging = folder / f".staging-{uuid4().hex}"
    rows = _versioned(table, contract)
    stale = [day for day in days if (folder / f"date={day}").exists()]
    parts = dict.fromkeys(stale, rows[:0]) | _by_day(rows)
    try:
        staging.mkdir()
        for day, of_day in parts.items():
            _write(of_day, staging / f"date={day}")
        for day in parts:
            _replace(folder / f"date={day}", staging / f"date={day}")
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    (folder / _FINISHED).touch()


def _replace(old: Path, new: Path) -> None:
    """Move a folder to the place of another, which waits beside it to be deleted."""
    if old.exists():
        old.rename(new.with_name(f"old-{old.name}"))
    new.rename(old)


def _versioned(table: ArrowTable, contract: TableContract) -> ArrowTable:
    """Return rows in the columns of a contract, with its version and its metadata."""
    version = pa.repeat(pa.scalar(VERSION, pa.int32()), len(table))
    columns = [*map(table.column, contract.columns.names), version]
    metadata = {_ROW_METADATA: columns_of(contract).json()}
    schema = contract.schema.with_metadata(metadata)
    return pa.Table.from_arrays(columns, schema=schema)


def _by_day(table: ArrowTable) -> dict[str, ArrowTable]:
    """Return the rows of each day, sorted by snapshot."""
    ordered = table.sort_by([(name, "ascending") for name in KEY])
    micros = micros_of(ordered)
    day = np.where(micros == NO_TIME, NO_TIME, micros // MICROS_PER_DAY)
    return {
        _text(each): ordered.filter(pa.array(day == each))
        for each in np.unique(day).tolist()
    }


def _text(day: int) -> str:
    """Return a day since 1970 as text."""
    return NO_DAY if day == NO_TIME else str(np.datetime64(day, "D"))


def _write(rows: ArrowTable, folder: Path) -> None:
    from pyarrow import parquet

    folder.mkdir(parents=True)
    name = f"part-00000-{uuid4()}.c000.zstd.parquet"
    parquet.write_table(rows, folder / name, compression="zstd")


def read_days(
    folder: Path,
    schema: Any,  # noqa: ANN401 - an Arrow schema
    days: Collection[str],
    condition: Any,  # noqa: ANN401 - an Arrow expression
) -> ArrowTable:
    """
    Read the rows of some days that meet a condition; absent columns are null.

    Parameters
    ----------
    folder
        Folder of a table.
    schema
        The columns to read.
    days
        Days to read, as ``2026-11-21``.
    condition
        Condition on the rows.
    """
    from pyarrow import dataset

    places = [folder / f"date={day}" for day in days]
    files = [str(path) for place in places for path in sorted(place.glob("*.parquet"))]
    if not files:
        return schema.empty_table()
    found = dataset.dataset(files, schema=schema, format="parquet")
    return found.to_table(filter=condition)
