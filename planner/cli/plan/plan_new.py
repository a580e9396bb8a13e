"""`plan new-topic` and `plan add-partitions`: placement of new partitions."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from placement.operations.descriptor import OperationDescriptor
from planner.cli.common.cluster_source import ClusterSource
from planner.cli.common.common_options import (
    BootstrapServer,
    CommandConfig,
    OutputFormat,
    Resolve,
    SnapshotArgument,
    Timeout,
)
from planner.cli.common.input_problems import Gatherer
from planner.cli.common.output import print_json, print_words
from planner.cli.plan.create_new import LiveRequest, exit_code, request_new
from planner.cli.plan.plan_options import CommandOptions, with_plan_options
from planner.cli.plan.run_plan import plot_if_asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner.kafka.client.admin_client import ClusterClient
    from planner.options.plan_request import PlanRequest
    from planner.plan.run.plan_new_partitions import PlannedNew
    from planner.snapshot import Snapshot

MOST_SHOWN = 8

ValidateOnly = Annotated[
    bool,
    typer.Option(
        "--validate-only",
        help="Validate the request on the cluster; change nothing.",
    ),
]
Apply = Annotated[
    bool, typer.Option("--apply", help="Create it on the cluster; needs --yes too.")
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        help="With --apply: create it; without --yes, a preview.",
    ),
]


def add_new_command(app: typer.Typer, described: OperationDescriptor) -> None:
    """Add the command of an operation that places new partitions."""

    def command(
        snapshot: SnapshotArgument,
        *,
        bootstrap_server: BootstrapServer = None,
        command_config: CommandConfig = None,
        resolve: Resolve = None,
        timeout: Timeout = 30.0,
        validate_only: ValidateOnly = False,
        apply: Apply = False,
        yes: Yes = False,
        options: CommandOptions,
    ) -> None:
        source = ClusterSource(
            bootstrap_server=bootstrap_server,
            command_config=command_config,
            resolve=resolve,
            timeout_s=timeout,
            quiet=options.quiet,
        )
        live = LiveRequest(
            source=source, validate_only=validate_only, apply=apply, yes=yes
        )
        _run(described.name, snapshot, options, live)

    name, panel = described.name, described.panel
    decorated = app.command(name, rich_help_panel=panel, help=described.help)
    decorated(with_plan_options(name)(command))


def _run(
    goal: str, snapshot: Path, options: CommandOptions, live: LiveRequest
) -> NoReturn:
    """Read, plan, check, write, validate or apply, print, exit."""
    from planner.options.plan_request import PlanRequest
    from planner.plan.run.plan_new_partitions import make_new, write_new

    began = time.perf_counter()
    output = options.output
    request = PlanRequest(goal, **options.given)
    read, client = _inputs(snapshot, request, options, live)
    was_read = time.perf_counter()
    with options.named_by_source():
        planned = make_new(
            read.to_state(),
            request,
            cluster_configs=read.configs,
            taken_at=read.taken_at,
            resources=read.topic_resources(),
        )
    was_planned = time.perf_counter()
    more = options.more_files(lambda: planned.findings)
    files = [] if output is None else write_new(planned, output, more)
    done = None if client is None else request_new(planned, client, output, live)
    ended = time.perf_counter()
    words = None if done is None else done.words
    if options.output_format is OutputFormat.JSON:
        seconds = {
            "read": was_read - began,
            **planned.plan.placed.seconds,
            "write": ended - was_planned,
            "total": ended - began,
        }
        _print_document(planned, seconds, words)
    else:
        typer.echo("\n".join(_lines(planned, read, snapshot, output, files)))
        plot_if_asked(options, planned.plan)
        if words is not None:
            typer.echo(words)
        elif output is None and not options.quiet:
            print_words("nothing written: give -o PLAN to write the plan")
    raise typer.Exit(exit_code(planned) if done is None else done.code)


def _inputs(
    snapshot: Path,
    request: "PlanRequest",
    options: CommandOptions,
    live: LiveRequest,
) -> "tuple[Snapshot, ClusterClient | None]":
    """
    Return the snapshot, and a client of the cluster if it is asked for something.

    Raises
    ------
    BadInputError
        With every problem of the inputs.
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.plan.folder.plan_folder import check_plan_output
    from planner.plan.run.plan_new_partitions import read_new_request

    inputs = Gatherer()
    inputs.read(options.raise_problems)
    inputs.read(live.check)
    output = options.output
    if output is not None:
        inputs.read(lambda: check_plan_output(output))
    read = inputs.read(lambda: read_snapshot(snapshot))
    client = inputs.read(live.open)
    if read is not None and inputs.has_problems:
        state = read.to_state()
        inputs.read(lambda: read_new_request(state, request, read.configs))
    inputs.raise_problems()
    assert read is not None  # noqa: S101 - else there were problems
    return read, client


def _print_document(
    planned: "PlannedNew", seconds: dict[str, float], done: str | None
) -> None:
    from planner.plan.run.plan_new_partitions import new_document
    from planner.process import peak_memory_bytes

    document = new_document(planned)
    document["seconds"] = {name: round(value, 6) for name, value in seconds.items()}
    document["peak_memory_bytes"] = peak_memory_bytes()
    if done is not None:
        document["done"] = done
    print_json(document)


def _lines(
    planned: "PlannedNew",
    read: "Snapshot",
    snapshot: Path,
    output: Path | None,
    files: list[str],
) -> "Iterator[str]":
    from planner.plan.documents.topic_patches import partition_patch_notes
    from planner.plan.run.plan_new_partitions import tool_text
    from planner.plan.screen.broker_table import broker_tables
    from planner.plan.screen.plan_screen import files_lines, headline
    from planner.status.status_lines import head_of
    from planner.text.format import labelled, plural, wrapped

    plan = planned.plan
    name = planned.before.cluster_id or snapshot.name
    yield from wrapped(f'Snapshot "{name}": {headline(plan)}, with what is new.')
    yield from head_of(read, planned.before, snapshot)
    lists = planned.lists
    count = plural(len(lists), "partition")
    what = f"{plan.goal} {planned.topic}"
    yield from labelled(
        "Plan", f"{what}, {count} from {planned.first}: {planned.status}"
    )
    for entry in range(min(len(lists), MOST_SHOWN)):
        listed = ",".join(map(str, lists.replicas[entry]))
        yield from labelled(f"  {lists.partitions[entry]}", listed)
    if len(lists) > MOST_SHOWN:
        yield from labelled("", f"and {len(lists) - MOST_SHOWN} more")
    _, after = broker_tables(plan)
    yield from after
    yield from _lacking(planned)
    yield from labelled("Checked", _verdict(planned))
    if output is not None:
        yield from files_lines(output, files)
        yield from labelled("Next", tool_text(planned, output))
    for note in partition_patch_notes(planned.patches):
        yield from labelled("Note", note.message)


def _lacking(planned: "PlannedNew") -> "Iterator[str]":
    from planner.plan.documents.infeasibility import reason_text
    from planner.plan.documents.plan_document import shortfall_document
    from planner.text.format import labelled

    placed = planned.plan.placed
    messages = dict.fromkeys(
        shortfall_document(placed, one)["message"] for one in placed.solution.shortfalls
    )
    for message in list(messages)[:3]:
        yield from labelled(" lacks", message)
    if planned.plan.infeasible_set is not None:
        yield from labelled(" reason", reason_text(placed, planned.plan.infeasible_set))


def _verdict(planned: "PlannedNew") -> str:
    from placement.check.checker import RULE_NAMES
    from planner.text.format import plural

    caused = [finding for finding in planned.findings if finding.is_wrong]
    if not caused:
        return f"by separate code: {len(RULE_NAMES)} rules: ok"
    found = plural(len(caused), "finding")
    return f"by separate code: not ok, {found}; first: {caused[0].message}"
