"""Tables of any writer, cast to the columns of a snapshot."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

import pyarrow as pa
import pyarrow.compute as pc

from planner.errors import InputProblem
from planner.io.problems import problem
from planner.snapshot.formats.column_casting import (
    ColumnTypeError,
    cast_column,
    type_words,
)
from planner.snapshot.tables.snapshot_columns import (
    TABLES,
    TOPICS,
    ArrowArray,
    ArrowTable,
    Column,
    TableColumns,
)
from planner.snapshot.tables.table_rows import as_array

_ROW_NUMBER = re.compile(r"|index|level_[0-9]|Unnamed: [0-9]|__index_level_[0-9]__")


@dataclass(frozen=True, slots=True)
class Casting:
    """
    Tables in canonical columns, rows as read, and their problems.

    Parameters
    ----------
    tables
        The Arrow tables by name.
    problems
        Every rejected column and cell; rejected cells are null.
    is_complete
        Whether the required columns exist, so that rows can be checked against each
        other.
    unused
        Columns that no snapshot has, such as ``brokers.parquet: column team``.
    """

    tables: Mapping[str, ArrowTable]
    problems: list[InputProblem] = field(default_factory=list)
    is_complete: bool = True
    unused: tuple[str, ...] = ()


def cast_tables(given: Mapping[str, ArrowTable], *, file: str) -> Casting:
    """
    Cast all tables to their canonical columns.

    Parameters
    ----------
    given
        Arrow tables by name; an absent table has no rows.
    file
        Name of the file in problems.
    """
    tables, problems, is_complete = {}, [], True
    unused: list[str] = []
    for columns in TABLES:
        table = given.get(columns.name, columns.empty())
        cast = _cast_table(table, columns, file=file)
        tables[columns.name] = cast.tables[columns.name]
        problems += cast.problems
        is_complete &= cast.is_complete
        unused += cast.unused
    if is_complete:
        tables["topics"] = _with_topics_of(tables["topics"], tables["partitions"])
    return Casting(tables, problems, is_complete, tuple(unused))


def _with_topics_of(topics: ArrowTable, partitions: ArrowTable) -> ArrowTable:
    """Add the topics that only `partitions` names."""
    names = as_array(partitions.column("topic").unique())
    is_listed = pc.is_in(names, value_set=as_array(topics.column("topic")))
    added = names.filter(pc.invert(is_listed))
    if not len(added):
        return topics
    rest = [pa.nulls(len(added), column.type) for column in TOPICS.columns[1:]]
    rows = pa.Table.from_arrays([added, *rest], schema=TOPICS.schema)
    return pa.concat_tables([topics, rows])


def _cast_table(table: ArrowTable, columns: TableColumns, *, file: str) -> Casting:
    names = table.column_names
    problems = [
        problem(file, f"{columns.file}: column {name}", None, rule, remedy)
        for name, rule, remedy in _name_problems(names, columns)
    ]
    arrays, is_complete = [], True
    for column in columns.columns:
        if names.count(column.name) == 1:
            given = table.column(column.name)
            array, found = _cast(given, column, columns, file)
            problems += found
            is_complete &= not (found and column.is_required)
        else:
            array = pa.nulls(len(table), column.type)
            is_complete &= not column.is_required
        arrays.append(array)
    cast = pa.Table.from_arrays(arrays, schema=columns.schema)
    unused = tuple(f"{columns.file}: column {one}" for one in _unused(names, columns))
    return Casting({columns.name: cast}, problems, is_complete, unused)


def is_row_number(name: str) -> bool:
    """
    Return whether a column is an index of pandas, with row numbers.

    Examples
    --------
    >>> [is_row_number(name) for name in ("__index_level_0__", "Unnamed: 0", "rack")]
    [True, True, False]
    """
    return _ROW_NUMBER.fullmatch(name) is not None


def _unused(names: list[str], columns: TableColumns) -> list[str]:
    """Return the columns that no snapshot has, except misspelt ones."""
    known = [column.name for column in columns.columns]
    return [
        name
        for name in sorted(set(names) - set(known))
        if not is_row_number(name) and _closest_missing(name, names, known) is None
    ]


def _closest_missing(name: str, names: list[str], known: list[str]) -> str | None:
    """Return the missing column of which a name is a misspelling."""
    missing = [one for one in known if one not in names]
    return next(iter(get_close_matches(name.lower(), missing, n=1)), None)


def _name_problems(
    names: list[str], columns: TableColumns
) -> list[tuple[str, str, str]]:
    known = [column.name for column in columns.columns]
    found = []
    for name in sorted(set(names)):
        closest = None if name in known else _closest_missing(name, names, known)
        if closest is not None and not is_row_number(name):
            # With ``isr`` misspelt, every replica would count as in sync.
            remedy = f"remove or rename it; did you mean {closest}?"
            found.append((name, "unknown column", remedy))
        elif name in known and names.count(name) > 1:
            found.append((name, "a column must occur once", "remove the second one"))
    missing = [
        (column.name, "the column is missing", "add it")
        for column in columns.columns
        if column.is_required and column.name not in names
    ]
    return [*found, *missing]


def _cast(
    chunked: ArrowArray,
    column: Column,
    columns: TableColumns,
    file: str,
) -> tuple[ArrowArray, list[InputProblem]]:
    place = f"{columns.file}: column {column.name}"
    try:
        cast = cast_column(as_array(chunked), column)
        cast.values.validate(full=True)
    except (ColumnTypeError, pa.ArrowException) as error:
        reason = "" if isinstance(error, ColumnTypeError) else f" ({error})"
        rule = f"the column must be {type_words(column)}{reason}"
        nothing = pa.nulls(len(chunked), column.type)
        return nothing, [problem(file, place, str(chunked.type), rule, "convert it")]
    return cast.values, [
        problem(
            file,
            f"{columns.file}: row {cell.row}, {column.name}",
            cell.value,
            cell.rule,
        )
        for cell in cast.problems
    ]
