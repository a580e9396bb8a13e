"""Screen of `explain`: the moves of a plan, with their reasons."""

from collections.abc import Iterator, Sequence

from planner.explain.choose_moves import by_reason, total_bytes
from planner.explain.reason_sentences import sentence, short_consequence, short_reason
from planner.plan.folder.moves_file import COPY, DROP, LEADER, MoveRow
from planner.text.format import bytes_text, plural, wrapped
from planner.text.table import Column, table_lines

MOST_SENTENCES = 12
"""Number of moves up to which each is a sentence; more are a table."""
SIZES = {LEADER: "leads", DROP: "goes"}
"""Words in the column of bytes for moves that copy nothing."""
COLUMNS = (
    Column("PARTITION", least=22, cut="middle", is_flexible=True),
    Column("WHY", cut="middle", is_flexible=True),
    Column("BYTES"),
    Column("FROM>TO"),
    Column("WITHOUT IT", cut="middle", is_flexible=True),
)
REASON_COLUMNS = (
    Column("WHY", least=17),
    Column("COPIES", align="right"),
    Column("BYTES", align="right", least=8),
    Column("LEADERS", align="right"),
)


def explain_screen(
    goal: str | None,
    rows: Sequence[MoveRow],
    chosen: Sequence[MoveRow],
    limit: int,
    inside: tuple[int, int] = (0, 0),
) -> Iterator[str]:
    """
    Yield the lines of the screen: sums by reason, then the moves.

    Parameters
    ----------
    goal, rows, chosen
        As for `explain_document`.
    limit
        Largest number of listed moves; the rest is counted.
    inside
        Number of replicas that move to another log dir of their broker, and their
        bytes.
    """
    yield from wrapped(_headline(goal, rows, chosen))
    if inside[0]:
        yield from wrapped(_inside_text(*inside, is_all=not rows))
    if len(chosen) <= MOST_SENTENCES:
        for row in chosen[:limit]:
            yield from wrapped(sentence(row))
        shown = min(limit, len(chosen))
    else:
        yield ""
        yield from _reasons(chosen)
        yield ""
        yield from table_lines(COLUMNS, map(_cells, chosen[:limit]))
        shown = min(limit, len(chosen))
    if shown < len(chosen):
        yield f"… and {len(chosen) - shown} more; --limit N, or --format json for all"


def _headline(
    goal: str | None, rows: Sequence[MoveRow], chosen: Sequence[MoveRow]
) -> str:
    copies = [row for row in rows if row.kind == COPY]
    total = total_bytes(copies)
    size = "sizes unknown" if total is None else bytes_text(total, 4)
    leaders = plural(len(rows) - len(copies), "leader change")
    noun = "copy" if len(copies) == 1 else "copies"
    head = f"{goal or 'reassignment'}: {len(copies)} {noun}, {size}; {leaders}"
    if len(chosen) == len(rows):
        return f"{head}."
    return f"{head}. Of these {len(chosen)} are meant here."


def _inside_text(count: int, size_bytes: int, *, is_all: bool) -> str:
    only = "Nothing else happens. " if is_all else ""
    verb = "go" if count > 1 else "goes"
    return (
        f"{plural(count, 'replica')} of {bytes_text(size_bytes, 4)} {verb} to another "
        f"log dir of the same broker, to fill its log dirs evenly or to empty one. "
        f"{only}log-dirs.csv lists them."
    )


def _reasons(chosen: Sequence[MoveRow]) -> list[str]:
    rows = [
        (
            str(one["reason"]),
            str(one["replicas"]),
            "?" if one["bytes"] is None else bytes_text(one["bytes"]),
            str(one["leaders"]),
        )
        for one in by_reason(chosen)
    ]
    return table_lines(REASON_COLUMNS, rows)


def _cells(row: MoveRow) -> tuple[str, ...]:
    ends = ">".join("" if b is None else str(b) for b in (row.source, row.target))
    return (row.name, short_reason(row), _size(row), ends, short_consequence(row))


def _size(row: MoveRow) -> str:
    if row.kind != COPY:
        return SIZES[row.kind]
    return "?" if row.size_bytes is None else bytes_text(row.size_bytes)
