"""Snapshots of a fleet that a command covers, and the Spark that reads them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.shared_options import gathered
from planner.cli.common.spark_options import Conf, Master, session_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from planner.fleet.fleet_places import FolderCheck
    from planner.fleet.snapshot_selection import SnapshotSelection

Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Snapshots from this time on: a day, a time, or an age such as 7d; UTC.",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="Snapshots before this time; if it is a day, that day included.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="REGEX", help="Clusters whose whole id matches."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScope:
    """
    Options of the snapshots that a command covers, and of Spark.

    Parameters
    ----------
    since, until
        Times of the snapshots.
    cluster
        Regular expression of the ids of the clusters.
    master, conf
        Spark's master, and its settings.
    """

    since: Since = None
    until: Until = None
    cluster: Cluster = None
    master: Master = None
    conf: Conf = None

    def selection(self) -> "SnapshotSelection":
        """
        Return the selection of the snapshots.

        Raises
        ------
        BadInputError
            If a time or the expression is invalid.
        """
        from planner.fleet.snapshot_selection import read_selection

        return read_selection(self.since, self.until, self.cluster)

    def session(
        self, output: str, *reads: "FolderCheck", in_python: bool = False
    ) -> "SparkSession":
        """
        Return the Spark session; see `session_of`.

        Parameters
        ----------
        output
            Destination.
        reads
            Folders that the command reads.
        in_python
            Whether nearly all of the work is done in Python.
        """
        return session_of(
            self.master, self.conf, in_python=in_python, reads=reads, writes=output
        )


with_scope = gathered(FleetScope, instead_of="scope")
"""Decorator of a command that takes a `FleetScope` as its parameter ``scope``."""
