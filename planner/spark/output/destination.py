"""Destinations of result tables: a folder, or a schema of a catalog."""

from collections.abc import Mapping
from typing import Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.contracts.result_contracts import RESULTS
from planner.fleet.contracts.table_contract import VERSION_COLUMN, TableContract
from planner.fleet.fleet_places import schema_of
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.table_times import day_of
from planner.spark.io.catalog_tables import table_now
from planner.spark.io.fleet_files import KEY, TIME
from planner.spark.io.fleet_layout import plain_path
from planner.spark.io.snapshot_writes import (
    NUMBER,
    WRITTEN,
    contents_in,
    without_leftovers,
    writes_in,
)
from planner.spark.output.commit_retries import with_retries
from planner.spark.output.kept_rows import KeptRows
from planner.spark.output.merged_rows import Guard, merge_rows
from planner.spark.output.score_tables import (
    DONE,
    PROBLEMS,
    SCORES,
    Scored,
    moment_text,
    write_rows,
    write_scores,
    writing,
)
from planner.spark.output.snapshot_claims import SnapshotClaims
from planner.spark.scoring.fleet_scores import FleetScores
from planner.spark.scoring.reduce_side.small_scores import SmallScores


class Destination(Protocol):
    """Result tables that a command reads and replaces, by name."""

    def read(self, table: str) -> DataFrame | None:
        """Return a table with the column ``date``; `None` if it does not exist."""
        ...

    def write(
        self,
        table: str,
        rows: DataFrame,
        *,
        replaces: bool,
        kept: KeptRows | None = None,
    ) -> None:
        """
        Write rows, replacing earlier rows or adding to them.

        Raises
        ------
        BadInputError
            If the destination cannot be written.
        """
        ...

    def write_scores(
        self, found: FleetScores, *, done: Mapping[Scored, str], kept: KeptRows
    ) -> None:
        """
        Write scores and problems, and then the list of scored snapshots.

        Raises
        ------
        BadInputError
            If the destination cannot be written.
        """
        ...

    def done(self) -> dict[Scored, str]:
        """Return the content hash of each snapshot that has been scored."""
        ...


def destination_at(spark: SparkSession, place: str) -> Destination:
    """
    Return the destination that ``-o`` names.

    Parameters
    ----------
    spark
        The session.
    place
        A path that Spark writes, or ``table:CATALOG.SCHEMA``.

    Raises
    ------
    BadInputError
        If the name of the schema is invalid.
    """
    schema = schema_of(place)
    return Folder(spark, place) if schema is None else CatalogSchema(spark, schema)


class Folder:
    """
    Result tables as folders of Parquet below one folder.

    Parameters
    ----------
    spark
        The session.
    path
        A path that Spark writes.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark, self._root = spark, path.rstrip("/")

    def read(self, table: str) -> DataFrame | None:
        """Return a table; `None` if it does not exist."""
        try:
            return self._spark.read.parquet(self._path(table)).drop(VERSION_COLUMN)
        except AnalysisException:
            return None

    def write(
        self,
        table: str,
        rows: DataFrame,
        *,
        replaces: bool,
        kept: KeptRows | None = None,
    ) -> None:
        """Write rows; of a table by day, replace whole days if some rows are kept."""
        write_rows(
            rows, self._path(table), RESULTS[table], replaces=replaces, kept=kept
        )

    def write_scores(
        self,
        found: FleetScores | SmallScores,
        *,
        done: Mapping[Scored, str],
        kept: KeptRows,
    ) -> None:
        """Write scores and problems; whole days are replaced."""
        stay = None if kept.selection.is_all else kept
        write_scores(found, self._root, done=done, kept=stay)

    def done(self) -> dict[Scored, str]:
        """Return the content hash of each snapshot that has been scored."""
        path = self._path(DONE)
        plain = plain_path(path)
        if plain is not None:
            return _contents(_read_plain(plain))
        table = self.read(DONE)
        return _contents(None if table is None else table.select(*_CONTENT).toArrow())

    def _path(self, table: str) -> str:
        return f"{self._root}/{table}"


class CatalogSchema:
    """
    Result tables in one schema of a catalog, each written by MERGE in one commit.

    Parameters
    ----------
    spark
        The session.
    schema
        Name of the schema, as ``CATALOG.SCHEMA``.
    """

    def __init__(self, spark: SparkSession, schema: str) -> None:
        self._spark, self._schema = spark, schema

    def read(self, table: str) -> DataFrame | None:
        """Return a table; `None` if it does not exist."""
        with writing(self._schema):
            found = table_now(self._spark, self._schema, table)
        if found is None:
            return None
        if table in (SCORES, PROBLEMS):
            writes = writes_in(self._spark, self._schema, DONE)
            found = without_leftovers(found, writes)
        rows = found.drop(VERSION_COLUMN, NUMBER, WRITTEN)
        is_by_day = RESULTS[table].is_by_day
        return rows.withColumn("date", day_of("taken_at")) if is_by_day else rows

    def write(
        self,
        table: str,
        rows: DataFrame,
        *,
        replaces: bool,
        kept: KeptRows | None = None,
    ) -> None:
        """Merge rows on their keys; delete replaced rows that are not written again."""
        self.merge(RESULTS[table], rows, _replaced(replaces=replaces, kept=kept))

    def write_scores(
        self, found: FleetScores, *, done: Mapping[Scored, str], kept: KeptRows
    ) -> None:
        """
        Merge scores and problems, and then the list of scored snapshots.

        Raises
        ------
        OtherJobError
            If another job scored other content of the same snapshots meanwhile.
        """
        tables = {SCORES: found.scores, PROBLEMS: found.problems.distinct()}
        claims = self.claims(RESULTS[DONE], done)
        for name, rows in tables.items():
            claims.merge(RESULTS[name], rows, kept.replaced())
        claims.list()
        claims.check()

    def done(self) -> dict[Scored, str]:
        """Return the content hash of each snapshot that has been scored."""
        with writing(self._schema):
            return contents_in(self._spark, self._schema, DONE)

    def merge(
        self,
        contract: TableContract,
        rows: DataFrame,
        replaced: Column | None,
        guard: Guard | None = None,
    ) -> None:
        """
        Merge rows of any table, as `planner.spark.output.merged_rows.merge_rows` does.

        The rows are merged again if another job's commit prevents theirs.

        Raises
        ------
        BadInputError
            If the table cannot be written.
        """
        with writing(f"{self._schema}.{contract.name}"):
            with_retries(
                lambda: merge_rows(rows, self._schema, contract, replaced, guard)
            )

    def claims(
        self, marker: TableContract, contents: Mapping[Scored, str]
    ) -> SnapshotClaims:
        """Claim snapshots before their rows are written."""
        return SnapshotClaims(self._spark, self._schema, marker, self.merge, contents)


def _replaced(*, replaces: bool, kept: KeptRows | None) -> Column | None:
    """Return the condition on rows that are deleted unless they are written again."""
    if not replaces:
        return None
    return F.lit(True) if kept is None else kept.replaced()


_CONTENT = (*KEY, "content")


def _contents(rows: ArrowTable | None) -> dict[Scored, str]:
    if rows is None:
        return {}
    micros = rows.column("taken_at").cast(TIME).cast("int64").to_pylist()
    ids, contents = (rows.column(name).to_pylist() for name in (KEY[0], "content"))
    return dict(zip(zip(ids, micros, strict=True), contents, strict=True))


def _read_plain(folder: str) -> ArrowTable | None:
    """Read a folder of this machine without Spark, which would start three jobs."""
    from pyarrow import dataset

    found = dataset.dataset(folder, format="parquet")
    return found.to_table(list(_CONTENT)) if found.files else None


def new_days(destination: Destination, snapshots: Mapping[Scored, str]) -> set[str]:
    """
    Return the days with a snapshot that has no scores, or scores of another content.

    A day is always scored as a whole, and writing it replaces it: the work of a killed
    job is completed, and days that are complete are not computed again.

    Parameters
    ----------
    destination
        Destination of the scores.
    snapshots
        Content hash of each snapshot.
    """
    known = destination.done()
    return {
        moment_text(key[1])[:10]
        for key, content in snapshots.items()
        if known.get(key) != content
    }
