"""Scores of a whole fleet: DataFrames in, DataFrames out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.score.tables import SCHEMA
from planner.snapshot.columns import ArrowTable
from planner.spark.balance import HEAT, ScoreSettings, score_tables
from planner.spark.chunk import filled
from planner.spark.dealing import shuffled_tasks
from planner.spark.files import KEY
from planner.spark.fleet import Fleet, open_fleet
from planner.spark.grounds import Grounds, grounds_of
from planner.spark.parcels import Parcels, on_snapshots
from planner.spark.partial import partial_sums
from planner.spark.problems import PROBLEM, problem_tables
from planner.spark.problems import SCHEMA as PROBLEMS
from planner.spark.wide import WIDE, unfolded

Work = Callable[[Parcels], Iterable[ArrowTable]]
"""What is made of the parcels of a snapshot."""
REFUSES = "refuses"
HANDED = pa.schema(
    [
        *WIDE,
        *((name, pa.string()) for name in PROBLEM),
        (REFUSES, pa.bool_()),
        (HEAT, pa.binary()),
    ]
)
"""
Rows of scores, and of problems: these have no level. The first of the problems that a
task finds refuses the snapshot.
"""
TASK_ROWS = 400_000
"""Partitions whose parcels are worth a task of their own; each costs 0.1 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScores:
    """
    What is known of a fleet.

    Parameters
    ----------
    scores
        A row per snapshot, level and resource, in the columns of
        `planner.score.tables`.
    problems
        A row per thing that is wrong; the snapshots named here have no scores.
    heats
        A row per snapshot that is scored: `KEY`, and in bytes how hot its brokers are.
    sums
        What all are are made of, kept by the session until `release`.
    """

    scores: DataFrame
    problems: DataFrame
    heats: DataFrame
    sums: tuple[DataFrame, ...]

    def release(self) -> None:
        """Let the session forget the sums; what was written stays."""
        for table in self.sums:
            table.unpersist()


def score_fleet(fleet: Fleet, settings: ScoreSettings | None = None) -> FleetScores:
    """
    Score every snapshot of a fleet.

    Parameters
    ----------
    fleet
        The tables.
    settings
        Bands and thresholds; the defaults where `None`.

    Notes
    -----
    Partitions are read once and added up where they are read; what follows is as large
    as brokers, log dirs and topics. What comes to the driver is as large as brokers.
    """
    # Files are read as they are: Spark need not be told what columns they have.
    tables = fleet.canonical() if fleet.files is None else fleet
    spark = tables.partitions.sparkSession
    grounds = grounds_of(tables)
    partial = partial_sums(spark, tables, grounds)
    work = _worker(grounds, settings or ScoreSettings.defaults())
    dealt = _dealt(partial, _tasks(tables))
    handed = kept(dealt.mapInArrow(on_snapshots(work), _as_spark(HANDED)))
    problems = handed.where("level is null").select(*PROBLEMS.names)
    refused = handed.where(REFUSES).select(*KEY).toArrow()
    scores = _without(handed.where(f"level <> '{HEAT}'"), refused)
    heats = _without(handed.where(f"level = '{HEAT}'"), refused)
    return FleetScores(
        scores=unfolded(scores),
        problems=problems,
        heats=heats.select(*KEY, HEAT),
        sums=(handed,),
    )


def _worker(grounds: Grounds, settings: ScoreSettings) -> Work:
    """Return what judges a snapshot, and scores it where a task finds nothing wrong."""

    def work(parcels: Parcels) -> Iterable[ArrowTable]:
        problems = [_refusing(each) for each in problem_tables(parcels, grounds)]
        found = problems or score_tables(parcels, grounds, settings)
        return (filled(table, HANDED) for table in found)

    return work


def _refusing(problems: ArrowTable) -> ArrowTable:
    is_first = np.arange(len(problems)) == 0
    return problems.append_column(REFUSES, pa.array(is_first))


def _without(scores: DataFrame, refused: ArrowTable) -> DataFrame:
    """Leave out snapshots with which something is wrong; another task may know it."""
    if not len(refused):
        return scores
    named = scores.sparkSession.createDataFrame(refused.combine_chunks())
    is_same = [scores[name].eqNullSafe(named[name]) for name in KEY]
    return scores.join(F.broadcast(named), is_same, "left_anti")


def _tasks(fleet: Fleet) -> int | None:
    """Return how many tasks the partitions are worth, where known."""
    if fleet.files is None:
        return None
    files = fleet.files.tables.get("partitions", ())
    total = sum(sum(file.row_groups) for file in files)
    most = shuffled_tasks(fleet.partitions.sparkSession)
    return min(1 + total // TASK_ROWS, most)


def _dealt(partial: DataFrame, tasks: int | None) -> DataFrame:
    """Bring the parcels of each snapshot, and bucket of its topics, together."""
    by = (*KEY, "bucket")
    dealt = partial.repartition(tasks, *by) if tasks else partial.repartition(*by)
    return dealt.sortWithinPartitions(*KEY)


def output_schema() -> Any:  # noqa: ANN401 - a StructType
    """Return the columns of every table of scores, as Spark has them."""
    return _as_spark(SCHEMA)


def _as_spark(schema: Any) -> Any:  # noqa: ANN401 - an Arrow schema, a StructType
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def kept(sums: DataFrame) -> DataFrame:
    """Keep sums that are asked for several times, where the session can."""
    from pyspark.errors import PySparkException

    try:
        return sums.persist()
    except PySparkException:
        # Serverless compute keeps nothing: it is computed again.
        return sums


def scores(
    spark: SparkSession,
    fleet: str | Fleet,
    *,
    bands: dict[str, float] | None = None,
    thresholds: dict[str, float] | None = None,
) -> DataFrame:
    """
    Return the scores of a fleet, from a notebook or a job that has a session.

    Parameters
    ----------
    spark
        The session; of Spark Connect too.
    fleet
        A path that Spark reads, ``table:SCHEMA`` for tables of a catalog, or the
        tables themselves.
    bands, thresholds
        By resource name; the defaults where absent.
    """
    tables = open_fleet(spark, fleet) if isinstance(fleet, str) else fleet
    settings = ScoreSettings(bands=bands or {}, thresholds=thresholds or {})
    return score_fleet(tables, settings).scores
