"""Snapshots: read, written, and taken from a running cluster."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from planner.api.errors import named_as_arguments
from planner.snapshot import Snapshot
from planner.snapshot import read_snapshot as read_file
from planner.snapshot import write_snapshot as write_file


def read_snapshot(path: str | PathLike[str]) -> Snapshot:
    """
    Read a snapshot: ``.json``, ``.json.gz``, or a folder of Parquet.

    Raises
    ------
    BadInputError
        If it is not a snapshot; has every problem.
    """
    return read_file(Path(path))


def write_snapshot(snapshot: Snapshot, path: str | PathLike[str]) -> Path:
    """
    Write a snapshot in the format of the suffix.

    Returns
    -------
    Path of the snapshot.

    Raises
    ------
    BadInputError
        If the path exists and is not a snapshot, or cannot be written.
    """
    write_file(snapshot, Path(path))
    return Path(path)


def _ignore(_: str) -> None:
    """Ignore a note."""


def take_snapshot(
    bootstrap_servers: str,
    *,
    command_config: str | PathLike[str] | None = None,
    sample_seconds: float = 10.0,
    allow_partial: bool = False,
    timeout_s: float = 30.0,
    note: Callable[[str], None] = _ignore,
) -> Snapshot:
    """
    Take a snapshot of a running cluster; nothing there is changed.

    Parameters
    ----------
    bootstrap_servers
        ``host:port,…``.
    command_config
        Properties of a Java client: SASL, SSL, timeouts.
    sample_seconds
        Seconds between the two readings for estimates of rates; 0: no rates.
    allow_partial
        Whether to continue if the user may not see everything.
    timeout_s
        Seconds to reach the cluster, and for each answer.
    note
        Function that receives notes.

    Raises
    ------
    BadInputError
        If the options are wrong, or the user may not see everything.
    ClusterUnavailableError
        If the cluster does not answer, or denies access.
    """
    from planner.kafka.client.client_session import open_cluster
    from planner.kafka.read import live_snapshot

    config = None if command_config is None else Path(command_config)
    with named_as_arguments():
        client = open_cluster(bootstrap_servers, config, timeout_s=timeout_s, note=note)
    with client:
        return live_snapshot.take_snapshot(
            client,
            sample_seconds=sample_seconds,
            allow_partial=allow_partial,
            note=note,
        )
