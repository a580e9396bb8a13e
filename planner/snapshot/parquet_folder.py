"""
Snapshots as a folder of Parquet files.

`snapshot.json` has the header. Each table is a file with the table's name, or a folder
with that name and part files, as Spark writes it. Part files may be in folders named
for a column, such as ``topic=orders/``.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from planner.errors import BadInputError, InputProblem
from planner.io.problems import first_line, problem
from planner.snapshot.formats.foreign_tables import cast_tables
from planner.snapshot.tables.snapshot_columns import (
    LOG_DIRS,
    TABLES,
    TOPICS,
    ArrowTable,
    TableColumns,
)
from planner.snapshot.tables.snapshot_problems import refuse

if TYPE_CHECKING:
    from planner.snapshot.snapshot_document import Snapshot

HEADER_FILE = "snapshot.json"
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""Folder name that Hive and Spark use for a null."""
_MAY_BE_ABSENT = (LOG_DIRS, TOPICS)
_REMEDY = "write the folder again with 'kafka-planner snapshot convert'"


def is_hidden(path: Path) -> bool:
    """Return whether writers leave such a file beside data, as _SUCCESS or .crc."""
    return path.name.startswith((".", "_"))


def read_folder(folder: Path) -> "Snapshot":
    """
    Read a snapshot from its folder.

    Raises
    ------
    BadInputError
        If the folder is not a snapshot, with every problem.
    OSError
        If the folder cannot be read.
    """
    from planner.snapshot.snapshot_document import Snapshot

    file = str(folder)
    header, problems = _read_header(folder)
    problems += [
        problem(
            file,
            path.name,
            None,
            "is not a file of a snapshot",
            "remove it from the folder",
        )
        for path in _unknown_files(folder)
    ]
    tables, unread, unused = _read_tables(folder, file)
    if unread:
        # Columns of readable tables are checked too.
        found = cast_tables(tables, file=file).problems
        raise refuse(file, [*problems, *unread, *found])
    try:
        snapshot = Snapshot.from_tables(tables, header, file=file)
    except BadInputError as error:
        raise refuse(file, [*problems, *error.problems]) from error
    if problems:
        raise refuse(file, problems)
    every = dict.fromkeys((*snapshot.unused, *unused))
    return replace(snapshot, unused=tuple(every))


def _unknown_files(folder: Path) -> Iterator[Path]:
    known = {HEADER_FILE, *(columns.file for columns in TABLES)}
    for path in sorted(folder.iterdir()):
        if path.name not in known and not is_hidden(path):
            yield path


def _read_header(folder: Path) -> tuple[dict[str, object], list[InputProblem]]:
    from planner.snapshot.formats.json_columns import validate_header
    from planner.snapshot.formats.json_file import parse_json

    path = folder / HEADER_FILE
    if not path.is_file():
        rule = f"a snapshot folder must contain {HEADER_FILE}"
        remedy = 'at least {"format": "kafka-planner/snapshot", "version": 1}'
        return {}, [problem(str(folder), HEADER_FILE, None, rule, remedy)]
    try:
        document = parse_json(path.read_bytes(), file=str(path))
    except BadInputError as error:
        return {}, list(error.problems)
    return validate_header(document, file=str(path))


def _read_tables(
    folder: Path, file: str
) -> tuple[dict[str, ArrowTable], list[InputProblem], list[str]]:
    """Read the tables; add to `unused` columns of parts that no snapshot has."""
    tables, problems = {}, []
    unused: list[str] = []
    for columns in TABLES:
        table, found = _read_table(folder / columns.file, columns, file, unused)
        problems += found
        if table is not None:
            tables[columns.name] = table
    return tables, problems, unused


def _read_table(
    path: Path, columns: TableColumns, file: str, unused: list[str]
) -> tuple[ArrowTable | None, list[InputProblem]]:
    """Read one table from one file or many parts; `None` if it does not exist."""
    parts = _parts(path) if path.is_dir() else [path] if path.exists() else []
    if not parts:
        if columns in _MAY_BE_ABSENT and not path.exists():
            return None, []
        rule = f"a snapshot folder must contain {columns.file}"
        return None, [problem(file, columns.file, None, rule, _REMEDY)]
    tables, problems = [], []
    for part in parts:
        try:
            tables.append(
                _with_folders(_read_part(part), part.relative_to(path), columns)
            )
        except (OSError, pa.ArrowException, ValueError, MemoryError) as error:
            place = str(part.relative_to(path.parent))
            rule = f"the file must be complete Parquet: {first_line(error)}"
            problems.append(problem(file, place, None, rule, _REMEDY))
    if problems:
        return None, problems
    return _concatenated(tables, columns, file, unused)


def _parts(folder: Path) -> list[Path]:
    """Return the files below a folder, including folders named for a column."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and "=" in path.name:
            found += _parts(path)
        elif not is_hidden(path):
            found.append(path)
    return found


def _with_folders(table: ArrowTable, part: Path, columns: TableColumns) -> ArrowTable:
    """Return a table with the columns in the names of its folders."""
    types = {column.name: column.type for column in columns.columns}
    for folder in part.parts[:-1]:
        name, _, text = folder.partition("=")
        if name in table.column_names:
            continue
        value = None if text == NO_VALUE else unquote(text)
        column = pa.repeat(pa.scalar(value, pa.string()), len(table))
        kind = types.get(name)
        if kind is not None and kind != pa.string():
            # Text that is no number fails here, and is a problem of the file.
            column = column.cast(kind)
        table = table.append_column(name, column)
    return table


def _read_part(path: Path) -> ArrowTable:
    from pyarrow import parquet

    # `read_table` would turn folder names into columns, and starts slowly.
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read()


def _concatenated(
    tables: list[ArrowTable], columns: TableColumns, file: str, unused: list[str]
) -> tuple[ArrowTable | None, list[InputProblem]]:
    if len(tables) == 1:
        return tables[0], []
    # Parts may have different types, such as null if all values are unknown.
    casts = [cast_tables({columns.name: table}, file=file) for table in tables]
    problems = [
        found for cast in casts for found in _problems_of_table(cast.problems, columns)
    ]
    if problems:
        return None, problems
    unused += [name for cast in casts for name in cast.unused]
    return pa.concat_tables([cast.tables[columns.name] for cast in casts]), []


def _problems_of_table(
    problems: list[InputProblem], columns: TableColumns
) -> list[InputProblem]:
    return [each for each in problems if each.place.startswith(columns.file)]


def write_folder(snapshot: "Snapshot", folder: Path) -> None:
    """Write a snapshot into an existing, empty folder."""
    from pyarrow import parquet

    from planner.snapshot.tables.snapshot_records import FORMAT, VERSION

    head = {"format": FORMAT, "version": VERSION, **snapshot.header()}
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False)
    (folder / HEADER_FILE).write_text(f"{text}\n", encoding="utf-8")
    for columns in TABLES:
        parquet.write_table(
            getattr(snapshot, columns.name),
            folder / columns.file,
            compression="zstd",
            write_page_checksum=True,
        )
