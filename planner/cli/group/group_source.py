"""Where the group commands get their group: a file, a text, a running cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import BootstrapServer, CommandConfig, Quiet
from planner.cli.common.output import notes_unless
from planner.cli.common.shared_options import declare, parameters_of
from planner.cli.snapshot.snapshot_live import Resolve, Timeout
from planner.errors import BadInputError, InputProblem

if TYPE_CHECKING:
    from planner.group import GroupDocument
    from planner.kafka.client.admin_client import ClusterClient

__all__ = [
    "BootstrapServer",
    "CommandConfig",
    "GroupArgument",
    "GroupName",
    "NamedGroup",
    "OptionalGroup",
    "Resolve",
    "SampleSeconds",
    "SnapshotOption",
    "Source",
    "Timeout",
    "Weights",
]

_GROUP_HELP = (
    "Group file, or what kafka-consumer-groups --describe printed; with "
    "--bootstrap-server the id of a group."
)
GroupArgument = Annotated[str, typer.Argument(metavar="GROUP", help=_GROUP_HELP)]
NamedGroup = Annotated[
    str | None,
    typer.Argument(metavar="GROUP", help=_GROUP_HELP, show_default=False),
]
OptionalGroup = Annotated[
    str | None,
    typer.Argument(
        metavar="GROUP",
        help=f"{_GROUP_HELP} Without it there, the cluster's groups are listed.",
        show_default=False,
    ),
]
GroupName = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="NAME",
        help="Which group of a text with several, or of the cluster.",
    ),
]
SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot", metavar="SNAP", help="Knows partitions, racks and rates."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="lag|in|FILE",
        help="What partitions weigh: lag, bytes in (of --snapshot, or as sampled on "
        "the cluster), or a table of topic,partition,weight.",
    ),
]
SampleSeconds = Annotated[
    float,
    typer.Option(
        "--sample-seconds",
        min=0.1,
        max=86_400,
        help="Seconds that bytes in are estimated from, for --weights in.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """
    Where a group comes from, and what is added to it.

    Parameters
    ----------
    group
        A file, or the id of a group of a running cluster; `None`: none is named.
    group_name
        Which group of a text, or of the cluster.
    bootstrap_server, command_config, resolve, timeout_s
        The cluster; if neither of the first two is given, `group` is a file.
    snapshot
        Knows all partitions, racks and rates.
    weights
        ``lag``, ``in``, or a table.
    sample_seconds
        For bytes in of a running cluster.
    note
        Told what was ignored.
    is_quiet
        Whether no words are wished.
    """

    group: str | None
    group_name: str | None = None
    bootstrap_server: str | None = None
    command_config: Path | None = None
    resolve: list[str] | None = None
    timeout_s: float = 30.0
    snapshot: Path | None = None
    weights: str | None = None
    sample_seconds: float = 10.0
    note: Callable[[str], None] = lambda _: None
    is_quiet: bool = False

    @property
    def is_live(self) -> bool:
        """Whether a running cluster is asked."""
        return self.bootstrap_server is not None or self.command_config is not None

    @property
    def label(self) -> str:
        """What problems name as their file."""
        return self.group or self.group_name or ""

    def open_cluster(self) -> "ClusterClient":
        """
        Return a client of the cluster; nothing is connected yet.

        Raises
        ------
        BadInputError
            With everything that is wrong with the options and the properties.
        """
        from planner.kafka.client.client_session import open_cluster

        return open_cluster(
            self.bootstrap_server,
            self.command_config,
            resolve=self.resolve or (),
            timeout_s=self.timeout_s,
            note=self.note,
        )

    def group_id(self) -> str:
        """
        Return the id of the group of the cluster.

        Raises
        ------
        BadInputError
            If none is named, or two.
        """
        names = {name for name in (self.group, self.group_name) if name is not None}
        if len(names) != 1:
            raise _refused(sorted(names), "must name one group", "name it once")
        return names.pop()

    def read(self) -> "GroupDocument":
        """
        Return the group, with what was asked to be added.

        Raises
        ------
        BadInputError
            If it is no group; names every problem.
        ClusterUnavailableError
            If the cluster cannot be reached, or hides something.
        """
        from planner.group import read_group

        self.check()
        if self.is_live:
            return self._read_live()
        if self.group is None:
            rule = "a group must be named"
            remedy = "name a group file, or give --bootstrap-server H:P"
            raise _refused((), rule, remedy)
        document = read_group(Path(self.group), group_id=self.group_name)
        return enrich(document, self.snapshot, self.weights)

    def check(self) -> None:
        """Refuse weights that nothing here can tell."""
        if self.weights == "in" and self.snapshot is None and not self.is_live:
            msg = "--weights in needs --snapshot, which knows bytes in"
            raise typer.BadParameter(msg)

    def _read_live(self) -> "GroupDocument":
        from planner.kafka.groups.live_group import read_live_group

        group_id = self.group_id()
        with self.open_cluster() as client:
            document = read_live_group(client, group_id)
            if self.weights == "in" and self.snapshot is None:
                return self._weighed_by_rate(document, client)
        return enrich(document, self.snapshot, self.weights)

    def _weighed_by_rate(
        self, document: "GroupDocument", client: "ClusterClient"
    ) -> "GroupDocument":
        from planner.group.snapshot_weights import with_cluster
        from planner.kafka.read.live_snapshot import take_snapshot

        snapshot = take_snapshot(
            client,
            sample_seconds=self.sample_seconds,
            allow_partial=True,
            note=self.note,
        )
        return with_cluster(document, snapshot.to_state(), weigh_by_rate=True)


def _source(
    *,
    group_name: GroupName = None,
    snapshot: SnapshotOption = None,
    weights: Weights = None,
    bootstrap_server: BootstrapServer = None,
    command_config: CommandConfig = None,
    sample_seconds: SampleSeconds = 10.0,
    resolve: Resolve = None,
    timeout: Timeout = 30.0,
    quiet: Quiet = False,
) -> Source:
    """Gather where the group comes from; its signature is the list of options."""
    return Source(
        group=None,
        group_name=group_name,
        bootstrap_server=bootstrap_server,
        command_config=command_config,
        resolve=resolve,
        timeout_s=timeout,
        snapshot=snapshot,
        weights=weights,
        sample_seconds=sample_seconds,
        note=notes_unless(quiet),
        is_quiet=quiet,
    )


def with_source(command: Callable[..., None]) -> Callable[..., None]:
    """
    Give a command the options that tell where its group comes from.

    Parameters
    ----------
    command
        Takes them as its last parameter, ``source``, with the argument ``group`` in it
        where the command declares one.
    """
    shared = parameters_of(_source)

    @wraps(command)
    def call(context: typer.Context, **given: Any) -> None:  # noqa: ANN401 - as given
        source = _source(**{name: given.pop(name) for name in shared})
        command(**given, source=replace(source, group=given.get("group")))

    return declare(call, command, _source, instead_of="source")


def _refused(named: Sequence[str], rule: str, remedy: str) -> BadInputError:
    problem = InputProblem(
        file="command line",
        place="GROUP, --group",
        value=" and ".join(named) or "none",
        rule=rule,
        remedy=remedy,
    )
    msg = "no group to take"
    return BadInputError(msg, [problem])


def enrich(
    document: "GroupDocument", snapshot: Path | None, weights: str | None
) -> "GroupDocument":
    """
    Return a group with what a snapshot and weights add to it.

    Raises
    ------
    BadInputError
        If the snapshot or the table cannot be read, or what is asked for is not known.
    """
    from planner.group.files.group_files import read_text
    from planner.group.snapshot_weights import (
        WeightSource,
        with_cluster,
        with_lag_weights,
        with_table_weights,
    )

    if snapshot is not None:
        from planner.cli.common.snapshot_reading import read_snapshot

        state = read_snapshot(snapshot).to_state()
        by_rate = weights == WeightSource.IN
        document = with_cluster(document, state, weigh_by_rate=by_rate)
    if weights == WeightSource.LAG:
        return with_lag_weights(document)
    if weights is None or weights == WeightSource.IN:
        return document
    return with_table_weights(document, read_text(Path(weights)), weights)
