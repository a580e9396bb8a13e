"""Score tables written by Spark, and the few rows of them that commands show."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import BadInputError, InputProblem
from planner.fleet.arrow_tables import EPOCH
from planner.fleet.contracts.result_contracts import RESULTS
from planner.fleet.contracts.table_contract import TableContract
from planner.fleet.fleet_places import folder_here, schema_of
from planner.io.problems import refusal
from planner.score.score_tables import LEVELS, SCHEMA
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.contract_columns import versioned
from planner.spark.common.problem_rows import ERROR, WARNING
from planner.spark.common.table_times import day_of
from planner.spark.io.fleet_files import KEY, TIME
from planner.spark.io.fleet_layout import micros_of, read_visible
from planner.spark.io.pinned_tables import COMMITS
from planner.spark.io.snapshot_writes import contents_in
from planner.spark.output.kept_rows import KeptRows
from planner.spark.output.local_tables import write_days
from planner.spark.scoring.fleet_scores import FleetScores
from planner.spark.scoring.reduce_side.small_scores import SmallScores

SCORES = "scores"
PROBLEMS = "problems"
DONE = "done"
Scored = tuple[str, int]
"""Key of a snapshot: cluster id, and time in microseconds since 1970."""
NOTHING: Mapping[Scored, str] = MappingProxyType({})
MOST_PROBLEMS = 1000
_REMEDIES = {
    ERROR: "take the snapshot again, or leave it out",
    WARNING: "score it again once its tables are loaded",
}


def write_scores(
    found: FleetScores | SmallScores,
    folder: str,
    *,
    done: Mapping[Scored, str] = NOTHING,
    kept: KeptRows | None = None,
) -> None:
    """
    Write scores and problems as Parquet, a folder per day; whole days are replaced.

    Parameters
    ----------
    found
        Scores and problems; those of a small fleet go to a folder of this machine.
    folder
        A path that Spark writes; `scores/` and `problems/` are created in it.
    done
        Content hash of each scored snapshot. It is written last, to `done/`, so that
        the output of a killed job does not count as complete.
    kept
        Rows that are kept in the days that are replaced; `None`: none.

    Raises
    ------
    BadInputError
        If the folder cannot be written.
    """
    root = folder.rstrip("/")
    days = {moment_text(at)[:10] for _, at in done}
    if isinstance(found, SmallScores):
        _write_small(found, folder_here(root) or Path(root), done, days)
        return
    spark = found.judged.sparkSession
    with writing(folder):
        problems, with_problems = _with_kept_problems(found.problems, root, kept)
        _forget_problems(found.problems, root, days - with_problems)
        scores = _with_kept(found.scores, f"{root}/{SCORES}", kept)
        for name, table in ((SCORES, scores), (PROBLEMS, problems)):
            _write_days(table, f"{root}/{name}", RESULTS[name])
        if done:
            path, table = f"{root}/{DONE}", done_table(spark, done)
            _write_days(_with_kept(table, path, kept), path, RESULTS[DONE])


def _write_small(
    found: SmallScores,
    root: Path,
    done: Mapping[Scored, str],
    days: Collection[str],
) -> None:
    """
    Write scores and problems of a small fleet; see `write_scores`.

    Raises
    ------
    BadInputError
        If the folder cannot be written.
    """
    try:
        scores = found.level_table(LEVELS)
        write_days(scores, root / SCORES, RESULTS[SCORES])
        write_days(found.problems, root / PROBLEMS, RESULTS[PROBLEMS], days)
        if done:
            write_days(_done_rows(done), root / DONE, RESULTS[DONE])
    except OSError as error:
        rule = f"cannot write there: {error.strerror or error}"
        raise _refusal(str(root), rule) from error


def _done_rows(done: Mapping[Scored, str]) -> ArrowTable:
    """Return the content hashes of snapshots as rows of `done`."""
    ids, micros = zip(*done, strict=True)
    moments = pa.array(micros, pa.int64()).cast(TIME)
    columns = [pa.array(ids, pa.string()), moments, pa.array(done.values())]
    return pa.Table.from_arrays(columns, schema=RESULTS[DONE].columns)


def done_table(spark: SparkSession, done: Mapping[Scored, str]) -> DataFrame:
    """Return the content hashes of snapshots as a table."""
    rows = [(*key, content) for key, content in done.items()]
    table = spark.createDataFrame(rows, "cluster_id string, n long, content string")
    moment = F.timestamp_micros("n").alias("taken_at")
    return table.select("cluster_id", moment, "content")


def _with_kept(table: DataFrame, path: str, kept: KeptRows | None) -> DataFrame:
    """Return rows together with the earlier rows that are kept."""
    if kept is None:
        return table
    return table.unionByName(kept.of(read_rows(table.sparkSession, path), table))


def _with_kept_problems(
    problems: DataFrame, root: str, kept: KeptRows | None
) -> tuple[DataFrame, set[str]]:
    """
    Return problems together with the earlier ones that are kept, and the days of these.

    The kept rows are collected to the driver, since their files are about to be
    replaced.
    """
    if kept is None:
        return problems, set()
    stay = kept.of(read_rows(problems.sparkSession, f"{root}/{PROBLEMS}"), problems)
    rows = stay.withColumn("date", day_of("taken_at")).toArrow().combine_chunks()
    if not len(rows):
        return problems, set()
    here = problems.sparkSession.createDataFrame(rows.drop_columns("date"))
    return problems.unionByName(here), set(rows.column("date").to_pylist())


def _forget_problems(problems: DataFrame, root: str, days: Iterable[str]) -> None:
    """
    Delete the problems of days that are scored again.

    A day without problems writes no file, and therefore replaces none. Only Spark may
    be able to reach the file system, and Spark can overwrite a folder but not remove
    it.
    """
    path, spark = f"{root}/{PROBLEMS}", problems.sparkSession
    try:
        # File names suffice: the files are deleted unread.
        files = spark.read.format("binaryFile").load(path).select("path").collect()
    except AnalysisException:
        return
    stale = {row["path"].partition("/date=")[2][:10] for row in files}
    nothing = spark.createDataFrame([], problems.schema)
    for day in sorted(stale & set(days)):
        nothing.write.mode("overwrite").parquet(f"{path}/date={day}")


@contextmanager
def writing(folder: str) -> Iterator[None]:
    """
    Report the reason why Spark cannot write to a folder.

    Raises
    ------
    BadInputError
        If Spark cannot write to it.
    """
    try:
        yield
    except AnalysisException as error:
        rule = f"Spark cannot write there: {str(error).splitlines()[0]}"
        raise _refusal(folder, rule) from error


def _refusal(folder: str, rule: str) -> BadInputError:
    msg, remedy = f"will not write {folder}", "name another place"
    return refusal(msg, folder, rule, remedy)


def write_rows(
    table: DataFrame,
    path: str,
    contract: TableContract,
    *,
    replaces: bool,
    kept: KeptRows | None = None,
) -> None:
    """
    Write rows as Parquet, with a folder per day of `taken_at` if the table is by day.

    Parameters
    ----------
    table
        The rows; each task writes its own.
    path
        A path that Spark writes.
    contract
        Columns of the table.
    replaces
        Whether the rows replace all earlier rows, or are added to them.
    kept
        Rows that are kept in the days of `table`; other days stay unchanged. `None`:
        none.

    Raises
    ------
    BadInputError
        If the path cannot be written.
    """
    with writing(path):
        if replaces and kept is not None:
            _write_days(_with_kept(table, path, kept), path, contract)
            return
        days, rows = [], versioned(table, contract)
        if contract.is_by_day:
            days, rows = ["date"], rows.withColumn("date", day_of("taken_at"))
        mode = "overwrite" if replaces else "append"
        rows.write.mode(mode).partitionBy(*days).parquet(path)


def read_rows(spark: SparkSession, path: str) -> DataFrame | None:
    """Return a table written before; `None` if it does not exist."""
    try:
        return spark.read.parquet(path)
    except AnalysisException:
        return None


def _write_days(table: DataFrame, path: str, contract: TableContract) -> None:
    (
        versioned(table, contract)
        .withColumn("date", day_of("taken_at"))
        .repartition("date")
        .sortWithinPartitions(*KEY)
        .write.mode("overwrite")
        .option("partitionOverwriteMode", "dynamic")
        .partitionBy("date")
        .parquet(path)
    )


def contents_of(spark: SparkSession, folder: str) -> dict[Scored, str]:
    """
    Return the content hash of each snapshot of a fleet.

    Empty for tables of a catalog that do not list their snapshots.

    Raises
    ------
    BadInputError
        If the path is no fleet folder.
    """
    schema = schema_of(folder)
    if schema is not None:
        return contents_in(spark, schema, COMMITS)
    snapshots = read_visible(spark, folder.rstrip("/")).snapshots
    return {
        (cluster_id, micros_of(taken_at)): content
        for (cluster_id, taken_at), content in snapshots.items()
    }


def problem_rows(
    found: FleetScores | SmallScores, severity: str = ERROR
) -> list[InputProblem]:
    """Return the problems of a severity, the first `MOST_PROBLEMS` of them."""
    rows = found.problem_table(severity, MOST_PROBLEMS)
    return [
        InputProblem(
            file=f"{row['cluster_id']} at {moment_text(micros or 0)}",
            place=f"{row['table']}: {row['place']}",
            value=row["value"],
            rule=row["rule"],
            remedy=_REMEDIES[severity],
        )
        for row, micros in zip(rows.to_pylist(), _micros(rows), strict=True)
    ]


def cluster_documents(
    clusters: ArrowTable, now: datetime
) -> dict[tuple[str, int], dict[str, Any]]:
    """
    Return the figures of each cluster, by its id and time in microseconds.

    Parameters
    ----------
    clusters
        Scores of the level ``cluster``: `score_tables.SCHEMA`.
    now
        Time of the documents, from which the age of data is counted.
    """
    first, last = map(SCHEMA.names.index, ("total", "known_fraction"))
    columns = SCHEMA.names[first : last + 1]
    rows = clusters.sort_by([(name, "ascending") for name in (*KEY, "resource")])
    documents: dict[tuple[str, int], dict[str, Any]] = {}
    for row, micros in zip(rows.to_pylist(), _micros(rows), strict=True):
        head = _head(row, micros, now)
        document = documents.setdefault((row["cluster_id"], micros), head)
        document["resources"][row["resource"]] = {name: row[name] for name in columns}
    return documents


def _micros(rows: ArrowTable) -> list[int]:
    """Return the times of rows in microseconds since 1970."""
    micros: list[int] = rows.column("taken_at").cast(TIME).cast("int64").to_pylist()
    return micros


def moment_text(micros: int) -> str:
    """Return a time as snapshots write it; Spark rows have the driver's time zone."""
    return f"{EPOCH + timedelta(microseconds=micros):%Y-%m-%dT%H:%M:%SZ}"


def _head(row: dict[str, Any], micros: int, now: datetime) -> dict[str, Any]:
    age = (now - EPOCH - timedelta(microseconds=micros)).total_seconds()
    return {
        "cluster_id": row["cluster_id"],
        "taken_at": moment_text(micros) if micros else None,
        "data_age_s": max(age, 0.0) if micros else None,
        "brokers": row["brokers"],
        "partitions": row["partitions"],
        "replicas": row["replicas"],
        "resources": {},
        "violations": row["violations"],
        "complete": row["complete"],
        "min_bytes_to_balance": None,
        "num_hot_spots": None,
    }
