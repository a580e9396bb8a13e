"""Scores of a whole fleet: DataFrames in, DataFrames out."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.score.tables import SCHEMA
from planner.snapshot.columns import ArrowTable
from planner.spark.balance import ScoreSettings, score_tables
from planner.spark.files import KEY
from planner.spark.fleet import Fleet, open_fleet
from planner.spark.grounds import Grounds, grounds_of
from planner.spark.parcels import SEED, Key, Parcels, on_snapshots
from planner.spark.partial import partial_sums, shuffled_tasks
from planner.spark.problems import SCHEMA as PROBLEMS
from planner.spark.problems import problem_tables

ArrowSchema: TypeAlias = Any
Work = Callable[[Parcels], Iterable[ArrowTable]]
"""What is made of the parcels of a snapshot."""
JUDGED = ("number", "count", "found", "listed", SEED)
SCORED = ("place", "factor", "count", "topic", "listed", SEED)
"""Kinds of parcels that tell what is wrong, and that scores are made of."""
JUDGED_ROWS, SCORED_ROWS = 4_000_000, 400_000
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
    # Files are read as they are: Spark need not be told what columns they have.
    tables = fleet.canonical() if fleet.files is None else fleet
    spark = tables.partitions.sparkSession
    grounds = grounds_of(tables)
    partial = kept(partial_sums(spark, tables, grounds))
    chosen = settings or ScoreSettings.defaults()

    def judge(parcels: Parcels) -> Iterable[ArrowTable]:
        return problem_tables(parcels, grounds)

    judged = _dealt(partial, JUDGED, _tasks(tables, JUDGED_ROWS))
    problems, refused = _known(_worked(judged, judge, PROBLEMS))
    work = _scorer(grounds, chosen, refused)
    scored = _dealt(partial, SCORED, _tasks(tables, SCORED_ROWS))
    return FleetScores(
        scores=_worked(scored, work, SCHEMA),
        problems=problems,
        sums=(partial, problems),
    )


def _known(problems: DataFrame) -> tuple[DataFrame, frozenset[Key]]:
    """Return problems, looked for but once, and the snapshots that they are of."""
    if not problems.select("table").take(1):
        return problems.limit(0), frozenset()
    found = kept(problems)
    return found, _keys_of(found)


def _scorer(
    grounds: Grounds, settings: ScoreSettings, refused: Collection[Key]
) -> Work:
    def score(parcels: Parcels) -> Iterable[ArrowTable]:
        return (
            () if parcels.key in refused else score_tables(parcels, grounds, settings)
        )

    return score


def _tasks(fleet: Fleet, rows: int) -> int | None:
    """Return how many tasks partitions are worth, at so many each, where known."""
    if fleet.files is None:
        return None
    files = fleet.files.tables.get("partitions", ())
    total = sum(sum(file.row_groups) for file in files)
    return min(1 + total // rows, shuffled_tasks(fleet.partitions.sparkSession))


def _dealt(partial: DataFrame, kinds: Collection[str], tasks: int | None) -> DataFrame:
    """Bring the parcels of each snapshot, and bucket of its topics, together."""
    wanted = partial.where(F.col("kind").isin(*kinds))
    by = (*KEY, "bucket")
    dealt = wanted.repartition(tasks, *by) if tasks else wanted.repartition(*by)
    return dealt.sortWithinPartitions(*KEY)


def _worked(dealt: DataFrame, work: Work, schema: ArrowSchema) -> DataFrame:
    return dealt.mapInArrow(on_snapshots(work), _as_spark(schema))


def output_schema() -> Any:  # noqa: ANN401 - a StructType
    """Return the columns of every table of scores, as Spark has them."""
    return _as_spark(SCHEMA)


def _as_spark(schema: Any) -> Any:  # noqa: ANN401 - an Arrow schema, a StructType
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _keys_of(problems: DataFrame) -> frozenset[Key]:
    """Collect the snapshots with which something is wrong."""
    micros = F.unix_micros("taken_at").alias("micros")
    rows = problems.select("cluster_id", micros).distinct().collect()
    return frozenset((row["cluster_id"], row["micros"]) for row in rows)


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
