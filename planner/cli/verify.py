"""`verify`: what has become of a plan, in a snapshot or on the running cluster."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.exit_codes import ExitCode
from planner.cli.gather import Gatherer
from planner.cli.live import AllowPartial, Resolve, Timeout
from planner.cli.options import (
    BootstrapServer,
    CommandConfig,
    Format,
    OutputFormat,
    PlanArgument,
    Quiet,
    Verbose,
)
from planner.cli.output import notes_unless, print_json
from planner.errors import BadInputError, InputProblem

if TYPE_CHECKING:
    from placement.cluster import ClusterState
    from planner.snapshot import Snapshot
    from planner.throttles import Throttle
    from planner.verify import Verification

MAX_FINDINGS_SHOWN = 50

SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot",
        metavar="SNAP",
        help="The cluster after: .json, .json.gz or a Parquet folder.",
    ),
]


def verify(
    plan: PlanArgument,
    *,
    snapshot: SnapshotOption = None,
    bootstrap_server: BootstrapServer = None,
    command_config: CommandConfig = None,
    resolve: Resolve = None,
    timeout: Timeout = 30.0,
    allow_partial: AllowPartial = False,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Tell what has become of a plan: completed, in progress, or something else.

    Exits 0 only if it is completed, no throttle is left and every log dir is as
    planned; else 3. Changes nothing, throttles included.

    Example: kafka-planner verify plan --bootstrap-server k1:9092
    """
    from planner.cli.reading import read_snapshot
    from planner.plan.plan_input import read_plan
    from planner.plan.words import wrapped
    from planner.verify import verify as verify_plan
    from planner.verify_loads import compare_loads

    inputs = Gatherer()
    inputs.read(lambda: refuse_both(snapshot, bootstrap_server, command_config))
    given = inputs.read(lambda: read_plan(plan))
    now: tuple[ClusterState, list[Throttle]] | None = None
    if snapshot is not None:
        now = inputs.read(lambda: _seen(read_snapshot(snapshot)))
    inputs.raise_problems()
    if given is None:  # pragma: no cover - raised just above
        return
    if now is None:
        now = _look(
            bootstrap_server,
            command_config,
            resolve=resolve or (),
            timeout_s=timeout,
            allow_partial=allow_partial,
            note=notes_unless(quiet),
        )
    state, throttles = now
    outcome = verify_plan(
        state, given.reassignment, rollback=given.rollback, throttles=throttles
    )
    loads = compare_loads(state, given.document.get("after"))
    if output_format is OutputFormat.JSON:
        print_json({**outcome.to_dict(), "loads": [load.to_dict() for load in loads]})
    else:
        lines = [*_lines(outcome)]
        lines += [line for load in loads for line in wrapped(str(load))]
        typer.echo("\n".join(lines))
    raise typer.Exit(ExitCode.OK if outcome.is_done else ExitCode.FINDINGS)


def refuse_both(
    snapshot: Path | None, bootstrap_server: str | None, command_config: Path | None
) -> None:
    """
    Refuse to be told of a snapshot and of a running cluster, or of neither.

    Raises
    ------
    BadInputError
        If not exactly one of them is given.
    """
    is_live = bootstrap_server is not None or command_config is not None
    if is_live != (snapshot is not None):
        return
    problem = InputProblem(
        file="command line",
        place="--snapshot, --bootstrap-server",
        value="both" if is_live else "neither",
        rule="exactly one of them says where to look",
        remedy="give --snapshot SNAP, or --bootstrap-server H:P",
    )
    msg = "nowhere to look" if not is_live else "two places to look"
    raise BadInputError(msg, [problem])


def _seen(snapshot: "Snapshot") -> "tuple[ClusterState, list[Throttle]]":
    from planner.throttles import throttles_in

    return snapshot.to_state(), throttles_in(snapshot)


def _look(
    bootstrap_server: str | None,
    command_config: Path | None,
    *,
    resolve: Sequence[str],
    timeout_s: float,
    allow_partial: bool,
    note: Callable[[str], None],
) -> "tuple[ClusterState, list[Throttle]]":
    from planner.kafka.session import open_cluster
    from planner.kafka.read import read_live
    from planner.snapshot import Snapshot

    client = open_cluster(
        bootstrap_server,
        command_config,
        resolve=resolve,
        timeout_s=timeout_s,
        note=note,
    )
    with client:
        document = read_live(client, allow_partial=allow_partial, note=note)
    return _seen(Snapshot.from_document(document, file=client.servers))


def _lines(outcome: "Verification") -> Iterator[str]:
    counts = ", ".join(f"{n} {status}" for status, n in outcome.counts.items() if n)
    yield f"{outcome.overall.value}: {counts or 'the plan moves nothing'}"
    for finding in outcome.findings[:MAX_FINDINGS_SHOWN]:
        yield f"  {finding.rule:<20} {finding.message}"
    if (rest := len(outcome.findings) - MAX_FINDINGS_SHOWN) > 0:
        yield f"  … and {rest} more; --format json lists all"
