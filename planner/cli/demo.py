"""`demo`: score, plan, check and verify on a bundled cluster, without Kafka or JVM."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import Format, OutputFormat, Quiet, Verbose
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json, print_words
from planner.errors import BadInputError

if TYPE_CHECKING:
    from planner.plan.run.make_plan import Planned
    from planner.verify import Verification

YOUR_CLUSTER = "kafka-planner snapshot live --bootstrap-server H:9092 -o s.json"

Output = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="PLAN", help="Plan folder to write."),
]


def demo(
    *,
    output: Output = Path("demo-plan"),
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Score, plan, check and verify on a bundled cluster.

    Three brokers have just been added to "orders-eu"; broker 4 is too full. No Kafka
    is contacted, and only the plan folder is written.

    Example: kafka-planner demo -o demo-plan
    """
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.demo import SNAPSHOT_FILE
    from planner.options.plan_request import PlanRequest
    from planner.plan.run.make_plan import make

    snapshot = read_snapshot(SNAPSHOT_FILE)
    state = snapshot.to_state()
    planned = make(state, PlanRequest(goal="add-brokers"), taken_at=snapshot.taken_at)
    written = _write(planned, output, quiet=quiet)
    verified = _verify(planned)
    if output_format is OutputFormat.JSON:
        print_json(_document(planned, verified))
    else:
        for line in _lines(planned, verified, output, written):
            typer.echo(line)
    is_fine = planned.is_ok and verified.is_done
    raise typer.Exit(ExitCode.OK if is_fine else ExitCode.FINDINGS)


def _write(planned: "Planned", output: Path, *, quiet: bool) -> list[str]:
    """Write the plan folder; continue without it if it cannot be written."""
    from planner.plan.folder.plan_folder import write_plan

    try:
        return write_plan(planned.plan, output)
    except BadInputError as error:
        if not quiet:
            print_words(f"note: {error.message}: {error.problems[0].rule}")
        return []


def _verify(planned: "Planned") -> "Verification":
    """Verify the plan against the cluster in which it has run."""
    from planner.plan.folder.plan_folder import target_lists
    from planner.verify import verify

    after = planned.plan.placed.reassignment.after()
    lists = target_lists(planned.plan).to_file()
    return verify(after, lists, rollback=None, throttles=[])


def _document(planned: "Planned", verified: "Verification") -> dict[str, Any]:
    """Return the document of the plan with the results of `check` and `verify`."""
    from planner.plan.documents.plan_document import to_document
    from planner.verify.predicted_loads import compare_loads

    document = to_document(planned.plan)
    after = planned.plan.placed.reassignment.after()
    loads = compare_loads(after, document["after"])
    return document | {
        "check": {
            "ok": planned.is_ok,
            "findings": [finding.to_dict() for finding in planned.findings],
        },
        "verify": verified.to_dict(loads),
    }


def _lines(
    planned: "Planned", verified: "Verification", output: Path, written: list[str]
) -> Iterator[str]:
    from planner.plan.screen.plan_screen import files_lines, headline, plan_screen
    from planner.text.format import command_lines, labelled, wrapped

    plan = planned.plan
    name = plan.state.cluster_id
    yield from wrapped(f'Demo "{name}": {headline(plan)}. No Kafka is touched.')
    yield from plan_screen(planned)
    counts = ", ".join(f"{n} {status}" for status, n in verified.counts.items() if n)
    yield from labelled("Verified", f"as if it had run: {counts}")
    if written:
        yield from files_lines(output, written)
    yield from command_lines("Yours", YOUR_CLUSTER.split())
    yield from labelled("", "(reads, and changes nothing)")
