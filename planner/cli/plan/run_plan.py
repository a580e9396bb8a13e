"""The run of a plan command: read, plan, check, write, print, exit."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

import typer

from planner.cli.common.common_options import OutputFormat
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json, print_words
from planner.cli.common.plots import print_plot
from planner.cli.plan.live_request import Created, LiveRequest
from planner.cli.plan.plan_options import CommandOptions
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from placement.model.cluster import ClusterState
    from planner.options.plan_request import PlanRequest
    from planner.plan.documents.scored_plan import Plan
    from planner.plan.run.make_plan import Planned
    from planner.plan.screen.trade_off import TradeOff
    from planner.snapshot import Snapshot


def run_plan(
    goal: str,
    snapshot: Path,
    options: CommandOptions,
    live: LiveRequest | None = None,
) -> NoReturn:
    """
    Read, plan, check, write, create what is new, print, exit.

    Parameters
    ----------
    goal
        Name of the operation.
    snapshot
        The snapshot's file or folder.
    options
        Options as the command got them.
    live
        Request to create new partitions on a running cluster.
    """
    from planner.options.plan_request import PlanRequest
    from planner.plan.documents.cluster_fingerprint import fingerprint_ahead
    from planner.plan.folder.plan_folder import write_plan
    from planner.plan.run.make_plan import make
    from planner.status.controller_quorum import voters_of
    from planner.status.status_lines import head_of

    output = options.output
    request = PlanRequest(goal, **options.given)
    began = time.perf_counter()
    read, state = _read_inputs(snapshot, options, request, live)
    was_read = time.perf_counter()
    if output is not None or options.output_format is OutputFormat.JSON:
        fingerprint_ahead(state)
    voters = voters_of(read, state)
    with options.named_by_source():
        planned = make(
            state,
            request,
            cluster_configs=read.configs,
            taken_at=read.taken_at,
            resources=read.topic_resources(),
            voters=voters,
        )
    points = None
    if options.shows_trade_off and live is None:
        from planner.plan.screen.trade_off import trade_off

        points = trade_off(state, request, planned)
    began_to_write = time.perf_counter()
    more = options.more_files(state, voters, lambda: planned.findings)
    files = [] if output is None else write_plan(planned.plan, output, more)
    code, created = exit_code(planned), None
    if live is not None:
        created = live.send(planned.plan.creation, output, code)
    ended = time.perf_counter()
    if options.output_format is OutputFormat.JSON:
        times = {
            "read": was_read - began,
            "write": ended - began_to_write,
            "total": ended - began,
        }
        _print_document(planned, times, points, created)
    else:
        head = head_of(read, state, snapshot)
        _print_screen(planned, snapshot, output, files, points, head)
        plot_if_asked(options, planned.plan)
        if created is not None:
            typer.echo(created.words)
        elif output is None and not options.quiet:
            print_words("nothing written: give -o PLAN to write the plan")
    raise typer.Exit(code if created is None else created.code)


def _read_inputs(
    snapshot: Path,
    options: CommandOptions,
    request: "PlanRequest",
    live: LiveRequest | None,
) -> "tuple[Snapshot, ClusterState]":
    """Read the cluster; tell of everything that is wrong with it and the options."""
    from planner.cli.common.snapshot_reading import load_search_for, read_snapshot
    from planner.plan.folder.plan_folder import check_plan_output

    inputs = Gatherer()
    inputs.read(options.raise_problems)
    if live is not None:
        inputs.read(live.check)
    if (output := options.output) is not None:
        inputs.read(lambda: check_plan_output(output))
    load_search_for(snapshot)
    read = inputs.read(lambda: read_snapshot(snapshot))
    state = None if read is None else read.to_state()
    if live is not None:
        inputs.read(live.open)
    if inputs.has_problems:
        configs = {} if read is None else read.configs
        inputs.read(lambda: check_options(options, request, state, configs))
    inputs.raise_problems()
    assert read is not None  # noqa: S101 - else there were problems
    assert state is not None  # noqa: S101 - as above
    return read, state


def check_options(
    options: CommandOptions,
    request: "PlanRequest",
    state: "ClusterState | None",
    cluster_configs: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """
    Refuse options that are wrong, for a cluster or for any.

    Raises
    ------
    BadInputError
        With every option that is wrong, named by where it came from.
    """
    from placement.operations.descriptor import describe
    from planner.options.cluster_options import check_request
    from planner.plan.run.new_partitions_request import read_new_request

    with options.named_by_source():
        if state is not None and describe(request.goal).creates_partitions:
            read_new_request(state, request, cluster_configs)
        else:
            check_request(request, state)


def exit_code(planned: "Planned") -> ExitCode:
    """Return 0 where all hard rules hold, 4 where not, 3 where the checker objects."""
    if planned.plan.status in {"partial", "infeasible"}:
        return ExitCode.INFEASIBLE
    is_done = planned.is_ok and not planned.plan.leaves_offline
    return ExitCode.OK if is_done else ExitCode.FINDINGS


def _print_document(
    planned: "Planned",
    times: dict[str, float],
    points: "list[TradeOff] | None",
    created: Created | None,
) -> None:
    from planner.plan.documents.plan_document import to_document
    from planner.plan.screen.trade_off import trade_off_document
    from planner.process import peak_memory_bytes

    measured = planned.plan.placed.seconds
    seconds = {
        "read": times["read"],
        "solve": measured["solve"],
        "bound": measured["bound"],
        "write": times["write"],
        "total": times["total"],
    }
    document = to_document(planned.plan)
    document["seconds"] = {name: round(value, 6) for name, value in seconds.items()}
    document["peak_memory_bytes"] = peak_memory_bytes()
    if points is not None:
        document["trade_off"] = trade_off_document(points)
    if created is not None:
        document["done"] = created.words
    print_json(document)


def plot_if_asked(options: CommandOptions, plan: "Plan") -> None:
    """Print the loads of the brokers before and after as pictures, with ``--plot``."""
    if not options.shows_plot:
        return
    from planner.plan.documents.plan_document import to_document
    from planner.report.pages.plan_page import limits_of, plan_levels

    document = to_document(plan)
    brokers, *_ = plan_levels(document)
    print_plot(brokers, limits_of(document["settings"]))


def _print_screen(
    planned: "Planned",
    snapshot: Path,
    output: Path | None,
    files: list[str],
    points: "list[TradeOff] | None",
    head: Iterable[str],
) -> None:
    from planner.plan.screen.plan_screen import (
        files_lines,
        headline,
        last_notes,
        next_lines,
        plan_screen,
    )
    from planner.plan.screen.trade_off import trade_off_lines
    from planner.text.format import wrapped

    plan = planned.plan
    name = plan.state.cluster_id or snapshot.name
    taken = f", taken {plan.taken_at}" if plan.taken_at else ""
    more = ""
    if plan.creation is not None:
        taken, more = "", ", with what is new"
    lines = wrapped(f'Snapshot "{name}"{taken}: {headline(plan)}{more}.')
    lines += [*head, *plan_screen(planned)]
    if points is not None:
        lines += trade_off_lines(points)
    if output is not None:
        lines += files_lines(output, files)
        lines += next_lines(plan, output)
    lines += last_notes(plan)
    typer.echo("\n".join(lines))
