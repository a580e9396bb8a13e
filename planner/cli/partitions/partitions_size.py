"""`partitions size`: how many partitions a topic should have."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json
from planner.cli.common.shared_options import gathered, gatherer_of
from planner.io.gatherer import Gatherer
from planner.options.declared.option import options_of
from planner.partitions.size_options import SizeOptions

if TYPE_CHECKING:
    from planner.partitions.size_answer import SizedPartitions
    from planner.snapshot import Snapshot

OptionalSnapshot = Annotated[
    Path | None,
    typer.Argument(
        metavar="[SNAP]",
        help="Snapshot: .json, .json.gz or a Parquet folder. Without: --brokers or "
        "--bootstrap-server.",
        show_default=False,
    ),
]


@with_cluster("SNAP")
@gathered(gatherer_of(options_of(SizeOptions).values()), instead_of="asked")
def size(
    snapshot: OptionalSnapshot = None,
    *,
    source: ClusterSource,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
    asked: dict[str, Any],
) -> None:
    """
    Find how many partitions a topic should have, and what binds.

    Needs --brokers, a snapshot, or --bootstrap-server. What is not given is taken from
    the snapshot, or assumed and printed; a limit that is not known is called unknown.
    Exits 4 if no count meets every limit.

    Example: kafka-planner partitions size --brokers 6 --throughput 90MB/s
    --producer-rate 10MB/s --consumer-rate 5MB/s
    """
    from planner.partitions.size_answer import size_partitions

    sized = size_partitions(asked, _read(source, asked))
    _print(sized, snapshot, output_format)
    is_found = sized.answer.recommended is not None
    raise typer.Exit(ExitCode.OK if is_found else ExitCode.INFEASIBLE)


def _read(source: ClusterSource, asked: dict[str, Any]) -> "Snapshot | None":
    """Return the snapshot or the running cluster; `None` where neither is named."""
    from planner.partitions.size_task import check_options

    if not source.is_live and source.snapshot is None:
        return None
    inputs = Gatherer()
    inputs.read(source.check)
    read = inputs.read(source.read_file)
    if source.is_live or inputs.has_problems:
        inputs.read(lambda: check_options(asked))
    inputs.raise_problems()
    return source.read_live() if read is None else read


def _print(
    sized: "SizedPartitions", path: Path | None, output_format: OutputFormat
) -> None:
    now = datetime.now(UTC)
    if output_format is OutputFormat.JSON:
        from planner.partitions.size_document import size_document

        print_json(size_document(sized, now=now))
        return
    from planner.partitions.size_screen import size_screen

    source = None if path is None else str(path)
    typer.echo("\n".join(size_screen(sized, source, now=now)))
