"""`group …`: look at consumer groups, import them, and assign their partitions."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.exit_codes import ExitCode
from planner.cli.options import Format, OutputFormat, Quiet, Verbose
from planner.cli.output import print_json, print_words
from planner.errors import BadInputError

if TYPE_CHECKING:
    from assignment.errors import AssignmentError
    from planner.group import GroupDocument
    from planner.group.answer import Answer

app = typer.Typer(
    name="group",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at consumer groups, and assign their partitions.",
)

MAX_SHOWN = 20

GroupArgument = Annotated[
    Path,
    typer.Argument(
        metavar="GROUP",
        help="Group file, or what kafka-consumer-groups --describe printed.",
    ),
]
Texts = Annotated[
    list[Path],
    typer.Argument(
        metavar="TEXT...", help="What kafka-consumer-groups --describe printed."
    ),
]
GroupName = Annotated[
    str | None,
    typer.Option("--group", metavar="NAME", help="Which group of a text with several."),
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
        "--java-order", help="Take members in the order of Java's HashMap, as Kafka."
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        "--tolerance",
        min=0,
        help="How far above its share of the weight a member may stay (balanced).",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Of the random assignor.")]
SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot", metavar="SNAP", help="Knows partitions, racks and rates."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="lag|in|FILE",
        help="What partitions weigh: lag, bytes in (of --snapshot), or a table of "
        "topic,partition,weight.",
    ),
]
Output = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="GROUP", help="Group file to write."),
]


@app.command("assign")
def assign(
    group: GroupArgument,
    *,
    assignor: AssignorName = "balanced",
    java_order: JavaOrder = False,
    group_name: GroupName = None,
    tolerance: Tolerance = 0.05,
    seed: Seed = 0,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Assign the partitions of a group to its members; nothing is changed anywhere.

    Exits 0, or 3 if the assignment breaks a rule: Kafka's own assignors can.
    """
    from assignment.errors import AssignmentError
    from planner.group import read_group
    from planner.group.answer import answer, refuse_other_kinds
    from planner.group.assignors import find_assignor

    started = time.perf_counter()
    chosen = find_assignor(assignor, seed=seed, tolerance=tolerance)
    document = read_group(group, group_id=group_name)
    refuse_other_kinds(document, str(group))
    columns = _columns(document, str(group), java_order=java_order)
    read = time.perf_counter()
    try:
        answered = answer(columns, chosen, document.notes)
    except AssignmentError as error:
        raise refusal(error, str(group), assignor) from error
    if output_format is OutputFormat.JSON:
        seconds = {"read": read - started, **answered.seconds}
        seconds["total"] = time.perf_counter() - started
        rounded = {name: round(value, 6) for name, value in seconds.items()}
        print_json({**answered.to_dict(), "seconds": rounded})
    else:
        typer.echo("\n".join(_assignment_lines(answered)))
    raise typer.Exit(ExitCode.FINDINGS if answered.findings else ExitCode.OK)


@app.command("show")
def show(
    group: GroupArgument,
    *,
    group_name: GroupName = None,
    output_format: Format = OutputFormat.TEXT,
) -> None:
    """Show what a group reads, who reads what, and how far behind it is."""
    from planner.group import read_group
    from planner.group.summary import summarize

    summary = summarize(read_group(group, group_id=group_name))
    if output_format is OutputFormat.JSON:
        print_json(summary)
    else:
        typer.echo("\n".join(_summary_lines(summary)))


@app.command("import")
def import_group(
    texts: Texts,
    *,
    output: Output,
    group_name: GroupName = None,
    snapshot: SnapshotOption = None,
    weights: Weights = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Write a group file from what kafka-consumer-groups printed.

    Give any of --describe, --describe --members --verbose and --describe --state; which
    is which is seen from their headings.
    """
    from planner.group import write_group
    from planner.group.files import check_output, read_text
    from planner.group.importers.describe import import_texts

    check_output(output)
    document = import_texts(
        {str(path): read_text(path) for path in texts}, group_id=group_name
    )
    document = _enrich(document, snapshot, weights)
    write_group(document, output)
    counts = {
        "topics": len(document.record.topics),
        "members": len(document.record.members),
    }
    if output_format is OutputFormat.JSON:
        print_json({"group": str(output), **counts, "notes": list(document.notes)})
    elif not quiet:
        said = ", ".join(f"{count} {what}" for what, count in counts.items())
        print_words(f"wrote {output}: {said}")
        for note in document.notes:
            print_words(f"note: {note}")


def _enrich(
    document: "GroupDocument", snapshot: Path | None, weights: str | None
) -> "GroupDocument":
    from planner.group.enrich import (
        WeightSource,
        with_cluster,
        with_lag_weights,
        with_table_weights,
    )
    from planner.group.files import read_text

    if snapshot is not None:
        from planner.snapshot import read_snapshot

        state = read_snapshot(snapshot).to_state()
        by_rate = weights == WeightSource.IN
        document = with_cluster(document, state, weigh_by_rate=by_rate)
    elif weights == WeightSource.IN:
        msg = "--weights in needs --snapshot, which knows bytes in"
        raise typer.BadParameter(msg)
    if weights == WeightSource.LAG:
        return with_lag_weights(document)
    if weights is None or weights == WeightSource.IN:
        return document
    return with_table_weights(document, read_text(Path(weights)), weights)


def _columns(document: "GroupDocument", file: str, *, java_order: bool) -> Any:  # noqa: ANN401 - columns
    import numpy as np

    from assignment.java import hash_map_order
    from planner.group.problems import refuse
    from planner.snapshot.problems import problem

    group = document.to_group()
    if not group.num_members:
        rule = "a group without members has nobody to assign to"
        found = problem(file, "members", None, rule, "take it while members are active")
        raise refuse(file, [found])
    if java_order:
        group = group.with_members(np.array(hash_map_order(group.members.ids)))
    return group


def refusal(error: "AssignmentError", file: str, assignor: str) -> BadInputError:
    """Return the error that an assignor's refusal comes to."""
    from assignment.errors import UserAssignorError
    from planner.snapshot.problems import problem

    if isinstance(error, UserAssignorError):
        remedy = "mend the class; nothing here is wrong"
        found = problem(assignor, "assign", None, str(error), remedy)
        return BadInputError(f"the assignor {assignor} failed", [found])
    found = problem(file, "members", None, str(error), "mend the subscriptions")
    return BadInputError(f"{assignor} refuses the group", [found])


def _assignment_lines(answer: "Answer") -> Iterator[str]:
    document = answer.to_dict()
    group, load = answer.group, document["load"]
    members = _count(group.num_members, "member")
    yield _row("Group", f"{group.group_id or '(no name)'}: {members}")
    yield _row("Assignor", answer.assignor)
    counts = answer.assignment.counts(group.num_members).tolist()
    yield _row("Partitions", f"{_span(counts)} per member, {sum(counts)} in all")
    yield _row("Load", f"{_span(list(load.values()))} per member")
    yield _row(
        "Moved", _bound_text(document["moved"], document["certificate"]["moved"])
    )
    busiest = document["certificate"]["busiest"]
    yield _row("Busiest", _bound_text(busiest["value"], busiest))
    idle = document["idle_members"]
    if idle:
        yield _row("Idle", f"{len(idle)}: {_some(idle)}")
    left = sum(len(numbers) for numbers in document["unassigned"].values())
    if left:
        yield _row(
            "Unassigned", f"{left} partitions of {_some(document['unassigned'])}"
        )
    for note in document["notes"]:
        yield _row("Note", note)
    for finding in answer.findings[:MAX_SHOWN]:
        yield _row("Broken", f"{finding.rule}: {finding.message}")
    yield ""
    yield from _member_lines(document["assignment"])


def _member_lines(assignment: dict[str, dict[str, list[int]]]) -> Iterator[str]:
    for member, topics in list(assignment.items())[:MAX_SHOWN]:
        read = "; ".join(f"{name}: {_ranges(n)}" for name, n in sorted(topics.items()))
        yield f"{_cut(member, 24):<24} {_cut(read or '-', 55)}"
    if (rest := len(assignment) - MAX_SHOWN) > 0:
        yield f"… and {rest} more; --format json lists all"


def _summary_lines(summary: dict[str, Any]) -> Iterator[str]:
    yield _row("Group", summary["group_id"] or "(no name)")
    kind = [summary["type"] or "type unknown", summary["state"] or "state unknown"]
    yield _row("Kind", ", ".join(kind))
    if summary["assignor"]:
        yield _row("Assignor", summary["assignor"])
    if summary["coordinator"] is not None:
        yield _row("Coordinator", f"broker {summary['coordinator']}")
    yield _row("Partitions", _partitions_text(summary))
    yield _row("Lag", "unknown" if summary["lag"] is None else summary["lag"])
    for at, topic in enumerate(summary["topics"][:MAX_SHOWN]):
        lag = "lag unknown" if topic["lag"] is None else f"lag {topic['lag']}"
        text = f"{topic['name']}: {_count(topic['partitions'], 'partition')}, {lag}"
        yield _row("" if at else "Topics", text)
    for at, member in enumerate(summary["members"][:MAX_SHOWN]):
        yield _row("" if at else "Members", _member_text(member))
    for note in summary["notes"]:
        yield _row("Note", note)


def _partitions_text(summary: dict[str, Any]) -> str:
    members = _count(summary["num_members"], "member")
    text = f"{summary['num_partitions']}, {members}"
    extras = {
        "owned by nobody": summary["unowned"],
        "claimed twice": summary["claimed_twice"],
        "members idle": len(summary["idle_members"]),
    }
    return ", ".join([text, *(f"{n} {what}" for what, n in extras.items() if n)])


def _member_text(member: dict[str, Any]) -> str:
    lag = "" if member["lag"] is None else f", lag {member['lag']}"
    static = " (static)" if member["group_instance_id"] else ""
    name = _cut(member["member_id"], 40)
    return f"{name}{static}: {_count(member['partitions'], 'partition')}{lag}"


def _row(label: str, text: object) -> str:
    """Return a labelled line, folded to 80 columns."""
    import textwrap

    lines = textwrap.wrap(str(text), 67) or [""]
    return "\n".join(
        f"{label if not at else '':<12} {line}".rstrip()
        for at, line in enumerate(lines)
    )


def _bound_text(value: float, bounded: dict[str, Any] | None) -> str:
    if bounded is None:
        return f"{value:g}"
    bound, gap = bounded["lower_bound"], bounded["gap"]
    if gap == 0:
        return f"{value:g}; proven: nothing less is possible"
    words = f" (gap {100 * gap:.3g} %)" if gap is not None else ""
    return f"{value:g}; proven: not under {bound:g}{words}"


def _span(values: Sequence[float]) -> str:
    low, high = min(values, default=0), max(values, default=0)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _some(names: Sequence[str] | dict[str, Any]) -> str:
    shown = list(names)[:3]
    return ", ".join(shown) + (" …" if len(names) > len(shown) else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as ``0-3,7``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
