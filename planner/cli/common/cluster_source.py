"""The cluster of a command: a snapshot, or a running cluster that is read."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.common.output import notes_unless
from planner.errors import BadInputError, InputProblem

if TYPE_CHECKING:
    from planner.kafka.client.admin_client import ClusterClient
    from planner.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSource:
    """
    Options that name a cluster.

    Parameters
    ----------
    snapshot
        Path of the snapshot, if one is given.
    bootstrap_server, command_config
        Address of the running cluster, and properties of a Java client.
    resolve
        ``ADVERTISED=REAL`` addresses.
    timeout_s
        Seconds to reach the cluster, and for each answer.
    allow_partial
        Whether to continue if the user may not see everything.
    quiet
        Whether notes are dropped.
    option
        Name of the option or argument of the snapshot.
    """

    snapshot: Path | None
    bootstrap_server: str | None
    command_config: Path | None
    resolve: Sequence[str] | None
    timeout_s: float
    allow_partial: bool
    quiet: bool
    option: str = "--snapshot"

    @property
    def connection(self) -> str:
        """Options by which other commands connect to the same cluster."""
        from planner.kafka_commands import ANY_SERVER, connection_options

        if self.bootstrap_server is None:
            return ANY_SERVER
        config = None if self.command_config is None else str(self.command_config)
        return connection_options(self.bootstrap_server, config)

    @property
    def words(self) -> list[str]:
        """Words of the command line by which other commands read the same cluster."""
        if self.snapshot is not None:
            return [str(self.snapshot)]
        return shlex.split(self.connection)

    def check(self) -> None:
        """
        Refuse a snapshot and a running cluster at once, or neither.

        Raises
        ------
        BadInputError
            If not exactly one of the two is given.
        """
        is_live = self.bootstrap_server is not None or self.command_config is not None
        if is_live != (self.snapshot is not None):
            return
        name = "a snapshot" if self.option == "SNAP" else f"{self.option} SNAP"
        problem = InputProblem.of_option(
            f"{self.option}, --bootstrap-server",
            "both" if is_live else "neither",
            "exactly one of the two must be given",
            f"give {name}, or --bootstrap-server H:P",
        )
        msg = "two clusters given" if is_live else "no cluster given"
        raise BadInputError(msg, [problem])

    def read_file(self) -> "Snapshot | None":
        """
        Return the snapshot, or `None` for a running cluster.

        Raises
        ------
        BadInputError
            If the file is no snapshot; has every problem.
        """
        from planner.cli.common.snapshot_reading import read_snapshot

        return None if self.snapshot is None else read_snapshot(self.snapshot)

    def read_live(self) -> "Snapshot":
        """
        Return a snapshot of the running cluster, without rates.

        Raises
        ------
        BadInputError
            If options or properties are wrong, or answers form no valid snapshot.
        ClusterUnavailableError
            If the cluster cannot be reached, or a part is hidden.
        """
        with self.open() as client:
            return self.read_from(client)

    def read_from(self, client: "ClusterClient") -> "Snapshot":
        """
        Return a snapshot of the running cluster, read by a client; see `read_live`.

        Raises
        ------
        BadInputError, ClusterUnavailableError
            As in `read_live`.
        """
        from planner.kafka.read.live_snapshot import take_snapshot

        return take_snapshot(
            client,
            sample_seconds=0,
            allow_partial=self.allow_partial,
            note=notes_unless(self.quiet),
        )

    def open(self) -> "ClusterClient":
        """
        Return a client of the running cluster.

        Raises
        ------
        BadInputError
            If options or properties are wrong.
        ClusterUnavailableError
            If the cluster cannot be reached.
        """
        from planner.kafka.client.client_session import open_cluster

        return open_cluster(
            self.bootstrap_server,
            self.command_config,
            resolve=self.resolve or (),
            timeout_s=self.timeout_s,
            note=notes_unless(self.quiet),
        )
