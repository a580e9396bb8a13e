"""The cluster of a command: a snapshot, or a running cluster that is read."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli.common.common_options import (
    AllowPartial,
    BootstrapServer,
    CommandConfig,
    Resolve,
    Timeout,
)
from planner.cli.common.output import notes_unless
from planner.cli.common.shared_options import declare, parameters_of
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

    snapshot: Path | None = None
    bootstrap_server: str | None = None
    command_config: Path | None = None
    resolve: Sequence[str] | None = None
    timeout_s: float = 30.0
    allow_partial: bool = False
    quiet: bool = False
    option: str = "--snapshot"

    @property
    def is_live(self) -> bool:
        """Whether a running cluster is named."""
        return self.bootstrap_server is not None or self.command_config is not None

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
        is_live = self.is_live
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


def _connected(
    *,
    bootstrap_server: BootstrapServer = None,
    command_config: CommandConfig = None,
    resolve: Resolve = None,
    timeout: Timeout = 30.0,
) -> ClusterSource:
    """Return the running cluster that the options name; the signature lists them."""
    return ClusterSource(
        bootstrap_server=bootstrap_server,
        command_config=command_config,
        resolve=resolve,
        timeout_s=timeout,
    )


def _seen(*, allow_partial: AllowPartial = False) -> bool:
    """Return whether a part of the cluster will do; the signature has the option."""
    return allow_partial


def with_cluster(
    option: str = "--snapshot", *, has_partial: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    Add the options of a running cluster to a command.

    Parameters
    ----------
    option
        Name of the option or argument of the snapshot, for problems.
    has_partial
        Whether the command has ``--allow-partial``.

    Returns
    -------
    A decorator of functions with the parameter ``source``, which receives the
    `ClusterSource`, with the command's own ``snapshot``, if it has one, and ``quiet``.
    """
    gatherers = (_connected, _seen) if has_partial else (_connected,)
    shared = parameters_of(_connected)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**given: Any) -> None:  # noqa: ANN401 - as given
            source = replace(
                _connected(**{name: given.pop(name) for name in shared}),
                snapshot=given.get("snapshot"),
                allow_partial=has_partial and given.pop("allow_partial"),
                quiet=given["quiet"],
                option=option,
            )
            command(**given, source=source)

        return declare(call, command, *gatherers, instead_of="source")

    return decorate
