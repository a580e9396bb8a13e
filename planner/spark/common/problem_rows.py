"""Problems of a snapshot as rows: table, place, value, rule and severity."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from planner.fleet.contracts.result_schemas import PROBLEM
from planner.snapshot.tables.snapshot_columns import ROW_KEYS, ArrowTable
from planner.snapshot.tables.snapshot_problems import Finding
from planner.text.printable import printable

ERROR, WARNING = "error", "warning"
"""Severities of problems: the snapshot has no scores; it may be loaded in part."""
FOUND = pa.schema([(name, pa.string()) for name in PROBLEM[:-1]])
"""Columns of the errors that tasks find."""
MOST_NAMED = 20
"""Largest number of problems of one column that a task lists; it counts the others."""
_MAX_VALUE = 100
Row = dict[str, str]


def row_of(
    table: str, place: str, value: object, rule: str, severity: str = ERROR
) -> Row:
    """Return one row; its texts are made printable, whatever the input contains."""
    text = printable("" if value is None else str(value))
    short = text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"
    found = (table, printable(place), short, printable(rule), severity)
    return dict(zip(PROBLEM, found, strict=True))


def place_of(table: str, rows: ArrowTable, row: int, column: str) -> str:
    """Return the place of a cell: ``orders-3, isr``, ``7 /data/d1, size_bytes``."""
    keys = [
        str(rows.column(key)[row].as_py())
        for key in ROW_KEYS.get(table, ())
        if key in rows.column_names
    ]
    text = ("-" if table == "partitions" else " ").join(keys)
    return f"{text}, {column}" if text else column


def rows_of_findings(
    findings: Iterable[Finding], tables: Mapping[str, ArrowTable]
) -> Iterator[Row]:
    """
    Yield the problem rows of the findings of checks.

    Parameters
    ----------
    findings
        Findings of the checks.
    tables
        The tables that were checked, by name.
    """
    counts: dict[tuple[str, str], int] = {}
    for each in findings:
        kind = (each.table, each.column)
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= MOST_NAMED:
            yield _of_finding(each, tables)
    yield from more_rows(counts)


def _of_finding(finding: Finding, tables: Mapping[str, ArrowTable]) -> Row:
    if finding.table in tables:
        rows = tables[finding.table]
        place = place_of(finding.table, rows, finding.row, finding.column)
        return row_of(finding.table, place, finding.value, finding.rule)
    # A finding on a whole table, or on the header, which is in `clusters`.
    table, _, name = finding.column.rpartition(", ")
    return row_of(table or "clusters", name, finding.value, finding.rule)


def more_rows(counts: Mapping[tuple[str, str], int]) -> Iterator[Row]:
    """
    Yield a summary row for each column with problems that are not listed.

    `counts` has the number of problems by table and column.
    """
    for (table, column), count in counts.items():
        if count > MOST_NAMED:
            rest = count - MOST_NAMED
            rule = f"{rest:,} more rows of this column break a rule like those named"
            yield row_of(table, column, rest, rule)


def found_table(rows: Sequence[Row]) -> ArrowTable:
    """Return rows in the columns of `FOUND`."""
    return pa.Table.from_pylist(list(rows), schema=FOUND)
