"""`snapshot import`: a snapshot from files of Kafka's tools and of other tools."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import (
    Format,
    OptionalSnapshotOutput,
    OutputFormat,
    Quiet,
)
from planner.cli.common.fractions import fraction
from planner.cli.common.output import print_json, print_words
from planner.cli.common.shared_options import gathered, gatherer_with
from planner.text.format import counted
from planner.text.printable import printable

if TYPE_CHECKING:
    from planner.snapshot.importers import Imported
    from planner.snapshot.importers.metrics.prometheus import BrokerLabels


KAFKA_TOOLS = "Output of Kafka's tools"
OTHER_TOOLS = "Files of other tools"
PROMETHEUS = "Answers of Prometheus"
HEADER = "Snapshot"
"""Panels of the help."""


FILES = {
    "topics": (KAFKA_TOOLS, "Output of kafka-topics --describe."),
    "log_dirs": (KAFKA_TOOLS, "Output of kafka-log-dirs --describe."),
    "list_endpoints": (
        KAFKA_TOOLS,
        "Output of kafka-cluster list-endpoints --include-fenced-brokers, or of "
        "kafka-cluster cluster-id.",
    ),
    "configs": (
        KAFKA_TOOLS,
        "Output of kafka-configs --describe --entity-type topics (or brokers).",
    ),
    "features": (KAFKA_TOOLS, "Output of kafka-features describe."),
    "quorum": (
        KAFKA_TOOLS,
        "Output of kafka-metadata-quorum describe --status (or --replication).",
    ),
    "kcat": (KAFKA_TOOLS, "Output of kcat -L, with or without -J."),
    "assignment": (KAFKA_TOOLS, "Reassignment JSON with the current replicas."),
    "brokers": (OTHER_TOOLS, "CSV of brokers: id, rack, state, capacities, log_dirs."),
    "rates": (OTHER_TOOLS, "CSV or Parquet of rates and sizes per partition."),
    "capacity": (
        OTHER_TOOLS,
        "Cruise Control's capacity.json, also with cores or JBOD.",
    ),
    "broker_sets": (OTHER_TOOLS, "Cruise Control's brokerSets.json."),
    "cruise_control": (
        OTHER_TOOLS,
        "Folder of Cruise Control's answers (json=true) and capacity files: "
        "kafka_cluster_state?verbose=true, load, partition_load.",
    ),
    "strimzi": (
        OTHER_TOOLS,
        "Output of kubectl get kafka,kafkanodepool,kafkatopic -o yaml.",
    ),
    "prometheus": (PROMETHEUS, "Answer of Prometheus' query API."),
}
"""Panel and content of the files of each importer, by its name."""
FOLDERS = frozenset({"cruise_control"})
"""Importers of folders."""


def _files_option(name: str, panel: str, content: str) -> Any:  # noqa: ANN401 - a type
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar="FOLDER" if name in FOLDERS else "FILE",
        rich_help_panel=panel,
        help=f"{content} Repeatable.",
    )
    return Annotated[list[Path] | None, option]


Recognised = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE]...",
        help="Files of any of the kinds below, recognised by their contents; a folder "
        "is one of Cruise Control.",
    ),
]
_file_options = gatherer_with(
    {name: (_files_option(name, *row), None) for name, row in FILES.items()}
)
PrintQueries = Annotated[
    str | None,
    typer.Option(
        "--print-queries",
        metavar="EXPORTER",
        rich_help_panel=PROMETHEUS,
        help="Print the queries for --prometheus and exit: jmx, strimzi, msk or "
        "kminion.",
    ),
]
BrokerLabel = Annotated[
    str | None,
    typer.Option(
        "--broker-label",
        metavar="LABEL",
        rich_help_panel=PROMETHEUS,
        help="Label of the series that names the broker.",
    ),
]
BrokerRegex = Annotated[
    str | None,
    typer.Option(
        "--broker-regex",
        metavar="RE",
        rich_help_panel=PROMETHEUS,
        help="Expression whose first group is the id or the host in the label; or "
        "strimzi, msk, host.",
    ),
]
Quantile = Annotated[
    float,
    typer.Option(
        "--quantile",
        metavar="FRACTION",
        rich_help_panel=PROMETHEUS,
        parser=fraction(1.0),
        help="Quantile of each series of a range to take as its rate.",
    ),
]
ClusterId = Annotated[
    str | None,
    typer.Option(
        "--cluster-id", metavar="ID", rich_help_panel=HEADER, help="Id of the cluster."
    ),
]
TakenAt = Annotated[
    str | None,
    typer.Option(
        "--taken-at",
        metavar="TIME",
        rich_help_panel=HEADER,
        help="Time at which the files were taken: 2026-11-21T08:00:00Z.",
    ),
]
AllowPartial = Annotated[
    bool,
    typer.Option(
        "--allow-partial",
        rich_help_panel=HEADER,
        help="Accept files that lack entries of each other, and leave out wrong "
        "entries.",
    ),
]


@gathered(_file_options, instead_of="files")
def import_files(
    recognised: Recognised = None,
    *,
    output: OptionalSnapshotOutput = None,
    files: dict[str, list[Path] | None],
    print_queries: PrintQueries = None,
    broker_label: BrokerLabel = None,
    broker_regex: BrokerRegex = None,
    quantile: Quantile = 0.95,
    cluster_id: ClusterId = None,
    taken_at: TakenAt = None,
    allow_partial: AllowPartial = False,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Make a snapshot from the output of other tools.

    At least one file must list the replicas: --topics, --kcat, --assignment or
    --cruise-control; the others add to it. Files that contradict each other, or show
    only a part of the cluster, are refused; the message names both places.

    Example: kafka-planner snapshot import topics.txt log-dirs.txt -o s.json
    """
    from planner.snapshot import check_output, write_snapshot
    from planner.snapshot.importers.load_files import load
    from planner.snapshot.importers.recognised_files import recognised_files

    if print_queries is not None:
        _print_queries(print_queries, output_format)
        return
    if output is None:
        msg = "Missing option '-o' / '--output'."
        raise typer.BadParameter(msg)
    check_output(output)
    found = recognised_files(recognised or ())
    by_kind = {
        name: [*(files.get(name) or ()), *found.by_kind.get(name, ())] for name in FILES
    }
    imported = load(
        {name: paths for name, paths in by_kind.items() if name not in FOLDERS},
        by_kind["cruise_control"],
        header={"cluster_id": cluster_id, "taken_at": taken_at},
        labels=_labels(broker_label, broker_regex),
        quantile=quantile,
        allow_partial=allow_partial,
        contents=found.contents,
    )
    write_snapshot(imported.snapshot, output)
    if output_format is OutputFormat.TEXT and not quiet:
        _print_kinds(found.by_kind)
    _print_result(imported, output, output_format, quiet=quiet)


def _print_kinds(by_kind: Mapping[str, list[Path]]) -> None:
    """Print what each file was recognised as, so that a wrong guess is seen."""
    for name, paths in by_kind.items():
        for path in paths:
            print_words(f"{printable(str(path))}: read as --{name.replace('_', '-')}")


def _labels(label: str | None, regex: str | None) -> "BrokerLabels":
    """Return the rule of the options that finds the broker of a series."""
    from planner.snapshot.importers.metrics.prometheus import PRESETS, BrokerLabels

    preset = PRESETS.get(regex or "")
    if preset is not None:
        return BrokerLabels(label=label or preset[0], pattern=re.compile(preset[1]))
    if regex is None:
        return BrokerLabels(label=label)
    if label is None:
        msg = f"--broker-regex needs --broker-label, or one of {', '.join(PRESETS)}"
        raise typer.BadParameter(msg)
    try:
        return BrokerLabels(label=label, pattern=re.compile(regex))
    except re.error as error:
        msg = f"--broker-regex must be a regular expression: {error}"
        raise typer.BadParameter(msg) from error


def _print_queries(exporter: str, output_format: OutputFormat) -> None:
    from planner.snapshot.importers.metrics.prometheus_queries import (
        EXPORTERS,
        queries_of,
    )

    if exporter not in EXPORTERS:
        msg = f"--print-queries must be one of {', '.join(EXPORTERS)}"
        raise typer.BadParameter(msg)
    if output_format is OutputFormat.JSON:
        lines = queries_of(exporter).splitlines()
        queries = [line for line in lines if not line.startswith("#")]
        print_json({"exporter": exporter, "queries": queries})
    else:
        typer.echo(queries_of(exporter))


def _print_result(
    imported: "Imported", output: Path, output_format: OutputFormat, *, quiet: bool
) -> None:
    snapshot = imported.snapshot
    counts = {
        "brokers": snapshot.brokers.num_rows,
        "topics": snapshot.topics.num_rows,
        "partitions": snapshot.partitions.num_rows,
    }
    if output_format is OutputFormat.JSON:
        read = [{"file": s.file, "kind": s.kind} for s in imported.sources]
        document = {"snapshot": str(output), **counts, "rates": snapshot.rates}
        print_json({**document, "sources": read, "notes": list(imported.notes)})
    elif not quiet:
        for note in imported.notes:
            print_words(f"note: {note}")
        counts_text = ", ".join(
            counted(count, what.removesuffix("s")) for what, count in counts.items()
        )
        print_words(f"wrote {output}: {counts_text}")
