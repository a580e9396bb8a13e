"""Scores of a whole fleet: DataFrames in, DataFrames out."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.contracts.result_schemas import PROBLEMS
from planner.score.score_tables import LEVELS, SCHEMA
from planner.spark.common.task_packing import shuffled_tasks
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_opening import open_fleet
from planner.spark.io.fleet_tables import Fleet
from planner.spark.scoring.broadcast.broadcast_tables import grounds_of
from planner.spark.scoring.map_side.map_partitions import partial_sums
from planner.spark.scoring.reduce_side.balance_scores import ScoreSettings
from planner.spark.scoring.reduce_side.reduce_snapshots import (
    COMPLETE,
    HEAT,
    REFUSED,
    WARNED,
    judging,
    kinds_of,
    scoring,
    telling,
    whole_judge,
)
from planner.spark.scoring.shuffle.shuffle_rows import SCHEMA as PARCELS

TASK_ROWS, TASK_SNAPSHOTS = 2_000_000, 10
"""Partitions, and snapshots, whose parcels are worth a task of their own: 0.1 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScores:
    """
    What is known of a fleet, computed when one of its tables is asked for.

    Parameters
    ----------
    judged
        What all of it is made of: parcels, the columns of
        `planner.spark.scoring.shuffle.shuffle_rows.SCHEMA`. Where the session keeps it,
        until `release`, it is made once for all tables; else once for each.
    """

    judged: DataFrame

    @property
    def problems(self) -> DataFrame:
        """
        A row per thing that is wrong: `contracts.result_schemas.PROBLEMS`.

        Of severity `error`: the snapshot has no scores. `warning`: it has, and may be
        loaded in part.
        """
        told = self.judged.where(F.col("kind").isin(REFUSED, WARNED))
        return told.mapInArrow(telling, _as_spark(PROBLEMS))

    @property
    def scores(self) -> DataFrame:
        """A row per snapshot, level and resource: `score_tables.SCHEMA`."""
        return self.of_levels(LEVELS)

    def of_levels(self, levels: Collection[str]) -> DataFrame:
        """Return the scores of some levels alone: the others are not even made."""
        rows = self._sound(kinds_of(levels)).sortWithinPartitions(*KEY)
        return rows.mapInArrow(scoring(levels), output_schema())

    @property
    def heats(self) -> DataFrame:
        """A row per snapshot that is scored: `KEY`, and how hot its brokers are."""
        return self._sound([HEAT]).select(*KEY, F.col("sums").alias(HEAT))

    def _sound(self, kinds: Collection[str]) -> DataFrame:
        """
        Return parcels of snapshots with which nothing is wrong, and `COMPLETE`.

        Another task of the same snapshot may know what is wrong.
        """
        told = self.judged.where(F.col("kind").isin(REFUSED, WARNED))
        theirs = {name: f"told_{name}" for name in KEY}
        by_snapshot = told.groupBy(*KEY).agg(
            F.max(F.col("kind") == REFUSED).alias(REFUSED)
        )
        known = by_snapshot.select(
            *(F.col(name).alias(alias) for name, alias in theirs.items()), REFUSED
        )
        parcels = self.judged.where(F.col("kind").isin(*kinds))
        is_same = [parcels[n].eqNullSafe(known[alias]) for n, alias in theirs.items()]
        beside = parcels.join(F.broadcast(known), is_same, "left")
        sound = beside.where(~F.coalesce(REFUSED, F.lit(False)))
        is_complete = F.col(REFUSED).isNull().alias(COMPLETE)
        return sound.select(*parcels.columns, is_complete)

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

    Returns
    -------
    FleetScores
        The session keeps the sums that its tables share, from the first of them that is
        asked for: release them in the end.

    Notes
    -----
    Partitions are read once and added up where they are read; what follows is as large
    as brokers, log dirs and topics. What comes to the driver is as large as brokers,
    and comes at once: every task is handed it. All else runs when a table is asked for.
    """
    found = lazy_scores(fleet, settings)
    return FleetScores(judged=kept(found.judged))


def lazy_scores(fleet: Fleet, settings: ScoreSettings | None = None) -> FleetScores:
    """
    Score every snapshot of a fleet; the session keeps nothing.

    Parameters
    ----------
    fleet, settings
        As for `score_fleet`.
    """
    # Files are read as they are: Spark need not be told what columns they have.
    tables = fleet.canonical() if fleet.files is None else fleet
    spark = tables.session
    grounds = grounds_of(tables)
    settings = settings or ScoreSettings.defaults()
    partial = partial_sums(spark, tables, grounds, whole_judge(grounds, settings))
    together = brought_together(partial, _tasks(tables))
    judge = judging(grounds, settings)
    return FleetScores(judged=together.mapInArrow(judge, _as_spark(PARCELS)))


def _tasks(fleet: Fleet) -> int | None:
    """Return how many tasks the partitions are worth, where known."""
    if fleet.files is None:
        return None
    files = fleet.files.tables.get("partitions", ())
    rows = sum(file.rows for file in files)
    snapshots = {key for file in files for key in file.snapshots}
    most = shuffled_tasks(fleet.session)
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

    Notes
    -----
    Brokers and log dirs are collected at once. The scores are computed when they are
    asked for, and every time anew: nothing of them is kept in the session. Whoever asks
    several times persists the table, or uses `score_fleet`, which has the problems too.
    """
    tables = open_fleet(spark, fleet) if isinstance(fleet, str) else fleet
    settings = ScoreSettings(bands=bands or {}, thresholds=thresholds or {})
    return lazy_scores(tables, settings).scores
