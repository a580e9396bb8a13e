"""Where the tables of results go: a folder, or a schema of a catalog."""

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
from planner.spark.io.catalog_tables import qualified
from planner.spark.io.fleet_files import KEY, TIME
from planner.spark.io.fleet_layout import plain_path
from planner.spark.output.kept_rows import KeptRows
from planner.spark.output.merged_rows import merge_rows
from planner.spark.output.score_tables import (
    DONE,
    PROBLEMS,
    SCORES,
    Scored,
    done_table,
    moment_text,
    write_rows,
    write_scores,
    writing,
)
from planner.spark.scoring.fleet_scores import FleetScores


class Destination(Protocol):
    """Tables of results that a command reads back and replaces, by their names."""

    def read(self, table: str) -> DataFrame | None:
        """Return a table with the column ``date``; `None` where there is none."""
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
        Write rows in the place of earlier ones, or beside them.

        Raises
        ------
        BadInputError
            If nothing can be written there.
        """
        ...

    def write_scores(
        self, found: FleetScores, *, done: Mapping[Scored, str], kept: KeptRows
    ) -> None:
        """
        Write scores and problems, and last which snapshots have been scored.

        Raises
        ------
        BadInputError
            If nothing can be written there.
        """
        ...

    def done(self) -> dict[Scored, str]:
        """Return the hash of the content of each snapshot that has been scored."""
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
        If the name of the schema is none.
    """
    schema = schema_of(place)
    return Folder(spark, place) if schema is None else CatalogSchema(spark, schema)


class Folder:
    """
    Tables as folders of Parquet below one folder.

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
        """Return a table; `None` where there is none."""
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
        """Write rows; those laid out by day replace whole days where some are kept."""
        write_rows(
            rows, self._path(table), RESULTS[table], replaces=replaces, kept=kept
        )

    def write_scores(
        self, found: FleetScores, *, done: Mapping[Scored, str], kept: KeptRows
    ) -> None:
        """Write scores and problems; days are replaced whole."""
        stay = None if kept.selection.is_all else kept
        write_scores(found, self._root, done=done, kept=stay)

    def done(self) -> dict[Scored, str]:
        """Return the hash of the content of each snapshot that has been scored."""
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
    Tables of one schema of a catalog, written by MERGE in one commit each.

    Parameters
    ----------
    spark
        The session.
    schema
        Its name, as ``CATALOG.SCHEMA``.
    """

    def __init__(self, spark: SparkSession, schema: str) -> None:
        self._spark, self._schema = spark, schema

    def read(self, table: str) -> DataFrame | None:
        """Return a table; `None` where there is none."""
        name = qualified(self._schema, table)
        with writing(self._schema):
            if not self._spark.catalog.tableExists(name):
                return None
        rows = self._spark.table(name).drop(VERSION_COLUMN)
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
        """Merge rows on their keys; replaced ones that are gone are deleted."""
        self.merge(RESULTS[table], rows, _replaced(replaces=replaces, kept=kept))

    def write_scores(
        self, found: FleetScores, *, done: Mapping[Scored, str], kept: KeptRows
    ) -> None:
        """Merge scores and problems, and last which snapshots have been scored."""
        tables = {SCORES: found.scores, PROBLEMS: found.problems.distinct()}
        if done:
            tables[DONE] = done_table(self._spark, done)
        for name, rows in tables.items():
            self.write(name, rows, replaces=True, kept=kept)

    def done(self) -> dict[Scored, str]:
        """Return the hash of the content of each snapshot that has been scored."""
        table = self.read(DONE)
        return _contents(None if table is None else table.select(*_CONTENT).toArrow())

    def merge(
        self, contract: TableContract, rows: DataFrame, replaced: Column | None
    ) -> None:
        """
        Merge rows of any table, as `planner.spark.output.merged_rows.merge_rows` does.

        Raises
        ------
        BadInputError
            If the table cannot be written.
        """
        with writing(f"{self._schema}.{contract.name}"):
            merge_rows(rows, self._schema, contract, replaced)


def _replaced(*, replaces: bool, kept: KeptRows | None) -> Column | None:
    """Return what holds for rows that are deleted unless they are written anew."""
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
    """Read a folder of this machine: Spark would start three jobs for a few rows."""
    from pyarrow import dataset

    found = dataset.dataset(folder, format="parquet")
    return found.to_table(list(_CONTENT)) if found.files else None


def new_days(destination: Destination, snapshots: Mapping[Scored, str]) -> set[str]:
    """
    Return the days that have a snapshot without scores, or with scores of another.

    A day is scored again as a whole, so that writing it again replaces it: what was
    killed halfway is completed, and what is there already is not computed again.

    Parameters
    ----------
    destination
        Where scores are.
    snapshots
        Hash of the content of each.
    """
    known = destination.done()
    return {
        moment_text(key[1])[:10]
        for key, content in snapshots.items()
        if known.get(key) != content
    }
