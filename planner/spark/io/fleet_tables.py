"""Tables of many snapshots as DataFrames."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Self

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql import types as T  # noqa: N812

from planner.snapshot.tables.snapshot_columns import TABLES, TableColumns
from planner.spark.io.fleet_files import FleetFiles
from planner.spark.io.picked_columns import doubles, pick

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
"""Columns of `clusters`: the header of a snapshot."""


def table_schema(columns: TableColumns) -> T.StructType:
    """Return the columns of a fleet's table: the key and the columns of snapshots."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return T.StructType([*KEY_TYPES, *from_arrow_schema(columns.schema).fields])


KEY_NAMES = tuple(field.name for field in KEY_TYPES)
SCHEMAS = {
    "clusters": CLUSTERS,
    **{each.name: table_schema(each) for each in TABLES},
}
"""Columns of each table."""


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """
    Snapshots of clusters, each with the key ``cluster_id`` and ``taken_at``.

    Parameters
    ----------
    clusters
        A row per snapshot: the columns of `CLUSTERS`.
    brokers, log_dirs, topics, partitions
        The tables of snapshots, with ``cluster_id string, taken_at timestamp`` added.
        Absent columns are null; other columns are ignored. The session decides whether
        names are case-sensitive. A column may have any type that can be cast to the
        type of a snapshot; a value that cannot be cast is a problem of its snapshot.
    files
        Files of the rows, if the driver and all tasks can read them without Spark; else
        `None`.
    flaws
        Problems of the files that Spark alone reads, by cluster and time, in the
        columns of `planner.spark.scoring.sums.partial_sums.FOUND`.
    column_flaws
        Problems of the tables' columns, which concern every snapshot, in the same
        columns.
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
    column_flaws: Sequence[Mapping[str, str]] = ()

    @classmethod
    def of_files(
        cls,
        spark: SparkSession,
        files: FleetFiles,
        opened: Callable[[], Mapping[str, DataFrame]],
    ) -> Self:
        """
        Return a fleet whose tables Spark opens when one of them is first used.

        Spark reads the metadata of every file before it opens a table; tasks that read
        files themselves need no table.

        Parameters
        ----------
        spark
            The session.
        files
            Files of the rows.
        opened
            Opens the tables.
        """
        fleet = cls.__new__(cls)
        nothing = MappingProxyType[tuple[str | None, int], Sequence[dict[str, str]]]({})
        # The tables are not set: `__getattr__` opens absent attributes.
        vars(fleet).update(files=files, flaws=nothing, column_flaws=())
        vars(fleet).update(_spark=spark, _opened=opened)
        return fleet

    def __getattr__(self, name: str) -> DataFrame:
        """Open the tables on first use."""
        if name not in SCHEMAS or "_opened" not in vars(self):
            raise AttributeError(name)
        tables = {
            table: pick(rows, SCHEMAS[table], KEY_NAMES)
            for table, rows in vars(self)["_opened"]().items()
        }
        vars(self).update(tables)
        return tables[name]

    @property
    def session(self) -> SparkSession:
        """Session of the tables."""
        spark = vars(self).get("_spark")
        return self.partitions.sparkSession if spark is None else spark

    def canonical(self) -> Self:
        """Return the tables with exactly their columns, in the types they have."""
        tables = self.tables()
        picked = {
            name: pick(tables[name], schema, KEY_NAMES)
            for name, schema in SCHEMAS.items()
        }
        found = [
            flaw
            for name, schema in SCHEMAS.items()
            for flaw in doubles(tables[name], schema, name)
        ]
        return replace(
            self,
            clusters=picked["clusters"],
            brokers=picked["brokers"],
            log_dirs=picked["log_dirs"],
            topics=picked["topics"],
            partitions=picked["partitions"],
            column_flaws=(*self.column_flaws, *found),
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
        """Return the snapshots of both fleets."""
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
            column_flaws=(*self.column_flaws, *other.column_flaws),
        )


def conform(table: DataFrame, schema: T.StructType) -> DataFrame:
    """Return a table with the columns of a schema; absent columns are null."""
    have = set(table.columns)
    return table.select(
        *(
            (F.col(f"`{field.name}`") if field.name in have else F.lit(None))
            .cast(field.dataType)
            .alias(field.name)
            for field in schema.fields
        )
    )
