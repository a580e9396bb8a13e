"""Tables of rates read row by row: invalid rows are rejected, the others are used."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from planner.errors import BadInputError, InputProblem
from planner.fleet.dumps.dump_rejects import Reject, Scope, rejects_of
from planner.snapshot.importers.inputs.import_source import PartitionColumns
from planner.snapshot.importers.inputs.input_text import Refusal, decode
from planner.snapshot.importers.metrics.rates_table import KIND, read_rates
from planner.snapshot.tables.snapshot_columns import PARTITIONS

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

_PLACE = re.compile(r"(?P<what>line|row) (?P<number>\d+)(,|$)")
_TYPES = {column.name: column.type for column in PARTITIONS.columns}
_UNKNOWN = "the cluster has no such partition"


def read_rows(
    data: bytes, *, file: str
) -> tuple[PartitionColumns | None, list[Reject]]:
    """
    Read a table of rates without its invalid rows.

    Parameters
    ----------
    data
        CSV, gzipped or not, or Parquet.
    file
        Name of the file in rejects.

    Returns
    -------
    The valid rows, `None` if the whole file is rejected; and the rejects.
    """
    try:
        return read_rates(data, file=file).partitions, []
    except BadInputError as error:
        bad = _bad_rows(error.problems)
        if not bad:
            return None, rejects_of(Scope.FILE, error.problems)
        rejects = rejects_of(Scope.ROW, error.problems)
    try:
        return _read_without(data, bad, file=file), rejects
    except BadInputError as error:
        return None, [*rejects, *rejects_of(Scope.FILE, error.problems)]


def _bad_rows(problems: Iterable[InputProblem]) -> set[int]:
    """Return the numbers of invalid rows; none if not only rows are invalid."""
    found = [_PLACE.match(problem.place) for problem in problems]
    rows = {int(place["number"]) for place in found if place is not None}
    is_heading = 1 in rows and any(p and p["what"] == "line" for p in found)
    return set() if None in found or is_heading else rows


def _read_without(data: bytes, bad: set[int], *, file: str) -> PartitionColumns | None:
    """Read a table without some rows; the other rows keep their numbers."""
    if data[:4] != b"PAR1":
        lines = decode(data, Refusal(file, KIND)).split("\n")
        kept = ["" if at in bad else line for at, line in enumerate(lines, 1)]
        rest = "\n".join(kept).rstrip("\n").encode() + b"\n"
        return read_rates(rest, file=file).partitions
    from pyarrow import parquet

    table = parquet.read_table(pa.BufferReader(data))
    rows = [row for row in range(table.num_rows) if row not in bad]
    sink = pa.BufferOutputStream()
    parquet.write_table(table.take(pa.array(rows, pa.int64())), sink)
    read = read_rates(sink.getvalue().to_pybytes(), file=file).partitions
    return None if read is None else replace(read, places=rows)


def with_rates(
    snapshot: "Snapshot", files: Mapping[str, PartitionColumns]
) -> tuple["Snapshot", list[Reject]]:
    """
    Fill unknown rates of a snapshot with measured ones.

    Parameters
    ----------
    snapshot
        The snapshot.
    files
        Valid rows of tables, by file. The first value of a partition is used, and rows
        with a different later value are rejected. Known sizes of the snapshot are kept,
        since sizes from log dirs are more exact.

    Returns
    -------
    The snapshot, and the rejected rows.
    """
    if not files:
        return snapshot, []
    table = snapshot.partitions
    keys = zip(
        *(table.column(c).to_pylist() for c in ("topic", "partition")), strict=True
    )
    row_of = {key: row for row, key in enumerate(keys)}
    rejects: list[Reject] = []
    columns: dict[str, list[Any]] = {}
    for file, rows in files.items():
        for name in rows.values:
            columns.setdefault(name, table.column(name).to_pylist())
        rejects += _fill_columns(columns, row_of, rows, file)
    for name, values in columns.items():
        column = pa.array(values, _TYPES[name])
        table = table.set_column(table.schema.get_field_index(name), name, column)
    rates = dict(snapshot.rates or {})
    rates["source"] = "+".join(filter(None, [rates.get("source"), "table"]))
    return replace(snapshot, partitions=table, rates=rates), rejects


def _fill_columns(
    columns: Mapping[str, list[Any]],
    row_of: Mapping[tuple[str, int], int],
    rows: PartitionColumns,
    file: str,
) -> list[Reject]:
    """Fill unknown cells from one file; return the rejected rows."""
    rejects = []
    seen: set[int] = set()
    for at, key in enumerate(zip(rows.topics, rows.partitions, strict=True)):
        row = row_of.get(key)
        reason = "" if row is not None else _UNKNOWN
        if row in seen:
            reason = "a partition must occur once"
        if not reason and row is not None:
            seen.add(row)
            reason = _fill(columns, rows, at, row)
        if reason:
            rejects.append(_reject(file, rows.place_of(at), key, reason))
    return rejects


def _fill(
    columns: Mapping[str, list[Any]], rows: PartitionColumns, at: int, row: int
) -> str:
    """Fill the cells of one partition; return the contradiction, empty if none."""
    measured = {name: values[at] for name, values in rows.values.items()}
    for name, value in measured.items():
        known = columns[name][row]
        if None not in {known, value} and known != value and name != "size_bytes":
            return f"{name} must agree with an earlier value: {known}"
    for name, value in measured.items():
        if columns[name][row] is None:
            columns[name][row] = value
    return ""


def _reject(file: str, place: str, key: tuple[str, int], reason: str) -> Reject:
    problem = InputProblem(
        file=file,
        place=place,
        value=f"{key[0]}-{key[1]}",
        rule=reason,
        remedy="measure the rates at the time of the dump",
    )
    return Reject(scope=Scope.ROW, problem=problem)
