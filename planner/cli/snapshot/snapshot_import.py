"""`snapshot import`: a snapshot from the files that operators have."""

import re
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

if TYPE_CHECKING:
    from planner.snapshot.importers import Imported
    from planner.snapshot.importers.metrics.prometheus import BrokerLabels


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
Configs = Annotated[
    list[Path] | None,
    _files(
        "--configs",
        "What kafka-configs --describe --entity-type topics (or brokers) printed.",
    ),
]
Features = Annotated[
    list[Path] | None, _files("--features", "What kafka-features describe printed.")
]
Quorum = Annotated[
    list[Path] | None,
    _files(
        "--quorum",
        "What kafka-metadata-quorum describe --status (or --replication) printed.",
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
Capacity = Annotated[
    list[Path] | None,
    _files("--capacity", "Cruise Control's capacity.json, also of cores or JBOD."),
]
BrokerSets = Annotated[
    list[Path] | None, _files("--broker-sets", "Cruise Control's brokerSets.json.")
]
CruiseControl = Annotated[
    list[Path] | None,
    typer.Option(
        "--cruise-control",
        metavar="FOLDER",
        help="Folder of Cruise Control's answers (json=true) and capacity files: "
        "kafka_cluster_state?verbose=true, load, partition_load. Repeatable.",
    ),
]
Strimzi = Annotated[
    list[Path] | None,
    _files("--strimzi", "What kubectl get kafka,kafkanodepool -o yaml printed."),
]
Prometheus = Annotated[
    list[Path] | None, _files("--prometheus", "An answer of Prometheus' query API.")
]
PrintQueries = Annotated[
    str | None,
    typer.Option(
        "--print-queries",
        metavar="EXPORTER",
        help="Print the queries for --prometheus, and do nothing else: jmx, strimzi, "
        "msk or kminion.",
    ),
]
BrokerLabel = Annotated[
    str | None,
    typer.Option(
        "--broker-label",
        metavar="LABEL",
        help="Label of Prometheus' series that tells the broker.",
    ),
]
BrokerRegex = Annotated[
    str | None,
    typer.Option(
        "--broker-regex",
        metavar="RE",
        help="What of the label is the id or the host, in its first group; or strimzi, "
        "msk, host.",
    ),
]
Quantile = Annotated[
    float,
    typer.Option(
        "--quantile",
        metavar="FRACTION",
        parser=fraction(1.0),
        help="Quantile of each series of a range that is taken as its rate.",
    ),
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
        "--allow-partial",
        help="Go on where files hide something from each other, and leave out entries "
        "that are wrong.",
    ),
]


def import_files(
    *,
    output: OptionalSnapshotOutput = None,
    topics: Topics = None,
    log_dirs: LogDirs = None,
    list_endpoints: Endpoints = None,
    configs: Configs = None,
    features: Features = None,
    quorum: Quorum = None,
    kcat: Kcat = None,
    assignment: Assignment = None,
    brokers: Brokers = None,
    rates: Rates = None,
    capacity: Capacity = None,
    broker_sets: BrokerSets = None,
    cruise_control: CruiseControl = None,
    strimzi: Strimzi = None,
    prometheus: Prometheus = None,
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
    Make a snapshot from what other tools printed.

    At least one file must say where the replicas are: --topics, --kcat, --assignment
    or --cruise-control; the others add to it. Files that contradict each other, or a
    cluster seen in part, are refused with both places named.

    Example: kafka-planner snapshot import --topics t.txt --log-dirs d.txt -o s.json
    """
    from planner.snapshot import check_output, write_snapshot
    from planner.snapshot.importers.load_files import load

    if print_queries is not None:
        _print_queries(print_queries, output_format)
        return
    if output is None:
        msg = "Missing option '-o' / '--output'."
        raise typer.BadParameter(msg)
    check_output(output)
    imported = load(
        {
            "topics": topics or (),
            "log_dirs": log_dirs or (),
            "list_endpoints": list_endpoints or (),
            "configs": configs or (),
            "features": features or (),
            "quorum": quorum or (),
            "kcat": kcat or (),
            "assignment": assignment or (),
            "brokers": brokers or (),
            "rates": rates or (),
            "capacity": capacity or (),
            "broker_sets": broker_sets or (),
            "strimzi": strimzi or (),
            "prometheus": prometheus or (),
        },
        cruise_control or (),
        header={"cluster_id": cluster_id, "taken_at": taken_at},
        labels=_labels(broker_label, broker_regex),
        quantile=quantile,
        allow_partial=allow_partial,
    )
    write_snapshot(imported.snapshot, output)
    _say(imported, output, output_format, quiet=quiet)


def _labels(label: str | None, regex: str | None) -> "BrokerLabels":
    """Return how series tell their brokers, by the options."""
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


def _say(
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
        said = ", ".join(f"{count} {what}" for what, count in counts.items())
        print_words(f"wrote {output}: {said}")


def add_to(snapshot_app: typer.Typer) -> None:
    """Add `import` to the commands below `snapshot`."""
    snapshot_app.command("import")(import_files)
