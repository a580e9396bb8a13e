"""`group show`: a group as it is, and what would help it."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.common_options import Format, OutputFormat
from planner.cli.common.output import notes_unless, print_json
from planner.cli.group.group_source import (
    OptionalGroup,
    Source,
    with_source,
)
from planner.cli.group.group_text import MAX_SHOWN, row, span
from planner.text.format import plural
from planner.text.printable import shorten
from planner.text.table import Column, table_lines

if TYPE_CHECKING:
    from planner.group.group_advice import Aim
    from planner.group.show_records import (
        GroupShowRecord,
        PastEndRecord,
        ShownMemberRecord,
        ShownTopicRecord,
    )

LIST_COLUMNS = (
    Column("group", cut="middle", is_flexible=True),
    Column("type"),
    Column("state"),
    Column("broker", align="right"),
    Column("lag", align="right"),
)

CatchUp = Annotated[
    float | None,
    typer.Option(
        "--catch-up-within",
        metavar="SECONDS",
        help="Compute the number of members for this; needs --reads-per-s.",
    ),
]
ReadsPerSecond = Annotated[
    float | None,
    typer.Option("--reads-per-s", help="Messages per second that a member reads."),
]
InPerSecond = Annotated[
    float,
    typer.Option(
        "--in-per-s", min=0, help="Messages per second that arrive, in all topics."
    ),
]


@with_source
def show(
    group: OptionalGroup = None,
    *,
    catch_up_within: CatchUp = None,
    reads_per_s: ReadsPerSecond = None,
    in_per_s: InPerSecond = 0.0,
    output_format: Format = OutputFormat.TEXT,
    source: Source,
) -> None:
    """
    Show members, lag and problems of a group.

    With --bootstrap-server alone, the groups of the cluster are listed.

    Example: kafka-planner group show group.json
    """
    from planner.group.group_summary import summarize

    aim = _aim(catch_up_within, reads_per_s, in_per_s)
    if source.cluster.is_live and source.group is None and source.group_name is None:
        _show_list(source, output_format)
        return
    document = source.read()
    summary = summarize(document, aim)
    if output_format is OutputFormat.JSON:
        print_json(summary.model_dump(exclude_unset=True))
    else:
        typer.echo("\n".join(_summary_lines(summary)))


def _show_list(source: Source, output_format: OutputFormat) -> None:
    """Print the groups of the cluster."""
    from planner.kafka.groups.group_lags import total_lags
    from planner.kafka.groups.group_listing import list_visible

    with source.cluster.open() as client:
        groups, notes = list_visible(client)
        lags = total_lags(client, groups)
    if output_format is OutputFormat.JSON:
        rows = [{**one.to_dict(), "lag": lags[one.group_id]} for one in groups]
        print_json({"groups": rows, "notes": notes})
        return
    for note in notes:
        notes_unless(source.cluster.quiet)(note)
    listed = [
        (
            one.group_id,
            one.kind,
            one.state or "unknown",
            str(one.coordinator),
            "unknown" if lags[one.group_id] is None else str(lags[one.group_id]),
        )
        for one in groups
    ]
    typer.echo("\n".join(table_lines(LIST_COLUMNS, listed)))


def _aim(
    catch_up_s: float | None, reads_per_s: float | None, in_per_s: float
) -> "Aim | None":
    from planner.group.group_advice import Aim

    if catch_up_s is None and reads_per_s is None:
        if in_per_s:
            msg = "--in-per-s needs --catch-up-within and --reads-per-s"
            raise typer.BadParameter(msg)
        return None
    if catch_up_s is None or reads_per_s is None:
        msg = "--catch-up-within and --reads-per-s must be given together"
        raise typer.BadParameter(msg)
    numbers = (catch_up_s, reads_per_s, in_per_s)
    if not all(map(math.isfinite, numbers)) or min(catch_up_s, reads_per_s) <= 0:
        msg = (
            "--catch-up-within and --reads-per-s must be above 0, and all three finite"
        )
        raise typer.BadParameter(msg)
    return Aim(catch_up_s=catch_up_s, reads_per_s=reads_per_s, in_per_s=in_per_s)


def _summary_lines(summary: "GroupShowRecord") -> Iterator[str]:
    yield row("Group", summary.group_id or "(no name)")
    kind = [summary.type or "type unknown", summary.state or "state unknown"]
    yield row("Kind", ", ".join(kind))
    if summary.assignor:
        yield row("Assignor", summary.assignor)
    if summary.coordinator is not None:
        yield row("Coordinator", f"broker {summary.coordinator}")
    yield row("Partitions", _partitions_text(summary))
    yield row("Lag", _lag_text(summary))
    for at, topic in enumerate(summary.topics[:MAX_SHOWN]):
        yield row("" if at else "Topics", _topic_text(topic))
    for at, one in enumerate(summary.past_end[:MAX_SHOWN]):
        yield row("" if at else "Past end", _past_end_text(one))
    for at, member in enumerate(summary.members[:MAX_SHOWN]):
        yield row("" if at else "Members", _member_text(member))
    for at, saying in enumerate(summary.advice.sayings):
        yield row("" if at else "Advice", saying)
    for note in summary.notes:
        yield row("Note", note)


def _lag_text(summary: "GroupShowRecord") -> str:
    known, unknown = summary.known_lag, summary.unknown_lags
    if known is None:
        return "unknown"
    if not unknown:
        return str(known)
    return f"at least {known}; unknown of {plural(unknown, 'partition')}"


def _topic_text(topic: "ShownTopicRecord") -> str:
    lag = "lag unknown" if topic.lag is None else f"lag {topic.lag}"
    if topic.lag is None and topic.known_lag is not None:
        lag = f"lag at least {topic.known_lag}"
    text = f"{topic.name}: {plural(topic.partitions, 'partition')}, {lag}"
    least, most = topic.least_per_member, topic.most_per_member
    if least is None or most is None:
        return text
    return f"{text}, {span(least, most)} per member"


def _past_end_text(one: "PastEndRecord") -> str:
    return (
        f"{one.topic}-{one.partition}: committed {one.committed}, and the log "
        f"ends at {one.log_end}: records were lost, or the topic was created again; "
        "the reader continues by auto.offset.reset"
    )


def _members_text(summary: "GroupShowRecord") -> str:
    if summary.num_members is None:
        return "members unknown"
    return plural(summary.num_members, "member")


def _partitions_text(summary: "GroupShowRecord") -> str:
    if summary.unowned is None:
        partitions = summary.num_partitions or "unknown"
        members = _members_text(summary)
        return f"{partitions}, {members}; who owns which partitions is unknown"
    text = f"{summary.num_partitions}, {_members_text(summary)}"
    extras = {
        "without owner": summary.unowned,
        # Members of a share group share partitions by design.
        "claimed twice": summary.claimed_twice * (summary.type != "share"),
    }
    found = [f"{n} {what}" for what, n in extras.items() if n]
    if idle := len(summary.idle_members):
        found.append(f"{plural(idle, 'member')} idle")
    return ", ".join([text, *found])


def _member_text(member: "ShownMemberRecord") -> str:
    lag = "" if member.lag is None else f", lag {member.lag}"
    static = " (static)" if member.group_instance_id else ""
    name = shorten(member.member_id, 40)
    text = f"{name}{static}: {plural(member.partitions, 'partition')}{lag}"
    client = f", client {shorten(member.client_id, 30)}" if member.client_id else ""
    # Kafka prints an address that it does not resolve after a slash.
    host = f", at {member.host.lstrip('/')}" if member.host else ""
    return f"{text}{client}{host}"
