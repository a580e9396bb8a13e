"""Read the fleet tables that commit markers name, from any path that Spark reads."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.fleet.arrow_tables import EPOCH
from planner.fleet.commit_markers import FOLDER, TABLES, Commit, Visible, resolve
from planner.fleet.fleet_store import Store
from planner.io.problems import refusal
from planner.spark.io.file_types import alike, kinds_of, read_kinds, wrong_kinds
from planner.spark.io.fleet_files import BY_TASKS, KEY, FleetFiles, TableFile, sizes_of
from planner.spark.io.fleet_tables import SCHEMAS

_FILES = ", ".join(f"{table}: array<string>" for table in TABLES)
MARKER_SCHEMA = (
    "format string, version int, name string, snapshots array<struct<cluster_id: "
    f"string, taken_at: string, content: string>>, files struct<{_FILES}>, "
    "replaces array<string>"
)


def read_tables(
    spark: SparkSession,
    folder: str,
    visible: Visible,
    days: Collection[str] | None = None,
    without: Collection[str] = (),
) -> tuple[dict[str, DataFrame], dict[str, str]]:
    """
    Open the tables of a fleet folder from the files that its markers name.

    Parameters
    ----------
    spark
        The session.
    folder
        A path that Spark reads.
    visible
        Commit markers of the folder.
    days
        Days whose files are read, as ``2026-11-21``; `None`: all.
    without
        Files that cannot be read, by their paths in the folder.

    Returns
    -------
    The tables, and the reasons why some files are left out: they have a column of
    another kind than the other files, as a number for a list.
    """
    root = folder.rstrip("/")
    tables, odd = {}, dict[str, str]()
    for name in TABLES:
        paths = [
            f"{root}/{file}"
            for file in visible.files(name)
            if (days is None or day_of_file(file) in days) and file not in without
        ]
        kinds = kinds_of(spark, paths, SCHEMAS[name])
        wrong = wrong_kinds(kinds, SCHEMAS[name])
        frames = [
            _without_hidden(spark, rows, visible, root)
            for rows in read_kinds(spark, kinds, wrong)
        ]
        tables[name] = _together(spark, frames, SCHEMAS[name])
        odd |= {path.removeprefix(f"{root}/"): why for path, why in wrong.items()}
    return tables, odd


def _together(
    spark: SparkSession, frames: Sequence[DataFrame], schema: T.StructType
) -> DataFrame:
    if len(frames) > 1:
        return alike(frames, schema, KEY)
    return frames[0] if frames else empty(spark, schema)


def flaws_of_files(
    folder: str,
    visible: Visible,
    days: Collection[str] | None,
    broken: Mapping[str, str],
) -> dict[tuple[str | None, int], list[dict[str, str]]]:
    """
    Return the problems of files that cannot be read, by snapshot.

    Parameters
    ----------
    folder, visible, days
        As for `read_tables`.
    broken
        Reasons why files cannot be read, by their paths in the folder.
    """
    flaws: dict[tuple[str | None, int], list[dict[str, str]]] = {}
    for marker, commit in sorted(visible.commits.items()):
        shown = set(commit.snapshots) - visible.hidden.get(marker, frozenset())
        for table, file in _broken_of(commit, days, broken):
            flaw = {
                "table": table,
                "place": f"{folder.rstrip('/')}/{file}",
                "value": "",
                "rule": broken[file],
            }
            for key in _keys(shown):
                flaws.setdefault(key, []).append(flaw)
    return flaws


def _broken_of(
    commit: Commit, days: Collection[str] | None, broken: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for table, file in _files_of(commit, days):
        if file in broken:
            yield table, file


def fleet_files(
    folder: str, visible: Visible, days: Collection[str] | None = None
) -> FleetFiles | None:
    """
    Return the files of a fleet if the driver and tasks can read them without Spark.

    Parameters
    ----------
    folder
        A path that Spark reads.
    visible
        Commit markers of the folder.
    days
        As for `read_tables`.

    Returns
    -------
    `None` if the folder is not on this machine's file system: access to other file
    systems is configured in Spark alone.
    """
    root = plain_path(folder)
    if root is None:
        return None
    tables: dict[str, list[TableFile]] = {table: [] for table in TABLES}
    for name, commit in sorted(visible.commits.items()):
        hidden = visible.hidden.get(name, frozenset())
        shown, gone = _keys(commit.snapshots.keys() - hidden), _keys(hidden)
        for table, file in _files_of(commit, days):
            path = f"{root}/{file}"
            size, groups = sizes_of(path) if table in BY_TASKS else (0, ())
            found = TableFile(
                root=root,
                name=file,
                size=size,
                row_groups=groups,
                hidden=gone,
                snapshots=shown,
            )
            tables[table].append(found)
    return FleetFiles(tables={table: tuple(files) for table, files in tables.items()})


def _files_of(
    commit: Commit, days: Collection[str] | None
) -> Iterator[tuple[str, str]]:
    for table in TABLES:
        for file in commit.files[table]:
            if days is None or day_of_file(file) in days:
                yield table, file


def plain_path(folder: str) -> str | None:
    """Return the path of a folder on this machine's file system, else `None`."""
    root = folder.removeprefix("file://").removeprefix("file:").rstrip("/")
    return None if "://" in root or not Path(root).is_dir() else root


def _keys(keys: Collection[tuple[str, str]]) -> tuple[tuple[str, int], ...]:
    return tuple((name, micros_of(taken_at)) for name, taken_at in sorted(keys))


def micros_of(taken_at: str) -> int:
    """Return a time of a marker in microseconds since 1970."""
    return (datetime.fromisoformat(taken_at) - EPOCH) // timedelta(microseconds=1)


def day_of_file(file: str) -> str:
    """Return the day in the name of a file's folder."""
    return file.partition("/date=")[2][:10]


def empty(spark: SparkSession, schema: T.StructType) -> DataFrame:
    """Return a table without rows."""
    return spark.createDataFrame([], schema)


def read_visible(spark: SparkSession, root: str) -> Visible:
    """
    Read the commit markers; their size grows with the number of snapshots.

    Raises
    ------
    BadInputError
        If the path is no fleet folder.
    """
    plain = plain_path(root)
    if plain is not None and Path(plain, FOLDER).is_dir():
        # Spark would list the files in one job, and read them in another.
        return Store(plain).visible()
    try:
        rows = spark.read.schema(MARKER_SCHEMA).json(f"{root}/{FOLDER}").collect()
    except AnalysisException as error:
        msg = f"{root} is not a fleet"
        rule = "a fleet folder must hold its commit markers"
        remedy = "write it with 'kafka-planner snapshot convert SNAP --fleet …'"
        raise refusal(msg, root, rule, remedy, place=FOLDER) from error
    return resolve(
        Commit.from_document(row.asDict(recursive=True), file=f"{root}/{FOLDER}")
        for row in rows
    )


def _without_hidden(
    spark: SparkSession, table: DataFrame, visible: Visible, root: str
) -> DataFrame:
    """Return a table without rows of hidden snapshots in compacted files."""
    keys = [
        (f"{root}/{file}".rpartition("/")[2], *key)
        for name, hidden in visible.hidden.items()
        for files in visible.commits[name].files.values()
        for file in files
        for key in hidden
    ]
    if not keys:
        return table
    old = spark.createDataFrame(
        sorted(set(keys)), "file_name string, cluster_id string, moment string"
    ).select("file_name", "cluster_id", F.to_timestamp("moment").alias("taken_at"))
    named = table.select("*", F.col("_metadata.file_name").alias("file_name"))
    kept = named.join(F.broadcast(old), on=["file_name", *KEY], how="left_anti")
    return kept.select(*table.columns)
