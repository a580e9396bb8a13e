"""`group`: import consumer groups, and assign their partitions."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import Format, OutputFormat, Verbose
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.fractions import fraction
from planner.cli.common.output import print_json, print_words
from planner.cli.group.group_source import (
    GroupArgument,
    Source,
    enrich,
    with_source,
)
from planner.cli.report.report_option import (
    AnswerFolder,
    Report,
    check_answer,
    write_answer,
)
from planner.errors import BadInputError

if TYPE_CHECKING:
    from assignment.errors import AssignmentError
    from planner.group import GroupDocument

app = typer.Typer(
    name="group",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show consumer groups, assign their partitions, set their offsets.",
)

Texts = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="TEXT...",
        help="Output of kafka-consumer-groups --describe; none with --bootstrap-server "
        "and --group.",
        show_default=False,
    ),
]
AssignorName = Annotated[
    str,
    typer.Option(
        "--assignor",
        metavar="NAME",
        help="range, roundrobin, sticky, cooperative-sticky, server-range, "
        "server-uniform, hash, random, balanced, or package.module:Class.",
    ),
]
JavaOrder = Annotated[
    bool,
    typer.Option(
        "--java-order", help="Order members as Java's HashMap does, like Kafka."
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        "--tolerance",
        metavar="FRACTION",
        parser=fraction(),
        help="Excess of a member over its share of the weight that is kept (balanced).",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random assignor.")]
Output = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="GROUP", help="Group file to write."),
]


@app.command("assign")
@with_source
def assign(
    group: GroupArgument,
    *,
    output: AnswerFolder = None,
    report: Report = False,
    assignor: AssignorName = "balanced",
    java_order: JavaOrder = False,
    tolerance: Tolerance = 0.05,
    seed: Seed = 0,
    output_format: Format = OutputFormat.TEXT,
    verbose: Verbose = False,
    source: Source,
) -> None:
    """
    Assign the partitions of a group to its members; changes nothing.

    Exits 3 if the assignment breaks a rule, which Kafka's own assignors may do.

    Example: kafka-planner group assign group.json --assignor range
    """
    from assignment.errors import AssignmentError
    from planner.group.assign_answer import answer, refuse_other_kinds
    from planner.group.assign_screen import assignment_lines
    from planner.group.assignor_registry import find_assignor

    check_answer(output, "group-assignment", is_wanted=report)
    started = time.perf_counter()
    chosen = find_assignor(assignor, seed=seed, tolerance=tolerance)
    document = source.read()
    refuse_other_kinds(document, source.label)
    columns = _columns(document, source.label, java_order=java_order)
    read = time.perf_counter()
    try:
        answered = answer(columns, chosen, document.notes)
    except AssignmentError as error:
        raise refusal(error, source.label, assignor) from error
    seconds = {"read": read - started, "total": time.perf_counter() - started}
    record = answered.to_record(seconds)
    if output_format is OutputFormat.JSON:
        print_json(record.model_dump())
    else:
        typer.echo("\n".join(assignment_lines(record)))
    write_answer(
        output,
        "group-assignment",
        record.model_dump,
        has_report=report,
        is_quiet=source.cluster.quiet,
    )
    raise typer.Exit(ExitCode.FINDINGS if answered.findings else ExitCode.OK)


@app.command("import")
@with_source
def import_group(
    texts: Texts = None,
    *,
    output: Output,
    output_format: Format = OutputFormat.TEXT,
    source: Source,
) -> None:
    """
    Write a group file from Kafka's tool or from a cluster.

    Texts are outputs of --describe, of --describe --members --verbose and of --describe
    --state, recognised by their headings. Without texts, give --bootstrap-server and
    --group.

    Example: kafka-planner group import group.txt -o group.json
    """
    from planner.group import write_group
    from planner.group.files.group_files import check_output

    check_output(output)
    document = _read_texts(texts, source) if texts else _read_live(source)
    write_group(document, output)
    counts = {
        "topics": len(document.record.topics),
        "members": len(document.record.members),
    }
    if output_format is OutputFormat.JSON:
        print_json({"group": str(output), **counts, "notes": list(document.notes)})
    elif not source.cluster.quiet:
        counted = ", ".join(f"{count} {what}" for what, count in counts.items())
        print_words(f"wrote {output}: {counted}")
        for note in document.notes:
            print_words(f"note: {note}")


def _read_texts(texts: Sequence[Path], source: Source) -> "GroupDocument":
    from planner.group.files.describe import import_texts
    from planner.group.files.group_files import read_text

    if source.cluster.is_live:
        msg = "give texts or --bootstrap-server, not both"
        raise typer.BadParameter(msg)
    source.check()
    document = import_texts(
        {str(path): read_text(path) for path in texts}, group_id=source.group_name
    )
    return enrich(document, source.snapshot, source.weights)


def _read_live(source: Source) -> "GroupDocument":
    if not source.cluster.is_live:
        msg = "give texts to import, or --bootstrap-server and --group"
        raise typer.BadParameter(msg)
    return source.read()


def _columns(document: "GroupDocument", file: str, *, java_order: bool) -> Any:  # noqa: ANN401 - columns
    import numpy as np

    from placement.kafka_java.java_orders import hash_map_order
    from planner.group.group_problems import refuse
    from planner.io.problems import problem

    group = document.to_group()
    if not group.num_members:
        rule = "a group without members cannot be assigned"
        found = problem(
            file, "members", None, rule, "take the group while members are active"
        )
        raise refuse(file, [found])
    if java_order:
        group = group.with_members(np.array(hash_map_order(group.members.ids)))
    return group


def refusal(error: "AssignmentError", file: str, assignor: str) -> BadInputError:
    """Return the error of an assignor as bad input."""
    from assignment.errors import UserAssignorError
    from planner.io.problems import problem

    if isinstance(error, UserAssignorError):
        remedy = "correct the class; the group itself is valid"
        found = problem(assignor, "assign", None, str(error), remedy)
        return BadInputError(f"the assignor {assignor} failed", [found])
    found = problem(file, "members", None, str(error), "correct the subscriptions")
    return BadInputError(f"{assignor} refuses the group", [found])
