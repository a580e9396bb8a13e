"""Source of the group of a command: a file, a text, or a running cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.cluster_source import ClusterSource
from planner.cli.common.common_options import (
    BootstrapServer,
    CommandConfig,
    Quiet,
    Resolve,
    Timeout,
)
from planner.cli.common.output import notes_unless
from planner.cli.common.shared_options import gathered
from planner.errors import BadInputError, InputProblem

if TYPE_CHECKING:
    from planner.group import GroupDocument
    from planner.kafka.client.admin_client import ClusterClient

_GROUP_HELP = (
    "Group file, or output of kafka-consumer-groups --describe; with "
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
        help=f"{_GROUP_HELP} Without it, the groups of the cluster are listed.",
        show_default=False,
    ),
]
GroupName = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="NAME",
        help="Group of a text with several groups, or of the cluster.",
    ),
]
SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot", metavar="SNAP", help="Snapshot with partitions, racks and rates."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="lag|in|FILE",
        help="Weights of partitions: lag, bytes in (of --snapshot, or sampled on the "
        "cluster), or a table of topic,partition,weight.",
    ),
]
SampleSeconds = Annotated[
    float,
    typer.Option(
        "--sample-seconds",
        min=0.1,
        max=86_400,
        help="Seconds from which bytes in are estimated, for --weights in.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """
    Source of a group, and of the facts that are added to it.

    Parameters
    ----------
    group
        File, or id of a group of a running cluster; `None` if neither is named.
    group_name
        Name of the group in a text with several, or in the cluster.
    cluster
        Running cluster; if none is named, `group` is a file.
    snapshot
        Snapshot with all partitions, racks and rates.
    weights
        ``lag``, ``in``, or a table.
    sample_seconds
        Seconds in which bytes in of a running cluster are sampled.
    """

    group: str | None
    group_name: str | None
    cluster: ClusterSource
    snapshot: Path | None = None
    weights: str | None = None
    sample_seconds: float = 10.0

    @property
    def label(self) -> str:
        """Name of the source in problems."""
        return self.group or self.group_name or ""

    def group_id(self) -> str:
        """
        Return the id of the group of the cluster.

        Raises
        ------
        BadInputError
            If no group is named, or two groups.
        """
        names = {name for name in (self.group, self.group_name) if name is not None}
        if len(names) != 1:
            raise _refused(sorted(names), "must name one group", "name it once")
        return names.pop()

    def read(self) -> "GroupDocument":
        """
        Return the group with the facts of snapshot and weights.

        Raises
        ------
        BadInputError
            If the group cannot be read; has every problem.
        ClusterUnavailableError
            If the cluster cannot be reached, or denies access.
        """
        from planner.group import read_group

        self.check()
        if self.cluster.is_live:
            return self._read_live()
        if self.group is None:
            rule = "a group must be named"
            remedy = "name a group file, or give --bootstrap-server H:P"
            raise _refused((), rule, remedy)
        document = read_group(Path(self.group), group_id=self.group_name)
        return enrich(document, self.snapshot, self.weights)

    def check(self) -> None:
        """Refuse weights by rate without a source of rates."""
        if self.weights == "in" and self.snapshot is None and not self.cluster.is_live:
            msg = "--weights in needs bytes in: give --snapshot or --bootstrap-server"
            raise typer.BadParameter(msg)

    def _read_live(self) -> "GroupDocument":
        from planner.kafka.groups.live_group import read_live_group

        group_id = self.group_id()
        with self.cluster.open() as client:
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
            note=notes_unless(self.cluster.quiet),
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
    """Return the source that the options describe; the signature lists them."""
    return Source(
        group=None,
        group_name=group_name,
        cluster=ClusterSource(
            bootstrap_server=bootstrap_server,
            command_config=command_config,
            resolve=resolve,
            timeout_s=timeout,
            quiet=quiet,
        ),
        snapshot=snapshot,
        weights=weights,
        sample_seconds=sample_seconds,
    )


with_source = gathered(_source, instead_of="source", argument="group")
"""
Decorator of a command that takes the source of a group as its parameter ``source``.

The source has the command's argument ``group``, if it declares one.
"""


def _refused(named: Sequence[str], rule: str, remedy: str) -> BadInputError:
    problem = InputProblem.of_option(
        "GROUP, --group", " and ".join(named) or "none", rule, remedy
    )
    msg = "no group to read"
    return BadInputError(msg, [problem])


def enrich(
    document: "GroupDocument", snapshot: Path | None, weights: str | None
) -> "GroupDocument":
    """
    Return a group with the facts of a snapshot and with weights.

    Raises
    ------
    BadInputError
        If the snapshot or the table cannot be read, or a requested weight is unknown.
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
