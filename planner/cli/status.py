"""`status`: current problems of a cluster, live or in a snapshot."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json, print_words
from planner.errors import BadInputError, InputProblem
from planner.io.gatherer import Gatherer
from planner.io.replaced_file import replace_file

if TYPE_CHECKING:
    from planner.status.find_status import Status

OptionalSnapshot = Annotated[
    Path | None,
    typer.Argument(
        metavar="[SNAP]",
        help="Snapshot: .json, .json.gz or a Parquet folder. Without: "
        "--bootstrap-server.",
        show_default=False,
    ),
]
CancelJson = Annotated[
    Path | None,
    typer.Option(
        "--cancel-json",
        metavar="FILE",
        help="File to write with the stuck reassignments, for Kafka's --cancel.",
    ),
]


@with_cluster("SNAP")
def status(
    snapshot: OptionalSnapshot = None,
    *,
    source: ClusterSource,
    cancel_json: CancelJson = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    List what is wrong with a cluster now, and commands that help.

    Covers brokers, log dirs, partitions without a leader or a source, reassignments,
    throttles and controllers. Exits 0 if nothing is wrong, 3 if something is.

    Example: kafka-planner status --bootstrap-server k1:9092
    """
    from planner.status.find_status import status_of
    from planner.status.status_document import status_document
    from planner.status.status_screen import status_screen
    from planner.status.trouble_sentences import Address

    inputs = Gatherer()
    inputs.read(source.check)
    if cancel_json is not None:
        inputs.read(lambda: _check_output(cancel_json))
    read = inputs.read(source.read_file)
    inputs.raise_problems()
    if read is None:
        read = source.read_live()
    address = (
        Address.of_cluster(
            source.bootstrap_server or "HOST:PORT", source.command_config
        )
        if snapshot is None
        else Address.of_snapshot(snapshot)
    )
    found, now = status_of(read), datetime.now(UTC)
    if output_format is OutputFormat.JSON:
        print_json(status_document(found, address, now=now))
    else:
        typer.echo("\n".join(status_screen(found, address, now=now)))
    if cancel_json is not None:
        _write_cancel(found, cancel_json, quiet=quiet)
    raise typer.Exit(ExitCode.FINDINGS if found.is_wrong else ExitCode.OK)


def _check_output(path: Path) -> None:
    """Refuse to replace a file that is not a reassignment."""
    if path.exists():
        from planner.kafka_files.reassignment_file import read_reassignment_file

        read_reassignment_file(path)


def _write_cancel(found: "Status", path: Path, *, quiet: bool) -> None:
    from planner.kafka_files.reassignment_file import format_reassignment
    from planner.status.running_moves import cancel_lists

    lists = cancel_lists(found)
    if len(lists):
        _write(path, format_reassignment(lists))
    if not quiet:
        nothing = "nothing written: no reassignment is stuck"
        print_words(f"wrote {path}" if len(lists) else nothing)


def _write(path: Path, text: str) -> None:
    try:
        replace_file(path.resolve(), text.encode())
    except OSError as error:
        problem = InputProblem.of_option(
            "--cancel-json",
            str(path),
            f"the file cannot be written: {error.strerror}",
            "name a file in a folder that you may write to",
        )
        msg = f"{path} cannot be written"
        raise BadInputError(msg, [problem]) from error
