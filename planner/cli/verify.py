"""`verify`: progress of a plan, in a snapshot or on the running cluster."""

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    PlanArgument,
    Quiet,
    SnapshotNow,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import (
    notes_unless,
    print_json,
    print_note,
    print_words,
)
from planner.cli.run.run_options import JournalOption, Yes
from planner.errors import BadInputError, InputProblem
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from planner.plan.input.plan_input import PlanInput
    from planner.snapshot import Snapshot
    from planner.verify import Verification

MAX_FINDINGS_SHOWN = 50
MAX_COMMANDS_SHOWN = 20

Wait = Annotated[
    bool,
    typer.Option(
        "--wait", help="Look again every 5 seconds until nothing moves that can finish."
    ),
]

ClearThrottles = Annotated[
    bool,
    typer.Option(
        "--clear-throttles",
        help="Name the throttles that no copy needs; with --yes take them off.",
    ),
]


@with_cluster()
def verify(
    plan: PlanArgument,
    *,
    snapshot: SnapshotNow = None,
    source: ClusterSource,
    wait: Wait = False,
    clear_throttles: ClearThrottles = False,
    yes: Yes = False,
    journal: JournalOption = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Compare a cluster with a plan: what is done, stuck and left.

    Exits 0 only if the plan is completed, no throttle is left and every log dir is as
    planned; else 3. Changes nothing, but throttles with --clear-throttles --yes. With
    --wait it looks again until nothing moves, or what moves cannot finish by itself.

    Example: kafka-planner verify plan --bootstrap-server k1:9092
    """
    from planner.plan.input.plan_input import read_plan
    from planner.verify.predicted_loads import compare_loads, load_text
    from planner.verify.whole_plan import verify_read

    inputs = Gatherer()
    inputs.read(source.check)
    inputs.read(lambda: _refuse_file("--wait", wait, snapshot))
    inputs.read(lambda: _refuse_file("--clear-throttles", clear_throttles, snapshot))
    given = inputs.read(lambda: read_plan(plan))
    now = inputs.read(source.read_file)
    inputs.raise_problems()
    if given is None:  # pragma: no cover - raised just above
        return

    def look() -> "tuple[Snapshot, Verification]":
        seen = source.read_live() if now is None else now
        return seen, verify_read(given, seen, connection=source.connection)

    if clear_throttles:
        _clear(given, journal or _journal_of(plan), source, is_real=yes)
    shown, outcome = _wait(look, quiet=quiet) if wait else look()
    loads = compare_loads(shown.to_state(), given.document.get("after"))
    if output_format is OutputFormat.JSON:
        print_json(outcome.to_dict(loads))
    else:
        typer.echo("\n".join(_lines(outcome, list(map(load_text, loads)))))
    raise typer.Exit(ExitCode.OK if outcome.is_done else ExitCode.FINDINGS)


def _refuse_file(option: str, is_given: bool, snapshot: Path | None) -> None:
    """
    Refuse an option that needs a running cluster.

    Raises
    ------
    BadInputError
        If it is given with a snapshot.
    """
    if is_given and snapshot is not None:
        problem = InputProblem.of_option(
            option,
            "with --snapshot",
            "needs a running cluster",
            f"give --bootstrap-server H:P, or leave {option} out",
        )
        msg = "a snapshot does not change"
        raise BadInputError(msg, [problem])


def _journal_of(plan: Path) -> Path:
    from planner.execution.run.journal import journal_path

    return journal_path(plan)


def _clear(
    plan: "PlanInput", journal: Path, source: ClusterSource, *, is_real: bool
) -> None:
    """Name the throttles that no copy needs, or take them off."""
    from planner.execution.cluster.live_cluster import LiveCluster
    from planner.execution.undo.clear_throttles import clear_throttles, find_unneeded

    with source.open() as client:
        cluster = LiveCluster(client, allow_partial=source.allow_partial)
        if not is_real:
            for one in find_unneeded(plan, cluster):
                print_note(f"{one.place}: {one.key} would be taken off by --yes")
            return
        found = clear_throttles(plan, journal, cluster)
    for one in found.removed:
        print_note(f"{one.place}: {one.key} is off")
    for text in found.left:
        print_words(f"warning: left: {text}")


def _wait(
    look: "Callable[[], tuple[Snapshot, Verification]]", *, quiet: bool
) -> "tuple[Snapshot, Verification]":
    from planner.verify.wait_for_copies import Clock, wait_for_copies

    clock = Clock(now_s=time.monotonic, sleep=time.sleep)
    return wait_for_copies(look, clock, notes_unless(quiet))


def _lines(outcome: "Verification", loads: Sequence[str]) -> Iterator[str]:
    from planner.text.format import labelled, wrapped
    from planner.verify.wave_progress import waves_text

    counts = ", ".join(f"{n} {status}" for status, n in outcome.counts.items() if n)
    yield f"{outcome.overall.value}: {counts or 'the plan moves nothing'}"
    for finding in outcome.findings[:MAX_FINDINGS_SHOWN]:
        yield from labelled(f"  {finding.rule}", finding.message, 23)
    if (rest := len(outcome.findings) - MAX_FINDINGS_SHOWN) > 0:
        yield f"  … and {rest} more; --format json lists all"
    for load in loads:
        yield from wrapped(load)
    if outcome.waves:
        yield from labelled("Waves", waves_text(outcome.waves))
    yield from _left_lines(outcome)


def _left_lines(outcome: "Verification") -> Iterator[str]:
    """Yield the remaining steps, each with its commands."""
    from planner.text.format import command_lines, labelled

    if not outcome.left:
        yield from labelled("Left", "nothing")
    for number, step in enumerate(outcome.left, start=1):
        yield from labelled("" if number > 1 else "Left", f"{number}. {step.message}")
        # Commands are on lines of their own, to be copied.
        for one in step.commands[:MAX_COMMANDS_SHOWN]:
            yield from command_lines("", shlex.split(one))
        if (rest := len(step.commands) - MAX_COMMANDS_SHOWN) > 0:
            yield f"  … and {rest} more; --format json lists all"
