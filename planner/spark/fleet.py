"""The tables of many snapshots, as DataFrames."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql import types as T  # noqa: N812

from planner.snapshot.columns import BROKERS, LOG_DIRS, PARTITIONS, TOPICS, TableColumns
from planner.spark.files import (
    BY_TASKS,
    KEY,
    FleetFiles,
    TableFile,
    looked_at,
    parts_of,
)

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

TABLE_NAMES = ("clusters", "brokers", "log_dirs", "topics", "partitions")
CATALOG = "table:"
"""What a fleet's name starts with where its tables are those of a catalog."""

KEY_TYPES = (
    T.StructField("cluster_id", T.StringType()),
    T.StructField("taken_at", T.TimestampType()),
)
CONFIGS = T.MapType(T.StringType(), T.StringType())
CLUSTERS = T.StructType(
    [
        *KEY_TYPES,
        T.StructField("kafka_version", T.StringType()),
        T.StructField("configs", CONFIGS),
        T.StructField("features", T.MapType(T.StringType(), T.LongType())),
        T.StructField(
            "rates",
            T.StructType(
                [
                    T.StructField("source", T.StringType()),
                    T.StructField("window_s", T.DoubleType()),
                    T.StructField("quantile", T.DoubleType()),
                    T.StructField("split", T.StringType()),
                ]
            ),
        ),
        T.StructField(
            "controllers",
            T.ArrayType(
                T.StructType(
                    [
                        T.StructField("id", T.IntegerType()),
                        T.StructField("rack", T.StringType()),
                        T.StructField("voter", T.BooleanType()),
                        T.StructField("combined", T.BooleanType()),
                    ]
                )
            ),
        ),
    ]
)
"""The columns of `clusters`: what a snapshot says once."""


def table_schema(columns: TableColumns) -> T.StructType:
    """Return the columns of one table of a fleet: those of snapshots, and the key."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return T.StructType([*KEY_TYPES, *from_arrow_schema(columns.schema).fields])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """
    Snapshots of clusters, each named by ``cluster_id`` and ``taken_at``.

    Parameters
    ----------
    clusters
        A row per snapshot: the columns of `CLUSTERS`.
    brokers, log_dirs, topics, partitions
        The tables of snapshots, with ``cluster_id string, taken_at timestamp`` besides.
        Columns that are absent are null; others are left alone.
    files
        Where the rows are, where the driver and all tasks can read them by themselves;
        `None`: they cannot.
    flaws
        Where they cannot: by cluster and time, what is wrong with the files of a
        snapshot, in the columns of `planner.spark.chunk.FOUND`.
    """

    clusters: DataFrame
    brokers: DataFrame
    log_dirs: DataFrame
    topics: DataFrame
    partitions: DataFrame
    files: FleetFiles | None = None
    flaws: Mapping[tuple[str | None, int], Sequence[dict[str, str]]] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def canonical(self) -> Self:
        """Return the tables with all their columns and no others, in their types."""
        return replace(
            self,
            clusters=conform(self.clusters, CLUSTERS),
            brokers=conform(self.brokers, table_schema(BROKERS)),
            log_dirs=conform(self.log_dirs, table_schema(LOG_DIRS)),
            topics=conform(self.topics, table_schema(TOPICS)),
            partitions=conform(self.partitions, table_schema(PARTITIONS)),
        )

    def tables(self) -> Mapping[str, DataFrame]:
        """Return the tables by name."""
        return {
            "clusters": self.clusters,
            "brokers": self.brokers,
            "log_dirs": self.log_dirs,
            "topics": self.topics,
            "partitions": self.partitions,
        }

    def together(self, other: Self) -> Self:
        """Return the snapshots of both."""
        mine, theirs = self.files, other.files
        return replace(
            self,
            clusters=self.clusters.unionByName(other.clusters),
            brokers=self.brokers.unionByName(other.brokers),
            log_dirs=self.log_dirs.unionByName(other.log_dirs),
            topics=self.topics.unionByName(other.topics),
            partitions=self.partitions.unionByName(other.partitions),
            files=None if mine is None or theirs is None else mine.together(theirs),
            flaws={**self.flaws, **other.flaws},
        )


def conform(table: DataFrame, schema: T.StructType) -> DataFrame:
    """Return a table in the columns of a schema; those absent are null."""
    have = set(table.columns)
    return table.select(
        *(
            (F.col(f"`{field.name}`") if field.name in have else F.lit(None))
            .cast(field.dataType)
            .alias(field.name)
            for field in schema.fields
        )
    )


def open_fleet(
    spark: SparkSession,
    folder: str,
    *,
    days: Collection[str] | None = None,
    broken: Mapping[str, str] = MappingProxyType({}),
) -> Fleet:
    """
    Open the tables of a fleet by a path that Spark reads, or by catalog names.

    Parameters
    ----------
    spark
        The session.
    folder
        A folder with ``clusters/``, ``brokers/`` and so on: ``file:``, ``s3a:``,
        ``hdfs:`` …; or ``table:SCHEMA`` for the tables ``SCHEMA.clusters`` and so on.
    days
        Days to read, as ``2026-11-21``, where it is a folder; `None`: all.
    broken
        Files that are left out where Spark reads the tables, by their paths in the
        folder, and why.

    Raises
    ------
    BadInputError
        If it is no fleet folder.
    """
    if folder.startswith(CATALOG):
        schema = folder.removeprefix(CATALOG)
        tables = {name: spark.table(f"{schema}.{name}") for name in TABLE_NAMES}
        return _fleet_of(tables)
    from planner.spark.layout import (
        flaws_of_files,
        fleet_files,
        read_tables,
        read_visible,
    )

    visible = read_visible(spark, folder.rstrip("/"))
    files = fleet_files(folder, visible, days)
    if files is not None:
        flawed = {file.name for _, file in files.flawed()}
        return _fleet_of(read_tables(spark, folder, visible, days, flawed), files)
    flaws = flaws_of_files(folder, visible, days, broken)
    tables = read_tables(spark, folder, visible, days, broken)
    return replace(_fleet_of(tables), flaws=flaws)


def fleet_of_snapshots(
    spark: SparkSession, snapshots: Iterable["Snapshot"], *, keys: Sequence[str] = ()
) -> Fleet:
    """
    Make a fleet of snapshots in memory, for tests and small numbers of them.

    Parameters
    ----------
    spark
        The session.
    snapshots
        The snapshots.
    keys
        What to call them where they have no cluster id; absent: their place.
    """
    from planner.fleet.tables import snapshot_tables

    all_tables = [
        snapshot_tables(snapshot, name=keys[i] if i < len(keys) else str(i))
        for i, snapshot in enumerate(snapshots)
    ]
    import pyarrow as pa

    # In one chunk: Spark 4 takes no more than the first ones of an Arrow table.
    together = {
        name: pa.concat_tables([tables[name] for tables in all_tables]).combine_chunks()
        for name in TABLE_NAMES
    }
    frames = {name: spark.createDataFrame(table) for name, table in together.items()}
    return _fleet_of(frames)


def snapshot_folder(spark: SparkSession, folder: Path, *, name: str) -> Fleet:
    """
    Open one snapshot folder of Parquet as a fleet of one; nothing of it is collected.

    Parameters
    ----------
    spark
        The session.
    folder
        A snapshot folder.
    name
        What to call it where it has no cluster id.
    """
    from planner.fleet.tables import EPOCH, header_table, read_header

    header = header_table(read_header(folder), name=name)
    clusters = spark.createDataFrame(header)
    key = header.select(list(KEY)).to_pylist()[0]
    frames = {"clusters": clusters}
    for columns in (BROKERS, LOG_DIRS, TOPICS, PARTITIONS):
        path = folder / columns.file
        if path.exists():
            frames[columns.name] = spark.read.parquet(path.absolute().as_uri())
        else:
            frames[columns.name] = spark.createDataFrame([], table_schema(columns))
    keyed = {
        table: frame
        if table == "clusters"
        else frame.withColumn("cluster_id", F.lit(key["cluster_id"])).withColumn(
            "taken_at", F.lit(key["taken_at"]).cast("timestamp")
        )
        for table, frame in frames.items()
    }
    micros = (key["taken_at"] - EPOCH) // timedelta(microseconds=1)
    tables = {
        columns.name: tuple(
            looked_at(
                TableFile(
                    root=str(folder.absolute()),
                    name=str(path.relative_to(folder)),
                    key=(key["cluster_id"], micros),
                    snapshots=((key["cluster_id"], micros),),
                ),
                by_tasks=columns.name in BY_TASKS,
            )
            for path in parts_of(folder / columns.file)
        )
        for columns in (BROKERS, LOG_DIRS, TOPICS, PARTITIONS)
    }
    return _fleet_of(keyed, FleetFiles(tables=tables, given={"clusters": header}))


def _fleet_of(
    tables: Mapping[str, DataFrame], files: FleetFiles | None = None
) -> Fleet:
    """Return a fleet of tables by name, in their canonical columns."""
    return Fleet(
        clusters=tables["clusters"],
        brokers=tables["brokers"],
        log_dirs=tables["log_dirs"],
        topics=tables["topics"],
        partitions=tables["partitions"],
        files=files,
    ).canonical()
