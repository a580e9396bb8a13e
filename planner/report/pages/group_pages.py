"""Sections of pages of consumer groups: an assignment, and events that were played."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.group.assign_screen import (
    assignment_facts,
    partition_counts,
    topics_text,
)
from planner.group.group_answers import GroupAssignmentRecord
from planner.group.what_if.what_if_records import (
    PileRecord,
    WhatIfRecord,
    WhatIfRunRecord,
)
from planner.group.what_if.what_if_screen import COLUMNS, run_cells, run_name
from planner.report.charts.load_pictures import MOST_PLACES
from planner.report.charts.pictures import LoadPicture, Number
from planner.report.pages.blocks import (
    BrowsedTable,
    Cell,
    Facts,
    Figures,
    Section,
    Table,
    Words,
)
from planner.report.pages.load_blocks import figures_table
from planner.text.format import plural

MOST_MEMBERS = 4000
MOST_TEXT = 300
"""Characters of the topics of a member in a table; the document has all."""
Document = Mapping[str, Any]


def assignment_verdict(document: Document) -> str:
    """Return whether an assignment breaks a rule, and what it moves."""
    record = GroupAssignmentRecord.model_validate(document)
    broken = "breaks no rule"
    if findings := record.findings:
        broken = f"breaks {plural(len(findings), 'rule')}: {findings[0].message}"
    moved = plural(record.moved, "partition")
    return f"The assignment of {record.assignor} {broken}; {moved} moved."


def assignment_sections(document: Document) -> Iterator[Section]:
    """Yield facts, loads and members of an assignment."""
    record = GroupAssignmentRecord.model_validate(document)
    yield Section("facts", "Assignment", [Facts(list(assignment_facts(record)))])
    picture = _member_picture(record.load)
    legend = [("now", "load"), ("target", "mean")]
    table = figures_table("member", [picture])
    figures = Figures(pictures=[picture], legend=legend, table=table)
    yield Section("loads", "Loads of members", [figures])
    yield Section("members", "Members", [_members(record)])


def _member_picture(loads: Mapping[str, float]) -> LoadPicture:
    mean = sum(loads.values()) / len(loads)
    ranked = sorted(loads, key=lambda name: (-abs(loads[name] - mean), name))
    shown = set(ranked[:MOST_PLACES])
    places = [name for name in loads if name in shown]
    return LoadPicture(
        name="members-load",
        resource="load",
        level="member",
        unit="weight",
        places=places,
        now=[loads[name] for name in places],
        before=None,
        target=[mean] * len(places),
        omitted=len(loads) - len(places),
    )


def _members(record: GroupAssignmentRecord) -> BrowsedTable:
    rows = []
    held = record.assignment
    for (member, topics), count in zip(
        held.items(), partition_counts(record), strict=True
    ):
        revoked = _held(record.revoked.get(member, {}))
        text = topics_text(topics)
        shown = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} …"
        rows.append((member, count, record.load[member], revoked, shown))
    return BrowsedTable(
        name="members",
        caption="Members and their partitions",
        heads=("Member", "Partitions", "Load", "Revoked", "Topics"),
        rows=rows[:MOST_MEMBERS],
        total=len(rows),
        rest="the document has all",
    )


def group_what_if_verdict(document: Document) -> str:
    """Return the run with the shortest pause, and the longest pause of all."""
    runs = WhatIfRecord.model_validate(document).runs
    broken = sum(any(step.findings for step in run.steps) for run in runs)
    if broken:
        return f"{broken} of {plural(len(runs), 'run')} break a rule."
    best = min(runs, key=lambda run: run.still.longest_s)
    worst = max(runs, key=lambda run: run.still.longest_s)
    text = f"No run breaks a rule. {run_name(best)}: no partition is without a reader "
    text += f"for longer than {best.still.longest_s:.1f} s"
    if worst.still.longest_s > best.still.longest_s:
        text += f"; {run_name(worst)}: {worst.still.longest_s:.1f} s"
    return f"{text}."


def group_what_if_sections(document: Document) -> Iterator[Section]:
    """Yield the runs side by side, and the history of each."""
    record = WhatIfRecord.model_validate(document)
    heads = [column.heading.capitalize() for column in COLUMNS]
    rows = [run_cells(run) for run in record.runs]
    blocks: list[Table | Figures] = [
        Table(caption="Runs side by side", heads=heads, rows=rows)
    ]
    if pictures := list(_run_pictures(record.runs)):
        table = figures_table("run", pictures)
        blocks.append(Figures(pictures=pictures, legend=[("now", "run")], table=table))
    yield Section("runs", "Runs side by side", blocks)
    for number, run in enumerate(record.runs, 1):
        yield Section(f"run-{number}", run_name(run), [_steps(number, run)])
    if record.notes:
        yield Section("notes", "Notes", [Words(note) for note in record.notes])


def _run_pictures(runs: Sequence[WhatIfRunRecord]) -> Iterator[LoadPicture]:
    figures: dict[str, tuple[str, list[Number]]] = {
        "revoked": ("partitions", [float(run.revoked) for run in runs]),
        "longest pause": ("seconds", [run.still.longest_s for run in runs]),
        "peak lag": ("messages", [_peak(run.lag) for run in runs]),
    }
    for name, (unit, values) in figures.items():
        if any(values):
            yield LoadPicture(
                name=f"runs-{name.replace(' ', '-')}",
                resource=name,
                level="run",
                unit=unit,
                places=[f"{n}: {run_name(run)}" for n, run in enumerate(runs, 1)],
                now=values,
                before=None,
                target=[None] * len(runs),
            )


def _peak(lag: PileRecord | None) -> Number:
    return None if lag is None else float(lag.peak)


def _steps(number: int, run: WhatIfRunRecord) -> BrowsedTable:
    rows: list[tuple[Cell, ...]] = []
    rows += [(each.at_s, each.text, None, None, None, None) for each in run.story]
    rows += [
        (
            step.started_s,
            f"rebalance {step.number} ({step.cause})",
            round(step.ended_s - step.started_s, 3),
            sum(map(_held, step.revoked.values())),
            step.moved,
            "; ".join(each.message for each in step.findings) or None,
        )
        for step in run.steps
    ]
    rows.sort(key=lambda row: float(row[0] or 0))
    return BrowsedTable(
        name=f"run-{number}",
        caption=f"History of run {number}",
        heads=("At s", "Event", "Took s", "Revoked", "Moved", "Broken"),
        rows=rows[:MOST_MEMBERS],
        total=len(rows),
        rest="the document has all",
    )


def _held(topics: Mapping[str, Sequence[int]]) -> int:
    return sum(map(len, topics.values()))
