"""Scores of a whole fleet: DataFrames in, DataFrames out."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.score.tables import LEVELS, SCHEMA
from planner.snapshot.columns import ArrowTable
from planner.spark.balance import ScoreSettings
from planner.spark.dealing import shuffled_tasks
from planner.spark.files import KEY
from planner.spark.fleet import Fleet
from planner.spark.grounds import grounds_of
from planner.spark.judged import HEAT, REFUSED, judging, kinds_of, scoring, telling
from planner.spark.opening import open_fleet
from planner.spark.parcels import SCHEMA as PARCELS
from planner.spark.partial import partial_sums
from planner.spark.problems import SCHEMA as PROBLEMS

TASK_ROWS, TASK_SNAPSHOTS = 2_000_000, 10
"""Partitions, and snapshots, whose parcels are worth a task of their own: 0.1 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScores:
    """
    What is known of a fleet.

    Parameters
    ----------
    judged
        What all of it is made of, kept by the session until `release`: parcels, the
        columns of `planner.spark.parcels.SCHEMA`.
    refused
        `KEY` of the snapshots that something is wrong with; they have no scores.
    """

    judged: DataFrame
    refused: ArrowTable

    @property
    def problems(self) -> DataFrame:
        """A row per thing that is wrong: `planner.spark.problems.SCHEMA`."""
        wrong = self.judged.where(f"kind = '{REFUSED}'")
        return wrong.mapInArrow(telling, _as_spark(PROBLEMS))

    @property
    def scores(self) -> DataFrame:
        """A row per snapshot, level and resource: `planner.score.tables.SCHEMA`."""
        return self.of_levels(LEVELS)

    def of_levels(self, levels: Collection[str]) -> DataFrame:
        """Return the scores of some levels alone: the others are not even made."""
        rows = self._sound(kinds_of(levels))
        return rows.mapInArrow(scoring(levels), output_schema())

    @property
    def heats(self) -> DataFrame:
        """A row per snapshot that is scored: `KEY`, and how hot its brokers are."""
        return self._sound([HEAT]).select(*KEY, F.col("sums").alias(HEAT))

    def _sound(self, kinds: Collection[str]) -> DataFrame:
        return _without(self.judged.where(F.col("kind").isin(*kinds)), self.refused)

    def release(self) -> None:
        """Let the session forget the sums; what was written stays."""
        self.judged.unpersist()


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
    judge = judging(grounds, settings or ScoreSettings.defaults())
    together = brought_together(partial, _tasks(tables))
    judged = kept(together.mapInArrow(judge, _as_spark(PARCELS)))
    refused = judged.where(f"kind = '{REFUSED}'").select(*KEY).toArrow()
    return FleetScores(judged=judged, refused=refused)


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
    rows = sum(sum(file.row_groups) for file in files)
    snapshots = {key for file in files for key in file.snapshots}
    most = shuffled_tasks(fleet.partitions.sparkSession)
    return min(1 + rows // TASK_ROWS + len(snapshots) // TASK_SNAPSHOTS, most)


def brought_together(partial: DataFrame, tasks: int | None) -> DataFrame:
    """Bring the parcels of each snapshot, and bucket of its topics, together."""
    by = (*KEY, "bucket")
    if tasks is None:
        together = partial.repartition(*by)
    elif hasattr(partial, "repartitionById"):
        # Hashed, buckets fall to tasks by chance, at times twice as many to one.
        first = f"pmod(hash({', '.join(KEY)}), {tasks})"
        task = f"cast(pmod({first} + floor(before * {tasks}), {tasks}) AS int)"
        together = partial.repartitionById(tasks, F.expr(task))
    else:
        # Before 4.1 Spark does nothing but hash.
        together = partial.repartition(tasks, *by)
    return together.sortWithinPartitions(*KEY)


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
