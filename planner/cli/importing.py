"""`snapshot import`: a snapshot from the files that operators have."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.gather import Gatherer
from planner.cli.options import Format, OutputFormat, Quiet
from planner.cli.output import print_json, print_words

if TYPE_CHECKING:
    from planner.snapshot.importers import Imported, Source

Reader = Callable[..., "Source"]


def _files(option: str, what: str) -> Any:  # noqa: ANN401 - Typer's option
    return typer.Option(option, metavar="FILE", help=f"{what} Repeatable.")


Topics = Annotated[
    list[Path] | None, _files("--topics", "What kafka-topics --describe printed.")
]
LogDirs = Annotated[
    list[Path] | None, _files("--log-dirs", "What kafka-log-dirs --describe printed.")
]
Endpoints = Annotated[
    list[Path] | None,
    _files(
        "--list-endpoints",
        "What kafka-cluster list-endpoints --include-fenced-brokers printed, or "
        "kafka-cluster cluster-id.",
    ),
]
Kcat = Annotated[list[Path] | None, _files("--kcat", "What kcat -L -J printed.")]
Assignment = Annotated[
    list[Path] | None,
    _files("--assignment", "Reassignment JSON: where the replicas are now."),
]
Brokers = Annotated[
    list[Path] | None,
    _files("--brokers", "CSV of brokers: id, rack, state, capacities, log_dirs."),
]
Rates = Annotated[
    list[Path] | None,
    _files("--rates", "CSV or Parquet of rates and sizes per partition."),
]
ClusterId = Annotated[
    str | None,
    typer.Option("--cluster-id", metavar="ID", help="Id of the cluster."),
]
TakenAt = Annotated[
    str | None,
    typer.Option(
        "--taken-at",
        metavar="TIME",
        help="When the files were taken, as 2026-11-21T08:00:00Z.",
    ),
]
AllowPartial = Annotated[
    bool,
    typer.Option(
        "--allow-partial", help="Go on where files hide something from each other."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="SNAP",
        help="Snapshot to write: .json, .json.gz, or a folder for Parquet.",
    ),
]


def import_files(
    *,
    output: Output = None,
    topics: Topics = None,
    log_dirs: LogDirs = None,
    list_endpoints: Endpoints = None,
    kcat: Kcat = None,
    assignment: Assignment = None,
    brokers: Brokers = None,
    rates: Rates = None,
    cluster_id: ClusterId = None,
    taken_at: TakenAt = None,
    allow_partial: AllowPartial = False,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Make a snapshot from what other tools printed.

    At least one file must say where the replicas are: --topics, --kcat or
    --assignment; the others add to it. Files that contradict each other, or a cluster
    seen in part, are refused with both places named.

    Example: kafka-planner snapshot import --topics t.txt --log-dirs d.txt -o s.json
    """
    from planner.snapshot import check_output, write_snapshot
    from planner.snapshot.importers import merge

    if output is None:
        msg = "Missing option '-o' / '--output'."
        raise typer.BadParameter(msg)
    check_output(output)
    sources = _read(
        {
            "topics": topics,
            "log_dirs": log_dirs,
            "list_endpoints": list_endpoints,
            "kcat": kcat,
            "assignment": assignment,
            "brokers": brokers,
            "rates": rates,
        }
    )
    once = {"cluster_id": cluster_id, "taken_at": taken_at}
    header = {key: value for key, value in once.items() if value is not None}
    imported = merge(sources, header=header, allow_partial=allow_partial)
    write_snapshot(imported.snapshot, output)
    _say(imported, sources, output, output_format, quiet=quiet)


def _readers() -> dict[str, Reader]:
    from planner.snapshot.importers.assignment import read_assignment
    from planner.snapshot.importers.broker_table import read_broker_table
    from planner.snapshot.importers.kafka_cluster import read_endpoints
    from planner.snapshot.importers.kafka_log_dirs import read_log_dirs
    from planner.snapshot.importers.kafka_topics import read_topics
    from planner.snapshot.importers.kcat import read_kcat
    from planner.snapshot.importers.rates_table import read_rates

    return {
        "topics": read_topics,
        "log_dirs": read_log_dirs,
        "list_endpoints": read_endpoints,
        "kcat": read_kcat,
        "assignment": read_assignment,
        "brokers": read_broker_table,
        "rates": read_rates,
    }


def _read(given: dict[str, list[Path] | None]) -> "list[Source]":
    """Read every file, and say what is wrong with any of them at once."""
    from planner.snapshot.importers.files import read_file

    inputs = Gatherer()
    readers = _readers()
    sources = [
        inputs.read(lambda: read_file(path, readers[name]))  # noqa: B023 - called here
        for name, paths in given.items()
        for path in paths or ()
    ]
    inputs.raise_problems()
    return [source for source in sources if source is not None]


def _say(
    imported: "Imported",
    sources: "Sequence[Source]",
    output: Path,
    output_format: OutputFormat,
    *,
    quiet: bool,
) -> None:
    snapshot = imported.snapshot
    counts = {
        "brokers": snapshot.brokers.num_rows,
        "topics": snapshot.topics.num_rows,
        "partitions": snapshot.partitions.num_rows,
    }
    if output_format is OutputFormat.JSON:
        read = [{"file": source.file, "kind": source.kind} for source in sources]
        document = {"snapshot": str(output), **counts, "rates": snapshot.rates}
        print_json({**document, "sources": read, "notes": list(imported.notes)})
    elif not quiet:
        for note in imported.notes:
            print_words(f"note: {note}")
        said = ", ".join(f"{count} {what}" for what, count in counts.items())
        print_words(f"wrote {output}: {said}")


def add_to(snapshot_app: typer.Typer) -> None:
    """Add `import` to the commands below `snapshot`."""
    snapshot_app.command("import")(import_files)
