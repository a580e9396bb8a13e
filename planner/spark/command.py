"""Steps of the commands on Spark that need a session."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from placement.model.load import RESOURCES
from planner.errors import InputProblem, raise_problems
from planner.fleet.arrow_tables import EPOCH, header_table, read_header
from planner.fleet.fleet_places import schema_of
from planner.fleet.snapshot_selection import ALL, SnapshotSelection
from planner.options.cluster_options import read_options
from planner.options.plan_request import read_values
from planner.score.make_score import ScoreRequest
from planner.snapshot import Snapshot, read_snapshot
from planner.spark.common.problem_rows import WARNING
from planner.spark.io.corrupt_files import Broken, around_broken
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_opening import (
    fleet_of_snapshots,
    open_fleet,
    snapshot_folder,
)
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.snapshot_selection import clusters_in, narrowed
from planner.spark.output.destination import Folder, destination_at, new_days
from planner.spark.output.kept_rows import KeptRows
from planner.spark.output.latest_scores import latest_keys
from planner.spark.output.local_tables import local_folder
from planner.spark.output.score_tables import (
    Scored,
    cluster_documents,
    contents_of,
    moment_text,
    problem_rows,
)
from planner.spark.scoring.fleet_scores import FleetScores, score_fleet
from planner.spark.scoring.hot_brokers import heats_of, with_brokers
from planner.spark.scoring.reduce_side.balance_scores import ScoreSettings
from planner.spark.scoring.reduce_side.small_scores import SmallScores, small_scores


def settings_of(request: ScoreRequest) -> ScoreSettings:
    """
    Return the score settings of a request: bands and capacity thresholds.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    options, problems = read_values(asdict(request))
    state = Snapshot().to_state()
    settings = read_options(options, state, problems=problems).settings
    return ScoreSettings(
        bands={str(r): settings.band(r) for r in RESOURCES},
        thresholds={str(r): v for r, v in settings.capacity_thresholds.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotsScored:
    """
    Snapshots that were scored on Spark.

    Parameters
    ----------
    documents
        Figures of each cluster, one document per snapshot, in the order of the
        snapshots. The fewest bytes to move are not computed on Spark.
    found
        Scores of every level, to be written and released.
    """

    documents: list[dict[str, Any]]
    found: FleetScores


def score_snapshots(
    spark: SparkSession,
    paths: Sequence[Path],
    request: ScoreRequest,
    *,
    tells_brokers: bool = False,
) -> SnapshotsScored:
    """
    Score snapshots on Spark; those in Parquet are never held in memory as a whole.

    Parameters
    ----------
    spark
        The session.
    paths
        Files or folders of the snapshots.
    request
        Bands and thresholds.
    tells_brokers
        Whether documents list each broker and the causes of hot spots; this takes one
        more query per snapshot. `planner.spark.scoring.hot_brokers` has the limits.

    Raises
    ------
    BadInputError
        With every problem of any snapshot.
    """
    settings = settings_of(request)
    # A snapshot without a cluster id is named by its index.
    opened = [_open(spark, path, str(place)) for place, path in enumerate(paths)]
    together = opened[0][0]
    for more, _ in opened[1:]:
        together = together.together(more)
    found = score_fleet(together, settings)
    try:
        documents = _documents(found, opened, together, tells_brokers=tells_brokers)
    except BaseException:
        found.release()
        raise
    return SnapshotsScored(documents=documents, found=found)


def _documents(
    found: FleetScores,
    opened: Sequence[tuple[Fleet, tuple[str, int]]],
    together: Fleet,
    *,
    tells_brokers: bool,
) -> list[dict[str, Any]]:
    """
    Return a document per snapshot.

    Raises
    ------
    BadInputError
        With every problem of any snapshot.
    """
    problems = problem_rows(found)
    raise_problems("the snapshots cannot be scored", problems)
    by_name = cluster_documents(found.level_table(["cluster"]), datetime.now(UTC))
    heats = heats_of(found)
    documents = []
    for place, (_, name) in enumerate(opened):
        is_named = name[0] != str(place)
        own = {
            "cluster_id": name[0] if is_named else None,
            "num_hot_spots": heats[name].worst()[1],
        }
        documents.append(by_name[name] | own)
    if tells_brokers:
        names = [name for _, name in opened]
        keyed = zip(names, documents, strict=True)
        documents = list(with_brokers(keyed, found, together, heats))
    return documents


def _open(spark: SparkSession, path: Path, name: str) -> tuple[Fleet, tuple[str, int]]:
    """Open a snapshot; return its tables and its key: cluster id and microseconds."""
    if path.is_dir():
        header = header_table(read_header(path), name=name)
        fleet = snapshot_folder(spark, path, name=name)
    else:
        snapshot = read_snapshot(path)
        header = header_table(snapshot.header(), name=name)
        fleet = fleet_of_snapshots(spark, [snapshot], keys=[name])
    (row,) = header.select(list(KEY)).to_pylist()
    micros = (row["taken_at"] - EPOCH) // timedelta(microseconds=1)
    return fleet, (row["cluster_id"], micros)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScored:
    """
    Result of `fleet score`.

    Parameters
    ----------
    documents
        A document per snapshot scored by this run.
    problems
        Problems of the snapshots without scores.
    warnings
        Warnings on scored snapshots that may be loaded in part.
    latest
        The last selected snapshot of each cluster, scored by this run or an earlier
        one.
    """

    documents: list[dict[str, Any]]
    problems: list[InputProblem]
    warnings: list[InputProblem]
    latest: list[Scored]


def score_folder(
    spark: SparkSession,
    folder: str,
    request: ScoreRequest,
    output: str,
    *,
    again: bool,
    selection: SnapshotSelection = ALL,
) -> FleetScored:
    """
    Score a fleet into a folder or a catalog: days that lack scores, or all days.

    Tables of a catalog that do not list their snapshots in a table `commits` are scored
    in full, since their contents cannot be compared with earlier scores.

    Parameters
    ----------
    spark
        The session.
    folder
        The fleet.
    request
        Bands and thresholds.
    output
        Destination of scores, problems and the list of scored snapshots: a path that
        Spark writes, or ``table:CATALOG.SCHEMA``.
    again
        Whether snapshots that have scores are scored again.
    selection
        The snapshots to score; rows of others stay as they are.

    Raises
    ------
    BadInputError
        If the folder is no fleet, no cluster matches, or nothing can be written.
    """
    settings, target = settings_of(request), destination_at(spark, output)
    days, contents, clusters = None, dict[Scored, str](), list[str]()
    every = contents_of(spark, folder)
    if every or schema_of(folder) is None:
        clusters = selection.clusters(cluster for cluster, _ in every)
        contents = {k: v for k, v in every.items() if selection.takes(*k)}
        days = {moment_text(at)[:10] for _, at in contents}
        if not again:
            days = new_days(target, contents)
        if not days:
            latest = latest_keys(contents)
            return FleetScored(documents=[], problems=[], warnings=[], latest=latest)
    done = {
        key: content
        for key, content in contents.items()
        if days is None or moment_text(key[1])[:10] in days
    }

    def run(broken: Broken) -> FleetScored:
        # A condition that holds for all rows would keep tasks from decoding files.
        read = None if days == {moment_text(at)[:10] for _, at in every} else days
        whole = open_fleet(spark, folder, days=read, broken=broken)
        names = clusters or clusters_in(whole, selection)
        kept = KeptRows(selection=selection, clusters=names, days=days)
        fleet = narrowed(whole, selection, names)
        # Spark merges rows with those of snapshots of the same days, not selected.
        is_here = selection.is_all and local_folder(spark, output) is not None
        small = small_scores(fleet, settings) if is_here else None
        if small is not None and isinstance(target, Folder):
            target.write_scores(small, done=done, kept=kept)
            return _scored(small, contents)
        with released(score_fleet(fleet, settings)) as found:
            target.write_scores(found, done=done, kept=kept)
            return _scored(found, contents)

    return around_broken(run)


def _scored(
    found: FleetScores | SmallScores, contents: Mapping[Scored, str]
) -> FleetScored:
    """Collect what the command shows of scores that are written."""
    rows = found.level_table(["cluster"])
    documents = cluster_documents(rows, datetime.now(UTC))
    return FleetScored(
        documents=[*documents.values()],
        problems=problem_rows(found),
        warnings=problem_rows(found, WARNING),
        latest=latest_keys(contents or documents),
    )


@contextmanager
def released(found: FleetScores) -> Iterator[FleetScores]:
    """Release scores when the block ends, also after an error."""
    try:
        yield found
    finally:
        found.release()
