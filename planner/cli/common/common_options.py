"""Options of several commands, each declared once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class OutputFormat(StrEnum):
    """Format in which a result is printed."""

    TEXT = "text"
    JSON = "json"


Format = Annotated[
    OutputFormat,
    typer.Option("--format", help="text, or json: one document on stdout."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No messages on stderr.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Every step on stderr.")]

SnapshotArgument = Annotated[
    Path,
    typer.Argument(
        metavar="SNAP", help="Snapshot: .json, .json.gz or a Parquet folder."
    ),
]
PlanArgument = Annotated[
    Path,
    typer.Argument(metavar="PLAN", help="Plan folder, or any reassignment JSON file."),
]
SnapshotOutput = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="SNAP",
        help="Snapshot to write: .json, .json.gz, or a folder for Parquet.",
    ),
]
OptionalSnapshotOutput = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="SNAP",
        help="Snapshot to write: .json, .json.gz, or a folder for Parquet.",
    ),
]
BootstrapServer = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server", metavar="H:P", help="Brokers to connect to, as host:port."
    ),
]
CommandConfig = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="Properties of a Java client: SASL, SSL, timeouts.",
    ),
]
Resolve = Annotated[
    list[str] | None,
    typer.Option(
        "--resolve",
        metavar="ADVERTISED=REAL",
        help="Connect to REAL where a broker advertises host:port.",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        min=0.1,
        max=3600,
        help="Seconds to reach the cluster, and for each of its answers.",
    ),
]
AllowPartial = Annotated[
    bool,
    typer.Option(
        "--allow-partial", help="Continue if the user may not see everything."
    ),
]
SampleSeconds = Annotated[
    float,
    typer.Option(
        "--sample-seconds",
        min=0,
        max=86_400,
        help="Seconds between two readings, to estimate byte rates; 0: none.",
    ),
]
SnapshotNow = Annotated[
    Path | None,
    typer.Option(
        "--snapshot",
        metavar="SNAP",
        help="The cluster now: .json, .json.gz or a Parquet folder.",
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="CONDITION",
        help="Exit 3 where it holds: 'disk.max_use>0.85 or rack>0'. Repeatable.",
    ),
]
