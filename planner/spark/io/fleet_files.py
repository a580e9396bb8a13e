"""
The tables of a fleet as files that are read without Spark.

On a file system that the driver and every task see, each reads the columns that it
needs by itself.
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
"""What names a snapshot in every table of a fleet."""
BY_TASKS = ("topics", "partitions")
"""Tables that are dealt to tasks, row group by row group."""
TIME = pa.timestamp("us", tz="UTC")
LARGE_BYTES = 4 * 2**20
"""Files from this size on are worth a look at their row groups, to be cut up."""
ROW_BYTES = 24
"""Approximate bytes of a row of smaller files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """
    A file of one table.

    Parameters
    ----------
    root, name
        The folder, and the file's path inside it.
    size
        Bytes; 0: unknown.
    row_groups
        Rows of each of its row groups; empty: not looked at.
    key
        Cluster id and time in microseconds, where the file does not say.
    hidden
        Keys of snapshots of which the rows do not count: written anew since, or not
        selected.
    snapshots
        Keys of those of which they do.
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
        """Where it is."""
        return f"{self.root}/{self.name}"

    @property
    def rows(self) -> int:
        """How many rows it has, about."""
        return sum(self.row_groups) or self.size // ROW_BYTES

    @property
    def alone(self) -> Self:
        """The same with its key, where it is of one snapshot: no column need say it."""
        if self.key is None and len(self.snapshots) == 1 and not self.hidden:
            return replace(self, key=self.snapshots[0])
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFiles:
    """
    Where the rows of a fleet are.

    Parameters
    ----------
    tables
        Files by table.
    given
        Rows of tables that are in no file.
    """

    tables: Mapping[str, tuple[TableFile, ...]]
    given: Mapping[str, ArrowTable] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def together(self, other: Self) -> Self:
        """Return the files of both."""
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
            found = _selected(given, kinds)
            for column in KEY:
                found = found.append_column(column, given.column(column))
            yield found

    def by_snapshot(self) -> Callable[[Iterable[tuple[str, int]]], "FleetFiles"]:
        """Return what finds the files of some snapshots."""
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
        The columns that are wanted, by name.

    Raises
    ------
    UnreadableFileError
        If it cannot be read.
    """
    groups = range(len(file.row_groups)) if file.row_groups else (None,)
    for group in groups:
        yield keyed(read_group(file, group, kinds), file)


@contextmanager
def naming(file: TableFile) -> Iterator[None]:
    """
    Name the file where it cannot be read.

    Raises
    ------
    UnreadableFileError
        If it is so.
    """
    try:
        yield
    except UnreadableFileError:
        raise
    except (OSError, pa.ArrowException) as error:
        # Told over several lines, and the first one says it.
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise UnreadableFileError(file.path, reason) from error


def sizes_of(path: str) -> tuple[int, tuple[int, ...]]:
    """
    Return the bytes of a file, and the rows of each of its row groups if it is large.

    Zero bytes for a file that is missing or cannot be read: reading it later reports
    the problem.
    """
    try:
        # Of a hundred thousand files: a path as an object takes four times as long.
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
    """Return a table with the columns `KEY`, where its file says them."""
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
    Read a row group; what of it counts no longer is left out.

    Parameters
    ----------
    file, group
        Which; `None`: all of the file's.
    kinds
        The columns that are wanted, by name; what the file lacks is null. Their types
        are those of the file: whoever asks casts them, and knows whose rows they are.
    coded
        Columns of texts, or lists of them, that are worth reading as numbers of few
        texts.

    Returns
    -------
    The columns, and `KEY` where the file has them.
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
    """Read a row group as `read_group` does, at most so many rows at a time."""
    yield from _read(file, group, kinds, coded, rows)


def _read(
    file: TableFile,
    group: int | None,
    kinds: Mapping[str, Any],
    coded: Collection[str],
    rows: int | None,
) -> Iterator[ArrowTable]:
    with naming(file):
        yield from _opened(file, group, kinds, coded, rows)


def _opened(
    file: TableFile,
    group: int | None,
    kinds: Mapping[str, Any],
    coded: Collection[str],
    rows: int | None,
) -> Iterator[ArrowTable]:
    from pyarrow import parquet

    store = Store(file.root)
    also = () if file.key is not None else KEY
    with store.files.open_input_file(store.path(file.name)) as opened:
        texts = {*coded, *also[:1]}
        footer = parquet.read_metadata(opened) if texts else None
        paths = _coded(footer, texts) if texts else None
        reader = parquet.ParquetFile(opened, metadata=footer, read_dictionary=paths)
        known = set(reader.schema_arrow.names)
        wanted = [name for name in (*also, *kinds) if name in known]
        groups = list(range(reader.num_row_groups)) if group is None else [group]
        how = {"columns": wanted, "use_threads": False}
        tables: Iterable[ArrowTable]
        if rows is None:
            tables = [reader.read_row_groups(groups, **how)]
        else:
            batches = reader.iter_batches(rows, row_groups=groups, **how)
            tables = (pa.Table.from_batches([batch]) for batch in batches)
        for table in tables:
            found = _selected(table, kinds)
            for name in also:
                found = found.append_column(name, table.column(name))
            yield _shown(found, file)


def _coded(footer: Any, wanted: Collection[str]) -> list[str]:  # noqa: ANN401 - a footer
    """Return the paths of columns of texts in a file."""
    columns = (footer.schema.column(n) for n in range(len(footer.schema)))
    return [
        column.path
        for column in columns
        if column.path.partition(".")[0] in wanted
        and column.physical_type == "BYTE_ARRAY"
    ]


def _selected(table: ArrowTable, kinds: Mapping[str, Any]) -> ArrowTable:
    """Return the columns that are wanted, in the types that they have."""
    names = set(table.column_names)
    nothing = pa.nulls(len(table))
    # One that is not there has the type of nothing but nulls.
    return pa.table(
        {name: table.column(name) if name in names else nothing for name in kinds}
    )


def _shown(table: ArrowTable, file: TableFile) -> ArrowTable:
    """Leave out rows of snapshots that were written anew since, or not asked for."""
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
    """Return the files of a table: itself, or what is in it, as Spark writes."""
    if not path.is_dir():
        return [path] if path.exists() else []
    return sorted(p for p in path.glob("*") if not p.name.startswith((".", "_")))
