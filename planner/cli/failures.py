"""`failures`: simulated losses of brokers, racks and log dirs."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    SnapshotArgument,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json
from planner.cli.plan.declared_options import CapacityThreshold
from planner.cli.report.report_option import (
    AnswerFolder,
    Report,
    check_answer,
    write_answer,
)

if TYPE_CHECKING:
    from placement.model.cluster import ClusterState
    from planner.failures.failure_request import FailuresOptions
    from planner.snapshot import Snapshot

MakeDocument = Callable[[], dict[str, Any]]


class OnOff(StrEnum):
    """Switch of a feature."""

    ON = "on"
    OFF = "off"


Broker = Annotated[
    list[str] | None,
    typer.Option("--broker", metavar="IDS", help="Brokers lost: 7, or 7,8-9."),
]
Rack = Annotated[
    list[str] | None,
    typer.Option("--rack", metavar="NAME", help="A rack lost. Repeatable."),
]
LogDir = Annotated[
    list[str] | None,
    typer.Option("--log-dir", metavar="ID:PATH", help="A log dir lost. Repeatable."),
]
Bandwidth = Annotated[
    str,
    typer.Option(
        "--bandwidth",
        metavar="RATE",
        help="Rate at which a broker sends, and receives, rebuilt replicas.",
    ),
]
Elr = Annotated[
    OnOff | None,
    typer.Option(
        "--elr",
        help="Eligible leader replicas; by default as in the snapshot.",
    ),
]
Unclean = Annotated[
    bool,
    typer.Option("--unclean", help="Show the results and losses of unclean elections."),
]
CleanShutdown = Annotated[
    bool,
    typer.Option(
        "--clean-shutdown", help="Brokers are stopped in order instead of killed."
    ),
]
Top = Annotated[
    int,
    typer.Option(
        "--top",
        min=1,
        help="Number of results of each kind, the worst first.",
    ),
]
Pairs = Annotated[
    bool, typer.Option("--pairs/--no-pairs", help="Also two failures at a time.")
]
Sample = Annotated[
    int,
    typer.Option(
        "--sample",
        min=1,
        help="Number of pairs drawn if there are over 2,000 of a kind.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of that draw.")]


def failures(
    snapshot: SnapshotArgument,
    *,
    output: AnswerFolder = None,
    report: Report = False,
    broker: Broker = None,
    rack: Rack = None,
    log_dir: LogDir = None,
    bandwidth: Bandwidth = "50MB/s",
    capacity_threshold: CapacityThreshold = None,
    elr: Elr = None,
    unclean: Unclean = False,
    clean_shutdown: CleanShutdown = False,
    top: Top = 5,
    pairs: Pairs = True,
    sample: Sample = 200_000,
    seed: Seed = 1,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Simulate the loss of each broker, log dir and rack.

    Exits 0 if all partitions stay available (without any one broker and any one rack;
    or after the loss that options name), 3 if not.

    Example: kafka-planner failures prod.json --broker 7
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.failures.failure_request import FailuresRequest, read_failures_request

    is_one_loss = bool(broker or rack or log_dir)
    name = "failures-scenario" if is_one_loss else "failures"
    check_answer(output, name, is_wanted=report)
    read = read_snapshot(snapshot)
    state = read.to_state()
    request = FailuresRequest(
        broker=tuple(broker or ()),
        rack=tuple(rack or ()),
        log_dir=tuple(log_dir or ()),
        bandwidth=bandwidth,
        capacity_threshold=tuple(capacity_threshold or ()),
        elr=None if elr is None else str(elr),
    )
    resolved = read_failures_request(request, read, state)
    if resolved.loss is None:
        found = _all_failures(
            read, state, resolved, has_pairs=pairs, sample=sample, seed=seed, top=top
        )
    else:
        found = _one_loss(
            read, state, resolved, is_crash=not clean_shutdown, has_unclean=unclean
        )
    make = cache(found.make)
    if output_format is OutputFormat.JSON:
        print_json(make())
    else:
        typer.echo("\n".join(found.screen(snapshot)))
    write_answer(output, name, make, has_report=report, is_quiet=quiet)
    raise typer.Exit(ExitCode.OK if found.is_fine else ExitCode.FINDINGS)


class _Answer(NamedTuple):
    """Makers of a document and of a screen, and whether nothing is lost for good."""

    make: MakeDocument
    screen: Callable[[Path], Iterable[str]]
    is_fine: bool


def _all_failures(
    snapshot: "Snapshot",
    state: "ClusterState",
    options: "FailuresOptions",
    *,
    has_pairs: bool,
    sample: int,
    seed: int,
    top: int,
) -> _Answer:
    """Return the answer for every failure."""
    from planner.failures.all_failures import compute_all_failures
    from planner.failures.failures_document import to_document
    from planner.failures.failures_screen import all_failures_screen

    now = datetime.now(UTC)
    every = compute_all_failures(
        snapshot, state, options, has_pairs=has_pairs, sample=sample, seed=seed
    )
    return _Answer(
        lambda: to_document(every, top=top, now=now),
        lambda path: all_failures_screen(every, path, top, now=now),
        every.is_survived,
    )


def _one_loss(
    snapshot: "Snapshot",
    state: "ClusterState",
    options: "FailuresOptions",
    *,
    is_crash: bool,
    has_unclean: bool,
) -> _Answer:
    """Return the answer for one failure in stages."""
    from planner.failures.failure_scenario import play
    from planner.failures.loss_document import to_document
    from planner.failures.loss_screen import scenario_screen

    now = datetime.now(UTC)
    assert options.loss is not None  # noqa: S101 - checked by the caller
    scenario = play(snapshot, state, options, options.loss, is_crash=is_crash)
    return _Answer(
        lambda: to_document(scenario, now=now),
        lambda path: scenario_screen(scenario, path, has_unclean=has_unclean, now=now),
        scenario.is_survived,
    )
