"""Construction of a cluster client from command line options, with all problems."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from planner.errors import BadInputError, InputProblem, raise_problems
from planner.kafka.auth.client_settings import ClientSettings, read_settings
from planner.kafka.client.addresses import Address, parse_bootstrap, parse_resolve
from planner.kafka.client.admin_client import DEFAULT_TIMEOUT_S, ClusterClient

Value = TypeVar("Value")


def _be_silent(_: str) -> None:
    """Ignore a note."""


def _read(
    work: Callable[[], Value], fallback: Value, problems: list[InputProblem]
) -> Value:
    """Return the result of the work, or collect its problems for later."""
    try:
        return work()
    except BadInputError as error:
        problems.extend(error.problems)
        return fallback


def open_cluster(
    bootstrap_server: str | None,
    command_config: Path | None = None,
    *,
    resolve: Sequence[str] = (),
    timeout_s: float = DEFAULT_TIMEOUT_S,
    note: Callable[[str], None] = _be_silent,
) -> ClusterClient:
    """
    Create a client from the options, without connecting yet.

    Parameters
    ----------
    bootstrap_server
        Bootstrap brokers as ``host:port,…``; `None`: ``bootstrap.servers`` of the
        properties.
    command_config
        Path of the properties file of a Java client.
    resolve
        Address pairs ``ADVERTISED=REAL``.
    timeout_s
        Seconds to reach the cluster, and for each answer.
    note
        Callback for notes on ignored properties.

    Raises
    ------
    BadInputError
        With all problems of the options and the properties.
    """
    problems: list[InputProblem] = []
    settings = ClientSettings()
    bootstrap: tuple[Address, ...] = ()
    resolved: Mapping[Address, Address] = {}
    if command_config is not None:
        path = command_config
        settings = _read(lambda: read_settings(path), settings, problems)
    servers = bootstrap_server or settings.bootstrap_servers
    if servers:
        bootstrap = _read(lambda: parse_bootstrap(servers), bootstrap, problems)
    else:
        problems.append(_no_server())
    resolved = _read(lambda: parse_resolve(resolve), resolved, problems)
    raise_problems("the cluster cannot be reached with these options", problems)
    for one in settings.notes:
        note(one)
    return ClusterClient(bootstrap, settings, resolve=resolved, timeout_s=timeout_s)


def _no_server() -> InputProblem:
    return InputProblem.of_option(
        "--bootstrap-server",
        "",
        "must name a broker",
        "--bootstrap-server HOST:PORT, or bootstrap.servers in --command-config",
    )
