"""
Files of a fleet's tables, read without Spark.

On a file system that the driver and every task can reach, each of them reads the
columns that it needs from the files itself.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from planner.errors import UnreadableFileError
from planner.fleet.fleet_store import Store
from planner.snapshot.tables.snapshot_columns import ArrowTable

KEY = ("cluster_id", "taken_at")
"""Key of a snapshot in every table of a fleet."""
BY_TASKS = ("topics", "partitions")
"""Tables whose row groups are distributed to tasks."""
TIME = pa.timestamp("us", tz="UTC")
LARGE_BYTES = 4 * 2**20
"""Smallest size in bytes of a file that is split by its row groups."""
ROW_BYTES = 24
"""Approximate bytes per row of smaller files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """
    A file of one table.

    Parameters
    ----------
    root, name
        The folder, and the path of the file inside it.
    size
        Bytes; 0: unknown.
    row_groups
        Number of rows of each row group; empty: not read.
    key
        Cluster id and time in microseconds, if the file lacks these columns.
    hidden
        Keys of snapshots whose rows are ignored: replaced by a later file, or not
        selected.
    snapshots
        Keys of snapshots whose rows are used.
    """

    root: str
    name: str
    size: int = 0
    row_groups: tuple[int, ...] = ()
    key: tuple[str | None, int] | None = None
    hidden: tuple[tuple[str, int], ...] = ()
    snapshots: tuple[tuple[str, int], ...] = ()

    @property
    def path(self) -> str:
        """Path of the file, with its root."""
        return f"{self.root}/{self.name}"

    @property
    def rows(self) -> int:
        """Approximate number of rows."""
        return sum(self.row_groups) or self.size // ROW_BYTES

    @property
    def alone(self) -> Self:
        """The file with its key set if it has one snapshot; key columns are unused."""
        if self.key is None and len(self.snapshots) == 1 and not self.hidden:
            return replace(self, key=self.snapshots[0])
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFiles:
    """
    Places of the rows of a fleet.

    Parameters
    ----------
    tables
        Files by table.
    given
        Rows that are in no file, by table.
    """

    tables: Mapping[str, tuple[TableFile, ...]]
    given: Mapping[str, ArrowTable] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def together(self, other: Self) -> Self:
        """Return the files of both fleets."""
        names = dict.fromkeys([*self.tables, *other.tables])
        given = dict.fromkeys([*self.given, *other.given])
        nothing = pa.table({})
        return replace(
            self,
            tables={
                name: self.tables.get(name, ()) + other.tables.get(name, ())
                for name in names
            },
            given={
                name: pa.concat_tables(
                    [each.given.get(name, nothing) for each in (self, other)],
                    promote_options="default",
                )
                for name in given
            },
        )

    def rows_given(self, name: str, kinds: Mapping[str, Any]) -> Iterator[ArrowTable]:
        """Yield the rows of a table that are in no file, as `read_file` does."""
        if name in self.given:
            given = self.given[name]
            found = selected_columns(given, kinds)
            for column in KEY:
                found = found.append_column(column, given.column(column))
            yield found

    def by_snapshot(self) -> Callable[[Iterable[tuple[str, int]]], "FleetFiles"]:
        """Return a function that selects the files of the given snapshots."""
        found: dict[str, dict[tuple[str, int], list[TableFile]]] = {}
        for name, files in self.tables.items():
            of_table = found.setdefault(name, {})
            for file in files:
                for key in file.snapshots:
                    of_table.setdefault(key, []).append(file)

        def own(keys: Iterable[tuple[str, int]]) -> FleetFiles:
            wanted = dict.fromkeys(keys)
            tables = {
                name: tuple(dict.fromkeys(f for k in wanted for f in of.get(k, ())))
                for name, of in found.items()
            }
            return replace(self, tables=tables, given=dict(self.given))

        return own


def read_file(file: TableFile, kinds: Mapping[str, Any]) -> Iterator[ArrowTable]:
    """
    Yield the rows of a file, a row group at a time, with the columns `KEY`.

    Parameters
    ----------
    file
        The file.
    kinds
        Types of the columns to read, by name.

    Raises
    ------
    UnreadableFileError
        If the file cannot be read.
    """
    groups = range(len(file.row_groups)) if file.row_groups else (None,)
    for group in groups:
        yield keyed(read_group(file, group, kinds), file)


@contextmanager
def naming(path: str) -> Iterator[None]:
    """
    Add a file's path to errors of reading it.

    Raises
    ------
    UnreadableFileError
        If the file cannot be read.
    """
    try:
        yield
    except UnreadableFileError:
        raise
    except (OSError, pa.ArrowException) as error:
        # The first line of a message has the reason.
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise UnreadableFileError(path, reason) from error


def sizes_of(path: str) -> tuple[int, tuple[int, ...]]:
    """
    Return the bytes of a file, and the rows of each of its row groups if it is large.

    Zero bytes for a file that is missing or cannot be read: reading it later reports
    the problem.
    """
    try:
        # A fleet has 100,000 files: `Path.stat` takes four times as long.
        size = os.stat(path).st_size  # noqa: PTH116
        return size, row_groups(Path(path)) if size >= LARGE_BYTES else ()
    except (OSError, pa.ArrowException):
        return 0, ()


def row_groups(path: Path) -> tuple[int, ...]:
    """Return the rows of each row group of a Parquet file."""
    from pyarrow import parquet

    footer = parquet.read_metadata(path)
    return tuple(footer.row_group(n).num_rows for n in range(footer.num_row_groups))


def keyed(table: ArrowTable, file: TableFile) -> ArrowTable:
    """Return a table with the columns `KEY`, added if the file has a key of its own."""
    if file.key is None:
        return table
    cluster_id, micros = file.key
    count = len(table)
    moment = pa.scalar(micros, pa.int64()).cast(TIME)
    name = pa.repeat(pa.scalar(cluster_id, pa.string()), count)
    return table.append_column(KEY[0], name).append_column(
        KEY[1], pa.repeat(moment, count)
    )


def read_group(
    file: TableFile,
    group: int | None,
    kinds: Mapping[str, Any],
    coded: Collection[str] = (),
) -> ArrowTable:
    """
    Read a row group, without the rows of hidden snapshots.

    Parameters
    ----------
    file, group
        The file, and the index of the row group; `None`: all row groups.
    kinds
        The columns to read, by name; columns that the file lacks are null. Columns keep
        the types of the file: the caller casts them, and knows their snapshots.
    coded
        Columns of texts, or lists of texts, that are read dictionary-encoded.

    Returns
    -------
    The columns, and `KEY` if the file has these columns.
    """
    (table,) = _read(file, group, kinds, coded, None)
    return table


def read_batches(
    file: TableFile,
    group: int | None,
    kinds: Mapping[str, Any],
    coded: Collection[str],
    rows: int,
) -> Iterator[ArrowTable]:
    """Yield a row group as `read_group` does, at most `rows` rows at a time."""
    yield from _read(file, group, kinds, coded, rows)


def _read(
    file: TableFile,
    group: int | None,
    kinds: Mapping[str, Any],
    coded: Collection[str],
    rows: int | None,
) -> Iterator[ArrowTable]:
    with naming(file.path):
        yield from _opened(file, group, kinds, coded, rows)


def _opened(
    file: TableFile,
    group: int | None,
    kinds: Mapping[str, Any],
    coded: Collection[str],
    rows: int | None,
) -> Iterator[ArrowTable]:
    store = Store(file.root)
    also = () if file.key is not None else KEY
    groups = None if group is None else [group]
    with store.files.open_input_file(store.path(file.name)) as opened:
        named = {name: name for name in (*also, *kinds)}
        for table in read_columns(opened, named, {*coded, *also[:1]}, groups, rows):
            found = selected_columns(table, kinds)
            for name in also:
                found = found.append_column(name, table.column(name))
            yield _shown(found, file)


def read_columns(
    opened: Any,  # noqa: ANN401 - a file or a buffer of Arrow
    named: Mapping[str, str],
    coded: Collection[str],
    groups: Sequence[int] | None = None,
    rows: int | None = None,
    footer: Any = None,  # noqa: ANN401 - metadata of Parquet
) -> Iterator[ArrowTable]:
    """
    Yield columns of a Parquet file; those that it lacks are left out.

    Parameters
    ----------
    opened
        The file.
    named
        Names of the columns in the file, by the names that they get.
    coded
        Columns of texts, or lists of texts, in the file that are read
        dictionary-encoded.
    groups
        Row groups; `None`: all of them.
    rows
        Most rows of a table; `None`: one table.
    footer
        Metadata of the file, if it was read before.
    """
    from pyarrow import parquet

    if coded and footer is None:
        footer = parquet.read_metadata(opened)
    paths = _coded(footer, coded) if coded else None
    reader = parquet.ParquetFile(
        opened,
        metadata=footer,
        read_dictionary=paths,
        coerce_int96_timestamp_unit="us",
    )
    known = set(reader.schema_arrow.names)
    wanted = {name: own for name, own in named.items() if own in known}
    if groups is None:
        groups = range(reader.num_row_groups)
    how = {"columns": [*wanted.values()], "use_threads": False}
    tables: Iterable[ArrowTable]
    if rows is None:
        tables = [reader.read_row_groups(list(groups), **how)]
    else:
        batches = reader.iter_batches(rows, row_groups=list(groups), **how)
        tables = (pa.Table.from_batches([batch]) for batch in batches)
    for table in tables:
        yield table.select([*wanted.values()]).rename_columns([*wanted])


def _coded(footer: Any, wanted: Collection[str]) -> list[str]:  # noqa: ANN401 - a footer
    """Return the paths in a file of the text columns that are wanted."""
    columns = (footer.schema.column(n) for n in range(len(footer.schema)))
    return [
        column.path
        for column in columns
        if column.path.partition(".")[0] in wanted
        and column.physical_type == "BYTE_ARRAY"
    ]


def selected_columns(table: ArrowTable, kinds: Mapping[str, Any]) -> ArrowTable:
    """Return the wanted columns in the types that they have."""
    names = set(table.column_names)
    nothing = pa.nulls(len(table))
    # An absent column has the null type.
    return pa.table(
        {name: table.column(name) if name in names else nothing for name in kinds}
    )


def _shown(table: ArrowTable, file: TableFile) -> ArrowTable:
    """Return the rows of a file without those of hidden snapshots."""
    times: dict[str, list[int]] = {}
    for cluster_id, micros in file.hidden:
        times.setdefault(cluster_id, []).append(micros)
    for cluster_id, listed in times.items():
        moments = pa.array(listed, pa.int64()).cast(TIME)
        is_it = pc.and_(
            pc.equal(table.column("cluster_id"), cluster_id),
            pc.is_in(table.column("taken_at").cast(TIME), value_set=moments),
        )
        table = table.filter(pc.invert(is_it))
    return table


def parts_of(path: Path) -> Sequence[Path]:
    """Return the files of a table: the file itself, or the files of its folder."""
    if not path.is_dir():
        return [path] if path.exists() else []
    return sorted(p for p in path.glob("*") if not p.name.startswith((".", "_")))
