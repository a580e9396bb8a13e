"""Scores of a whole fleet: DataFrames in, DataFrames out."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.contracts.result_schemas import PROBLEMS
from planner.score.score_tables import LEVELS, SCHEMA
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.task_packing import shuffled_tasks
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_opening import open_fleet
from planner.spark.io.fleet_tables import Fleet
from planner.spark.scoring.broadcast.broadcast_tables import Grounds, grounds_of
from planner.spark.scoring.map_side.map_partitions import contents_of, partial_sums
from planner.spark.scoring.reduce_side.balance_scores import ScoreSettings
from planner.spark.scoring.reduce_side.reduce_snapshots import (
    HEAT,
    REFUSED,
    WARNED,
    judging,
    kinds_of,
    scoring,
    telling,
    whole_judge,
)
from planner.spark.scoring.reduce_side.small_scores import PROBLEM_ORDER
from planner.spark.scoring.shuffle.shuffle_rows import COMPLETE
from planner.spark.scoring.shuffle.shuffle_rows import SCHEMA as PARCELS

TASK_ROWS, TASK_SNAPSHOTS = 2_000_000, 10
"""Partitions, and snapshots, whose partial sums justify a task: 0.1 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScores:
    """
    Scores and problems of a fleet, computed when one of the tables is used.

    Parameters
    ----------
    judged
        Source of all tables: the columns of
        `planner.spark.scoring.shuffle.shuffle_rows.SCHEMA`. If the session persists it,
        until `release`, it is computed once for all tables; else once for each.
    """

    judged: DataFrame

    @property
    def problems(self) -> DataFrame:
        """
        A row per problem: `contracts.result_schemas.PROBLEMS`.

        Severity `error`: the snapshot has no scores. `warning`: it has scores, and may
        be loaded in part.
        """
        problem_rows = self.judged.where(_is_of([REFUSED, WARNED]))
        return problem_rows.mapInArrow(telling, _as_spark(PROBLEMS))

    @property
    def scores(self) -> DataFrame:
        """A row per snapshot, level and resource: `score_tables.SCHEMA`."""
        return self.of_levels(LEVELS)

    def of_levels(self, levels: Collection[str]) -> DataFrame:
        """Return the scores of some levels; the other levels are not computed."""
        rows = self._sound(kinds_of(levels)).sortWithinPartitions(*KEY)
        return rows.mapInArrow(scoring(levels), output_schema())

    def level_table(self, levels: Collection[str]) -> ArrowTable:
        """Collect the scores of some levels, for levels with few rows."""
        return self.of_levels(levels).toArrow()

    def problem_table(self, severity: str, most: int) -> ArrowTable:
        """Collect the problems of a severity in order, the first `most` of them."""
        of_severity = self.problems.where(F.col("severity") == severity)
        return of_severity.orderBy(*PROBLEM_ORDER).limit(most).toArrow()

    @property
    def heats(self) -> DataFrame:
        """A row per scored snapshot: `KEY`, and the heat of its brokers."""
        return self._sound([HEAT]).select(*KEY, F.col("sums").alias(HEAT))

    def _sound(self, kinds: Collection[str]) -> DataFrame:
        """
        Return the shuffle rows of snapshots without errors, and `COMPLETE`.

        Errors of a snapshot may come from other tasks, so that they are joined to its
        rows.
        """
        # As texts: an expression takes several calls of the JVM, a text of many one.
        problems = self.judged.where(_is_of([REFUSED, WARNED])).selectExpr(
            *(f"{name} AS problem_{name}" for name in KEY),
            f"kind = '{REFUSED}' AS {REFUSED}",
        )
        known = problems.groupBy(*(f"problem_{name}" for name in KEY)).agg(
            F.expr(f"max({REFUSED}) AS {REFUSED}")
        )
        parcels = self.judged.where(_is_of(kinds))
        is_same = " AND ".join(f"{name} <=> problem_{name}" for name in KEY)
        beside = parcels.join(F.broadcast(known), F.expr(is_same), "left")
        sound = beside.where(f"NOT coalesce({REFUSED}, false)")
        is_complete = f"{REFUSED} IS NULL AS {COMPLETE}"
        return sound.selectExpr(*PARCELS.names, is_complete)

    def release(self) -> None:
        """Unpersist the sums; written tables are not affected."""
        self.judged.unpersist()


def _is_of(kinds: Collection[str]) -> str:
    """Return the condition that a shuffle row is of one of some kinds."""
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    return f"kind IN ({listed})" if kinds else "false"


def score_fleet(fleet: Fleet, settings: ScoreSettings | None = None) -> FleetScores:
    """
    Score every snapshot of a fleet.

    Parameters
    ----------
    fleet
        The tables.
    settings
        Bands and thresholds; `None`: the defaults.

    Returns
    -------
    FleetScores
        The session persists the sums that its tables share, from the first use of a
        table on: release them at the end.

    Notes
    -----
    Partitions are read once and summed in the tasks that read them. All later data
    grows with brokers, log dirs and topics. The driver collects only brokers and log
    dirs, at once, and broadcasts them. Everything else runs when a table is used.
    """
    found = lazy_scores(fleet, settings)
    return FleetScores(judged=kept(found.judged))


def lazy_scores(fleet: Fleet, settings: ScoreSettings | None = None) -> FleetScores:
    """
    Score every snapshot of a fleet; the session persists nothing.

    Parameters
    ----------
    fleet, settings
        As for `score_fleet`.
    """
    # Tasks read files without Spark, which needs no schema of theirs.
    tables = fleet.canonical() if fleet.files is None else fleet
    spark = tables.session
    grounds = grounds_of(tables)
    settings = settings or ScoreSettings.defaults()
    contents = contents_of(tables, grounds)
    if contents is not None:
        grounds = grounds.with_partitions(contents.rows)
    judge = whole_judge(grounds, settings)
    partial = partial_sums(spark, tables, grounds, judge, contents)
    if partial.are_judged:
        return FleetScores(judged=partial.rows)
    together = brought_together(partial.rows, _tasks(spark, grounds))
    judged = together.mapInArrow(judging(grounds, settings), _as_spark(PARCELS))
    return FleetScores(judged=judged)


def _tasks(spark: SparkSession, grounds: Grounds) -> int | None:
    """Return the number of tasks for the partial sums; `None` if rows are unknown."""
    if not grounds.partitions:
        return None
    rows, snapshots = sum(grounds.partitions.values()), len(grounds.partitions)
    wanted = 1 + rows // TASK_ROWS + snapshots // TASK_SNAPSHOTS
    return min(wanted, shuffled_tasks(spark))


def brought_together(partial: DataFrame, tasks: int | None) -> DataFrame:
    """Repartition partial sums by snapshot and bucket of topics."""
    by = (*KEY, "bucket")
    if tasks is None:
        together = partial.repartition(*by)
    elif hasattr(partial, "repartitionById"):
        # Hashing would distribute buckets unevenly, at times twice as many to a task.
        first = f"pmod(hash({', '.join(KEY)}), {tasks})"
        task = f"cast(pmod({first} + floor(before * {tasks}), {tasks}) AS int)"
        together = partial.repartitionById(tasks, F.expr(task))
    else:
        # Spark before 4.1 can only hash.
        together = partial.repartition(tasks, *by)
    return together.sortWithinPartitions(*KEY)


def output_schema() -> Any:  # noqa: ANN401 - a StructType
    """Return the columns of every table of scores as a Spark schema."""
    return _as_spark(SCHEMA)


def _as_spark(schema: Any) -> Any:  # noqa: ANN401 - an Arrow schema, a StructType
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def kept(sums: DataFrame) -> DataFrame:
    """Persist sums that are used several times, if the session can."""
    from pyspark.errors import PySparkException

    try:
        return sums.persist()
    except PySparkException:
        # Serverless compute cannot persist: the sums are computed again.
        return sums


def scores(
    spark: SparkSession,
    fleet: str | Fleet,
    *,
    bands: dict[str, float] | None = None,
    thresholds: dict[str, float] | None = None,
) -> DataFrame:
    """
    Return the scores of a fleet, for a notebook or a job that has a session.

    Parameters
    ----------
    spark
        The session, which may be one of Spark Connect.
    fleet
        A path that Spark reads, ``table:SCHEMA`` for tables of a catalog, or the tables
        themselves.
    bands, thresholds
        Fractions by resource name; absent: the defaults.

    Notes
    -----
    Brokers and log dirs are collected at once. The scores are computed anew at each
    use, since the session persists nothing. For repeated use, persist the table, or
    call `score_fleet`, which also returns the problems.
    """
    tables = open_fleet(spark, fleet) if isinstance(fleet, str) else fleet
    settings = ScoreSettings(bands=bands or {}, thresholds=thresholds or {})
    return lazy_scores(tables, settings).scores
