"""Fleets opened by path or catalog schema, or built from snapshots in memory."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from planner.errors import BadInputError, InputProblem
from planner.fleet.arrow_tables import (
    EPOCH,
    KEY_FIELDS,
    header_table,
    read_header,
    snapshot_tables,
)
from planner.fleet.commit_markers import Visible
from planner.fleet.fleet_places import CATALOG, schema_of
from planner.snapshot.tables.snapshot_columns import (
    BROKERS,
    LOG_DIRS,
    PARTITIONS,
    TOPICS,
    ArrowTable,
)
from planner.spark.common.table_times import day_of
from planner.spark.io.fleet_files import (
    KEY,
    FleetFiles,
    TableFile,
    parts_of,
    sizes_of,
)
from planner.spark.io.fleet_layout import (
    flaws_of_files,
    fleet_files,
    read_tables,
    read_visible,
)
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.pinned_tables import pinned_tables

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

TABLE_NAMES = ("clusters", "brokers", "log_dirs", "topics", "partitions")


def open_fleet(
    spark: SparkSession,
    folder: str,
    *,
    days: Collection[str] | None = None,
    broken: Mapping[str, str] = MappingProxyType({}),
) -> Fleet:
    """
    Open the tables of a fleet by a path that Spark reads, or by catalog schema.

    Parameters
    ----------
    spark
        The session.
    folder
        A folder with ``clusters/``, ``brokers/`` and so on: ``file:``, ``s3a:``,
        ``hdfs:`` …; or ``table:SCHEMA`` for the tables ``SCHEMA.clusters`` and so on,
        each read at its current version.
    days
        Days to read, as ``2026-11-21``; `None`: all.
    broken
        Reasons why files cannot be read, by their paths in the folder. Spark reads the
        tables without these files.

    Raises
    ------
    BadInputError
        If `folder` is no fleet, or a file of a catalog's tables cannot be read.
    """
    if folder.startswith(CATALOG):
        if broken:
            raise _broken_catalog(folder, broken)
        return _of_days(_fleet_of(_tables_of(spark, folder)), days)
    visible = read_visible(spark, folder.rstrip("/"))
    files = fleet_files(folder, visible, days)
    if files is not None:
        opened = partial(_tables_in, spark, folder, visible, days)
        return Fleet.of_files(spark, files, opened)
    tables, odd = read_tables(spark, folder, visible, days, broken)
    flaws = flaws_of_files(folder, visible, days, {**broken, **odd})
    return replace(_fleet_of(tables), flaws=flaws)


def _tables_in(
    spark: SparkSession, folder: str, visible: Visible, days: Collection[str] | None
) -> Mapping[str, DataFrame]:
    """
    Return the tables of a folder of this machine, as Spark reads them.

    Raises
    ------
    BadInputError
        If a file has a column of another kind than the other files.
    """
    tables, odd = read_tables(spark, folder, visible, days)
    if odd:
        problems = [
            InputProblem(
                file=f"{folder}/{name}",
                place="",
                value="",
                rule=reason,
                remedy="write its snapshot anew",
            )
            for name, reason in odd.items()
        ]
        msg = f"cannot read {folder} as one table"
        raise BadInputError(msg, problems)
    return tables


def _tables_of(spark: SparkSession, place: str) -> Mapping[str, DataFrame]:
    """Return the tables of a fleet in a catalog."""
    try:
        return pinned_tables(spark, str(schema_of(place)))
    except AnalysisException as error:
        reason = str(error).splitlines()[0]
        found = InputProblem(
            file=place,
            place="",
            value="",
            rule=f"a schema with a fleet must hold its tables: {reason}",
            remedy="write them with 'kafka-planner fleet ingest DUMPS -o table:…'",
        )
        msg = f"{place} is not a fleet"
        raise BadInputError(msg, [found]) from error


def _of_days(fleet: Fleet, days: Collection[str] | None) -> Fleet:
    """Return the snapshots of some days, and the rows without a time."""
    if days is None:
        return fleet
    is_asked = F.col("taken_at").isNull() | day_of("taken_at").isin(*days)
    return replace(
        fleet,
        clusters=fleet.clusters.where(is_asked),
        brokers=fleet.brokers.where(is_asked),
        log_dirs=fleet.log_dirs.where(is_asked),
        topics=fleet.topics.where(is_asked),
        partitions=fleet.partitions.where(is_asked),
    )


def _broken_catalog(folder: str, broken: Mapping[str, str]) -> BadInputError:
    """
    Return the error for files of a catalog's tables that cannot be read.

    A table of a catalog is read as a whole, and no marker names the snapshots of a
    file. Without the file some partitions would be missing, and the rest would pass for
    complete snapshots.
    """
    problems = [
        InputProblem(
            file=folder,
            place="",
            value="",
            rule=f"{reason}; no marker tells which snapshots it has",
            remedy="restore the file, or write its snapshots anew",
        )
        for reason in broken.values()
    ]
    return BadInputError(f"cannot read {folder}", problems)


def fleet_of_snapshots(
    spark: SparkSession, snapshots: Iterable["Snapshot"], *, keys: Sequence[str] = ()
) -> Fleet:
    """
    Build a fleet from snapshots in memory, for tests and small numbers of snapshots.

    Parameters
    ----------
    spark
        The session.
    snapshots
        The snapshots.
    keys
        Names for snapshots without a cluster id; absent: the index of the snapshot.
    """
    all_tables = [
        snapshot_tables(snapshot, name=keys[i] if i < len(keys) else str(i))
        for i, snapshot in enumerate(snapshots)
    ]
    # In one chunk: Spark 4 reads only the first chunks of an Arrow table.
    together = {
        name: pa.concat_tables([tables[name] for tables in all_tables]).combine_chunks()
        for name in TABLE_NAMES
    }
    frames = {name: spark.createDataFrame(table) for name, table in together.items()}
    return _fleet_of(frames)


def snapshot_folder(spark: SparkSession, folder: Path, *, name: str) -> Fleet:
    """
    Open one snapshot folder of Parquet as a fleet of one, without collecting any rows.

    Parameters
    ----------
    spark
        The session.
    folder
        A snapshot folder.
    name
        Name for a snapshot without a cluster id.
    """
    header = header_table(read_header(folder), name=name)
    key = header.select(list(KEY)).to_pylist()[0]
    micros = (key["taken_at"] - EPOCH) // timedelta(microseconds=1)
    tables = {
        columns.name: tuple(
            _file_of(folder, path, (key["cluster_id"], micros))
            for path in parts_of(folder / columns.file)
        )
        for columns in (BROKERS, LOG_DIRS, TOPICS, PARTITIONS)
    }
    files = FleetFiles(tables=tables, given={"clusters": header})
    return Fleet.of_files(spark, files, partial(_folder_tables, spark, folder, header))


def _file_of(folder: Path, path: Path, key: tuple[str, int]) -> TableFile:
    size, groups = sizes_of(str(path))
    return TableFile(
        root=str(folder.absolute()),
        name=str(path.relative_to(folder)),
        size=size,
        row_groups=groups,
        key=key,
        snapshots=(key,),
    )


def _folder_tables(
    spark: SparkSession, folder: Path, header: ArrowTable
) -> dict[str, DataFrame]:
    """Open the tables of a snapshot folder, and add the key columns."""
    key = header.select(list(KEY)).to_pylist()[0]
    frames = {}
    for columns in (BROKERS, LOG_DIRS, TOPICS, PARTITIONS):
        path = folder / columns.file
        if path.exists():
            frames[columns.name] = spark.read.parquet(path.absolute().as_uri())
        else:
            # A table of Arrow stays in memory, and is read without a job.
            schema = pa.schema([*KEY_FIELDS, *columns.schema])
            frames[columns.name] = spark.createDataFrame(schema.empty_table())
    named = {
        "cluster_id": F.lit(key["cluster_id"]),
        "taken_at": F.lit(key["taken_at"]).cast("timestamp"),
    }
    keyed = {table: frame.withColumns(named) for table, frame in frames.items()}
    return {"clusters": spark.createDataFrame(header), **keyed}


def _fleet_of(tables: Mapping[str, DataFrame]) -> Fleet:
    """Return a fleet from tables by name, in their canonical columns."""
    return Fleet(
        clusters=tables["clusters"],
        brokers=tables["brokers"],
        log_dirs=tables["log_dirs"],
        topics=tables["topics"],
        partitions=tables["partitions"],
    ).canonical()
