"""Rows of earlier runs that are kept in rewritten days: those not selected."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.snapshot_selection import SnapshotSelection, day_text
from planner.spark.io.fleet_tables import Fleet, conform
from planner.spark.io.snapshot_selection import clusters_in, condition_of
from planner.spark.per_snapshot.snapshot_jobs import Job


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeptRows:
    """
    Condition on the rows of snapshots that a run does not select.

    Parameters
    ----------
    selection
        Selection of the run.
    clusters
        Ids of the selected clusters.
    days
        Days that are rewritten, as ``2026-11-21``; `None`: the days of the selection.
    """

    selection: SnapshotSelection
    clusters: Collection[str]
    days: Collection[str] | None

    def of(self, table: DataFrame | None, like: DataFrame) -> DataFrame:
        """
        Return the rows of a table that are kept.

        Parameters
        ----------
        table
            Rows of earlier runs, with the column ``date``; `None`: none.
        like
            A table with the columns of the result.
        """
        if table is None:
            return like.limit(0)
        kept = table.where(~self._selected())
        return conform(kept.where(self._in_days()), like.schema)

    def replaced(self) -> Column:
        """Return the condition on the rows to replace; needs a column ``date``."""
        return self._selected() & (self._in_days() | F.col("taken_at").isNull())

    def _selected(self) -> Column:
        selected = condition_of(self.selection, self.clusters)
        return F.coalesce(selected, F.lit(False))

    def _in_days(self) -> Column:
        if self.days is not None:
            return F.col("date").isin(*self.days)
        first, last = self.selection.days
        condition = F.lit(True)
        if first is not None:
            condition &= F.col("date") >= first
        return condition if last is None else condition & (F.col("date") <= last)


def kept_beside(
    fleet: Fleet, selection: SnapshotSelection, jobs: Iterable[Job]
) -> KeptRows | None:
    """
    Return the rows that are kept beside the rows of jobs.

    Parameters
    ----------
    fleet
        The selected snapshots.
    selection
        Selection of the run; if it selects every snapshot, nothing else is kept.
    jobs
        Jobs whose days are rewritten.
    """
    if selection.is_all:
        return None
    days = {day_text(job.times[-1]) for job in jobs}
    return KeptRows(
        selection=selection, clusters=clusters_in(fleet, selection), days=days
    )
