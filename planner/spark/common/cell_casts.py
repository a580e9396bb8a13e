"""
Casts of the cells of a fleet's tables, by the code that reads a snapshot from a file.

Tables may come from any program. A task casts the columns that it reads to the types
of snapshots. A value that cannot be cast becomes null and is reported, and its
snapshot has no scores.
"""

from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa

from planner.snapshot.formats.column_casting import (
    Cast,
    CellProblem,
    ColumnTypeError,
    cast_column,
    type_words,
)
from planner.snapshot.tables.snapshot_columns import (
    STRING_MAP,
    ArrowArray,
    ArrowTable,
    Column,
)
from planner.snapshot.tables.table_rows import Rows, as_array
from planner.spark.common.problem_rows import (
    MOST_NAMED,
    Row,
    more_rows,
    place_of,
    row_of,
)

NULLS_KEPT = 16
"""Capacity of the cache: twice the number of column types that tables often lack."""
MISSING = "the column is missing, or has no value"
Cells = tuple[ArrowTable, list[Row]]
"""Columns in the types of snapshots, and the problems of their cells."""


def cast_cells(
    rows: ArrowTable,
    columns: Sequence[Column],
    table: str,
    *,
    keeps_codes: bool = False,
) -> Cells:
    """
    Cast columns to the types of snapshots.

    Parameters
    ----------
    rows
        Rows as read. Columns that `columns` does not name are kept unchanged.
    columns
        The columns to cast; an absent one is filled with nulls.
    table
        Name of the table.
    keeps_codes
        Whether dictionary-encoded text columns stay encoded.
    """
    arrays = dict(zip(rows.column_names, rows.columns, strict=True))
    found: list[Row] = []
    cells: list[tuple[Column, Sequence[CellProblem]]] = []
    for column in columns:
        given = arrays.get(column.name)
        if keeps_codes and given is not None and is_coded(given.type, column):
            cast = _cast_codes(given, column, table, found)
        else:
            cast = _cast(given, len(rows), column, table, found)
        arrays[column.name] = cast.values
        if cast.problems:
            cells.append((column, cast.problems))
    canonical = pa.table(arrays)
    for column, problems in cells:
        found += _rows_of_cells(canonical, column, problems, table)
    return canonical, found


def _rows_of_cells(
    rows: ArrowTable, column: Column, problems: Sequence[CellProblem], table: str
) -> list[Row]:
    shown = [
        row_of(
            table, place_of(table, rows, cell.row, column.name), cell.value, cell.rule
        )
        for cell in problems[:MOST_NAMED]
    ]
    return [*shown, *more_rows({(table, column.name): len(problems)})]


def _cast(
    column: ArrowArray | None, count: int, wanted: Column, table: str, found: list[Row]
) -> Cast:
    """Cast one column; record problems of the column as a whole."""
    place = f"column {wanted.name}"
    if column is None or pa.types.is_null(column.type):
        if wanted.is_required and count:
            found.append(row_of(table, place, "", MISSING))
        return Cast(nulls(count, wanted.type))
    try:
        cast = cast_column(as_array(column), wanted)
        if _is_text(wanted) or wanted.type == STRING_MAP:
            cast.values.validate(full=True)
    except (ColumnTypeError, pa.ArrowException, ValueError) as error:
        reason = "" if isinstance(error, ColumnTypeError) else f" ({error})"
        rule = f"the column must be {type_words(wanted)}{reason}"
        found.append(row_of(table, place, column.type, rule))
        return Cast(nulls(count, wanted.type))
    return cast


@lru_cache(NULLS_KEPT)
def nulls(count: int, kind: ArrowArray) -> ArrowArray:
    """Return `count` nulls of a type; columns of equal batches share the array."""
    return pa.nulls(count, kind)


def _cast_codes(
    column: ArrowArray, wanted: Column, table: str, found: list[Row]
) -> Cast:
    """Keep a dictionary-encoded column as it is if its values are valid text."""
    array = as_array(column)
    texts = array.values if pa.types.is_list(array.type) else array
    try:
        texts.dictionary.validate(full=True)
    except pa.ArrowException:
        return _cast(column, len(column), wanted, table, found)
    return Cast(array, _missing(array, wanted))


def _missing(array: ArrowArray, wanted: Column) -> tuple[CellProblem, ...]:
    if not wanted.is_required or not array.null_count:
        return ()
    rows = array.is_null().to_numpy(zero_copy_only=False).nonzero()[0].tolist()
    rule = f"{wanted.name} must not be null"
    return tuple(CellProblem(row, "null", rule) for row in rows)


def _is_text(wanted: Column) -> bool:
    return bool(_element(wanted.type) == pa.string())


def _element(kind: ArrowArray) -> ArrowArray:
    return kind.value_type if pa.types.is_list(kind) else kind


def is_coded(kind: ArrowArray, wanted: Column) -> bool:
    """Return whether a text column, or a list of texts, is dictionary-encoded."""
    element = _element(kind)
    is_alike = pa.types.is_list(kind) == pa.types.is_list(wanted.type)
    is_dictionary = pa.types.is_dictionary(element) and _is_text(wanted)
    return bool(is_alike and is_dictionary and element.value_type == pa.string())


def without_codes(rows: ArrowTable) -> ArrowTable:
    """Return rows with dictionary-encoded texts decoded."""
    for at, field in enumerate(rows.schema):
        if pa.types.is_dictionary(_element(field.type)):
            column = _decoded(as_array(rows.column(at)))
            rows = rows.set_column(at, field.name, column)
    return rows


def one_chunk(tables: Sequence[ArrowTable]) -> ArrowTable:
    """Concatenate rows in one chunk; columns of nulls are created anew, not copied."""
    if len(tables) == 1:
        return tables[0].combine_chunks()
    if any(table.schema != tables[0].schema for table in tables):
        # Texts of one file are dictionary-encoded, those of another are not.
        tables = [without_codes(table) for table in tables]
    names = tables[0].column_names
    empty = [
        name
        for name in names
        if all(table.column(name).null_count == len(table) for table in tables)
    ]
    full = [table.drop_columns(empty) for table in tables]
    rows = pa.concat_tables(full).unify_dictionaries().combine_chunks()
    for name in empty:
        kind = tables[0].schema.field(name).type
        rows = rows.append_column(name, nulls(len(rows), kind))
    return rows


def _decoded(array: ArrowArray) -> ArrowArray:
    if not pa.types.is_list(array.type):
        return array.dictionary_decode()
    lists = Rows.from_arrow(array)
    return pa.ListArray.from_arrays(
        pa.array(lists.start, pa.int32()),
        as_array(lists.values).dictionary_decode(),
        mask=pa.array(lists.is_absent),
    )
