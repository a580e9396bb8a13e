"""Screen of `group assign`: the facts of an assignment, and a table of the members."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from planner.group.group_answers import GroupAssignmentRecord, GroupBoundRecord
from planner.text.format import ids_text, labelled, plural
from planner.text.table import Column, table_lines

MAX_SHOWN = 20
"""Most members and findings to show."""
LABEL_WIDTH = 13


def assignment_lines(record: GroupAssignmentRecord) -> Iterator[str]:
    """Yield the lines of the screen of `group assign`."""
    for label, text in assignment_facts(record):
        yield from labelled(label, text, LABEL_WIDTH)
    yield ""
    yield from _member_lines(record.assignment)


def assignment_facts(record: GroupAssignmentRecord) -> Iterator[tuple[str, str]]:
    """Yield label and text of the facts of an assignment."""
    members = plural(len(record.assignment), "member")
    counts = partition_counts(record)
    yield "Group", f"{record.group_id or '(no name)'}: {members}"
    yield "Assignor", record.assignor
    yield "Partitions", f"{_span(counts)} per member, {sum(counts)} in all"
    yield "Load", f"{_span(list(record.load.values()))} per member"
    yield "Moved", _bound_text(record.moved, record.certificate.moved)
    busiest = record.certificate.busiest
    yield "Busiest", _bound_text(busiest.value, busiest)
    idle = record.idle_members
    if idle:
        yield "Idle", f"{len(idle)}: {_some(idle)}"
    left = sum(len(numbers) for numbers in record.unassigned.values())
    if left:
        yield "Unassigned", f"{left} partitions of {_some(record.unassigned)}"
    for note in record.notes:
        yield "Note", note
    for finding in record.findings[:MAX_SHOWN]:
        yield "Broken", f"{finding.rule}: {finding.message}"


def partition_counts(record: GroupAssignmentRecord) -> list[int]:
    """Return the number of partitions of each member, in the order of the record."""
    return [sum(map(len, topics.values())) for topics in record.assignment.values()]


def topics_text(topics: Mapping[str, Sequence[int]]) -> str:
    """Return topics and their partitions as text, ``-`` without any."""
    texts = (f"{name}: {ids_text(sorted(n))}" for name, n in sorted(topics.items()))
    return "; ".join(texts) or "-"


def _member_lines(assignment: Mapping[str, Mapping[str, list[int]]]) -> Iterator[str]:
    rows = [
        (member, topics_text(topics))
        for member, topics in list(assignment.items())[:MAX_SHOWN]
    ]
    yield from table_lines([Column(most=24), Column(most=55)], rows)
    if (rest := len(assignment) - MAX_SHOWN) > 0:
        yield f"… and {rest} more; --format json lists all"


def _bound_text(value: float, bounded: GroupBoundRecord | None) -> str:
    if bounded is None:
        return f"{value:g}"
    bound, gap = bounded.lower_bound, bounded.gap
    if gap == 0:
        return f"{value:g}; proven: nothing less is possible"
    words = f" (gap {100 * gap:.3g} %)" if gap is not None else ""
    return f"{value:g}; proven: not under {bound:g}{words}"


def _span(values: Sequence[float]) -> str:
    low, high = min(values, default=0), max(values, default=0)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _some(names: Collection[str]) -> str:
    """Return the first three names."""
    shown = list(names)[:3]
    return ", ".join(shown) + (" …" if len(names) > len(shown) else "")
