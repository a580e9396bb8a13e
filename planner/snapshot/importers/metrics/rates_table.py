"""
Rates and sizes per partition, as CSV or Parquet.

::

    topic,partition,in_bytes_per_s,out_bytes_per_s
    orders,0,120000,240000

An empty cell, or null, is unknown and not 0.
"""

import re
from collections.abc import Sequence
from typing import Any

from planner.snapshot.formats.column_casting import (
    ColumnTypeError,
    cast_column,
    type_words,
)
from planner.snapshot.importers.inputs.csv_text import (
    as_integer,
    read_csv,
    skip_column,
)
from planner.snapshot.importers.inputs.import_source import PartitionColumns, Source
from planner.snapshot.importers.inputs.input_text import Refusal, parse_quantity
from planner.snapshot.tables.snapshot_columns import (
    MAX_INT32,
    MAX_INT64,
    MAX_RATE,
    PARTITIONS,
)

KIND = "a table of rates"
RATES = ("in_bytes_per_s", "out_bytes_per_s")
_CORES = ("leader_cpu_cores", "follower_cpu_cores")
_BYTES = ("size_bytes", "remote_bytes")
_MEASURES = (*RATES, *_CORES, *_BYTES)
_COLUMNS = {
    **{name: name for name in ("topic", "partition", *_MEASURES)},
    "in": "in_bytes_per_s",
    "out": "out_bytes_per_s",
    "size": "size_bytes",
}
_REQUIRED = ("topic", "partition")
_SPEC = {column.name: column for column in PARTITIONS.columns}
_RULES = {
    **dict.fromkeys(RATES, "must be bytes/s, such as 120000 or 1.5MB/s, or empty"),
    **dict.fromkeys(_CORES, "must be a number of cores, or empty"),
    **dict.fromkeys(_BYTES, "must be bytes, such as 5000000000 or 5GB, or empty"),
}


def read_rates(data: bytes, *, file: str, allow_partial: bool = False) -> Source:
    """
    Read a table of rates.

    Parameters
    ----------
    data
        CSV with a heading, gzipped or not, or one Parquet file.
    file
        Name of the file in problems.
    allow_partial
        Whether invalid cells of CSV become unknown.

    Returns
    -------
    Source
        The measured values of each partition.

    Raises
    ------
    BadInputError
        With every cell or column that is wrong.
    """
    refusal = Refusal(file, KIND, "rates", allow_partial=allow_partial)
    is_parquet = data[:4] == b"PAR1"
    columns = _from_parquet(data, refusal) if is_parquet else _from_csv(data, refusal)
    refusal.raise_problems()
    has_rates = any(name in columns.values for name in (*RATES, *_CORES))
    header = {"rates": {"source": "table"}} if has_rates else {}
    return Source(
        file=file,
        kind=KIND,
        header=header,
        partitions=columns,
        notes=refusal.notes(),
    )


def _from_csv(data: bytes, refusal: Refusal) -> PartitionColumns:
    names, rows = read_csv(data, _COLUMNS, _REQUIRED, refusal)
    measures = [name for name in names if name in _MEASURES]
    _require_measures(measures, refusal)
    values: dict[str, list[Any]] = {name: [] for name in measures}
    partitions = []
    for number, cells in rows:
        partitions.append(_partition(number, cells["partition"], refusal))
        for name in measures:
            values[name].append(_measure(number, name, cells[name], refusal))
        if not re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", cells["topic"]):
            rule = "topic must be a valid topic name"
            refusal.add(f"line {number}", rule, "correct the cell")
    return PartitionColumns(
        topics=[cells["topic"] for _, cells in rows],
        partitions=partitions,
        values=values,
        places=[number for number, _ in rows],
    )


def _require_measures(measures: Sequence[str], refusal: Refusal) -> None:
    if not measures:
        rule = "must have a column of measured values"
        refusal.stop("", rule, f"add one of {', '.join(_MEASURES)}")


def _partition(number: int, text: str, refusal: Refusal) -> int:
    partition = as_integer(text)
    if partition is not None and partition <= MAX_INT32:
        return partition
    rule = f"partition must be an integer from 0 to {MAX_INT32}"
    refusal.add_cell(f"line {number}", rule, "correct the cell", text)
    return 0


def _measure(number: int, name: str, text: str, refusal: Refusal) -> float | int | None:
    if not text:
        return None
    value = parse_quantity(text)
    most = MAX_INT64 if name in _BYTES else MAX_RATE
    is_rate_of_size = name in _BYTES and text.endswith("/s")
    if value is None or value > most or is_rate_of_size:
        place = f"line {number}, {name}"
        refusal.reject(place, _RULES[name], "correct the cell", text)
        return None
    return round(value) if name in _BYTES else value


def _from_parquet(data: bytes, refusal: Refusal) -> PartitionColumns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError, ValueError):
        refusal.stop("", "must be a complete Parquet file", "write or copy it again")
    known = (*_REQUIRED, *_MEASURES)
    missing = [name for name in known if name not in table.column_names]
    for name in table.column_names:
        if name not in known:
            skip_column(name, "the columns", missing, refusal)
    for name in (*_REQUIRED, *_MEASURES):
        count = table.column_names.count(name)
        if count > 1 or (name in _REQUIRED and not count):
            refusal.add(f"column {name}", "must occur once", "correct the file")
    refusal.raise_problems()
    measures = [name for name in table.column_names if name in _MEASURES]
    _require_measures(measures, refusal)
    columns = {n: _cast(n, table.column(n), refusal) for n in (*_REQUIRED, *measures)}
    refusal.raise_problems()
    return PartitionColumns(
        topics=columns["topic"],
        partitions=columns["partition"],
        values={name: columns[name] for name in measures},
        places=range(table.num_rows),
        place_format="row {}",
    )


def _cast(name: str, column: Any, refusal: Refusal) -> list[Any]:  # noqa: ANN401 - an Arrow column
    import pyarrow as pa

    try:
        cast = cast_column(column.combine_chunks(), _SPEC[name])
    except (ColumnTypeError, pa.ArrowException):
        rule = f"must be {type_words(_SPEC[name])}"
        refusal.add(f"column {name}", rule, "convert it")
        return []
    for cell in cast.problems:
        place = f"row {cell.row}, {name}"
        refusal.add_cell(place, cell.rule, "correct the cell", cell.value)
    return cast.values.to_pylist()  # type: ignore[no-any-return] # Arrow has no types
