"""
The cells of a fleet's tables, cast by the code that reads a snapshot from a file.

Whatever wrote a table, a task brings the columns that it is handed to the types of
snapshots. A value that cannot be brought there is null from then on, and named: its
snapshot has no scores.
"""

from collections.abc import Sequence

import pyarrow as pa

from planner.snapshot.casting import (
    Cast,
    CellProblem,
    ColumnTypeError,
    cast_column,
    type_words,
)
from planner.snapshot.columns import STRING_MAP, ArrowArray, ArrowTable, Column
from planner.snapshot.rows import as_array
from planner.spark.findings import MOST_TOLD, Row, more_rows, place_of, row_of

MISSING = "the column is missing, or has no value"
Cells = tuple[ArrowTable, list[Row]]
"""Columns in the types of snapshots, and what is wrong with them."""


def cast_cells(rows: ArrowTable, columns: Sequence[Column], table: str) -> Cells:
    """
    Bring columns to the types of snapshots.

    Parameters
    ----------
    rows
        Rows as they were read; columns that are not named below are kept as they are.
    columns
        The columns that are wanted; one that is not there is null.
    table
        The table's name.

    Notes
    -----
    Texts that are read as numbers of few texts stay so.
    """
    arrays = dict(zip(rows.column_names, rows.columns, strict=True))
    found: list[Row] = []
    cells: list[tuple[Column, Sequence[CellProblem]]] = []
    for column in columns:
        cast = _cast(arrays.get(column.name), len(rows), column, table, found)
        arrays[column.name] = cast.values
        if cast.problems:
            cells.append((column, cast.problems))
    canonical = pa.table(arrays)
    for column, problems in cells:
        found += _told(canonical, column, problems, table)
    return canonical, found


def _told(
    rows: ArrowTable, column: Column, problems: Sequence[CellProblem], table: str
) -> list[Row]:
    told = [
        row_of(
            table, place_of(table, rows, cell.row, column.name), cell.value, cell.rule
        )
        for cell in problems[:MOST_TOLD]
    ]
    return [*told, *more_rows({(table, column.name): len(problems)})]


def _cast(
    column: ArrowArray | None, count: int, wanted: Column, table: str, found: list[Row]
) -> Cast:
    """Cast one column; note what is wrong with it as a whole."""
    place = f"column {wanted.name}"
    if column is None or pa.types.is_null(column.type):
        if wanted.is_required and count:
            found.append(row_of(table, place, "", MISSING))
        return Cast(pa.nulls(count, wanted.type))
    try:
        return _cast_array(as_array(column), wanted)
    except (ColumnTypeError, pa.ArrowException, ValueError) as error:
        reason = "" if isinstance(error, ColumnTypeError) else f" ({error})"
        rule = f"the column must be {type_words(wanted)}{reason}"
        found.append(row_of(table, place, column.type, rule))
        return Cast(pa.nulls(count, wanted.type))


def _cast_array(array: ArrowArray, wanted: Column) -> Cast:
    if is_coded(array.type) and _is_text(wanted):
        texts = array.values if pa.types.is_list(array.type) else array
        texts.dictionary.validate(full=True)
        return Cast(array, _missing(array, wanted))
    cast = cast_column(array, wanted, reads_text=True)
    if _is_text(wanted) or wanted.type == STRING_MAP:
        cast.values.validate(full=True)
    return cast


def _missing(array: ArrowArray, wanted: Column) -> tuple[CellProblem, ...]:
    if not wanted.is_required or not array.null_count:
        return ()
    rows = array.is_null().to_numpy(zero_copy_only=False).nonzero()[0].tolist()
    return tuple(
        CellProblem(r, "null", f"{wanted.name} must not be null") for r in rows
    )


def _is_text(wanted: Column) -> bool:
    kind = wanted.type
    element = kind.value_type if pa.types.is_list(kind) else kind
    return bool(element == pa.string())


def is_coded(kind: ArrowArray) -> bool:
    """Tell whether texts, or lists of them, are numbers of few texts."""
    element = kind.value_type if pa.types.is_list(kind) else kind
    is_dictionary = pa.types.is_dictionary(element)
    return bool(is_dictionary and element.value_type == pa.string())
