"""`group offsets`: committed offsets of a group, shown, exported and set."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import Format, OutputFormat, Quiet, Verbose
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json, print_note, print_words
from planner.cli.group.group_source import (
    GroupName,
    NamedGroup,
    Source,
)
from planner.errors import InputProblem, raise_problems
from planner.text.printable import shorten
from planner.text.table import Column, table_lines

if TYPE_CHECKING:
    from planner.group.offsets.offsets_request import OffsetsRequest
    from planner.group.offsets.offsets_table import OffsetRow, OffsetsTable

MAX_LINES = 50

Topics = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="T[:0,1]",
        help="Only this topic, or some of its partitions.",
    ),
]
AllTopics = Annotated[
    bool,
    typer.Option("--all-topics", help="All partitions that have a committed offset."),
]
ToEarliest = Annotated[
    bool, typer.Option("--to-earliest", help="Target: the first message that is kept.")
]
ToLatest = Annotated[bool, typer.Option("--to-latest", help="Target: the end.")]
ToCurrent = Annotated[
    bool,
    typer.Option(
        "--to-current",
        help="Target: the current offset; the end if there is none.",
    ),
]
ToOffset = Annotated[
    int | None, typer.Option("--to-offset", metavar="N", help="Target: the offset N.")
]
ShiftBy = Annotated[
    int | None,
    typer.Option(
        "--shift-by",
        metavar="N",
        help="Target: N messages further; back if negative.",
    ),
]
ToDatetime = Annotated[
    str | None,
    typer.Option(
        "--to-datetime",
        metavar="TIME",
        help="Target: the first message from YYYY-MM-DDThh:mm:ss.sss on; UTC.",
    ),
]
ByDuration = Annotated[
    str | None,
    typer.Option(
        "--by-duration", metavar="PnDTnHnMnS", help="Target: this long before now."
    ),
]
FromFile = Annotated[
    Path | None,
    typer.Option(
        "--from-file",
        metavar="CSV",
        help="Target: the offsets of a file that --export printed.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show the offsets without setting them; the default.",
    ),
]
Execute = Annotated[
    bool, typer.Option("--execute", help="Set the offsets; needs --yes too.")
]
Export = Annotated[
    bool, typer.Option("--export", help="Print Kafka's CSV: topic,partition,offset.")
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes", help="With --execute: set the offsets; without it, a preview."
    ),
]


@with_cluster(has_partial=False)
def offsets(
    group: NamedGroup = None,
    *,
    group_name: GroupName = None,
    topic: Topics = None,
    all_topics: AllTopics = False,
    to_earliest: ToEarliest = False,
    to_latest: ToLatest = False,
    to_current: ToCurrent = False,
    to_offset: ToOffset = None,
    shift_by: ShiftBy = None,
    to_datetime: ToDatetime = None,
    by_duration: ByDuration = None,
    from_file: FromFile = None,
    dry_run: DryRun = False,
    execute: Execute = False,
    export: Export = False,
    yes: Yes = False,
    source: ClusterSource,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Show a group's offsets; set them with --execute --yes.

    Options and results are those of kafka-consumer-groups --reset-offsets. Exits 3 if
    an offset is refused, or differs when it is read back.

    Example: kafka-planner group offsets app --bootstrap-server h:9092
    """
    from planner.group.offsets.offsets_request import (
        OffsetsOptions,
        read_offsets_request,
    )

    of_group = Source(group=group, group_name=group_name, cluster=source)
    options = OffsetsOptions(
        topics=topic or (),
        all_topics=all_topics,
        to_earliest=to_earliest,
        to_latest=to_latest,
        to_current=to_current,
        to_offset=to_offset,
        shift_by=shift_by,
        to_datetime=to_datetime,
        by_duration=by_duration,
        from_file=from_file,
        group_id=of_group.label,
    )
    request = read_offsets_request(options)
    _refuse_half(request, of_group, dry_run=dry_run, execute=execute)
    table = _answer(of_group, request, is_to_be_done=execute and yes)
    _print(
        table,
        output_format,
        export=export,
        is_verbose=verbose,
        is_quiet=quiet,
        is_live=source.is_live,
    )
    if execute and not yes and not quiet:
        print_words(
            "nothing was changed; run it again with --execute --yes to set them"
        )
    raise typer.Exit(ExitCode.OK if table.is_fine else ExitCode.FINDINGS)


def _refuse_half(
    request: "OffsetsRequest",
    source: Source,
    *,
    dry_run: bool,
    execute: bool,
) -> None:
    """Refuse options that need others, or that contradict each other."""
    found = []
    if dry_run and execute:
        found.append(("--dry-run, --execute", "both", "give one of them"))
    if request.target is None and (execute or dry_run):
        found.append(
            (
                "--execute, --dry-run",
                "no target",
                "give a target: --to-latest, --to-offset N",
            )
        )
    if execute and not source.cluster.is_live:
        found.append(("--execute", "a file", "give --bootstrap-server H:P"))
    rule = "the options must fit together"
    problems = [
        InputProblem.of_option(place, value, rule, remedy)
        for place, value, remedy in found
    ]
    raise_problems("the offsets cannot be set", problems)


def _answer(
    source: Source, request: "OffsetsRequest", *, is_to_be_done: bool
) -> "OffsetsTable":
    from planner.group.offsets.offsets_table import select_scope, table_of

    if request.target is None:
        return select_scope(table_of(source.read()), request.scope)
    if not source.cluster.is_live:
        return _preview_reset(source, request)
    from planner.kafka.groups import group_offsets

    with source.cluster.open() as client:
        table = group_offsets.preview(client, source.group_id(), request)
        return group_offsets.execute(client, table) if is_to_be_done else table


def _preview_reset(source: Source, request: "OffsetsRequest") -> "OffsetsTable":
    from planner.group.offsets.offsets_offline import preview_reset
    from planner.group.offsets.offsets_table import table_of
    from planner.group.offsets.target_offsets import refuse_kind

    document = source.read()
    refuse_kind(document.record.group_id, document.record.type)
    return preview_reset(
        table_of(document),
        request,
        num_members=len(document.record.members),
        file=source.label,
    )


def _print(
    table: "OffsetsTable",
    output_format: OutputFormat,
    *,
    export: bool,
    is_verbose: bool,
    is_quiet: bool,
    is_live: bool,
) -> None:
    if output_format is OutputFormat.JSON:
        print_json(table.to_dict())
        return
    if export:
        from planner.group.offsets.offsets_file import format_offsets

        named = [(row.name, row.at) for row in table.rows]
        known = [(name, at) for name, at in named if at is not None]
        typer.echo(format_offsets(known), nl=False)
    else:
        most = sys.maxsize if is_verbose else MAX_LINES
        typer.echo("\n".join(_lines(table, most, is_live=is_live)))
    if is_quiet:
        return
    most = sys.maxsize if is_verbose else MAX_LINES
    for note in table.notes[:most]:
        print_note(note)
    if (rest := len(table.notes) - most) > 0:
        print_note(f"… and {rest} more; --verbose or --format json lists all")


def _lines(table: "OffsetsTable", most: int, *, is_live: bool) -> Iterator[str]:
    word = ""
    if table.target is not None:
        word = f", --{table.target}: {'done' if table.is_done else 'preview'}"
    # A running cluster has a state of every group that exists; a text may lack it.
    is_missing = is_live and table.target is not None
    state = table.state or ("no such group yet" if is_missing else "state unknown")
    yield f"group {shorten(table.group_id, 40)} ({state}){word}"
    # Refused offsets come first, and are never left out.
    rows = sorted(table.rows, key=lambda row: row.error is None)
    num_failed = sum(row.error is not None for row in rows)
    shown = rows[: max(most, num_failed)]
    head, *lines = table_lines(_columns(table.rows), map(_cells, shown))
    yield head
    for row, line in zip(shown, lines, strict=True):
        yield line
        if row.error is not None:
            yield f"  not set: {row.error}"
    if (rest := len(rows) - max(most, num_failed)) > 0:
        yield f"… and {rest} more; --verbose, --export or --format json lists all"


def _number_width(rows: "Sequence[OffsetRow]") -> int:
    """Return the width of offsets; busy topics have eleven digits and more."""
    largest = max((row.log_end or row.at or 0 for row in rows), default=0)
    return max(10, len(str(largest)))


def _columns(rows: "Sequence[OffsetRow]") -> list[Column]:
    """Return columns of 80 cells in all; offsets are never cut, the topic is."""
    width = _number_width(rows)
    topic = max(12, min(24, 80 - 10 - 4 * (width + 1)))
    offsets = ("CURRENT", "NEW", "LOG-END", "LAG")
    return [
        Column("TOPIC", least=topic, most=topic, gap=1),
        Column("PARTITION", align="right", gap=1),
        *(Column(name, align="right", least=width, gap=1) for name in offsets),
    ]


def _cells(row: "OffsetRow") -> list[str]:
    numbers = (row.current, row.new, row.log_end, row.lag)
    offsets = ["-" if number is None else str(number) for number in numbers]
    return [row.topic, str(row.partition), *offsets]
