"""Construction of a cluster client from command line options, with all problems."""

from collections.abc import Callable, Sequence
from pathlib import Path

from planner.errors import InputProblem
from planner.io.gatherer import Gatherer
from planner.kafka.auth.client_settings import ClientSettings, read_settings
from planner.kafka.client.addresses import parse_bootstrap, parse_resolve
from planner.kafka.client.admin_client import DEFAULT_TIMEOUT_S, ClusterClient


def _be_silent(_: str) -> None:
    """Ignore a note."""


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
    inputs, bootstrap, settings = Gatherer(), None, None
    if command_config is not None:
        path = command_config
        settings = inputs.read(lambda: read_settings(path))
    settings = settings or ClientSettings()
    servers = bootstrap_server or settings.bootstrap_servers
    if servers:
        bootstrap = inputs.read(lambda: parse_bootstrap(servers))
    else:
        inputs.problems.append(_no_server())
    resolved = inputs.read(lambda: parse_resolve(resolve))
    inputs.raise_problems("the cluster cannot be reached with these options")
    for one in settings.notes:
        note(one)
    return ClusterClient(
        bootstrap or (), settings, resolve=resolved or {}, timeout_s=timeout_s
    )


def _no_server() -> InputProblem:
    return InputProblem.of_option(
        "--bootstrap-server",
        "",
        "must name a broker",
        "--bootstrap-server HOST:PORT, or bootstrap.servers in --command-config",
    )
