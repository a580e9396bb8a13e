"""Selection of a fleet's snapshots by cluster and time, before they are read."""

from collections.abc import Collection
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.snapshot_selection import SnapshotSelection, read_selection
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import TIME, FleetFiles, TableFile
from planner.spark.io.fleet_tables import Fleet


def select_snapshots(
    fleet: Fleet,
    *,
    since: str | None = None,
    until: str | None = None,
    cluster: str | None = None,
) -> Fleet:
    """
    Return the snapshots of some clusters within a span of time.

    Parameters
    ----------
    fleet
        The tables.
    since, until, cluster
        Options of the command line: see
        `planner.fleet.snapshot_selection.read_selection`.

    Raises
    ------
    BadInputError
        If an option is wrong, or no cluster matches.

    Examples
    --------
    The last week of the clusters in Europe::

        fleet = open_fleet(spark, "s3a://bucket/fleet")
        scores(spark, select_snapshots(fleet, since="7d", cluster="eu-.*"))
    """
    return narrowed(fleet, read_selection(since, until, cluster))


def narrowed(
    fleet: Fleet,
    selection: SnapshotSelection,
    clusters: Collection[str] | None = None,
) -> Fleet:
    """
    Return the selected snapshots of a fleet.

    Parameters
    ----------
    fleet
        The tables.
    selection
        Condition on the snapshots.
    clusters
        Ids of the clusters that match; `None`: they are looked up.

    Raises
    ------
    BadInputError
        If no cluster matches.

    Notes
    -----
    Files of other snapshots are not opened. If Spark reads the tables, one query lists
    the ids of clusters, and both conditions are pushed down to its readers. Rows
    without a time belong to no snapshot and are kept, so that they are reported.
    """
    if selection.is_all:
        return fleet
    # Tables of other programs have columns of any case and type.
    whole = fleet.canonical() if fleet.files is None else fleet
    found = clusters_in(whole, selection) if clusters is None else clusters
    condition = condition_of(selection, found)

    def tables() -> dict[str, DataFrame]:
        return {name: rows.where(condition) for name, rows in whole.tables().items()}

    if whole.files is not None:
        return Fleet.of_files(whole.session, _files(whole.files, selection), tables)
    flaws = {key: v for key, v in whole.flaws.items() if selection.takes(*key)}
    kept = tables()
    return replace(
        whole,
        clusters=kept["clusters"],
        brokers=kept["brokers"],
        log_dirs=kept["log_dirs"],
        topics=kept["topics"],
        partitions=kept["partitions"],
        flaws=flaws,
    )


def clusters_in(fleet: Fleet, selection: SnapshotSelection) -> list[str]:
    """
    Return the ids of a fleet's clusters that match; empty if every cluster is selected.

    Raises
    ------
    BadInputError
        If no cluster matches.
    """
    if fleet.files is None:
        return clusters_of([fleet.clusters, fleet.brokers], selection)
    return selection.clusters(cluster for cluster, _ in _keys(fleet.files))


def rows_selected(table: DataFrame, selection: SnapshotSelection) -> DataFrame:
    """
    Return the rows of selected snapshots from a table with `KEY`, such as scores.

    Raises
    ------
    BadInputError
        If no cluster matches.
    """
    if selection.is_all:
        return table
    return table.where(condition_of(selection, clusters_of([table], selection)))


def clusters_of(
    tables: Collection[DataFrame], selection: SnapshotSelection
) -> list[str]:
    """
    Return the ids of the clusters that match; empty if every cluster is selected.

    Raises
    ------
    BadInputError
        If no cluster matches.
    """
    if selection.cluster is None:
        return []
    listed = [table.select("cluster_id").distinct().collect() for table in tables]
    return selection.clusters({row[0] for rows in listed for row in rows})


def condition_of(selection: SnapshotSelection, clusters: Collection[str]) -> Column:
    """Return the condition that a row is of a selected snapshot, or has no time."""
    condition = F.lit(True)
    if selection.cluster is not None:
        condition &= F.col("cluster_id").isin(*clusters)
    time = F.col("taken_at")
    if selection.since is not None:
        first = F.timestamp_micros(F.lit(selection.since))
        condition &= (time >= first) | time.isNull()
    if selection.until is not None:
        last = F.timestamp_micros(F.lit(selection.until))
        condition &= (time < last) | time.isNull()
    return condition


def _keys(files: FleetFiles) -> set[tuple[str, int]]:
    return {k for listed in files.tables.values() for f in listed for k in f.snapshots}


def _files(files: FleetFiles, selection: SnapshotSelection) -> FleetFiles:
    """Return the files with a selected snapshot; hide other snapshots in them."""
    tables = {
        name: tuple(
            narrow
            for file in listed
            if (narrow := _file(file, selection)).snapshots or not file.snapshots
        )
        for name, listed in files.tables.items()
    }
    given = {name: _rows(rows, selection) for name, rows in files.given.items()}
    return replace(files, tables=tables, given=given)


def _rows(rows: ArrowTable, selection: SnapshotSelection) -> ArrowTable:
    """Return the rows of selected snapshots from a table with few rows."""
    keys = zip(
        rows.column("cluster_id").to_pylist(),
        rows.column("taken_at").cast(TIME).cast(pa.int64()).to_pylist(),
        strict=True,
    )
    return rows.filter(pa.array([selection.takes(*key) for key in keys], pa.bool_()))


def _file(file: TableFile, selection: SnapshotSelection) -> TableFile:
    kept = tuple(key for key in file.snapshots if selection.takes(*key))
    others = tuple(key for key in file.snapshots if not selection.takes(*key))
    return replace(file, snapshots=kept, hidden=(*file.hidden, *others))
