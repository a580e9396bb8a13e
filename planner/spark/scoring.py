"""Scores of a whole fleet: DataFrames in, DataFrames out."""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.spark.balance import ScoreSettings, balance_rows
from planner.spark.fleet import KEY, Fleet, open_fleet
from planner.spark.partial import partial_sums
from planner.spark.problems import found_twice


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
    sums
        What both are made of, kept by the session until `release`.
    """

    scores: DataFrame
    problems: DataFrame
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
    tables = fleet.canonical()
    partial = kept(partial_sums(tables.partitions.sparkSession, tables))
    twice = found_twice(tables, partial)
    settings = settings or ScoreSettings.defaults()
    placed = kept(balance_rows(tables, partial, twice, settings))
    is_sound = F.col("problem").isNull()
    return FleetScores(
        scores=placed.where(is_sound).drop("problem"),
        problems=placed.where(~is_sound).select(*KEY, "problem.*"),
        sums=(partial, placed),
    )


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
