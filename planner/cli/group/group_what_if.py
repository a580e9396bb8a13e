"""`group what-if`: simulated joins, crashes and restarts of members."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.common_options import Format, OutputFormat
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json
from planner.cli.group.group_commands import JavaOrder, refusal
from planner.cli.group.group_source import (
    GroupArgument,
    Source,
    with_source,
)
from planner.cli.report.report_option import (
    AnswerFolder,
    Report,
    check_answer,
    write_answer,
)

if TYPE_CHECKING:
    from planner.group import GroupDocument
    from planner.group.what_if.events_file import EventsFile
    from planner.group.what_if.play_events import Played
    from planner.group.what_if.what_if_records import WhatIfRecord

EventsArgument = Annotated[
    Path,
    typer.Argument(metavar="EVENTS", help="Events file, TOML; see docs/rebalances.md."),
]


@with_source
def what_if(
    group: GroupArgument,
    events: EventsArgument,
    *,
    output: AnswerFolder = None,
    report: Report = False,
    java_order: JavaOrder = False,
    output_format: Format = OutputFormat.TEXT,
    source: Source,
) -> None:
    """
    Simulate events of a group: what is revoked, stalls and piles up.

    Exits 3 if an assignment breaks a rule, which Kafka's own assignors may do.

    Example: kafka-planner group what-if group.json events.toml
    """
    from planner.group.assign_answer import refuse_other_kinds
    from planner.group.what_if.events_file import read_events

    check_answer(output, "group-what-if", is_wanted=report)
    started = time.perf_counter()
    document = source.read()
    refuse_other_kinds(document, source.label)
    file = read_events(events, document)
    read = time.perf_counter()
    runs = _play(document, file, source.label, java_order=java_order)
    done = time.perf_counter()
    seconds = {"read": read - started, "play": done - read, "total": done - started}
    answer = _answer(document, file, runs, seconds)
    if output_format is OutputFormat.JSON:
        print_json(answer.model_dump())
    else:
        from planner.group.what_if.what_if_screen import lines

        typer.echo("\n".join(lines(answer)))
    write_answer(
        output,
        "group-what-if",
        answer.model_dump,
        has_report=report,
        is_quiet=source.cluster.quiet,
    )
    is_broken = any(any(each) for played in runs for each in played.findings)
    raise typer.Exit(ExitCode.FINDINGS if is_broken else ExitCode.OK)


def _play(
    document: "GroupDocument", events: "EventsFile", file: str, *, java_order: bool
) -> "list[Played]":
    from assignment.errors import AssignmentError
    from planner.group.what_if.play_events import play_run

    played = []
    for run in events.runs:
        try:
            played.append(play_run(document, events, run, is_java_order=java_order))
        except AssignmentError as error:
            raise refusal(error, file, str(run.assignor)) from error
    return played


def _answer(
    document: "GroupDocument",
    events: "EventsFile",
    runs: "list[Played]",
    seconds: dict[str, float],
) -> "WhatIfRecord":
    from planner.group.what_if.play_events import notes_of, run_record
    from planner.group.what_if.what_if_records import WhatIfRecord

    return WhatIfRecord(
        group_id=document.record.group_id,
        until_s=events.until_s,
        settings=dict(events.settings),
        runs=[run_record(played) for played in runs],
        notes=notes_of(document, events, runs),
        seconds={name: round(value, 6) for name, value in seconds.items()},
    )
