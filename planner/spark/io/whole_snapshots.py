"""Whole snapshots assembled from a fleet's files that tasks can read."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from planner.errors import UnreadableFileError
from planner.fleet.arrow_tables import CLUSTER_FIELDS, KEY_FIELDS
from planner.fleet.fleet_store import Store
from planner.snapshot.tables.snapshot_columns import TABLES, ArrowTable
from planner.spark.io.fleet_files import (
    TIME,
    FleetFiles,
    TableFile,
    keyed,
    naming,
    read_group,
)
from planner.spark.io.snapshot_keys import Key, by_key

KINDS: Mapping[str, Mapping[str, Any]] = {
    "clusters": dict(CLUSTER_FIELDS[len(KEY_FIELDS) :]),
    **{each.name: {c.name: c.type for c in each.columns} for each in TABLES},
}
"""Types of the columns of every table, without the key."""
GROUPS_KEPT = 8


class SnapshotReader:
    """
    Reader of a fleet's snapshots, each read on demand.

    Parameters
    ----------
    files
        Files of the rows.
    kinds
        The tables to read, with their columns and types.
    """

    def __init__(
        self, files: FleetFiles, kinds: Mapping[str, Mapping[str, Any]] = KINDS
    ) -> None:
        self._kinds = kinds
        self._given = files.given
        self._files: dict[str, dict[Key, list[TableFile]]] = {}
        for name, listed in files.tables.items():
            of_table = self._files.setdefault(name, {})
            for file in listed:
                for key in file.snapshots:
                    of_table.setdefault(key, []).append(file)
        # A row group of a compacted file has many snapshots.
        self._group = lru_cache(GROUPS_KEPT)(self._read)

    def tables(self, key: Key) -> dict[str, ArrowTable]:
        """
        Return the tables of one snapshot by name, without the key.

        Raises
        ------
        UnreadableFileError
            If a file of the snapshot cannot be read.
        """
        return {name: self._table(name, key) for name in self._kinds}

    def _table(self, name: str, key: Key) -> ArrowTable:
        kinds = self._kinds[name]
        found: list[ArrowTable] = []
        for file in self._files.get(name, {}).get(key, ()):
            if len(file.snapshots) == 1 and not file.hidden:
                found.append(read_group(file.alone, None, kinds))
                continue
            for group in _groups_with(file, key):
                rows = self._group(name, file, group)
                found.append(_rows_of(rows, key).select(list(kinds)))
        if name in self._given:
            found.append(_rows_of(self._given[name], key).select(list(kinds)))
        if not found:
            return pa.schema(list(kinds.items())).empty_table()
        return _together(name, found)

    def _read(self, name: str, file: TableFile, group: int) -> ArrowTable:
        return keyed(read_group(file, group, self._kinds[name]), file)


def _together(name: str, parts: list[ArrowTable]) -> ArrowTable:
    """
    Return the rows of several files as one table.

    Raises
    ------
    UnreadableFileError
        If the files have incompatible types in a column.
    """
    try:
        return pa.concat_tables(parts, promote_options="permissive").combine_chunks()
    except pa.ArrowException as error:
        reason = f"files of a snapshot differ in a column's type: {error}"
        raise UnreadableFileError(name, reason) from error


def _rows_of(table: ArrowTable, key: Key) -> ArrowTable:
    moment = pa.scalar(key[1], pa.int64()).cast(TIME)
    is_it = pc.and_(
        pc.equal(table.column("cluster_id"), key[0]),
        pc.equal(table.column("taken_at").cast(TIME), moment),
    )
    return table.filter(is_it)


def _groups_with(file: TableFile, key: Key) -> list[int]:
    """Return the row groups that may have rows of a snapshot, by their statistics."""
    footer = _footer(file)
    column = _column(footer, "cluster_id")
    found = []
    for group in range(footer.num_row_groups):
        ends = footer.row_group(group).column(column).statistics
        if ends is None or not ends.has_min_max or ends.min <= key[0] <= ends.max:
            found.append(group)
    return found


@lru_cache(64)
def _footer(file: TableFile) -> Any:  # noqa: ANN401 - pyarrow's
    from pyarrow import parquet

    store = Store(file.root)
    with naming(file), store.files.open_input_file(store.path(file.name)) as opened:
        return parquet.read_metadata(opened)


def _column(footer: Any, name: str) -> int:  # noqa: ANN401 - pyarrow's
    """Return the index of a column, or of the first leaf column inside it."""
    paths = [footer.schema.column(n).path for n in range(len(footer.schema))]
    return next(n for n, path in enumerate(paths) if path.split(".")[0] == name)


def snapshot_sizes(files: FleetFiles) -> dict[Key, int]:
    """
    Return the number of replicas of each snapshot; approximate.

    Notes
    -----
    The footer of a file of one snapshot has the number. In other files the elements of
    lists are counted, a row group at a time.
    """
    sizes: dict[Key, int] = {}
    for file in files.tables.get("clusters", ()):
        sizes |= dict.fromkeys(file.snapshots, 0)
    if "clusters" in files.given:
        sizes |= {key: 0 for key, _ in by_key(files.given["clusters"])}
    for file in files.tables.get("partitions", ()):
        for key, count in _counts(file):
            if key in sizes:
                sizes[key] += count
    return sizes


def _counts(file: TableFile) -> list[tuple[Key, int]]:
    is_one = len(file.snapshots) == 1 and not file.hidden
    try:
        return _listed(file) if is_one else _counted(file)
    except UnreadableFileError:
        # The jobs on its snapshots meet the error again, and report it.
        return []


def _listed(file: TableFile) -> list[tuple[Key, int]]:
    footer = _footer(file)
    column = _column(footer, "replicas")
    groups = range(footer.num_row_groups)
    count = sum(footer.row_group(n).column(column).num_values for n in groups)
    return [(key, count) for key in file.snapshots]


def _counted(file: TableFile) -> list[tuple[Key, int]]:
    kinds = {"replicas": KINDS["partitions"]["replicas"]}
    return [
        (key, _num_listed(rows.column("replicas")))
        for group in range(_footer(file).num_row_groups)
        for key, rows in by_key(keyed(read_group(file, group, kinds), file))
    ]


def _num_listed(column: Any) -> int:  # noqa: ANN401 - an Arrow column
    """Return the number of elements in a column of lists; 0 for other types."""
    try:
        return int(pc.sum(pc.list_value_length(column)).as_py() or 0)
    except pa.ArrowNotImplementedError:
        return 0
