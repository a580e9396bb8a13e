"""Blocks on the moves of a plan: a matrix, sums by reason, and the moves themselves."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from planner.explain.choose_moves import by_reason
from planner.explain.reason_sentences import consequence_text, reason_text
from planner.plan.folder.moves_file import COPY, MoveRow
from planner.report.charts.pictures import MatrixPicture
from planner.report.pages.blocks import Block, BrowsedTable, Figures, Table, Words
from planner.text.format import bytes_text

MOST_MATRIX = 40
"""Largest number of brokers in a matrix; more are added up by rack."""
MOST_MOVES = 4000
"""Largest number of moves in a page."""
HEADS = (
    *("Topic", "Partition", "Kind", "From", "To", "From rack", "To rack"),
    *("Bytes", "Reason", "Because", "Without it"),
)
KINDS = {"replica": "copy", "leader": "leader", "drop": "drop"}


def move_blocks(moves: Sequence[MoveRow]) -> Iterator[Block]:
    """Yield the blocks of all moves."""
    if not moves:
        yield Words("No replica moves, and no leader changes.")
        return
    matrix = matrix_picture(moves)
    if matrix.cells:
        if matrix.level == "rack":
            yield Words("There are many brokers: their copies are added up by rack.")
        yield Figures(pictures=[matrix], table=_matrix_table(matrix))
    yield _reasons(moves)
    yield browsed_moves(moves)


def matrix_picture(moves: Sequence[MoveRow]) -> MatrixPicture:
    """Return the copied bytes by broker, or by rack if there are many brokers."""
    copies = [row for row in moves if row.kind == COPY]
    brokers = {broker for row in copies for broker in (row.source, row.target)}
    is_small = len(brokers - {None}) <= MOST_MATRIX
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in copies:
        cell = sums[_ends(row) if is_small else _rack_ends(row)]
        cell[0] += row.size_bytes or 0
        cell[1] += 1
    return MatrixPicture(
        name="moves-matrix",
        level="broker" if is_small else "rack",
        sources=_ordered({source for source, _ in sums}),
        targets=_ordered({target for _, target in sums}),
        cells=[(*ends, sums[ends][0], sums[ends][1]) for ends in sorted(sums)],
    )


def _ends(row: MoveRow) -> tuple[str, str]:
    """Return the brokers of a copy; one that replaces no replica comes from nowhere."""
    return "none" if row.source is None else str(row.source), str(row.target)


def _rack_ends(row: MoveRow) -> tuple[str, str]:
    source = "none" if row.source is None else row.source_rack or "unknown"
    return source, row.target_rack or "unknown"


def _ordered(names: set[str]) -> list[str]:
    """Return ids by number, then names."""
    return sorted(names, key=lambda name: (not name.isdigit(), len(name), name))


def _matrix_table(matrix: MatrixPicture) -> Table:
    rows = [
        (source, target, copies, bytes_text(size))
        for source, target, size, copies in matrix.cells
    ]
    heads = (f"From {matrix.level}", f"To {matrix.level}", "Copies", "Bytes")
    return Table(caption="Copies as a table", heads=heads, rows=rows, is_folded=True)


def _reasons(moves: Sequence[MoveRow]) -> Table:
    rows = [
        (
            each["reason"],
            each["replicas"],
            "unknown" if each["bytes"] is None else bytes_text(each["bytes"]),
            each["leaders"],
        )
        for each in by_reason(moves)
    ]
    heads = ("Reason", "Copies", "Bytes", "Leaders")
    return Table(caption="Moves by reason", heads=heads, rows=rows)


def browsed_moves(moves: Sequence[MoveRow]) -> BrowsedTable:
    """Return the moves with their reasons; the largest, if there are many."""
    chosen = range(len(moves))
    if len(moves) > MOST_MOVES:
        largest = sorted(chosen, key=lambda row: -(moves[row].size_bytes or 0))
        chosen = sorted(largest[:MOST_MOVES])  # type: ignore[assignment]
    return BrowsedTable(
        name="moves",
        caption="Moves",
        heads=HEADS,
        rows=[_cells(moves[row]) for row in chosen],
        filters=(2, 8),
        sizes=(7,),
        total=len(moves),
        rest="those that copy most are here; moves.csv has all",
    )


def _cells(row: MoveRow) -> tuple[str | int | None, ...]:
    return (
        row.topic,
        row.partition,
        KINDS[row.kind],
        row.source,
        row.target,
        row.source_rack,
        row.target_rack,
        row.size_bytes,
        row.reason,
        reason_text(row),
        consequence_text(row),
    )
